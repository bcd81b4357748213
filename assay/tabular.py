"""A table and its formats: text, CSV, LaTeX and JSON.

Cells are text, numbers, or None if undefined, which is empty in CSV, null in JSON, a dash in text
and LaTeX, and a word on web pages.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.formats.delimited import escape_formula
from assay.significant_digits import PValue, format_p

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table of a result. key: its name in addresses and file names. note: the meaning of the
    columns and what they are computed over.

    heads: (name, number of columns) of groups of adjacent columns, with an empty name for none.
    bold: cells (row, column). marks: signs after cells. digits: number of decimals of each column,
    or None for the default of `format_short`. ruled: rows that begin a part of the table. groups:
    names of the parts by the rows that begin them.
    """

    key: str
    title: str
    header: list[str]
    rows: list[list[Cell]]
    note: str = ""
    heads: Sequence[tuple[str, int]] = ()
    bold: frozenset[tuple[int, int]] = frozenset()
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    digits: Sequence[int | None] = ()
    ruled: frozenset[int] = frozenset()
    groups: Mapping[int, str] = field(default_factory=dict)

    @property
    def numeric(self) -> list[bool]:
        """Return whether each column holds numbers, among which text may occur. A column of
        undefined values counts as numeric."""

        def holds_numbers(cells: list[Cell]) -> bool:
            return any(isinstance(cell, (int, float)) for cell in cells) or (
                bool(cells) and all(cell is None for cell in cells)
            )

        return [holds_numbers([row[i] for row in self.rows]) for i in range(len(self.header))]

    @property
    def columns(self) -> list[str]:
        """Return the header. Names that occur more than once are preceded by their group's name."""
        groups = [words for words, n in self.heads for _ in range(n)] or [""] * len(self.header)
        return [
            f"{group}: {name}" if group and self.header.count(name) > 1 else name
            for group, name in zip(groups, self.header, strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        table = {"title": self.title, "header": self.header, "rows": self.rows, "note": self.note}
        if self.heads:
            table["heads"] = [list(head) for head in self.heads]
        if self.bold:
            table["bold"] = sorted(map(list, self.bold))
        if self.marks:
            table["marks"] = [[*cell, sign] for cell, sign in sorted(self.marks.items())]
        if self.groups:
            table["groups"] = [[row, name] for row, name in sorted(self.groups.items())]
        return table

    def shown(self, row: int, column: int) -> str:
        """Return a cell as shown to users, with the table's digits, a dash if undefined, and
        without its mark."""
        value = self.rows[row][column]
        if value is None or value != value:
            return "–"
        if isinstance(value, float):
            digits = self.digits[column] if column < len(self.digits) else None
            return (
                format_short(value)
                if digits is None or isinstance(value, PValue)
                else f"{value:.{digits}f}"
            )
        return str(value)


def to_text(table: Table) -> str:
    """Format the table as text: title, aligned columns below the names of their groups, columns of
    sentences as separate lines, and the note."""
    cells = [table.columns] + [
        [table.shown(row, i) + table.marks.get((row, i), "") for i in range(len(table.header))]
        for row in range(len(table.rows))
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.header))]
    sentences = (
        []
        if table.heads
        else [
            i
            for i, width in enumerate(widths)
            if width > SENTENCE_LENGTH and not table.numeric[i] and sum(widths) > MAX_LINE
        ]
    )
    grid = [i for i in range(len(table.header)) if i not in sentences]
    heads, first = [], 0
    for words, n in table.heads:
        whole = sum(widths[first : first + n]) + 2 * (n - 1)
        widths[first + n - 1] += max(len(words) - whole, 0)
        heads.append(words.center(max(whole, len(words))))
        first += n
    lines = ["  ".join(heads).rstrip()] if heads else []
    lines += align_rows(
        [[row[i] for i in grid] for row in cells],
        [widths[i] for i in grid],
        [table.numeric[i] for i in grid],
    )
    told = _sentence_lines(table, cells[1:], sentences)
    parts = ["\n".join(lines), "\n".join(told), table.note]
    return "\n\n".join([table.title, *filter(None, parts)])


def align_rows(
    rows: Iterable[Sequence[str]], widths: Sequence[int], numeric: Sequence[bool]
) -> list[str]:
    """Return one line per row, with text aligned left and numbers right."""
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    ]


def _sentence_lines(table: Table, cells: list[list[str]], sentences: list[int]) -> list[str]:
    """Return the cells of these columns, each after the first text cells of its row."""
    names = [i for i in range(len(table.header)) if not table.numeric[i] and i not in sentences][:2]
    return [
        f"{', '.join(row[i] for i in names)}: {table.columns[i]}: {row[i]}".removeprefix(": ")
        for row in cells
        for i in sentences
        if row[i] not in ("", "–")
    ]


def to_csv(table: Table) -> str:
    """Format the table as CSV with numbers in full precision. Cells that a spreadsheet would read
    as formulas are escaped."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([escape_formula(name) for name in table.columns])
    for row in table.rows:
        writer.writerow(
            [
                ""
                if cell is None
                else escape_formula(cell)
                if isinstance(cell, str)
                else repr(cell)
                for cell in row
            ]
        )
    return out.getvalue()


FORMULAS = {
    "α": "alpha",
    "β": "beta",
    "Δ": "Delta",
    "δ": "delta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "φ": "phi",
    "χ": "chi",
    "≥": "geq",
    "≤": "leq",
    "≠": "neq",
    "≈": "approx",
    "×": "times",
    "±": "pm",
    "→": "to",
    "∞": "infty",
    "√": "surd",
    "†": "dagger",
    "‡": "ddagger",
}
"""Mathematical characters that pdflatex needs as commands. Other letters depend on the document's
packages."""
INVISIBLE_CHARACTERS = (
    *range(32),
    *range(0x7F, 0xA0),
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
)
"""Control characters, including those of text direction, at which pdflatex fails."""
ESCAPES = str.maketrans(
    {
        **{chr(code): "" for code in INVISIBLE_CHARACTERS},
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\n": " ",
        "\r": " ",
        "−": "$-$",
        **{sign: rf"$\{name}$" for sign, name in FORMULAS.items()},
    }
)


LIGATURES = re.compile(r"-(?=-)|`(?=`)|'(?=')|[?!](?=`)")
"""Characters that TeX joins with the next one, such as two hyphens into a dash."""


def escape_latex(text: str) -> str:
    return LIGATURES.sub(r"\g<0>{}", text.translate(ESCAPES))


MAX_ROWS = 40
"""Maximum number of rows on a page of LaTeX's article class. Longer tables continue on the next
page."""


def to_latex(table: Table) -> str:
    """Format a booktabs table, with four decimals or the table's digits, and a dash for undefined
    values.

    A table that is too wide for the text at normal size is scaled down. One that is longer than a
    page or has a column of sentences is a longtable, with its header on every page.
    """
    long = _has_sentences(table) or (len(table.rows) > MAX_ROWS and not _can_shrink(table))
    first, rest = (_long_table(table) if long else _short_table(table)).split("\n", 1)
    return "\n".join([first, *letter_requirements(rest), rest])


COMMON_CHARACTERS = (
    frozenset(map(chr, range(0x7F)))
    | frozenset(map(chr, range(0xA0, 0x17F)))
    | frozenset("–—‘’“”†‡•…‰€™")
)
T1_CHARACTERS = frozenset("«»ÐÞðþĄąĐđĘęĮįŊŋŲų‚„‹›")
OTHER_ENCODING_CHARACTERS = frozenset("ĦħĸĿŀŉŦŧ")
"""COMMON_CHARACTERS: letters that pdflatex supports by default. T1_CHARACTERS: letters that need
fonts with the encoding T1. OTHER_ENCODING_CHARACTERS: letters of the first range that pdflatex
lacks."""


def letter_requirements(latex: str) -> list[str]:
    """Return comments on letters that pdflatex does not support by default."""
    beyond = sorted(set(latex) - (COMMON_CHARACTERS - OTHER_ENCODING_CHARACTERS - T1_CHARACTERS))
    by_encoding, by_font = (
        [letter for letter in beyond if letter in T1_CHARACTERS],
        [letter for letter in beyond if letter not in T1_CHARACTERS],
    )
    return [
        *(
            [rf"% needs \usepackage[T1]{{fontenc}} for {' '.join(by_encoding)}"]
            if by_encoding
            else []
        ),
        *(
            [rf"% needs lualatex or xelatex, and a font that has {' '.join(by_font)}"]
            if by_font
            else []
        ),
    ]


def _short_table(table: Table) -> str:
    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
    wide = _table_width(table) > PAGE_CHARACTERS
    lines = [
        r"% needs \usepackage{booktabs,graphicx}" if wide else r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex_caption(table)}}}",
        rf"\label{{tab:{table.key}}}",
        *([r"\resizebox{\linewidth}{!}{%"] if wide else []),
        rf"\begin{{tabular}}{{{columns}}}",
        *_latex_head(table),
        *_latex_rows(table),
        r"\bottomrule",
        r"\end{tabular}" + ("}" if wide else ""),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


TYPE_SIZES = ((72, ""), (90, r"\footnotesize"), (104, r"\scriptsize"), (144, r"\tiny"))
"""(characters that fit next to each other on a page, LaTeX's size command). A table over several
pages cannot be scaled as a whole."""
TEXT_COLUMN_WIDTH = 28
"""Width in characters of the widest cell from which the lines of a text column are wrapped."""


MAX_LINE = 240
"""Width in characters of a text table from which columns of sentences are placed below it."""
SENTENCE_LENGTH = 80
"""Width in characters of the widest cell from which a text column would be illegible if scaled
down."""


def _has_sentences(table: Table) -> bool:
    return any(
        not numeric and width > SENTENCE_LENGTH
        for numeric, width in zip(table.numeric, _column_widths(table), strict=True)
    )


def _long_table(table: Table) -> str:
    """Format a table that may span pages. Columns of long text are wrapped. A table that is still
    too wide is rotated."""
    widths = _column_widths(table)
    in_lines = [
        not numeric and width > TEXT_COLUMN_WIDTH
        for numeric, width in zip(table.numeric, widths, strict=True)
    ]
    held = [
        min(width, TEXT_COLUMN_WIDTH) if broken else width
        for width, broken in zip(widths, in_lines, strict=True)
    ]
    across = sum(held) + 2 * len(held)
    turned = across > TYPE_SIZES[-1][0]
    size = next(
        (
            words
            for most, words in TYPE_SIZES
            if across <= most * (MAX_ASPECT_RATIO if turned else 1)
        ),
        TYPE_SIZES[-1][1],
    )
    columns = "".join(
        (
            "r"
            if numeric
            else rf">{{\raggedright\arraybackslash}}p{{{0.9 * width / across:.3f}\linewidth}}"
            if broken
            else "l"
        )
        for numeric, broken, width in zip(table.numeric, in_lines, held, strict=True)
    )
    n, head = len(table.header), _latex_head(table)
    packages = ["array", "booktabs", "longtable", *(["pdflscape"] if turned else [])]
    lines = [
        rf"% needs \usepackage{{{','.join(packages)}}}",
        *([r"\begin{landscape}"] if turned else []),
        rf"{{{size}\setlength{{\tabcolsep}}{{3pt}}",
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{_latex_caption(table)}}}\label{{tab:{table.key}}}\\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        r"\midrule",
        rf"\multicolumn{{{n}}}{{r}}{{continued}} \\",
        r"\endfoot",
        r"\bottomrule",
        r"\endlastfoot",
        *_latex_rows(table),
        r"\end{longtable}}",
        *([r"\end{landscape}"] if turned else []),
    ]
    return "\n".join(lines) + "\n"


MAX_ASPECT_RATIO = 1.55
"""Relative width of a rotated page."""


def _can_shrink(table: Table) -> bool:
    """Return whether the table is a large matrix that is too wide for every type size, but at most
    a page high if scaled down as a whole."""
    return (
        _table_width(table) > MAX_ASPECT_RATIO * TYPE_SIZES[-1][0]
        and len(table.rows) * PAGE_CHARACTERS / _table_width(table) <= MAX_ROWS
    )


def _latex_caption(table: Table) -> str:
    return (
        escape_latex(table.title)
        if not table.note
        else f"{escape_latex(table.title)}. {escape_latex(table.note)}"
    )


def _latex_head(table: Table) -> list[str]:
    return [
        r"\toprule",
        *_latex_heads(table),
        latex_line(escape_latex(name) for name in table.header),
        r"\midrule",
    ]


def latex_line(cells: Iterable[str]) -> str:
    r"""Format a row of a LaTeX table. After \\ or a rule, TeX would read a leading bracket or star
    as an argument."""
    line = " & ".join(cells) + r" \\"
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def latex_group_line(name: str, n_columns: int) -> str:
    """Format the LaTeX line above a group of rows."""
    return rf"\multicolumn{{{n_columns}}}{{@{{}}l}}{{\textit{{{escape_latex(name)}}}}} \\"


def _latex_rows(table: Table) -> list[str]:
    lines = []
    for row in range(len(table.rows)):
        if row in table.ruled and row:
            lines.append(r"\midrule")
        if row in table.groups:
            lines.append(latex_group_line(table.groups[row], len(table.header)))
        lines.append(
            latex_line(_latex_cell(table, row, column) for column in range(len(table.rows[row])))
        )
    return lines


PAGE_CHARACTERS = 72
"""Number of characters, with two between columns, that fit next to each other on a page of LaTeX's
article class."""


def _table_width(table: Table) -> int:
    """Return the sum of the widest cells of all columns, with two characters between columns."""
    return sum(_column_widths(table)) + 2 * len(table.header)


def _column_widths(table: Table) -> list[int]:
    return [
        max(len(name), *(len(table.shown(row, column)) for row in range(len(table.rows))), 1)
        for column, name in enumerate(table.header)
    ]


def _latex_heads(table: Table) -> list[str]:
    if not table.heads:
        return []
    cells, rules, first = [], [], 1
    for words, n in table.heads:
        cells.append(rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(words)}}}")
        if words:
            rules.append(rf"\cmidrule(lr){{{first}-{first + n - 1}}}")
        first += n
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _latex_cell(table: Table, row: int, column: int) -> str:
    text = "--" if table.rows[row][column] is None else escape_latex(table.shown(row, column))
    if (row, column) in table.bold:
        text = rf"\textbf{{{text}}}"
    sign = table.marks.get((row, column), "")
    return text + (f"$^{{{MARK_COMMANDS.get(sign, escape_latex(sign))}}}$" if sign else "")


MARK_COMMANDS = {"†": r"\dagger", "‡": r"\ddagger", "*": r"\ast"}
"""LaTeX commands of the marks after cells."""


def format_rank(rank: float | None) -> int | float | None:
    """Return a rank or a difference of ranks for a cell, as a whole number unless ties make it
    fractional."""
    return int(rank) if rank is not None and float(rank).is_integer() else rank


def format_short(value: float) -> str:
    """Format with four decimals, small numbers with an exponent, and p-values with two digits."""
    if isinstance(value, PValue):
        return format_p(value)
    if value != 0 and abs(value) < 0.0001:
        return f"{value:.2e}"
    return f"{value:.4f}" if value != int(value) or abs(value) < 1e6 else f"{value:.0f}"
