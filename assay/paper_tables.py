r"""Tables for papers with two columns, in LaTeX.

to_paper_latex(table)  # for \input, with \usepackage{array,booktabs}

The text is at most 9 points (\small) and at least 7. A table is set in one column if it fits, and
across both otherwise. One that is too wide or too long is split into parts with the same number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.significant_digits import PValue
from assay.tabular import (
    MARK_COMMANDS,
    Cell,
    Table,
    escape_latex,
    latex_group_line,
    latex_line,
    letter_requirements,
)

COLUMN_WIDTH, TEXT_WIDTH, TEXT_HEIGHT = 239.0, 504.0, 560.0
"""Points of a column (3.33 in), of both (7 in), and of a page without room for captions."""
SIZES = (
    (9.0, r"\small"),
    (8.0, r"\fontsize{8}{9.6}\selectfont"),
    (7.0, r"\fontsize{7}{8.4}\selectfont"),
)
"""(points, LaTeX command) of the text, from the preferred size to the smallest."""
LETTER_WIDTHS = {
    letter: width
    for letters, width in (
        ("ijl.,:;'|![ ]", 0.3),
        ("frstcezI()-/", 0.45),
        ("0123456789", 0.5),
        ("wmæœ@#%&+−=<>≥≤", 0.84),
        ("MW—→…", 1.03),
    )
    for letter in letters
}
FONT_FACTORS = {9.0: 1.03, 8.0: 1.07, 7.0: 1.15}
"""Widths of letters relative to the size of the text in Computer Modern, and of its small sizes
relative to 10 points. It is wider than most fonts of papers."""
GAP = 6.0
"""Points between columns."""
LINE_FACTOR = 1.25
"""Distance of lines relative to the size of the text."""
WRAPPED_CHARACTERS = 28
"""Number of characters from which the cells of a text column may be wrapped."""
MIN_WRAPPED_WIDTH = 95.0
"""Minimum points of a wrapped column."""
PARTS_PER_CLEARPAGE = 12
"""Number of parts after which pages are ended, because LaTeX holds a limited number of floats."""
LONG_WORD = re.compile(r"\S{22,}")
MARK_FORMAT = r"\raisebox{.4ex}{\fontsize{7}{7}\selectfont %s}"
"""A sign after a cell. Superscripts would be smaller than 7 points."""


def to_paper_latex(table: Table) -> str:
    """Format the table for a paper with two columns.

    Numbers have three decimals (the table's digits if they are fewer) and no leading zero if their
    column has none above 1. Columns without values are left out and named in the caption, which
    also has the sentence of a column that repeats it in every row.
    """
    table, remarks = _drop_columns(table)
    measured = _MeasuredTable(table, format_cells(table))
    parts = list(_split_table(measured))
    lines = [r"% needs \usepackage{array,booktabs}"]
    for number, part in enumerate(parts):
        if number and number % PARTS_PER_CLEARPAGE == 0:
            lines.append(r"\clearpage")
        lines += _format_float(measured, part, number, len(parts), remarks)
    text = "\n".join(lines[1:]) + "\n"
    return "\n".join([lines[0], *letter_requirements(text), text])


@dataclass(frozen=True)
class _Layout:
    """Layout of one part of a table. wide: across both columns. size: index in SIZES. wrapped:
    points of the wrapped columns."""

    wide: bool
    size: int
    wrapped: dict[int, float]


class _MeasuredTable:
    """A table, its cells as text, the lines of each column's header, and at each size the points
    of each column that is not wrapped."""

    def __init__(self, table: Table, shown: list[list[str]]) -> None:
        self.table, self.shown, self.numeric = table, shown, table.numeric
        self.headers = [_header_lines(table, shown, i) for i in range(len(table.header))]
        self.widths = {
            points: _column_widths(table, shown, self.headers, points) for points, _ in SIZES
        }


@dataclass(frozen=True)
class _Part:
    rows: range
    columns: list[int]
    layout: _Layout


def _drop_columns(table: Table) -> tuple[Table, list[str]]:
    """Return the table without columns that have no value or the same sentence in every row, and
    sentences on them for the caption."""
    everything = range(len(table.header))
    empty = [
        i
        for i in everything
        if all(row[i] is None or row[i] == "" or row[i] != row[i] for row in table.rows)
    ]
    constant = [
        i
        for i in everything
        if len(table.rows) > 1
        and len({row[i] for row in table.rows}) == 1
        and len(str(table.rows[0][i])) > WRAPPED_CHARACTERS
    ]
    kept = [i for i in everything if i not in empty and i not in constant]
    if not table.rows or not kept or len(kept) == len(everything):
        return table, []
    sentences = (
        [f"Without values, and therefore left out: {', '.join(table.columns[i] for i in empty)}"]
        if empty
        else []
    )
    sentences += [
        f"{table.columns[i][:1].upper()}{table.columns[i][1:]}: {table.rows[0][i]}"
        for i in constant
    ]
    new = {old: i for i, old in enumerate(kept)}
    digits = [*table.digits, *[None] * (len(table.header) - len(table.digits))]
    return replace(
        table,
        header=[table.header[i] for i in kept],
        rows=[[row[i] for i in kept] for row in table.rows],
        heads=_select_heads(table, kept),
        bold=frozenset((row, new[i]) for row, i in table.bold if i in new),
        marks={(row, new[i]): sign for (row, i), sign in table.marks.items() if i in new},
        digits=[digits[i] for i in kept],
    ), sentences


def _select_heads(table: Table, columns: Sequence[int]) -> list[tuple[str, int]]:
    """Return the heads of these columns. Adjacent ones of the same group stay together."""
    groups = [group for group, (_, n) in enumerate(table.heads) for _ in range(n)]
    heads: list[tuple[int, int]] = []
    for group in (groups[i] for i in columns if groups):
        if heads and heads[-1][0] == group:
            heads[-1] = (group, heads[-1][1] + 1)
        else:
            heads.append((group, 1))
    return [(table.heads[group][0], n) for group, n in heads]


def format_cells(table: Table) -> list[list[str]]:
    """Return the cells as text that is not yet escaped."""
    columns = [_format_column(table, i) for i in range(len(table.header))]
    return [list(row) for row in zip(*columns, strict=True)]


def _format_column(table: Table, column: int) -> list[str]:
    numbers = [
        abs(value)
        for row in table.rows
        if isinstance(value := row[column], float) and math.isfinite(value)
    ]
    most = max(numbers, default=0.0)
    digits = table.digits[column] if column < len(table.digits) else None
    usual = 3 if most <= 1 else 2 if most < 100 else 1
    if most > 1 and all(number.is_integer() for number in numbers):
        usual = 0
    decimals = usual if digits is None else min(digits, 3)
    return [
        _format_shown_cell(table, row, column, decimals, strip=most <= 1)
        for row in range(len(table.rows))
    ]


def _format_shown_cell(table: Table, row: int, column: int, decimals: int, *, strip: bool) -> str:
    value: Cell = table.rows[row][column]
    text = table.shown(row, column)
    if not isinstance(value, float) or not math.isfinite(value):
        return text
    if not isinstance(value, PValue) and (value == 0 or abs(value) >= 0.5 * 10**-decimals):
        text = f"{value:.{decimals}f}"  # otherwise small numbers keep their digits
    if strip:
        text = re.sub(r"(?<![\d.])0\.(?=\d)", ".", text)
    return text.replace("-", "−")


def _text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper estimate of the width of a text, in points. size: font size in points."""
    ems = sum(LETTER_WIDTHS.get(letter, 0.75 if letter.isupper() else 0.53) for letter in text)
    return ems * size * FONT_FACTORS[size] * (1.15 if bold else 1)


def _column_widths(
    table: Table, shown: list[list[str]], headers: list[list[str]], size: float
) -> list[float]:
    """Return an upper estimate of the width of each column without wrapped cells, in points.

    size: font size in points.
    """
    widths = []
    for i, lines in enumerate(headers):
        cells = [
            _text_width(row[i] + table.marks.get((r, i), ""), size, bold=(r, i) in table.bold)
            for r, row in enumerate(shown)
        ]
        widths.append(max([*(_text_width(line, size) for line in lines), *cells]))
    return widths


def _header_lines(table: Table, shown: list[list[str]], column: int) -> list[str]:
    """Return the header in lines that are not much wider than the cells."""
    room = max([8, *(len(row[column]) for row in shown)])
    lines = [""]
    for word in table.header[column].split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _lay_out(measured: _MeasuredTable, columns: Sequence[int]) -> _Layout | None:
    """Return the first layout in which the columns fit, or None."""
    for wide in (False, True):
        room = TEXT_WIDTH if wide else COLUMN_WIDTH
        for size, (points, _) in enumerate(SIZES):
            widths = measured.widths[points]
            total = _heads_width(measured.table, columns, widths, points) + GAP * (len(columns) - 1)
            if total <= room:
                return _Layout(wide, size, {})
            if wrapped := _wrapped_widths(measured, columns, widths, room):
                return _Layout(wide, size, wrapped)
    return None


def _heads_width(
    table: Table, columns: Sequence[int], widths: Sequence[float], points: float
) -> float:
    """Return the points of the columns, which are widened by wider heads of their groups."""
    total, first = 0.0, 0
    heads = _select_heads(table, columns) or [("", len(columns))]
    for words, n in heads:
        within = sum(widths[i] for i in columns[first : first + n]) + GAP * (n - 1)
        total += max(within, _text_width(words, points)) - GAP * (n - 1)
        first += n
    return total


def _wrapped_widths(
    measured: _MeasuredTable,
    columns: Sequence[int],
    widths: Sequence[float],
    room: float,
) -> dict[int, float]:
    """Return the points of wrapped columns, or nothing if the others leave too little room."""
    long = [
        i
        for i in columns
        if not measured.numeric[i]
        and max((len(row[i]) for row in measured.shown), default=0) > WRAPPED_CHARACTERS
    ]
    if not long:
        return {}
    left = room - sum(widths[i] for i in columns if i not in long) - GAP * (len(columns) - 1)
    least = [min(MIN_WRAPPED_WIDTH, widths[i]) for i in long]
    spare = left - sum(least)
    if spare < 0:
        return {}
    wanted = [math.sqrt(max(widths[i] - low, 0.0)) for i, low in zip(long, least, strict=True)]
    return {
        i: min(low + spare * want / (sum(wanted) or 1), widths[i])
        for i, low, want in zip(long, least, wanted, strict=True)
    }


def _split_table(measured: _MeasuredTable) -> Iterator[_Part]:
    """Divide the table by columns, then by rows."""
    for columns in _split_columns(measured):
        layout = _lay_out(measured, columns) or _Layout(True, len(SIZES) - 1, {})
        for rows in _split_rows(measured.table, measured.shown, columns, layout):
            yield _Part(rows, columns, layout)


def _split_columns(measured: _MeasuredTable) -> list[list[int]]:
    """Return groups of columns that fit the page. All begin with the table's first text columns."""
    table, shown = measured.table, measured.shown
    everything = list(range(len(table.header)))
    if _lay_out(measured, everything):
        return [everything]
    n_names = next((i for i, number in enumerate(measured.numeric) if number), 1)
    names = everything[: max(1, min(n_names, 2), _count_distinguishing_columns(shown, n_names))]
    groups = [list(names)]
    for chunk in _group_columns(measured, names):
        if len(groups[-1]) > len(names) and not _lay_out(measured, [*groups[-1], *chunk]):
            groups.append(list(names))
        groups[-1] += chunk
    return groups


def _count_distinguishing_columns(shown: list[list[str]], most: int) -> int:
    """Return how many of the first columns distinguish the rows, at most `most`."""
    return next(
        (n for n in range(1, most) if len({tuple(row[:n]) for row in shown}) == len(shown)), most
    )


def _group_columns(measured: _MeasuredTable, names: Sequence[int]) -> Iterator[list[int]]:
    """Return the columns after the names, with those of a head together if they fit the page."""
    table, first = measured.table, 0
    for _, n in table.heads or [("", 1)] * len(table.header):
        columns = [i for i in range(first, first + n) if i not in names]
        first += n
        if columns and _lay_out(measured, [*names, *columns]):
            yield columns
        else:
            yield from ([i] for i in columns)


def _split_rows(
    table: Table, shown: list[list[str]], columns: Sequence[int], layout: _Layout
) -> Iterator[range]:
    """Return ranges of rows, each at most a page high, of about the same height."""
    heights = [
        _row_height(shown[r], columns, layout)
        + (SIZES[layout.size][0] * LINE_FACTOR if r in table.groups else 0)
        for r in range(len(shown))
    ]
    room = TEXT_HEIGHT - 10.5 * math.ceil(
        len(table.title + table.note) / (115 if layout.wide else 52)
    )
    room = max(room, 200.0)
    n_parts = math.ceil(sum(heights) / room) or 1
    share, start, height = sum(heights) / n_parts, 0, 0.0
    for r, one in enumerate(heights):
        if r > start and (height + one > room or height >= share):
            yield range(start, r)
            start, height = r, 0.0
        height += one
    yield range(start, len(shown))


def _row_height(row: Sequence[str], columns: Sequence[int], layout: _Layout) -> float:
    points = SIZES[layout.size][0]
    lines = max(
        [
            1,
            *(
                math.ceil(1.15 * _text_width(row[i], points) / width)
                for i, width in layout.wrapped.items()
                if i in columns
            ),
        ]
    )
    return lines * points * LINE_FACTOR


def _format_float(
    measured: _MeasuredTable,
    part: _Part,
    number: int,
    n_parts: int,
    remarks: Sequence[str],
) -> list[str]:
    kind = "table*" if part.layout.wide else "table"
    table, numeric, wrapped = measured.table, measured.numeric, part.layout.wrapped
    columns = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{wrapped[i]:.0f}pt}}"
        if i in wrapped
        else "r"
        if numeric[i]
        else "l"
        for i in part.columns
    )
    label = f"tab:{table.key}" + (f"-{number + 1}" if number else "")
    return [
        rf"\begin{{{kind}}}",
        *([r"\addtocounter{table}{-1}"] if number else []),
        rf"\caption{{{_format_caption(table, number, n_parts, remarks)}}}",
        rf"\label{{{label}}}\vspace{{3pt}}",
        r"\centering",
        rf"{SIZES[part.layout.size][1]}\setlength{{\tabcolsep}}{{{GAP / 2:.0f}pt}}",
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        *_format_head_lines(measured, part),
        r"\midrule",
        *_format_row_lines(table, measured.shown, part),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{kind}}}",
    ]


def _format_caption(table: Table, number: int, n_parts: int, remarks: Sequence[str]) -> str:
    title = f"{table.title} (part {number + 1} of {n_parts})" if n_parts > 1 else table.title
    if number:
        return escape_latex(title)
    sentences = [title.rstrip("."), table.note.rstrip("."), *remarks]
    whole = ". ".join(filter(None, sentences))
    return escape_latex(f"{whole}." if len([one for one in sentences if one]) > 1 else whole)


def _format_head_lines(measured: _MeasuredTable, part: _Part) -> list[str]:
    table, lines = measured.table, []
    if table.heads:
        heads = _select_heads(table, part.columns)
        lines.append(
            latex_line(
                [rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(words)}}}" for words, n in heads]
            )
        )
        rules, first = [], 1
        for words, n in heads:
            rules += [rf"\cmidrule(lr){{{first}-{first + n - 1}}}"] if words else []
            first += n
        lines.append(" ".join(rules))
    names = [
        [table.header[i]] if i in part.layout.wrapped else measured.headers[i] for i in part.columns
    ]
    n_lines = max(map(len, names))
    for k in range(n_lines):
        lines.append(
            latex_line(
                [
                    escape_latex(name[k - n_lines + len(name)]) if k >= n_lines - len(name) else ""
                    for name in names
                ]
            )
        )
    return lines


def _format_row_lines(table: Table, shown: list[list[str]], part: _Part) -> Iterator[str]:
    for r in part.rows:
        if r in table.ruled and r > part.rows.start:
            yield r"\midrule"
        if group := table.groups.get(r) or (_group_of(table, r) if r == part.rows.start else ""):
            yield latex_group_line(group, len(part.columns))
        yield latex_line(
            [
                _format_cell(table, shown, r, i, wrapped=i in part.layout.wrapped)
                for i in part.columns
            ]
        )


def _group_of(table: Table, row: int) -> str:
    """Return the name of the group of rows that contains the row, or an empty string."""
    begin = max((first for first in table.ruled | set(table.groups) if first <= row), default=-1)
    return table.groups.get(begin, "")


def _format_cell(
    table: Table, shown: list[list[str]], row: int, column: int, *, wrapped: bool
) -> str:
    text = shown[row][column]
    text = "--" if text == "–" else escape_latex(text)
    if wrapped:  # names without blanks are broken after their punctuation
        text = LONG_WORD.sub(
            lambda word: re.sub(r"(\\_|[-+./:])(?=[^\W\d])", r"\1\\allowbreak{}", word[0]), text
        )
    if (row, column) in table.bold:
        text = rf"\textbf{{{text}}}"
    sign = table.marks.get((row, column), "")
    return text + (
        MARK_FORMAT % (f"${MARK_COMMANDS[sign]}$" if sign in MARK_COMMANDS else escape_latex(sign))
        if sign
        else ""
    )
