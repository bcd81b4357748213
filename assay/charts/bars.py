"""Bar charts: simple, stacked, and histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.charts.svg import (
    CHARACTER_WIDTH,
    LINE_HEIGHT,
    MAX_HEADER_LINES,
    NARROW,
    SHORT_LABEL,
    LinearScale,
    Picture,
    are_whole_numbers,
    axis_margin,
    clamp_centre,
    draw_both_widths,
    draw_bottom_axis,
    draw_left_axis,
    draw_reference_label,
    extra_axis_label_height,
    extra_label_height,
    figure_html,
    format_number,
    is_counting_sequence,
    layout_row_names,
    numbered_key,
    series_legend,
    svg_drawing,
    svg_element,
    text_lines,
    text_width,
    undefined_figure,
    wrap_headers,
    wrap_reference_label,
)

RIGHT_MARGIN, TOP_MARGIN = 12.0, 26.0
MAX_NUMBERED = 12
"""Maximum number of bars whose short labels are replaced by numbers with a key if they do not fit.
With more bars, some short labels are left out."""
NAME_WIDTH = 24
"""Maximum number of characters per line of a row's name."""


def bar_chart(
    labels: Sequence[str],
    values: Sequence[float | None],
    *,
    caption: str,
    unit: str,
    what: str = "",
    reason: str = "Nothing to show yet.",
    height: float = 240.0,
    form: Callable[[float], str] = format_number,
    high: float = 0.0,
) -> Picture:
    """Draw vertical bars, one per label. None is a gap, not a zero.

    what: name of the labels' column in the data table. high: minimum upper end of the axis.
    """
    defined = [v for v in values if v is not None]
    if not defined:
        return undefined_figure(reason, caption=caption)
    whole = are_whole_numbers(defined)
    described = f"{len(labels)} bars from {form(min(defined))} to {form(max(defined))} {unit}."

    def draw(width: float) -> str:
        top = TOP_MARGIN + extra_axis_label_height(unit, width - RIGHT_MARGIN)
        bottom = height - 36 + top - TOP_MARGIN
        scale = LinearScale(0, max(*defined, high) or 1, bottom, top)
        left = axis_margin(scale, form, whole=whole)
        step = (width - left - RIGHT_MARGIN) / len(labels)
        below = _layout_bar_labels(labels, step, width)
        parts = [
            draw_left_axis(
                scale, left=left, right=width - RIGHT_MARGIN, label=unit, form=form, whole=whole
            )
        ]
        for i, (label, value) in enumerate(zip(labels, values, strict=True)):
            x = left + i * step
            if value is not None:
                tip, tall = (
                    svg_element("title", text=f"{label}: {form(value)} {unit}"),
                    max(bottom - scale(value), 0.5),
                )
                parts.append(
                    svg_element(
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
                middle = clamp_centre(
                    x + step / 2, max(below.lines[i], key=text_width, default=""), width
                )
                parts.append(
                    text_lines(
                        below.lines[i], x=middle, first=bottom + 20, anchor="middle", tip=label
                    )
                )
        parts.append(
            svg_element(
                "line", x1=left, x2=width - RIGHT_MARGIN, y1=bottom, y2=bottom, class_="axis"
            )
        )
        bottom += LINE_HEIGHT * (max(map(len, below.lines)) - 1)
        key, more = (
            numbered_key(labels, y=bottom + 32, width=width) if below.numbered else ("", 0.0)
        )
        return svg_drawing(
            width, bottom + 36 + more, *parts, key, title=caption, description=described
        )

    picture = draw_both_widths(draw)
    return figure_html(
        picture, caption=caption, header=[what, unit], rows=list(zip(labels, values, strict=True))
    )


class _BarLabels(NamedTuple):
    """The labels below bars: the lines of each label, whether labels are numbers with a key, and
    the step between the labels shown."""

    lines: list[list[str]]
    numbered: bool = False
    every: int = 1


def _layout_bar_labels(labels: Sequence[str], step: float, width: float) -> _BarLabels:
    """Choose labels that fit. step: width of a bar and its gap in pixels."""
    lines = wrap_headers(labels, step - 4, MAX_HEADER_LINES if width > NARROW else 1)
    if lines is not None:
        return _BarLabels(lines)
    numbered = not is_counting_sequence(labels) and (
        len(labels) <= MAX_NUMBERED or max(map(len, labels)) > SHORT_LABEL
    )
    shown = [str(i) if numbered else label for i, label in enumerate(labels, 1)]
    return _BarLabels(
        [[words] for words in shown],
        numbered,
        max(1, math.ceil((max(map(text_width, shown)) + 6) / step)),
    )


def histogram_chart(
    counts: Sequence[int],
    edges: Sequence[float],
    *,
    caption: str,
    x_label: str,
    unit: str,
    vertical: Sequence[tuple[float, str]] = (),
    reason: str = "Nothing to show yet.",
) -> Picture:
    """Draw adjacent bars. The bar of counts[i] extends from edges[i] to edges[i + 1].

    vertical: (value, name) of reference lines, whose names are placed one below another.
    """
    if not any(counts):
        return undefined_figure(reason, caption=caption)
    described = (
        f"{sum(counts):,} {unit} between {format_number(edges[0])} and {format_number(edges[-1])}."
    )

    def draw(width: float) -> str:
        first = TOP_MARGIN + extra_axis_label_height(unit, width - 14)
        left = axis_margin(LinearScale(0, max(counts), 1, 0), format_number, whole=True)
        across = LinearScale(edges[0], edges[-1], left + 8, width - 22)
        named = [
            LINE_HEIGHT * len(wrap_reference_label(name, x=across(value), width=width))
            for value, name in vertical
        ]
        top = first + sum(named)
        bottom = top + 190
        scale = LinearScale(0, max(counts), bottom, top)
        parts = [
            draw_left_axis(scale, left=left, right=width - 14, label=unit, whole=True),
            draw_bottom_axis(across, top=top, bottom=bottom, label=x_label, width=width),
        ]
        for low, high, n in zip(edges, edges[1:], counts, strict=False):
            if n:
                tip = svg_element(
                    "title", text=f"{format_number(low)} to {format_number(high)}: {n:,} {unit}"
                )
                parts.append(
                    svg_element(
                        "rect",
                        tip,
                        x=across(low),
                        width=across(high) - across(low),
                        y=scale(n),
                        height=bottom - scale(n),
                        class_="g3 bar",
                    )
                )
        lasts = [first + sum(named[: row + 1]) - 6 for row in range(len(named))]
        for (value, _), last, tall in zip(vertical, lasts, named, strict=True):
            x = across(value)
            parts.append(
                svg_element("line", x1=x, x2=x, y1=last - tall + 6, y2=bottom, class_="reference")
            )
        for (value, name), last in zip(vertical, lasts, strict=True):
            parts.append(_draw_plated_label(name, across(value), last, width))
        return svg_drawing(
            width,
            bottom + 44 + extra_label_height(x_label, width),
            *parts,
            title=caption,
            description=described,
        )

    rows: list[list[str | int | float | None]] = [
        [f"{format_number(low)} to {format_number(high)}", n]
        for low, high, n in zip(edges, edges[1:], counts, strict=False)
    ]
    return figure_html(draw_both_widths(draw), caption=caption, header=[x_label, unit], rows=rows)


def _draw_plated_label(name: str, x: float, last: float, width: float) -> str:
    """Draw a reference line's name on an opaque background, so that other lines do not cross it."""
    lines = wrap_reference_label(name, x=x, width=width)
    wide, tall = max(map(text_width, lines)), LINE_HEIGHT * len(lines)
    start = x - 5 - wide if x > width / 2 else x + 2
    plate = svg_element(
        "rect", x=start, y=last + 3 - tall, width=wide + 3, height=tall, class_="plate solid"
    )
    return plate + draw_reference_label(name, x=x, last=last, width=width)


def stacked_bar_chart(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    caption: str,
    what: str = "",
    shares: bool = True,
    counts: Sequence[int] | None = None,
    wholes: Sequence[float] | None = None,
    reason: str = "Nothing to show yet.",
    prefix: str = "s",
    classes: Sequence[str] = (),
    written: bool = False,
) -> Picture:
    """Draw horizontal stacked bars, one per label, with one colour per series.

    shares: scale each bar to its sum, which is written next to it as n, or to its value in
    `wholes`. classes: style class of each series, if the default order of colours does not fit.
    written: write shares into bars if there is room.
    """
    classes = classes or [f"{prefix}{k}" for k in range(1, len(series) + 1)]
    totals = [sum(values[i] for _, values in series) for i in range(len(labels))]
    if not any(totals):
        return undefined_figure(reason, caption=caption)
    beside = [f"n = {format_number(n, 0)}" for n in (totals if counts is None else counts)]
    widest = max(totals)
    of = totals if wholes is None else wholes
    described = f"{len(labels)} bars, each divided into {', '.join(name for name, _ in series)}."

    def draw(width: float) -> str:
        names = layout_row_names(labels, width=width, most=NAME_WIDTH, widest=190.0)
        right = width - max(
            80.0 if width > NARROW else 0.0, 14 + CHARACTER_WIDTH * max(map(len, beside))
        )
        top = TOP_MARGIN if width > NARROW else 4.0
        heights = [names.height(label, 30.0) for label in labels]
        parts = []
        for i, label in enumerate(labels):
            start = top + sum(heights[:i])
            parts.append(
                names.draw(label, top=start - (0 if names.above else 4), height=heights[i], gap=8.0)
            )
            y, x = start + (names.head_height(label) + heights[i] - 30) / 2, names.left
            whole = of[i] if shares else widest
            for of_series, (name, values) in zip(classes, series, strict=True):
                wide = values[i] / whole * (right - names.left) if whole else 0.0
                if wide > 0:
                    share = f"{100 * values[i] / of[i]:.0f}%" if of[i] else ""
                    tip = svg_element(
                        "title", text=f"{label}, {name}: {format_number(values[i])} ({share})"
                    )
                    parts.append(
                        svg_element(
                            "rect", tip, x=x, y=y, width=wide, height=20, class_=f"{of_series} bar"
                        )
                    )
                    if written and wide >= CHARACTER_WIDTH * len(share) + 4:
                        parts.append(_label_background(share, x + wide / 2, y))
                    x += wide
            parts.append(svg_element("text", text=beside[i], x=right + 6, y=y + 16, class_="label"))
        return svg_drawing(
            width, top + sum(heights) + 8, *parts, title=caption, description=described
        )

    picture = draw_both_widths(draw)
    rows = [
        [label, *(values[i] for _, values in series), totals[i]] for i, label in enumerate(labels)
    ]
    return figure_html(
        picture,
        caption=caption,
        header=[what, *(name for name, _ in series), "all"],
        rows=rows,
        key=series_legend([n for n, _ in series], prefix, classes),
    )


def _label_background(share: str, middle: float, y: float) -> str:
    """Draw a background on which the label of a bar's share is legible."""
    room = CHARACTER_WIDTH * len(share)
    return svg_element(
        "rect", x=middle - room / 2, y=y + 3, width=room, height=14, class_="plate"
    ) + svg_element("text", text=share, x=middle, y=y + 14, text_anchor="middle", class_="on-light")
