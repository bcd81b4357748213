r"""The numbers of a study as LaTeX commands, for the text of a paper.

\scoresFusedNdcgAtOneZero  % table, text of the row, column; digits are spelled out
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

from analysis.studies.study import MAX_SHOWN
from assay.paper_tables import format_cells
from assay.tabular import Table, escape_latex, letter_requirements

SPELLED = {
    **dict(
        zip(
            "0123456789",
            ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"),
            strict=True,
        )
    ),
    "@": "At",
    "%": "Percent",
    "α": "Alpha",
    "κ": "Kappa",
    "τ": "Tau",
    "†": "Dagger",
}
"""Words for characters that names of LaTeX commands cannot have."""


def render_macros(tables: Iterable[Table]) -> str:
    r"""Return the study's numbers as LaTeX: one \newcommand per number, per best value of a column,
    and per row that has it. Tables of more than MAX_SHOWN rows are left out."""
    lines: list[str] = []
    names: set[str] = set()
    for table in tables:
        if not 0 < len(table.rows) <= MAX_SHOWN:
            continue
        lines.append(f"% {table.key}: {' '.join(table.title.split())}")
        for name, text in _iterate_numbers(table):
            name = _make_distinct(name, names)
            names.add(name)
            lines.append(rf"\newcommand{{\{name}}}{{{text}}}")
    text = "\n".join([*lines, ""])
    return "\n".join([*letter_requirements(text), text])


def _iterate_numbers(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a table as (command name, LaTeX text): the cells of numeric columns row
    by row, then the best cells. Rows are named by the columns before the first numbers. Undefined
    numbers are dashes."""
    shown, columns, numeric = format_cells(table), table.columns, table.numeric
    n_names = next((i for i, number in enumerate(numeric) if number), len(numeric)) or 1
    rows = [" ".join(row[:n_names]) for row in shown]
    best = []
    for r, row in enumerate(table.rows):
        for i, value in enumerate(row):
            if not numeric[i] or not (value is None or isinstance(value, (int, float))):
                continue
            text = "--" if shown[r][i] == "–" else escape_latex(shown[r][i])
            yield command_name(table.key, rows[r], columns[i]), text
            if (r, i) in table.bold:
                best.append((command_name(table.key, columns[i], "best"), text))
                best.append(
                    (command_name(table.key, columns[i], "best row"), escape_latex(rows[r]))
                )
    yield from best


def command_name(*texts: str) -> str:
    """Return a LaTeX command name made of the words of these texts, letters only, in camel case."""
    spelled = "".join(
        f" {SPELLED[letter]} " if letter in SPELLED else letter for letter in " ".join(texts)
    )
    words = re.findall(r"[A-Za-z]+", spelled)
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name[:1].lower() + name[1:]


def _make_distinct(name: str, names: set[str]) -> str:
    """Return the name, with B, C and so on appended if it is already taken."""
    if name not in names:
        return name
    return next(
        candidate for number in count(1) if (candidate := name + _letters(number)) not in names
    )


def _letters(number: int) -> str:
    """Convert a number to letters: 1 to B, 25 to Z, 26 to BA."""
    text = ""
    while number:
        number, digit = divmod(number, 26)
        text = chr(ord("A") + digit) + text
    return text


def render_words(words: Iterable[str]) -> str:
    """Convert paragraphs to LaTeX. Words in backquotes are keys and commands."""
    paragraphs = "\n\n".join(
        re.sub(r"`([^`]*)`", lambda match: rf"\texttt{{{match[1]}}}", escape_latex(text))
        for text in words
    )
    return "\n".join([*letter_requirements(paragraphs), paragraphs, ""])
