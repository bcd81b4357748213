"""Heat maps and confusion matrices: cells in nine shades of one colour, each with its number as
text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.charts.svg import (
    CHARACTER_WIDTH,
    LINE_HEIGHT,
    MAX_HEADER_LINES,
    NARROW,
    Picture,
    RowNameLayout,
    clamp_centre,
    draw_both_widths,
    figure_html,
    format_number,
    is_counting_sequence,
    layout_row_names,
    numbered_key,
    series_legend,
    steps_legend,
    svg_drawing,
    svg_element,
    text_lines,
    text_width,
    undefined_figure,
    wrap_headers,
    wrap_label,
)

N_SHADES, MAX_NAME_CHARACTERS, MAX_NAME_WIDTH = 9, 24, 190.0
"""Number of shades, maximum number of characters per line of a row's name, and maximum width of
rows' names in pixels."""
CELL_WIDTH = 90.0
"""Maximum width of a cell in pixels. It may double if its column's name needs the room."""


def matrix_chart(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    caption: str,
    row_label: str,
    column_label: str,
    high: float | None = None,
    form: Callable[[float], str] = format_number,
    written: bool = True,
    reason: str = "Nothing to show yet.",
    classes: Sequence[tuple[float, str]] = (),
) -> Picture:
    """Draw a matrix in which darker cells have higher values, up to `high`.

    values: (rows, columns), None for an empty cell, which is hatched. written: write numbers into
    the cells. The tooltips and the data table have them in any case. classes: (lower bound, label
    in the legend) of each shade, ascending, used instead of equal steps.
    """
    defined = [v for line in values for v in line if v is not None]
    if not defined or not rows or not columns:
        return undefined_figure(reason, caption=caption)
    top_value = high if high is not None else max(defined)
    described = (
        f"{len(rows)} rows ({row_label}) by {len(columns)} columns ({column_label}), from "
        f"{form(min(defined))} to {form(max(defined))}."
    )
    style = _MatrixStyle(top_value, classes, form, written)

    def draw(width: float) -> str:
        parts, height = _layout_matrix(rows, columns, values, column_label, width, style)
        return svg_drawing(width, height, *parts, title=caption, description=described)

    table_rows = [
        [name, *(value if value is None or not classes else form(value) for value in values[i])]
        for i, name in enumerate(rows)
    ]
    empty = any(value is None for line in values for value in line)
    if classes:
        key = series_legend(
            [words for _, words in classes],
            classes=[f"g{_colour_step(least, top_value, classes)}" for least, _ in classes],
        )
    else:
        key = steps_legend(form(0.0), form(top_value), steps=N_SHADES, empty=empty)
    return figure_html(
        draw_both_widths(draw),
        caption=caption,
        header=[row_label, *columns],
        rows=table_rows,
        key=key,
    )


class _MatrixStyle(NamedTuple):
    """Colours and labels of a matrix's cells. Fields as for `matrix_chart`."""

    high: float
    classes: Sequence[tuple[float, str]]
    form: Callable[[float], str]
    written: bool


Values = Sequence[Sequence[float | None]]


def _layout_matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Values,
    column_label: str,
    width: float,
    style: _MatrixStyle,
) -> tuple[list[str], float]:
    """Return (the parts of the drawing, its height).

    Names of rows are at the left, or above their rows if they are long and the form is narrow.
    Names of columns are above. If they do not fit, numbers replace them. A key below explains the
    numbers, unless rows and columns have the same names: then each row's name begins with its
    number. The narrow form has no tooltips, because touch screens do not show them.
    """
    narrow = width == NARROW
    heads, widest = _layout_headers(rows, columns, width)
    numbered = heads is None and not is_counting_sequence(columns)
    same = numbered and list(rows) == list(columns)
    names = [f"{i}: {name}" for i, name in enumerate(rows, 1)] if same else list(rows)
    room = layout_row_names(names, width=width, most=MAX_NAME_CHARACTERS, widest=MAX_NAME_WIDTH)
    left = 2.0 if room.above else room.left
    cell_w = min((width - left - (2 if narrow else 12)) / len(columns), widest)
    said = wrap_label(column_label, int((width - (4 if narrow else left)) / CHARACTER_WIDTH))
    if heads is None:
        heads = [[str(j) if numbered else name] for j, name in enumerate(columns, 1)]
    deepest = max(map(len, heads))
    y = 26.0 + LINE_HEIGHT * (len(said) + deepest - 1)
    every = 1
    if deepest == 1 and (numbered or is_counting_sequence(columns)):
        every = max(
            1, math.ceil((max(text_width(line) for lines in heads for line in lines) + 2) / cell_w)
        )
    parts = (
        [text_lines(said, x=2.0 if narrow else left, first=14.0, anchor="start")] if said else []
    )
    for j, lines in enumerate(heads):
        if j % every == 0:
            middle = clamp_centre(
                left + (j + 0.5) * cell_w, max(lines, key=text_width, default=""), width
            )
            parts.append(
                text_lines(
                    lines,
                    x=middle,
                    first=y - 8 - LINE_HEIGHT * (len(lines) - 1),
                    anchor="middle",
                    tip="" if narrow else columns[j],
                )
            )
    drawn, bottom = _draw_rows(
        names, rows, columns, values, y, left, cell_w, room, style, tips=not narrow
    )
    key, more = (
        numbered_key(columns, y=bottom + 4, width=width) if numbered and not same else ("", 0.0)
    )
    return [*parts, *drawn, key], bottom + 8 + more


def _layout_headers(
    rows: Sequence[str], columns: Sequence[str], width: float
) -> tuple[list[list[str]] | None, float]:
    """Return (the lines of each column's name, or None if they do not fit; the maximum width of a
    cell, which is increased if names then fit)."""
    if width == NARROW:
        names = layout_row_names(rows, width=width, most=MAX_NAME_CHARACTERS, widest=MAX_NAME_WIDTH)
        return wrap_headers(
            columns,
            min((width - (2.0 if names.above else names.left) - 2) / len(columns), CELL_WIDTH),
            1,
        ), CELL_WIDTH
    room = (
        width
        - layout_row_names(rows, width=width, most=MAX_NAME_CHARACTERS, widest=MAX_NAME_WIDTH).left
        - 12
    ) / len(columns)
    for widest in (CELL_WIDTH, 2 * CELL_WIDTH):
        heads = wrap_headers(columns, min(room, widest) - 4, MAX_HEADER_LINES)
        if heads is not None:
            return heads, widest
    return None, CELL_WIDTH


def _draw_rows(
    names: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
    values: Values,
    y: float,
    left: float,
    cell_w: float,
    room: RowNameLayout,
    style: _MatrixStyle,
    *,
    tips: bool,
) -> tuple[list[str], float]:
    """Draw the rows from y downwards. Return (the parts, the y where they end).

    names: names as shown. rows: full names for tooltips. If rows are lower than a line of text,
    only some are named.
    """
    cell_h = 26.0 if style.written or len(rows) <= 30 else max(4.0, 780.0 / len(rows))
    n_lines = [len(wrap_label(name, room.most)) for name in names]
    every = 1 if cell_h >= 12 or room.above else math.ceil(LINE_HEIGHT * max(n_lines) / cell_h)
    parts = []
    for i, name in enumerate(names):
        words = LINE_HEIGHT * n_lines[i] + (6 if n_lines[i] > 1 else -LINE_HEIGHT)
        tall = cell_h if every > 1 or room.above else max(cell_h, words)
        if i % every == 0:
            parts.append(
                room.draw(name, top=y, height=room.head_height(name) + max(tall, words), gap=8.0)
            )
        for j in range(len(columns)):
            parts.append(
                _draw_cell(
                    left + j * cell_w,
                    y + room.head_height(name),
                    cell_w,
                    tall,
                    values[i][j],
                    f"{rows[i]}, {columns[j]}" if tips else "",
                    style,
                )
            )
        y += room.head_height(name) + tall
    return parts, y + (LINE_HEIGHT * (max(n_lines) - 1) if every > 1 else 0)


def _colour_step(value: float | None, high: float, classes: Sequence[tuple[float, str]]) -> int:
    """Return the shade of a cell, from 0 (lightest)."""
    if value is None:
        return 0
    if classes:
        number_of = max(k for k, (least, _) in enumerate(classes) if value >= least)
        return round((len(classes) - 1 - number_of) / max(len(classes) - 1, 1) * (N_SHADES - 1))
    return 0 if high <= 0 else min(N_SHADES - 1, max(0, round(value / high * (N_SHADES - 1))))


def _draw_cell(
    x: float, y: float, w: float, h: float, value: float | None, name: str, style: _MatrixStyle
) -> str:
    """Draw a cell. name: its tooltip, empty for none."""
    if value is None:
        tip = svg_element("title", text=f"{name}: undefined") if name else ""
        return svg_element(
            "rect",
            tip,
            x=x + 0.5,
            y=y + 0.5,
            width=w - 1,
            height=max(h - 1, 1),
            class_="empty-cell",
        )
    gap, words, step = (
        1 if h >= 8 else 0,
        style.form(value),
        _colour_step(value, style.high, style.classes),
    )
    box = svg_element(
        "rect",
        svg_element("title", text=f"{name}: {words}") if name else "",
        x=x + 0.5,
        y=y,
        width=w - 1,
        height=h - gap,
        class_=f"g{step}",
    )
    if not style.written or w < (max(24.0, 6 * len(words)) if name else text_width(words) + 4):
        return box
    return box + svg_element(
        "text",
        text=words,
        x=x + w / 2,
        y=y + h / 2 + 4,
        text_anchor="middle",
        class_="on-dark" if step >= 5 else "on-light",
    )
