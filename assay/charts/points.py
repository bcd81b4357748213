"""Interval plots (one interval per row), scatter plots, box plots and radar charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.charts.svg import (
    CHARACTER_WIDTH,
    LINE_HEIGHT,
    NARROW,
    LinearScale,
    Picture,
    axis_margin,
    choose_date_ticks,
    clamp_centre,
    draw_both_widths,
    draw_bottom_axis,
    draw_left_axis,
    draw_reference_label,
    extra_axis_label_height,
    extra_label_height,
    figure_html,
    format_day,
    format_number,
    layout_row_names,
    numbered_key,
    series_legend,
    svg_drawing,
    svg_element,
    text_lines,
    text_width,
    undefined_figure,
    wrap_label,
    wrap_reference_label,
)

MAX_NAME_CHARACTERS, MAX_SHORT_CHARACTERS = 24, 19
"""Maximum number of characters per line of a row's name, in interval plots and in box plots."""
ROW_STEP = 11.0
"""Distance in pixels of the intervals of one condition."""


class DrawnInterval(NamedTuple):
    """One row of an interval chart. value: None if undefined, with the reason in `note`. low, high:
    the interval. least, most: bounds for another reason, such as unjudged documents, or None if
    there are none. texts: texts of the columns after the value. is_grey: draw the row in grey."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    least: float | None = None
    most: float | None = None
    texts: tuple[str, ...] = ()
    is_grey: bool = False


def interval_chart(
    rows: Sequence[DrawnInterval],
    *,
    caption: str,
    x_label: str,
    what: str,
    low: float | None = None,
    high: float | None = None,
    reference: tuple[float, str] | None = None,
    form: Callable[[float], str] = format_number,
    reason: str = "Nothing to show yet.",
    meanings: tuple[str, str, str] = ("", "", ""),
    columns: tuple[str, ...] = (),
) -> Picture:
    """Draw a point and its interval in each row.

    meanings: legend entries of the point, the interval and the thin line from `least` to `most`.
    columns: headings of columns at the right, the first with the value, the others with the rows'
    `texts`. The narrow form has only the first.
    """
    seen = [
        v
        for row in rows
        for v in (row.value, row.low, row.high, row.least, row.most)
        if v is not None
    ]
    if not seen:
        return undefined_figure(reason, caption=caption)
    shown = seen + ([reference[0]] if reference else [])
    least, most = min(shown) if low is None else low, max(shown) if high is None else high
    described = f"{len(rows)} {what}, values from {form(min(seen))} to {form(max(seen))}."

    def draw(width: float) -> str:
        names = layout_row_names(
            [row.name for row in rows], width=width, most=MAX_NAME_CHARACTERS, widest=190.0
        )
        right = width - (28 if width > NARROW else 14)
        ends: list[float] = []
        heads = columns if width > NARROW else columns[:1]
        for k, head in reversed(list(enumerate(heads))):
            cells = [_column_text(row, k, form) for row in rows]
            ends.insert(0, right)
            right -= max(map(text_width, [head, *cells])) + 12
        scale = LinearScale(least, most if most > least else least + 1, names.left + 6, right)
        top = 12.0 if not columns else 12.0 + LINE_HEIGHT
        if reference:
            top += LINE_HEIGHT * (
                len(wrap_reference_label(reference[1], x=scale(reference[0]), width=width))
                - (0 if names.above else 1)
            )
        notes = [
            []
            if row.value is not None
            else wrap_label(
                row.note or "undefined", int((width - names.left - 10) / CHARACTER_WIDTH)
            )
            for row in rows
        ]
        heights = [
            names.height(row.name, max(24.0, LINE_HEIGHT * len(note) + 6))
            for row, note in zip(rows, notes, strict=True)
        ]
        bottom = top + sum(heights) + 4
        parts = [
            draw_bottom_axis(scale, top=top, bottom=bottom, label=x_label, form=form, width=width)
        ]
        if reference:
            at = scale(reference[0])
            parts.append(svg_element("line", x1=at, x2=at, y1=top, y2=bottom, class_="reference"))
            parts.append(
                draw_reference_label(
                    reference[1],
                    x=at,
                    last=top + 2 - (LINE_HEIGHT if names.above else 0),
                    width=width,
                )
            )
        for end, head in zip(ends, heads, strict=True):
            parts.append(text_lines([head], x=end, first=LINE_HEIGHT, anchor="end"))
        for i, row in enumerate(rows):
            start = top + sum(heights[:i])
            parts.append(names.draw(row.name, top=start, height=heights[i]))
            y = start + (names.head_height(row.name) + heights[i]) / 2
            for k, end in enumerate(ends):
                text = _column_text(row, k, form)
                parts.append(text_lines([text], x=end, first=y + 4, anchor="end"))
            if row.value is None:
                if reference:  # the reference line would cross the text
                    tall, wide = LINE_HEIGHT * len(notes[i]), max(map(text_width, notes[i]))
                    parts.append(
                        svg_element(
                            "rect",
                            x=names.left + 2,
                            y=y - tall / 2,
                            width=wide + 4,
                            height=tall,
                            class_="plate",
                        )
                    )
                parts.append(
                    text_lines(
                        notes[i],
                        x=names.left + 4,
                        first=y + 4 - LINE_HEIGHT * (len(notes[i]) - 1) / 2,
                        anchor="start",
                    )
                )
            else:
                parts.append(_draw_interval(row, scale, y, form))
        return svg_drawing(
            width,
            bottom + 44 + extra_label_height(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    picture = draw_both_widths(draw)
    far = any(row.least is not None for row in rows)
    numbers = [
        [
            row.name,
            row.value,
            row.low,
            row.high,
            *([row.least, row.most] if far else []),
            *row.texts,
            row.note if row.value is None else "",
        ]
        for row in rows
    ]
    header = [what, x_label, "low", "high", *(["least", "most"] if far else [])]
    header += [*columns[1:], "note"]
    return figure_html(
        picture, caption=caption, header=header, rows=numbers, key=_interval_legend(rows, meanings)
    )


def _column_text(row: DrawnInterval, column: int, form: Callable[[float], str]) -> str:
    if column:
        return row.texts[column - 1]
    return "–" if row.value is None else form(row.value)


def _draw_interval(
    row: DrawnInterval, scale: LinearScale, y: float, form: Callable[[float], str]
) -> str:
    assert row.value is not None
    parts, series = [], 6 if row.is_grey else 1
    if row.least is not None and row.most is not None:
        parts += _draw_range_line(scale(row.least), scale(row.most), y)
    if row.low is not None and row.high is not None:
        start, end = scale(row.low), scale(row.high)
        parts.append(
            # a bar, because the line of this series is dashed
            svg_element("rect", x=start, y=y - 1, width=end - start, height=2, class_=f"s{series}")
            if row.is_grey
            else svg_element("line", x1=start, x2=end, y1=y, y2=y, class_="l1")
        )
    tip = svg_element("title", text=f"{row.name}: {form(row.value)}")
    return "".join(
        [*parts, svg_element("circle", tip, cx=scale(row.value), cy=y, r=4, class_=f"s{series}")]
    )


def _draw_range_line(start: float, end: float, y: float) -> list[str]:
    """Draw a thin line with marks at its ends."""
    marks = [
        svg_element("line", x1=x, x2=x, y1=y - 4, y2=y + 4, class_="axis") for x in (start, end)
    ]
    return [svg_element("line", x1=start, x2=end, y1=y, y2=y, class_="axis"), *marks]


def _interval_legend(rows: Sequence[DrawnInterval], meanings: tuple[str, str, str]) -> str:
    """Return the legend of the elements that a chart of intervals contains and that have a
    meaning."""
    point = svg_element("circle", cx=8, cy=8, r=4, class_="s1")
    line, thin = (
        svg_element("line", x1=0, x2=16, y1=8, y2=8, class_=name) for name in ("l1", "axis")
    )
    drawn_ones = (
        True,
        any(row.low is not None for row in rows),
        any(row.least is not None for row in rows),
    )
    items = [
        svg_element(
            "li",
            svg_element("svg", shape, viewBox="0 0 16 16", aria_hidden="true"),
            " " + escape(words),
        )
        for shape, words, is_drawn in zip((point, line, thin), meanings, drawn_ones, strict=True)
        if words and is_drawn
    ]
    return svg_element("ul", *items, class_="legend", role="list") if items else ""


class ScatterPoint(NamedTuple):
    name: str
    x: float
    y: float
    kind: int = 0
    """Index into the names of kinds, which determines colour and shape."""
    label: str = ""
    """Text next to the point, left out where it would meet another point or label."""


def scatter_chart(
    scatter_points: Sequence[ScatterPoint],
    *,
    kinds: Sequence[str],
    caption: str,
    x_label: str,
    y_label: str,
    x_form: Callable[[float], str] = format_number,
    y_form: Callable[[float], str] = format_number,
    dates: bool = False,
    y_down: bool = False,
    reason: str = "Nothing to show yet.",
) -> Picture:
    """Draw points whose kinds differ in colour and shape (circle, square, triangle).

    dates: x is a day (`date.toordinal`). y_down: y grows downwards, for ranks.
    """
    if not scatter_points:
        return undefined_figure(reason, caption=caption)
    x_form = format_day if dates else x_form
    xs, ys = [s.x for s in scatter_points], [s.y for s in scatter_points]
    pad, aside = (max(ys) - min(ys)) * 0.05 or 0.5, (max(xs) - min(xs)) * 0.02 or 0.5

    def draw(width: float) -> str:
        top = 26.0 + extra_axis_label_height(y_label, width - 14)
        bottom = top + 244
        ends = (max(ys) + pad, min(ys) - pad) if y_down else (min(ys) - pad, max(ys) + pad)
        y_scale = LinearScale(*ends, bottom, top)
        left = axis_margin(y_scale, y_form)
        x_scale = LinearScale(min(xs) - aside, max(xs) + aside, left + 8, width - 24)
        ticks = choose_date_ticks(min(xs), max(xs), 6 if width > NARROW else 3) if dates else {}
        parts = [
            draw_left_axis(y_scale, left=left, right=width - 14, label=y_label, form=y_form),
            draw_bottom_axis(
                x_scale,
                top=top,
                bottom=bottom,
                label=x_label,
                form=x_form,
                ticks=ticks,
                width=width,
            ),
        ]
        for spot in sorted(scatter_points, key=lambda s: s.kind):
            parts.append(
                _draw_mark(
                    x_scale(spot.x),
                    y_scale(spot.y),
                    spot.kind,
                    f"{spot.name}: {x_form(spot.x)}, {y_form(spot.y)}",
                )
            )
        parts += _draw_point_labels(scatter_points, x_scale, y_scale, top=top, width=width)
        described = f"{len(scatter_points)} points of the kinds {', '.join(kinds)}."
        return svg_drawing(
            width,
            bottom + 44 + extra_label_height(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    picture = draw_both_widths(draw)
    rows: list[list[str | int | float | None]] = [
        [s.name, x_form(s.x), s.y, kinds[s.kind]] for s in scatter_points
    ]
    return figure_html(
        picture,
        caption=caption,
        header=["", x_label, y_label, "kind"],
        rows=rows,
        key=_marks_legend({s.kind: kinds[s.kind] for s in scatter_points}),
    )


def _draw_point_labels(
    scatter_points: Sequence[ScatterPoint],
    x_scale: LinearScale,
    y_scale: LinearScale,
    *,
    top: float,
    width: float,
) -> list[str]:
    """Draw each label above or below its point, unless it would meet another point or label."""
    boxes = [
        (x_scale(s.x) - 5, x_scale(s.x) + 5, y_scale(s.y) - 5, y_scale(s.y) + 5)
        for s in scatter_points
    ]
    parts = []
    for spot in scatter_points:
        half = text_width(spot.label) / 2
        x = clamp_centre(x_scale(spot.x), spot.label, width)
        for y in (y_scale(spot.y) - 8, y_scale(spot.y) + 18):
            box = (x - half, x + half, y - 10, y + 2)
            is_free = y - 10 >= top - 12 and not any(
                box[0] < right and left < box[1] and box[2] < low and high < box[3]
                for left, right, high, low in boxes
            )
            if spot.label and is_free:
                parts.append(text_lines([spot.label], x=x, first=y, anchor="middle"))
                boxes.append(box)
                break
    return parts


def _marks_legend(names: Mapping[int, str]) -> str:
    """Return the legend of points by kind, with their shapes."""
    items = [
        svg_element(
            "li",
            svg_element("svg", _draw_mark(8, 8, kind, ""), viewBox="0 0 16 16", aria_hidden="true"),
            " " + escape(name),
        )
        for kind, name in sorted(names.items())
    ]
    return svg_element("ul", *items, class_="legend", role="list")


def conditions_chart(
    rows: Sequence[tuple[str, Sequence[DrawnInterval]]],
    *,
    styles: Sequence[int],
    caption: str,
    x_label: str,
    row_label: str,
    what: str,
    form: Callable[[float], str] = format_number,
) -> Picture:
    """Draw several intervals in each row, distinguished by colour and shape.

    rows: (name, one interval per series, of the same names in each row). styles: number from 1 of
    the colour of each series. row_label, what: rows and series in the data table.
    """
    shown = [one for _, intervals in rows for one in intervals if one.value is not None]
    if not shown:
        return undefined_figure("Nothing to show yet.", caption=caption)
    seen = [v for one in shown for v in (one.value, one.low, one.high) if v is not None]
    names = [name for name, _ in rows]

    def draw(width: float) -> str:
        layout = layout_row_names(names, width=width, most=MAX_NAME_CHARACTERS, widest=190.0)
        scale = LinearScale(
            min(seen),
            max(seen) if max(seen) > min(seen) else min(seen) + 1,
            layout.left + 8,
            width - 20,
        )
        top = 8.0
        heights = [layout.height(name, ROW_STEP * len(styles) + 8) for name in names]
        bottom = top + sum(heights)
        parts = [
            draw_bottom_axis(scale, top=top, bottom=bottom, label=x_label, form=form, width=width)
        ]
        for i, (name, intervals) in enumerate(rows):
            start = top + sum(heights[:i])
            parts.append(
                svg_element("line", x1=2, x2=width - 12, y1=start, y2=start, class_="grid")
            )
            parts.append(layout.draw(name, top=start, height=heights[i]))
            middle = start + (layout.head_height(name) + heights[i]) / 2
            for k, (one, style) in enumerate(zip(intervals, styles, strict=True)):
                y = middle + ROW_STEP * (k - (len(styles) - 1) / 2)
                if one.value is None:
                    continue
                if one.low is not None and one.high is not None:
                    first, last = scale(one.low), scale(one.high)
                    parts.append(
                        svg_element(
                            "rect",
                            x=first,
                            y=y - 1,
                            width=last - first,
                            height=2,
                            class_=f"s{style}",
                        )
                    )
                parts.append(
                    _draw_mark(scale(one.value), y, style - 1, f"{one.name}: {form(one.value)}")
                )
        described = f"{len(rows)} rows, values from {form(min(seen))} to {form(max(seen))}."
        return svg_drawing(
            width,
            bottom + 44 + extra_label_height(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    numbers = [
        [name, one.name, one.value, one.low, one.high] for name, each in rows for one in each
    ]
    return figure_html(
        draw_both_widths(draw),
        caption=caption,
        header=[row_label, what, x_label, "low", "high"],
        rows=numbers,
        key=_marks_legend(
            {style - 1: one.name for style, one in zip(styles, rows[0][1], strict=True)}
        ),
    )


def _draw_mark(x: float, y: float, kind: int, tip: str) -> str:
    title, style = svg_element("title", text=tip) if tip else "", f"s{kind % 6 + 1}"
    if kind % 3 == 1:
        return svg_element("rect", title, x=x - 4.5, y=y - 4.5, width=9, height=9, class_=style)
    if kind % 3 == 2:
        return svg_element(
            "polygon",
            title,
            points=f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y + 4:.1f} {x - 5:.1f},{y + 4:.1f}",
            class_=style,
        )
    return svg_element("circle", title, cx=x, cy=y, r=4, class_=style)


class BoxSummary(NamedTuple):
    """Five-number summary of a distribution, and its size n. Values are None if nothing was
    measured."""

    name: str
    low: float | None
    q1: float | None
    median: float | None
    q3: float | None
    high: float | None
    n: int


def box_chart(
    rows: Sequence[BoxSummary],
    *,
    caption: str,
    x_label: str,
    what: str,
    form: Callable[[float], str] = format_number,
    reason: str = "Nothing to show yet.",
) -> Picture:
    """Draw one horizontal box per row: median, quartiles, and the given low and high ends."""
    seen = [row for row in rows if row.median is not None]
    if not seen:
        return undefined_figure(reason, caption=caption)
    room = max(62.0, CHARACTER_WIDTH * max(len(f"n = {row.n:,}") for row in rows))
    described = "; ".join(
        f"{row.name}: median {form(row.median)}" for row in seen if row.median is not None
    )

    def draw(width: float) -> str:
        names, top = (
            layout_row_names(
                [row.name for row in rows], width=width, most=MAX_SHORT_CHARACTERS, widest=152.0
            ),
            10.0,
        )
        heights = [names.height(row.name, 34.0) for row in rows]
        bottom = top + sum(heights)
        scale = LinearScale(
            0, max(row.high or 0 for row in seen) or 1, names.left + 8, width - 18 - room
        )
        parts = [
            draw_bottom_axis(scale, top=top, bottom=bottom, label=x_label, form=form, width=width)
        ]
        for i, row in enumerate(rows):
            start = top + sum(heights[:i])
            y = start + (names.head_height(row.name) + heights[i]) / 2
            parts.append(names.draw(row.name, top=start, height=heights[i]))
            parts.append(
                svg_element("text", text=f"n = {row.n:,}", x=width - room, y=y + 4, class_="label")
            )
            parts.append(_draw_box(row, scale, y, form))
        return svg_drawing(
            width,
            bottom + 44 + extra_label_height(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    picture = draw_both_widths(draw)
    numbers = [list(row) for row in rows]
    return figure_html(
        picture,
        caption=caption,
        header=[what, "low", "first quartile", "median", "third quartile", "high", "n"],
        rows=numbers,
    )


def _draw_box(row: BoxSummary, scale: LinearScale, y: float, form: Callable[[float], str]) -> str:
    if (
        row.median is None
        or row.q1 is None
        or row.q3 is None
        or row.low is None
        or row.high is None
    ):
        return ""
    tip = svg_element(
        "title",
        text=f"{row.name}: median {form(row.median)}, quartiles {form(row.q1)} and {form(row.q3)}",
    )
    return (
        svg_element("line", x1=scale(row.low), x2=scale(row.high), y1=y, y2=y, class_="axis")
        + svg_element(
            "rect",
            tip,
            x=scale(row.q1),
            y=y - 9,
            width=max(scale(row.q3) - scale(row.q1), 1),
            height=18,
            class_="s1 bar",
        )
        + svg_element(
            "line", x1=scale(row.median), x2=scale(row.median), y1=y - 9, y2=y + 9, class_="median"
        )
    )


def radar_chart(
    axes: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    caption: str,
    high: float,
    form: Callable[[float], str] = format_number,
) -> Picture:
    """Draw one closed line per series over at least three axes, from 0 (centre) to `high` (rim)."""
    if len(axes) < 3:
        return undefined_figure(
            f"A radar chart needs three axes, not {len(axes)}.",
            caption=caption,
        )
    described = "; ".join(
        f"{name}: " + ", ".join(f"{axis} {form(v)}" for axis, v in zip(axes, values, strict=True))
        for name, values in series
    )
    picture = draw_both_widths(
        lambda width: _draw_radar(axes, series, width, high, form, caption, described)
    )
    return figure_html(
        picture,
        caption=caption,
        header=["", *axes],
        rows=[[name, *values] for name, values in series],
        key=series_legend([n for n, _ in series], "l"),
    )


def _draw_radar(
    axes: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    width: float,
    high: float,
    form: Callable[[float], str],
    caption: str,
    described: str,
) -> str:
    """Draw the chart. Names that do not fit or would overlap are replaced by numbers with a key
    below."""
    narrow = width == NARROW
    centre, radius = (width / 2, 134.0 if narrow else 160.0), 94.0 if narrow else 108.0

    def place(axis: int, value: float) -> tuple[float, float]:
        angle = 2 * math.pi * axis / len(axes) - math.pi / 2
        return centre[0] + math.cos(angle) * radius * value / high, centre[1] + math.sin(
            angle
        ) * radius * value / high

    def place_name(axis: int) -> tuple[float, float, str, float]:
        """Return x, y, text anchor and available width of an axis' name."""
        tx, ty = place(axis, high * (1.25 if narrow else 1.22))
        anchor = "middle" if abs(tx - centre[0]) < 20 else "start" if tx > centre[0] else "end"
        return (
            tx,
            ty,
            anchor,
            tx if anchor == "end" else width - tx if anchor == "start" else 2 * min(tx, width - tx),
        )

    parts: list[str] = []
    scale_labels: list[str] = []
    for ring in (0.25, 0.5, 0.75, 1.0):
        corners = " ".join(
            f"{x:.1f},{y:.1f}" for x, y in (place(i, ring * high) for i in range(len(axes)))
        )
        parts.append(svg_element("polygon", points=corners, class_="grid"))
        value, y = form(ring * high), place(0, ring * high)[1] - 2
        room = text_width(value) + 2
        scale_labels += [
            svg_element("rect", x=centre[0] + 2, y=y - 11, width=room, height=14, class_="plate"),
            svg_element("text", text=value, x=centre[0] + 4, y=y, class_="label"),
        ]
    names, put_at = list(axes), [place_name(i) for i in range(len(axes))]
    numbers = any(
        text_width(name) > room for name, (*_, room) in zip(names, put_at, strict=True)
    ) or any(_overlapping_labels(names, put_at))
    if numbers:
        names = [str(i) for i in range(1, len(axes) + 1)]
    hidden = _overlapping_labels(names, put_at)
    for i, name in enumerate(axes):
        x, y = place(i, high)
        parts.append(svg_element("line", x1=centre[0], y1=centre[1], x2=x, y2=y, class_="grid"))
        tx, ty, anchor, _ = put_at[i]
        if not hidden[i]:
            parts.append(
                svg_element(
                    "text",
                    svg_element("title", text=name),
                    text=names[i],
                    x=tx,
                    y=ty + 4,
                    text_anchor=anchor,
                    class_="label",
                )
            )
    for k, (_, values) in enumerate(series, start=1):
        corners = " ".join(
            f"{x:.1f},{y:.1f}" for x, y in (place(i, value) for i, value in enumerate(values))
        )
        parts.append(svg_element("polygon", points=corners, class_=f"l{(k - 1) % 6 + 1}"))
    parts += scale_labels  # above the lines, which would cross them
    key, height = numbered_key(axes, y=2 * centre[1], width=width) if numbers else ("", 0.0)
    return svg_drawing(
        width, 2 * centre[1] + height, *parts, key, title=caption, description=described
    )


def _overlapping_labels(
    names: Sequence[str], put_at: Sequence[tuple[float, float, str, float]]
) -> list[bool]:
    """Return for each name whether it would overlap an earlier name that is shown. put_at: x, y,
    text anchor and available width of each."""
    taken: list[tuple[float, float, float]] = []
    meets = []
    for words, (x, y, anchor, _) in zip(names, put_at, strict=True):
        start = x - CHARACTER_WIDTH * len(words) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        end = start + CHARACTER_WIDTH * len(words)
        meets.append(
            any(
                abs(y - other) < LINE_HEIGHT and start < right and left < end
                for left, right, other in taken
            )
        )
        if not meets[-1]:
            taken.append((start, end, y))
    return meets
