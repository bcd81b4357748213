"""Heat maps and confusion matrices: cells in nine steps of one colour, each with its number as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from analysis.charts.svg import (
    CHARACTER,
    LINE,
    NARROW,
    centre_inside,
    drawing,
    element,
    figure,
    in_both_widths,
    key_below,
    label_lines,
    legend,
    lines_of,
    names_of_rows,
    number,
    row_name,
    shortened,
    steps_legend,
    undefined,
    width_of,
)

STEPS, NAME = 9, 24


def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    caption: str,
    row_label: str,
    column_label: str,
    high: float | None = None,
    form: Callable[[float], str] = number,
    written: bool = True,
    reason: str = "There is nothing to show yet.",
    classes: Sequence[tuple[float, str]] = (),
) -> str:
    """values: rows x columns, None is an empty (hatched) cell. Darker is more, up to `high`. written: numbers inside the cells,
    for small matrices; every cell has its number as a tooltip and in the table anyway. classes: in place of even steps, (from which value on, its
    words in the legend), ascending, the darkest first."""
    defined = [v for line in values for v in line if v is not None]
    if not defined or not rows or not columns:
        return undefined(reason, caption=caption)
    top_value = high if high is not None else max(defined)
    described = f"{len(rows)} rows ({row_label}) by {len(columns)} columns ({column_label}), from {form(min(defined))} to {form(max(defined))}."
    ways = _MatrixWays(top_value, classes, form, written)

    def draw(width: float) -> str:
        drawn = _narrow if width == NARROW else _wide
        parts, height = drawn(rows, columns, values, column_label, width, ways)
        return drawing(width, height, *parts, title=caption, description=described)

    table_rows = [[name, *(value if value is None or not classes else form(value) for value in values[i])] for i, name in enumerate(rows)]
    empty = any(value is None for line in values for value in line)
    if classes:
        key = legend([words for _, words in classes], classes=[f"g{_step(least, top_value, classes)}" for least, _ in classes])
    else:
        key = steps_legend(form(0.0), form(top_value), steps=STEPS, empty=empty)
    return figure(in_both_widths(draw), caption=caption, header=[row_label, *columns], rows=table_rows, key=key)


class _MatrixWays(NamedTuple):
    """How cells are coloured and written; see `matrix`."""

    high: float
    classes: Sequence[tuple[float, str]]
    form: Callable[[float], str]
    written: bool


Values = Sequence[Sequence[float | None]]


def _wide(
    rows: Sequence[str], columns: Sequence[str], values: Values, column_label: str, width: float, ways: _MatrixWays
) -> tuple[list[str], float]:
    """The parts and their height: names of rows at the left, of columns above."""
    left = min(200.0, 30 + CHARACTER * max(len(name) for name in rows))
    cell_w = min((width - left - 12) / len(columns), 90.0)
    tall = 32.0 if any(len(lines_of(name, NAME)) > 1 for name in rows) else 26.0
    cell_h = tall if ways.written or len(rows) <= 30 else max(4.0, 780.0 / len(rows))
    top = 40.0
    every_row = 1 if cell_h >= 12 else -(-12 // int(cell_h))
    most = max(4, int(cell_w / CHARACTER)) if len(columns) <= 24 else 14
    heads = [shortened(name, most) for name in columns]
    every_column = max(1, math.ceil((CHARACTER * max(map(len, heads)) + 2) / cell_w))
    parts = [element("text", text=shortened(column_label, int((width - left) / CHARACTER)), x=left, y=14, class_="label")]
    for j, name in enumerate(columns):
        if j % every_column == 0:
            tip, middle = element("title", text=name), centre_inside(left + (j + 0.5) * cell_w, heads[j], width)
            parts.append(element("text", tip, text=heads[j], x=middle, y=top - 8, text_anchor="middle", class_="label"))
    for i, name in enumerate(rows):
        y = top + i * cell_h
        if i % every_row == 0:
            room = max(1, int(cell_h * every_row / LINE))
            parts.append(row_name(name, x=left - 8, y=y + cell_h / 2, most=NAME, room=room))
        for j in range(len(columns)):
            parts.append(_cell(left + j * cell_w, y, cell_w, cell_h, values[i][j], f"{name}, {columns[j]}", ways))
    return parts, top + len(rows) * cell_h + 8


def _narrow(
    rows: Sequence[str], columns: Sequence[str], values: Values, column_label: str, width: float, ways: _MatrixWays
) -> tuple[list[str], float]:
    """As `_wide`, with long names above their rows and numbers in place of columns' names that have no room: of rows that are the columns,
    too, their numbers stand before the rows' names, otherwise a key stands below. Cells have no tooltips: a finger does not ask for them."""
    numbered = any(width_of(name) > (width - 40) / len(columns) for name in columns) and not all(name.isdigit() for name in columns)
    same = numbered and list(rows) == list(columns)
    names = [f"{i}: {name}" for i, name in enumerate(rows, 1)] if same else list(rows)
    room = names_of_rows(names, width=width, most=NAME, widest=190.0)
    left = 2.0 if room.above else room.left
    cell_w = min((width - left - 2) / len(columns), 90.0)
    cell_h = 26.0 if ways.written or len(rows) <= 30 else max(4.0, 780.0 / len(rows))
    every_row = 1 if cell_h >= 12 or room.above else -(-12 // int(cell_h))
    heads = [str(j) if numbered else name for j, name in enumerate(columns, 1)]
    every_column = max(1, math.ceil((max(map(width_of, heads)) + 2) / cell_w))
    said = label_lines(column_label, width)
    parts = [element("text", text=line, x=2, y=14 + LINE * i, class_="label") for i, line in enumerate(said)]
    y = 26.0 + LINE * len(said)
    for j, head in enumerate(heads):
        if j % every_column == 0:
            middle = centre_inside(left + (j + 0.5) * cell_w, head, width)
            parts.append(element("text", text=head, x=middle, y=y - 8, text_anchor="middle", class_="label"))
    for i, name in enumerate(names):
        height = room.head(name) + cell_h
        if i % every_row == 0:
            parts.append(room.drawn(name, top=y, height=height, gap=8.0))
        for j in range(len(columns)):
            parts.append(_cell(left + j * cell_w, y + room.head(name), cell_w, cell_h, values[i][j], "", ways))
        y += height
    key, more = key_below(columns, y=y + 4, width=width) if numbered and not same else ("", 0.0)
    return [*parts, key], y + 8 + more


def _step(value: float | None, high: float, classes: Sequence[tuple[float, str]]) -> int:
    """The darkness of a cell, from 0."""
    if value is None:
        return 0
    if classes:
        number_of = max(k for k, (least, _) in enumerate(classes) if value >= least)
        return round((len(classes) - 1 - number_of) / max(len(classes) - 1, 1) * (STEPS - 1))
    return 0 if high <= 0 else min(STEPS - 1, max(0, round(value / high * (STEPS - 1))))


def _cell(x: float, y: float, w: float, h: float, value: float | None, name: str, ways: _MatrixWays) -> str:
    """name: for the tooltip; none without it."""
    if value is None:
        tip = element("title", text=f"{name}: undefined") if name else ""
        return element("rect", tip, x=x + 0.5, y=y + 0.5, width=w - 1, height=max(h - 1, 1), class_="empty-cell")
    gap, words, step = 1 if h >= 8 else 0, ways.form(value), _step(value, ways.high, ways.classes)
    box = element("rect", element("title", text=f"{name}: {words}") if name else "", x=x + 0.5, y=y, width=w - 1, height=h - gap, class_=f"g{step}")
    if not ways.written or w < (24 if name else width_of(words) + 4):
        return box
    return box + element("text", text=words, x=x + w / 2, y=y + h / 2 + 4, text_anchor="middle", class_="on-dark" if step >= 5 else "on-light")
