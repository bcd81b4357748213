"""Line charts over a numeric axis, with confidence bands, marks and reference lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay.charts.svg import (
    WIDTH,
    Cell,
    LinearScale,
    Picture,
    axis_margin,
    choose_date_ticks,
    draw_both_widths,
    draw_bottom_axis,
    draw_left_axis,
    draw_reference_label,
    extra_axis_label_height,
    extra_label_height,
    figure_html,
    format_day,
    format_number,
    series_legend,
    svg_drawing,
    svg_element,
    undefined_figure,
)

RIGHT_MARGIN, TOP_MARGIN = 22.0, 26.0
Point = tuple[float, float | None]


@dataclass(frozen=True)
class Line:
    """One line of a chart. points: (x, y), with y None if undefined, which interrupts the line.
    low, high: bounds of an interval around y, or empty."""

    name: str
    points: Sequence[Point]
    low: Sequence[float | None] = field(default_factory=list)
    high: Sequence[float | None] = field(default_factory=list)
    marks: bool = False
    thin: bool = False
    """Whether the line is fitted or computed rather than measured. `style` is the number from 1 of
    the series with the same colour."""
    style: int = 0


def line_chart(
    series: Sequence[Line],
    *,
    caption: str,
    x_label: str,
    y_label: str,
    y_low: float | None = None,
    y_high: float | None = None,
    x_form: Callable[[float], str] = format_number,
    y_form: Callable[[float], str] = format_number,
    x_at: Sequence[float] | None = None,
    vertical: Sequence[tuple[float, str]] = (),
    horizontal: Sequence[tuple[float, str]] = (),
    reason: str = "Nothing to show yet.",
    height: float = 280.0,
    whole: bool = False,
    dates: bool = False,
    width: float = WIDTH,
) -> Picture:
    """Draw one line per series. Colour and dash distinguish up to six.

    vertical, horizontal: (value, name) of reference lines. whole: y is a count. dates: x is a day
    (`date.toordinal`). width: width of the wide form in pixels.
    """
    x_form = format_day if dates else x_form
    xs = [x for line in series for x, y in line.points if y is not None]
    ys = [y for line in series for _, y in line.points if y is not None and math.isfinite(y)]
    ys += [v for line in series for v in (*line.low, *line.high) if v is not None]
    if not ys:
        return undefined_figure(reason, caption=caption)
    ys += [v for v, _ in horizontal]
    xs += [v for v, _ in vertical]
    low, high = min(ys) if y_low is None else y_low, max(ys) if y_high is None else y_high
    if y_high is None and high > low:
        high += (high - low) * 0.04  # points stay clear of the frame
    if y_low is None and high > low:
        low -= (high - low) * 0.04
    described = "; ".join(_describe_line(line, x_form, y_form) for line in series)

    def draw(width: float) -> str:
        top = TOP_MARGIN + extra_axis_label_height(y_label, width - RIGHT_MARGIN)
        bottom = height - 44 + top - TOP_MARGIN
        y_scale = LinearScale(low, high if high > low else low + 1, bottom, top)
        left = axis_margin(y_scale, y_form, whole=whole)
        x_scale = LinearScale(
            min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1, left + 8, width - RIGHT_MARGIN
        )
        ticks = choose_date_ticks(min(xs), max(xs), 4) if dates else {}
        parts = [
            draw_left_axis(
                y_scale,
                left=left,
                right=width - RIGHT_MARGIN,
                label=y_label,
                form=y_form,
                whole=whole,
            ),
            draw_bottom_axis(
                x_scale,
                top=top,
                bottom=bottom,
                label=x_label,
                at=x_at,
                form=x_form,
                ticks=ticks,
                width=width,
            ),
        ]
        for value, name in horizontal:
            parts.append(
                svg_element(
                    "line",
                    x1=left,
                    x2=width - RIGHT_MARGIN,
                    y1=y_scale(value),
                    y2=y_scale(value),
                    class_="reference",
                )
            )
            parts.append(
                draw_reference_label(
                    name, x=width - RIGHT_MARGIN + 2, last=y_scale(value) - 4, width=width, most=40
                )
            )
        for value, name in vertical:
            parts.append(
                svg_element(
                    "line",
                    x1=x_scale(value),
                    x2=x_scale(value),
                    y1=top,
                    y2=bottom,
                    class_="reference",
                )
            )
            parts.append(draw_reference_label(name, x=x_scale(value), last=bottom - 6, width=width))
        for k, line in enumerate(series, start=1):
            style = ((line.style or k) - 1) % 6 + 1
            parts += [
                _interval_band(line, x_scale, y_scale, style),
                *_line_segments(line, x_scale, y_scale, style),
            ]
        return svg_drawing(
            width,
            bottom + 44 + extra_label_height(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    picture = draw_both_widths(draw, width)
    key = (
        series_legend([line.name for line in series if not line.thin], "l")
        if len(series) > 1
        else ""
    )
    header, rows = _table_rows(series, x_label, x_form)
    return figure_html(picture, caption=caption, header=header, rows=rows, key=key)


def _interval_band(line: Line, x_scale: LinearScale, y_scale: LinearScale, style: int) -> str:
    inside = [
        (x, lo, hi)
        for (x, _), lo, hi in zip(line.points, line.low, line.high, strict=False)
        if lo is not None and hi is not None
    ]
    if len(inside) < 2:
        return ""
    up = [f"{x_scale(x):.1f},{y_scale(hi):.1f}" for x, _, hi in inside]
    down = [f"{x_scale(x):.1f},{y_scale(lo):.1f}" for x, lo, _ in reversed(inside)]
    return svg_element("polygon", points=" ".join(up + down), class_=f"s{style} band")


def _line_segments(line: Line, x_scale: LinearScale, y_scale: LinearScale, style: int) -> list[str]:
    parts, stretch = [], []
    for x, y in [*line.points, (0.0, None)]:
        if y is not None and math.isfinite(y):
            stretch.append(f"{x_scale(x):.1f},{y_scale(y):.1f}")
            if line.marks:
                parts.append(
                    svg_element("circle", cx=x_scale(x), cy=y_scale(y), r=3, class_=f"s{style}")
                )
        elif stretch:
            parts.append(
                svg_element(
                    "polyline",
                    points=" ".join(stretch),
                    class_=f"l{style} thin" if line.thin else f"l{style}",
                )
            )
            if len(stretch) == 1 and not line.marks:
                cx, cy = stretch[0].split(",")
                parts.append(svg_element("circle", cx=cx, cy=cy, r=3, class_=f"s{style}"))
            stretch = []
    return parts


def _describe_line(
    line: Line, x_form: Callable[[float], str], y_form: Callable[[float], str]
) -> str:
    defined = [(x, y) for x, y in line.points if y is not None]
    if not defined:
        return f"{line.name}: undefined throughout"
    (x0, y0), (x1, y1) = defined[0], defined[-1]
    return f"{line.name}: from {y_form(y0)} at {x_form(x0)} to {y_form(y1)} at {x_form(x1)}"


def _table_rows(
    series: Sequence[Line], x_label: str, x_form: Callable[[float], str]
) -> tuple[list[str], list[list[Cell]]]:
    header = [x_label]
    columns: list[dict[float, Cell]] = []
    for line in series:
        header.append(line.name)
        columns.append(dict(line.points))
        if line.low:
            header += ["low", "high"]
            columns += [
                dict(zip((x for x, _ in line.points), side, strict=False))
                for side in (line.low, line.high)
            ]
    xs = sorted({x for line in series for x, _ in line.points})
    return header, [[x_form(x), *(column.get(x) for column in columns)] for x in xs]
