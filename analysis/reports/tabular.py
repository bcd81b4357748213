"""A table, and what it is as CSV, LaTeX and JSON.

Cells are text, numbers, or None where undefined: empty in CSV, null in JSON, a dash in LaTeX, the word on the page.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from pooling.formats.delimited import harmless

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """key: in addresses and file names. note: what the columns mean and over what."""

    key: str
    title: str
    header: list[str]
    rows: list[list[Cell]]
    note: str = ""

    @property
    def numeric(self) -> list[bool]:
        """Whether a column holds numbers; words may stand among them."""
        return [any(isinstance(row[i], (int, float)) for row in self.rows) for i in range(len(self.header))]

    def as_json(self) -> dict[str, Any]:
        return {"title": self.title, "header": self.header, "rows": self.rows, "note": self.note}


def to_csv(table: Table) -> str:
    """Numbers in full precision; cells that a spreadsheet would take for formulas are made harmless."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([harmless(name) for name in table.header])
    for row in table.rows:
        writer.writerow(["" if cell is None else harmless(cell) if isinstance(cell, str) else repr(cell) for cell in row])
    return out.getvalue()


ESCAPES = str.maketrans(
    {
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
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\n": " ",
        "\r": " ",
    }
)


def latex_text(text: str) -> str:
    return text.translate(ESCAPES)


def to_latex(table: Table) -> str:
    """A booktabs table; numbers to four decimals, undefined as a dash."""

    def cell(value: Cell) -> str:
        if value is None:
            return "--"
        if isinstance(value, float):
            return short(value)
        return latex_text(str(value))

    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        rf"\caption{{{latex_text(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(latex_text(name) for name in table.header) + r" \\",
        r"\midrule",
        *(" & ".join(cell(value) for value in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def short(value: float) -> str:
    """Four decimals; small p-values by their power of ten."""
    if value != 0 and abs(value) < 0.0001:
        return f"{value:.2e}"
    return f"{value:.4f}" if value != int(value) or abs(value) < 1e6 else f"{value:.0f}"
