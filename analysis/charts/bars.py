"""Bars: simple, stacked, and small histograms."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Sequence

from analysis.charts.svg import (
    CHARACTER,
    LINE,
    NARROW,
    Linear,
    are_whole,
    axis_bottom,
    axis_left,
    centre_inside,
    drawing,
    element,
    figure,
    in_both_widths,
    key_below,
    legend,
    lines_above,
    more_lines,
    names_of_rows,
    number,
    room_of_axis,
    shortened,
    undefined,
    width_of,
)

RIGHT, TOP = 12.0, 26.0
MOST_NUMBERED = 12
"""Of more bars than this, those without room have no label."""
COUNTED = re.compile(rf"\d+|\b(?:{'|'.join(calendar.month_abbr[1:])})\b")
"""What differs between labels that count on, such as ranks and hours: between two of them the others are clear."""
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
    whole, counting = are_whole(defined), len({COUNTED.sub("", label) for label in labels}) == 1
    described = f"{len(labels)} bars from {form(min(defined))} to {form(max(defined))} {unit}."

    def draw(width: float) -> str:
        top = TOP + lines_above(unit, width - RIGHT)
        bottom = height - 36 + top - TOP
        scale = Linear(0, max(*defined, high) or 1, bottom, top)
        left = room_of_axis(scale, form, whole=whole)
        step = (width - left - RIGHT) / len(labels)
        numbered = width == NARROW and len(labels) <= MOST_NUMBERED and any(width_of(label) > step for label in labels) and not counting
        below = [str(i + 1) if numbered else shortened(label, LONGEST) for i, label in enumerate(labels)]
        every = max(1, math.ceil((CHARACTER * max(map(len, below)) + 6) / step))
        parts = [axis_left(scale, left=left, right=width - RIGHT, label=unit, form=form, whole=whole)]
        for i, (label, value) in enumerate(zip(labels, values, strict=True)):
            x = left + i * step
            if value is not None:
                tip, tall = element("title", text=f"{label}: {form(value)} {unit}"), max(bottom - scale(value), 0.5)
                parts.append(element("rect", tip, x=x + step * 0.12, width=max(step * 0.76, 1), y=scale(value), height=tall, class_="s1"))
            if i % every == 0:
                tip, middle = element("title", text=label), centre_inside(x + step / 2, below[i], width)
                parts.append(element("text", tip, text=below[i], x=middle, y=bottom + 20, text_anchor="middle", class_="label"))
        parts.append(element("line", x1=left, x2=width - RIGHT, y1=bottom, y2=bottom, class_="axis"))
        key, more = key_below(labels, y=bottom + 32, width=width) if numbered else ("", 0.0)
        return drawing(width, bottom + 36 + more, *parts, key, title=caption, description=described)

    picture = in_both_widths(draw)
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
    described = f"{sum(counts):,} {unit} between {number(edges[0])} and {number(edges[-1])}."

    def draw(width: float) -> str:
        first = TOP + lines_above(unit, width - 14)
        top = first + LINE * len(vertical)
        bottom = top + 190
        scale = Linear(0, max(counts), bottom, top)
        left = room_of_axis(scale, number, whole=True)
        across = Linear(edges[0], edges[-1], left + 8, width - 22)
        parts = [
            axis_left(scale, left=left, right=width - 14, label=unit, whole=True),
            axis_bottom(across, top=top, bottom=bottom, label=x_label, width=width),
        ]
        for low, high, n in zip(edges, edges[1:], counts, strict=False):
            if n:
                tip = element("title", text=f"{number(low)} to {number(high)}: {n:,} {unit}")
                parts.append(element("rect", tip, x=across(low), width=across(high) - across(low), y=scale(n), height=bottom - scale(n), class_="g3 bar"))
        for row, (value, name) in enumerate(vertical):
            x, y = across(value), first + 8 + LINE * row
            end = x + 4 + CHARACTER * len(name) > width
            parts.append(element("line", x1=x, x2=x, y1=y - 8, y2=bottom, class_="reference"))
            parts.append(element("text", text=name, x=x + (-4 if end else 4), y=y, text_anchor="end" if end else "start", class_="label"))
        return drawing(width, bottom + 44 + more_lines(x_label, width), *parts, title=caption, description=described)

    rows: list[list[str | int | float | None]] = [[f"{number(low)} to {number(high)}", n] for low, high, n in zip(edges, edges[1:], counts, strict=False)]
    return figure(in_both_widths(draw), caption=caption, header=[x_label, unit], rows=rows)


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
    beside = [f"n = {number(n, 0)}" for n in (totals if counts is None else counts)]
    widest = max(totals)
    of = totals if wholes is None else wholes
    described = f"{len(labels)} bars, each divided into {', '.join(name for name, _ in series)}."

    def draw(width: float) -> str:
        names = names_of_rows(labels, width=width, most=NAME, widest=190.0)
        right = width - max(80.0 if width > NARROW else 0.0, 14 + CHARACTER * max(map(len, beside)))
        top = TOP if width > NARROW else 4.0
        heights = [names.height(label, 30.0) for label in labels]
        parts = []
        for i, label in enumerate(labels):
            start = top + sum(heights[:i])
            parts.append(names.drawn(label, top=start - (0 if names.above else 4), height=heights[i], gap=8.0))
            y, x = start + (names.head(label) + heights[i] - 30) / 2, names.left
            whole = of[i] if shares else widest
            for of_series, (name, values) in zip(classes, series, strict=True):
                wide = values[i] / whole * (right - names.left) if whole else 0.0
                if wide > 0:
                    share = f"{100 * values[i] / of[i]:.0f} %" if of[i] else ""
                    tip = element("title", text=f"{label}, {name}: {number(values[i])} ({share})")
                    parts.append(element("rect", tip, x=x, y=y, width=wide, height=20, class_=f"{of_series} bar"))
                    if written and wide >= CHARACTER * len(share) + 4:
                        parts.append(_plate(share, x + wide / 2, y))
                    x += wide
            parts.append(element("text", text=beside[i], x=right + 6, y=y + 16, class_="label"))
        return drawing(width, top + sum(heights) + 8, *parts, title=caption, description=described)

    picture = in_both_widths(draw)
    rows = [[label, *(values[i] for _, values in series), totals[i]] for i, label in enumerate(labels)]
    return figure(
        picture, caption=caption, header=[what, *(name for name, _ in series), "all"], rows=rows, key=legend([n for n, _ in series], prefix, classes)
    )


def _plate(share: str, middle: float, y: float) -> str:
    """A share in its bar, on a ground that keeps it legible."""
    room = CHARACTER * len(share)
    return element("rect", x=middle - room / 2, y=y + 3, width=room, height=14, class_="plate") + element(
        "text", text=share, x=middle, y=y + 14, text_anchor="middle", class_="on-light"
    )
