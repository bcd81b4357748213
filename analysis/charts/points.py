"""Points with intervals (one a row), scatter plots, boxes, and the radar."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from analysis.charts.svg import (
    CHARACTER,
    LINE,
    Linear,
    axis_bottom,
    axis_left,
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

WIDTH = 640.0
NAME, SHORT = 24, 19
"""Characters of one line of a row's name in the space at the left."""


class DrawnInterval(NamedTuple):
    """value None: undefined, with the reason in `note`, which is said of no other. least, most: between which it could lie for another reason
    than the interval's, None where that is not told."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    least: float | None = None
    most: float | None = None


def intervals(
    rows: Sequence[DrawnInterval],
    *,
    caption: str,
    x_label: str,
    what: str,
    low: float | None = None,
    high: float | None = None,
    reference: tuple[float, str] | None = None,
    form: Callable[[float], str] = number,
    reason: str = "There is nothing to show yet.",
    meanings: tuple[str, str, str] = ("", "", ""),
) -> str:
    """A point and its interval in each row. meanings: what a point, an interval and the thin line from least to most are, for the legend."""
    seen = [v for row in rows for v in (row.value, row.low, row.high, row.least, row.most) if v is not None]
    if not seen:
        return undefined(reason, caption=caption)
    left, step, top = room_for((row.name for row in rows), NAME, 190.0), 24.0, 12.0
    heights = [max(step, LINE * len(lines_of(row.name, NAME)) + 6) for row in rows]
    bottom = top + sum(heights) + 4
    shown = seen + ([reference[0]] if reference else [])
    least, most = min(shown) if low is None else low, max(shown) if high is None else high
    scale = Linear(least, most if most > least else least + 1, left + 6, WIDTH - 28)
    parts = [axis_bottom(scale, top=top, bottom=bottom, label=x_label, form=form)]
    if reference:
        parts.append(element("line", x1=scale(reference[0]), x2=scale(reference[0]), y1=top, y2=bottom, class_="reference"))
        words = shortened(reference[1], 30)
        right = scale(reference[0]) + 4 + CHARACTER * len(words) > WIDTH
        at, anchor = scale(reference[0]) + (-4 if right else 4), "end" if right else "start"
        parts.append(element("text", text=words, x=at, y=top + 2, text_anchor=anchor, class_="label"))
    for i, row in enumerate(rows):
        y = top + sum(heights[:i]) + heights[i] / 2
        parts.append(row_name(row.name, x=left - 10, y=y, most=NAME))
        if row.value is None:
            note = row.note or "undefined"
            words = shortened(note, int((WIDTH - left - 10) / CHARACTER))
            parts.append(element("text", element("title", text=note), text=words, x=left + 4, y=y + 4, class_="label"))
            continue
        if row.least is not None and row.most is not None:
            parts += _reach(scale(row.least), scale(row.most), y)
        if row.low is not None and row.high is not None:
            parts.append(element("line", x1=scale(row.low), x2=scale(row.high), y1=y, y2=y, class_="l1"))
        tip = element("title", text=f"{row.name}: {form(row.value)}")
        parts.append(element("circle", tip, cx=scale(row.value), cy=y, r=4, class_="s1"))
    described = f"{len(rows)} {what}, values from {form(min(seen))} to {form(max(seen))}."
    picture = drawing(WIDTH, bottom + 44, *parts, title=caption, description=described)
    far = any(row.least is not None for row in rows)
    numbers = [[row.name, row.value, row.low, row.high, *([row.least, row.most] if far else []), row.note if row.value is None else ""] for row in rows]
    header = [what, x_label, "low", "high", *(["least", "most"] if far else []), "note"]
    return figure(picture, caption=caption, header=header, rows=numbers, key=_meaning(rows, meanings))


def _reach(start: float, end: float, y: float) -> list[str]:
    """A thin line with its ends marked."""
    marks = [element("line", x1=x, x2=x, y1=y - 4, y2=y + 4, class_="axis") for x in (start, end)]
    return [element("line", x1=start, x2=end, y1=y, y2=y, class_="axis"), *marks]


def _meaning(rows: Sequence[DrawnInterval], meanings: tuple[str, str, str]) -> str:
    """The legend of what is drawn; none where no meaning is given."""
    point = element("circle", cx=8, cy=8, r=4, class_="s1")
    line, thin = (element("line", x1=0, x2=16, y1=8, y2=8, class_=name) for name in ("l1", "axis"))
    drawn_ones = (True, any(row.low is not None for row in rows), any(row.least is not None for row in rows))
    items = [
        element("li", element("svg", shape, viewBox="0 0 16 16", aria_hidden="true"), " " + escape(words))
        for shape, words, is_drawn in zip((point, line, thin), meanings, drawn_ones, strict=True)
        if words and is_drawn
    ]
    return element("ul", *items, class_="legend", role="list") if items else ""


class Spot(NamedTuple):
    name: str
    x: float
    y: float
    kind: int = 0
    """Index into the names of kinds: colour and shape."""


def scatter(
    spots: Sequence[Spot],
    *,
    kinds: Sequence[str],
    caption: str,
    x_label: str,
    y_label: str,
    x_form: Callable[[float], str] = number,
    y_form: Callable[[float], str] = number,
    reason: str = "There is nothing to show yet.",
) -> str:
    """Points in the plane; kinds differ by colour and by shape (circle, square, triangle)."""
    if not spots:
        return undefined(reason, caption=caption)
    top, bottom = 26.0, 270.0
    xs, ys = [s.x for s in spots], [s.y for s in spots]
    pad, aside = (max(ys) - min(ys)) * 0.05 or 0.5, (max(xs) - min(xs)) * 0.02 or 0.5
    y_scale = Linear(min(ys) - pad, max(ys) + pad, bottom, top)
    left = room_of_axis(y_scale, y_form)
    x_scale = Linear(min(xs) - aside, max(xs) + aside, left + 8, WIDTH - 24)
    parts = [
        axis_left(y_scale, left=left, right=WIDTH - 14, label=y_label, form=y_form),
        axis_bottom(x_scale, top=top, bottom=bottom, label=x_label, form=x_form),
    ]
    for spot in sorted(spots, key=lambda s: s.kind):
        parts.append(_mark(x_scale(spot.x), y_scale(spot.y), spot.kind, f"{spot.name}: {x_form(spot.x)}, {y_form(spot.y)}"))
    picture = drawing(WIDTH, 314, *parts, title=caption, description=f"{len(spots)} points of the kinds {', '.join(kinds)}.")
    rows: list[list[str | int | float | None]] = [[s.name, x_form(s.x), s.y, kinds[s.kind]] for s in spots]
    return figure(picture, caption=caption, header=["", x_label, y_label, "kind"], rows=rows, key=legend(list(kinds)))


def _mark(x: float, y: float, kind: int, tip: str) -> str:
    title, style = element("title", text=tip), f"s{kind % 6 + 1}"
    if kind % 3 == 1:
        return element("rect", title, x=x - 4.5, y=y - 4.5, width=9, height=9, class_=style)
    if kind % 3 == 2:
        return element("polygon", title, points=f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y + 4:.1f} {x - 5:.1f},{y + 4:.1f}", class_=style)
    return element("circle", title, cx=x, cy=y, r=4, class_=style)


class Box(NamedTuple):
    """Five numbers of a distribution and its size; None where nothing was measured."""

    name: str
    low: float | None
    q1: float | None
    median: float | None
    q3: float | None
    high: float | None
    n: int


def boxes(
    rows: Sequence[Box],
    *,
    caption: str,
    x_label: str,
    what: str,
    form: Callable[[float], str] = number,
    reason: str = "There is nothing to show yet.",
) -> str:
    """A lying box a row: median, quartiles, and the low and high ends given."""
    seen = [row for row in rows if row.median is not None]
    if not seen:
        return undefined(reason, caption=caption)
    left, step, top = room_for((row.name for row in rows), SHORT, 152.0), 34.0, 10.0
    heights = [max(step, LINE * len(lines_of(row.name, SHORT)) + 6) for row in rows]
    bottom = top + sum(heights)
    room = max(62.0, CHARACTER * max(len(f"n = {row.n:,}") for row in rows))
    scale = Linear(0, max(row.high or 0 for row in seen) or 1, left + 8, WIDTH - 18 - room)
    parts = [axis_bottom(scale, top=top, bottom=bottom, label=x_label, form=form)]
    for i, row in enumerate(rows):
        y = top + sum(heights[:i]) + heights[i] / 2
        parts.append(row_name(row.name, x=left - 10, y=y, most=SHORT))
        parts.append(element("text", text=f"n = {row.n:,}", x=WIDTH - room, y=y + 4, class_="label"))
        if row.median is None or row.q1 is None or row.q3 is None or row.low is None or row.high is None:
            continue
        tip = element("title", text=f"{row.name}: median {form(row.median)}, quartiles {form(row.q1)} and {form(row.q3)}")
        parts.append(element("line", x1=scale(row.low), x2=scale(row.high), y1=y, y2=y, class_="axis"))
        parts.append(
            element("rect", tip, x=scale(row.q1), y=y - 9, width=max(scale(row.q3) - scale(row.q1), 1), height=18, class_="s1 bar")
        )
        parts.append(element("line", x1=scale(row.median), x2=scale(row.median), y1=y - 9, y2=y + 9, class_="median"))
    described = "; ".join(f"{row.name}: median {form(row.median)}" for row in seen if row.median is not None)
    picture = drawing(WIDTH, bottom + 44, *parts, title=caption, description=described)
    numbers = [list(row) for row in rows]
    return figure(picture, caption=caption, header=[what, "low", "first quartile", "median", "third quartile", "high", "n"], rows=numbers)


def radar(
    axes: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], *, caption: str, high: float, form: Callable[[float], str] = number
) -> str:
    """One closed line a series over at least three axes from 0 (centre) to `high` (rim)."""
    if len(axes) < 3:
        return undefined(f"A radar needs three axes; there {'is' if len(axes) == 1 else 'are'} {len(axes)}.", caption=caption)
    centre, radius = (320.0, 190.0), 140.0

    def place(axis: int, value: float) -> tuple[float, float]:
        angle = 2 * math.pi * axis / len(axes) - math.pi / 2
        return centre[0] + math.cos(angle) * radius * value / high, centre[1] + math.sin(angle) * radius * value / high

    parts = []
    for ring in (0.25, 0.5, 0.75, 1.0):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(i, ring * high) for i in range(len(axes))))
        parts.append(element("polygon", points=corners, class_="grid"))
        parts.append(element("text", text=form(ring * high), x=centre[0] + 4, y=place(0, ring * high)[1] - 2, class_="label"))
    taken: list[tuple[float, float, float]] = []
    for i, name in enumerate(axes):
        x, y = place(i, high)
        parts.append(element("line", x1=centre[0], y1=centre[1], x2=x, y2=y, class_="grid"))
        tx, ty = place(i, high * 1.17)
        anchor = "middle" if abs(tx - centre[0]) < 20 else "start" if tx > centre[0] else "end"
        room = tx if anchor == "end" else WIDTH - tx if anchor == "start" else 2 * min(tx, WIDTH - tx)
        words = shortened(name, int(room / CHARACTER))
        start = tx - CHARACTER * len(words) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        end = start + CHARACTER * len(words)
        if any(abs(ty - other) < LINE and start < right and left < end for left, right, other in taken):
            continue  # names that would meet: the numbers have all
        taken.append((start, end, ty))
        parts.append(element("text", element("title", text=name), text=words, x=tx, y=ty + 4, text_anchor=anchor, class_="label"))
    for k, (_, values) in enumerate(series, start=1):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(i, value) for i, value in enumerate(values)))
        parts.append(element("polygon", points=corners, class_=f"l{(k - 1) % 6 + 1}"))
    described = "; ".join(
        f"{name}: " + ", ".join(f"{axis} {form(v)}" for axis, v in zip(axes, values, strict=True)) for name, values in series
    )
    picture = drawing(WIDTH, 380, *parts, title=caption, description=described)
    return figure(
        picture,
        caption=caption,
        header=["", *axes],
        rows=[[name, *values] for name, values in series],
        key=legend([n for n, _ in series], "l"),
    )
