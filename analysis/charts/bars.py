"""Bars: simple, stacked, and small histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from analysis.charts.svg import (
    CHARACTER,
    LINE,
    Linear,
    are_whole,
    axis_bottom,
    axis_left,
    centre_inside,
    drawing,
    element,
    figure,
    legend,
    lines_of,
    number,
    room_for,
    room_of_axis,
    row_name,
    shortened,
    undefined,
)

WIDTH, RIGHT, TOP = 640.0, 12.0, 26.0
NAME, LONGEST = 24, 18
"""Characters of one line of a row's name, and of a label below a bar."""


def bars(
    labels: Sequence[str],
    values: Sequence[float | None],
    *,
    caption: str,
    unit: str,
    what: str = "",
    reason: str = "There is nothing to show yet.",
    height: float = 240.0,
    form: Callable[[float], str] = number,
    high: float = 0.0,
) -> str:
    """Upright bars, one a label; None is a gap, not a zero. `what` names the labels' column. high: the axis reaches at least so far."""
    defined = [v for v in values if v is not None]
    if not defined:
        return undefined(reason, caption=caption)
    bottom = height - 36
    whole = are_whole(defined)
    scale = Linear(0, max(*defined, high) or 1, bottom, TOP)
    left = room_of_axis(scale, form, whole=whole)
    step = (WIDTH - left - RIGHT) / len(labels)
    below = [shortened(label, LONGEST) for label in labels]
    every = max(1, math.ceil((CHARACTER * max(map(len, below)) + 6) / step))
    parts = [axis_left(scale, left=left, right=WIDTH - RIGHT, label=unit, form=form, whole=whole)]
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        x = left + i * step
        if value is not None:
            tip = element("title", text=f"{label}: {form(value)} {unit}")
            parts.append(
                element(
                    "rect",
                    tip,
                    x=x + step * 0.12,
                    width=max(step * 0.76, 1),
                    y=scale(value),
                    height=max(bottom - scale(value), 0.5),
                    class_="s1",
                )
            )
        if i % every == 0:
            middle = centre_inside(x + step / 2, below[i], WIDTH)
            parts.append(element("text", element("title", text=label), text=below[i], x=middle, y=bottom + 20, text_anchor="middle", class_="label"))
    parts.append(element("line", x1=left, x2=WIDTH - RIGHT, y1=bottom, y2=bottom, class_="axis"))
    described = f"{len(labels)} bars from {form(min(defined))} to {form(max(defined))} {unit}."
    picture = drawing(WIDTH, height, *parts, title=caption, description=described)
    return figure(picture, caption=caption, header=[what, unit], rows=list(zip(labels, values, strict=True)))


def histogram(
    counts: Sequence[int],
    edges: Sequence[float],
    *,
    caption: str,
    x_label: str,
    unit: str,
    vertical: Sequence[tuple[float, str]] = (),
    reason: str = "There is nothing to show yet.",
) -> str:
    """Bars that touch, counts[i] from edges[i] to edges[i + 1]. vertical: (value, name) of reference lines, their names one below another."""
    if not any(counts):
        return undefined(reason, caption=caption)
    top = TOP + LINE * len(vertical)
    bottom = top + 190
    scale = Linear(0, max(counts), bottom, top)
    left = room_of_axis(scale, number, whole=True)
    across = Linear(edges[0], edges[-1], left + 8, WIDTH - 22)
    parts = [
        axis_left(scale, left=left, right=WIDTH - 14, label=unit, whole=True),
        axis_bottom(across, top=top, bottom=bottom, label=x_label),
    ]
    for low, high, n in zip(edges, edges[1:], counts, strict=False):
        if n:
            tip = element("title", text=f"{number(low)} to {number(high)}: {n:,} {unit}")
            parts.append(element("rect", tip, x=across(low), width=across(high) - across(low), y=scale(n), height=bottom - scale(n), class_="g3 bar"))
    for row, (value, name) in enumerate(vertical):
        x, y = across(value), TOP + 8 + LINE * row
        end = x + 4 + CHARACTER * len(name) > WIDTH
        parts.append(element("line", x1=x, x2=x, y1=y - 8, y2=bottom, class_="reference"))
        parts.append(element("text", text=name, x=x + (-4 if end else 4), y=y, text_anchor="end" if end else "start", class_="label"))
    described = f"{sum(counts):,} {unit} between {number(edges[0])} and {number(edges[-1])}."
    rows: list[list[str | int | float | None]] = [[f"{number(low)} to {number(high)}", n] for low, high, n in zip(edges, edges[1:], counts, strict=False)]
    return figure(drawing(WIDTH, bottom + 44, *parts, title=caption, description=described), caption=caption, header=[x_label, unit], rows=rows)


def stacked(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    caption: str,
    what: str = "",
    shares: bool = True,
    counts: Sequence[int] | None = None,
    wholes: Sequence[float] | None = None,
    reason: str = "There is nothing to show yet.",
    prefix: str = "s",
    classes: Sequence[str] = (),
    written: bool = False,
) -> str:
    """Lying stacked bars, one a label, one colour a series. shares: each bar is scaled to its sum (written beside it as n), or to what
    `wholes` says that it is a part of. classes: of each series, where the first colours in their order do not say what it is.
    written: shares stand in the bars where there is room."""
    classes = classes or [f"{prefix}{k}" for k in range(1, len(series) + 1)]
    totals = [sum(values[i] for _, values in series) for i in range(len(labels))]
    if not any(totals):
        return undefined(reason, caption=caption)
    left = room_for(labels, NAME, 190.0)
    beside = [f"n = {number(n, 0)}" for n in (totals if counts is None else counts)]
    right = WIDTH - max(80.0, 14 + CHARACTER * max(map(len, beside)))
    heights = [max(30.0, LINE * len(lines_of(label, NAME)) + 12) for label in labels]
    height = TOP + sum(heights) + 8
    widest = max(totals)
    of = totals if wholes is None else wholes
    parts = []
    for i, label in enumerate(labels):
        y = TOP + sum(heights[:i]) + (heights[i] - 30) / 2
        x = left
        whole = of[i] if shares else widest
        parts.append(row_name(label, x=left - 8, y=y + 11, most=NAME))
        for of_series, (name, values) in zip(classes, series, strict=True):
            width = values[i] / whole * (right - left) if whole else 0.0
            if width > 0:
                share = f"{100 * values[i] / of[i]:.0f} %" if of[i] else ""
                tip = element("title", text=f"{label}, {name}: {number(values[i])} ({share})")
                parts.append(element("rect", tip, x=x, y=y, width=width, height=20, class_=f"{of_series} bar"))
                if written and width >= CHARACTER * len(share) + 4:
                    room, middle = CHARACTER * len(share), x + width / 2
                    parts.append(element("rect", x=middle - room / 2, y=y + 3, width=room, height=14, class_="plate"))
                    parts.append(element("text", text=share, x=middle, y=y + 14, text_anchor="middle", class_="on-light"))
                x += width
        parts.append(element("text", text=beside[i], x=right + 6, y=y + 16, class_="label"))
    described = f"{len(labels)} bars, each divided into {', '.join(name for name, _ in series)}."
    picture = drawing(WIDTH, height, *parts, title=caption, description=described)
    rows = [[label, *(values[i] for _, values in series), totals[i]] for i, label in enumerate(labels)]
    return figure(
        picture, caption=caption, header=[what, *(name for name, _ in series), "all"], rows=rows, key=legend([n for n, _ in series], prefix, classes)
    )
