"""Bars: simple, stacked, and small histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.charts.svg import (
    CHARACTER,
    HEAD_LINES,
    LINE,
    NARROW,
    SHORT,
    Linear,
    Picture,
    are_whole,
    axis_bottom,
    axis_left,
    centre_inside,
    count_on,
    drawing,
    element,
    figure,
    head_lines,
    in_both_widths,
    in_lines,
    key_below,
    legend,
    lines_above,
    more_lines,
    names_of_rows,
    number,
    reference_lines,
    reference_name,
    room_of_axis,
    undefined,
    width_of,
)

RIGHT, TOP = 12.0, 26.0
MOST_NUMBERED = 12
"""Of more bars than this, short labels that have no room are left out; long ones are numbers that
are explained below."""
NAME = 24
"""Characters of one line of a row's name."""


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
) -> Picture:
    """Upright bars, one a label; None is a gap, not a zero. `what` names the labels' column. high:
    the axis reaches at least so far."""
    defined = [v for v in values if v is not None]
    if not defined:
        return undefined(reason, caption=caption)
    whole = are_whole(defined)
    described = f"{len(labels)} bars from {form(min(defined))} to {form(max(defined))} {unit}."

    def draw(width: float) -> str:
        top = TOP + lines_above(unit, width - RIGHT)
        bottom = height - 36 + top - TOP
        scale = Linear(0, max(*defined, high) or 1, bottom, top)
        left = room_of_axis(scale, form, whole=whole)
        step = (width - left - RIGHT) / len(labels)
        below = _below(labels, step, width)
        parts = [
            axis_left(scale, left=left, right=width - RIGHT, label=unit, form=form, whole=whole)
        ]
        for i, (label, value) in enumerate(zip(labels, values, strict=True)):
            x = left + i * step
            if value is not None:
                tip, tall = (
                    element("title", text=f"{label}: {form(value)} {unit}"),
                    max(bottom - scale(value), 0.5),
                )
                parts.append(
                    element(
                        "rect",
                        tip,
                        x=x + step * 0.12,
                        width=max(step * 0.76, 1),
                        y=scale(value),
                        height=tall,
                        class_="s1",
                    )
                )
            if i % below.every == 0:
                middle = centre_inside(
                    x + step / 2, max(below.lines[i], key=width_of, default=""), width
                )
                parts.append(
                    in_lines(
                        below.lines[i], x=middle, first=bottom + 20, anchor="middle", tip=label
                    )
                )
        parts.append(
            element("line", x1=left, x2=width - RIGHT, y1=bottom, y2=bottom, class_="axis")
        )
        bottom += LINE * (max(map(len, below.lines)) - 1)
        key, more = key_below(labels, y=bottom + 32, width=width) if below.numbered else ("", 0.0)
        return drawing(width, bottom + 36 + more, *parts, key, title=caption, description=described)

    picture = in_both_widths(draw)
    return figure(
        picture, caption=caption, header=[what, unit], rows=list(zip(labels, values, strict=True))
    )


class _Below(NamedTuple):
    """What stands below bars: the lines of each label, whether they are numbers that a key
    explains, and of how many one is shown."""

    lines: list[list[str]]
    numbered: bool = False
    every: int = 1


def _below(labels: Sequence[str], step: float, width: float) -> _Below:
    """step: the width of a bar with its gaps."""
    lines = head_lines(labels, step - 4, HEAD_LINES if width > NARROW else 1)
    if lines is not None:
        return _Below(lines)
    numbered = not count_on(labels) and (
        len(labels) <= MOST_NUMBERED or max(map(len, labels)) > SHORT
    )
    shown = [str(i) if numbered else label for i, label in enumerate(labels, 1)]
    return _Below(
        [[words] for words in shown],
        numbered,
        max(1, math.ceil((max(map(width_of, shown)) + 6) / step)),
    )


def histogram(
    counts: Sequence[int],
    edges: Sequence[float],
    *,
    caption: str,
    x_label: str,
    unit: str,
    vertical: Sequence[tuple[float, str]] = (),
    reason: str = "There is nothing to show yet.",
) -> Picture:
    """Bars that touch, counts[i] from edges[i] to edges[i + 1]. vertical: (value, name) of
    reference lines, their names one below another."""
    if not any(counts):
        return undefined(reason, caption=caption)
    described = f"{sum(counts):,} {unit} between {number(edges[0])} and {number(edges[-1])}."

    def draw(width: float) -> str:
        first = TOP + lines_above(unit, width - 14)
        left = room_of_axis(Linear(0, max(counts), 1, 0), number, whole=True)
        across = Linear(edges[0], edges[-1], left + 8, width - 22)
        named = [
            LINE * len(reference_lines(name, x=across(value), width=width))
            for value, name in vertical
        ]
        top = first + sum(named)
        bottom = top + 190
        scale = Linear(0, max(counts), bottom, top)
        parts = [
            axis_left(scale, left=left, right=width - 14, label=unit, whole=True),
            axis_bottom(across, top=top, bottom=bottom, label=x_label, width=width),
        ]
        for low, high, n in zip(edges, edges[1:], counts, strict=False):
            if n:
                tip = element("title", text=f"{number(low)} to {number(high)}: {n:,} {unit}")
                parts.append(
                    element(
                        "rect",
                        tip,
                        x=across(low),
                        width=across(high) - across(low),
                        y=scale(n),
                        height=bottom - scale(n),
                        class_="g3 bar",
                    )
                )
        for row, (value, name) in enumerate(vertical):
            x, last = across(value), first + sum(named[: row + 1]) - 6
            parts.append(
                element("line", x1=x, x2=x, y1=last - named[row] + 6, y2=bottom, class_="reference")
            )
            parts.append(reference_name(name, x=x, last=last, width=width))
        return drawing(
            width,
            bottom + 44 + more_lines(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    rows: list[list[str | int | float | None]] = [
        [f"{number(low)} to {number(high)}", n]
        for low, high, n in zip(edges, edges[1:], counts, strict=False)
    ]
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
) -> Picture:
    """Lying stacked bars, one a label, one colour a series. shares: each bar is scaled to its sum
    (written beside it as n), or to what `wholes` says that it is a part of. classes: of each
    series, where the first colours in their order do not say what it is. written: shares stand in
    the bars where there is room."""
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
            parts.append(
                names.drawn(
                    label, top=start - (0 if names.above else 4), height=heights[i], gap=8.0
                )
            )
            y, x = start + (names.head(label) + heights[i] - 30) / 2, names.left
            whole = of[i] if shares else widest
            for of_series, (name, values) in zip(classes, series, strict=True):
                wide = values[i] / whole * (right - names.left) if whole else 0.0
                if wide > 0:
                    share = f"{100 * values[i] / of[i]:.0f} %" if of[i] else ""
                    tip = element("title", text=f"{label}, {name}: {number(values[i])} ({share})")
                    parts.append(
                        element(
                            "rect", tip, x=x, y=y, width=wide, height=20, class_=f"{of_series} bar"
                        )
                    )
                    if written and wide >= CHARACTER * len(share) + 4:
                        parts.append(_plate(share, x + wide / 2, y))
                    x += wide
            parts.append(element("text", text=beside[i], x=right + 6, y=y + 16, class_="label"))
        return drawing(width, top + sum(heights) + 8, *parts, title=caption, description=described)

    picture = in_both_widths(draw)
    rows = [
        [label, *(values[i] for _, values in series), totals[i]] for i, label in enumerate(labels)
    ]
    return figure(
        picture,
        caption=caption,
        header=[what, *(name for name, _ in series), "all"],
        rows=rows,
        key=legend([n for n, _ in series], prefix, classes),
    )


def _plate(share: str, middle: float, y: float) -> str:
    """A share in its bar, on a ground that keeps it legible."""
    room = CHARACTER * len(share)
    return element(
        "rect", x=middle - room / 2, y=y + 3, width=room, height=14, class_="plate"
    ) + element("text", text=share, x=middle, y=y + 14, text_anchor="middle", class_="on-light")
