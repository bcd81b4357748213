"""Tables for papers with two columns. Expected by hand."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import pytest

from assay.paper_tables import to_paper_latex
from assay.significant_digits import PValue
from assay.tabular import Cell, Table
from tests.assay.test_tabular import BROAD, GROUPED, HOSTILE, LONG, MATRIX, SIGNS, TEXTS, WIDE
from tests.assay.two_columns import font_sizes, typeset
from tests.conftest import absent

GROUPS_OF_ROWS = Table(
    "groups",
    "Groups of rows",
    ["run", "AP"],
    [["a", 0.5], ["b", 0.25]],
    ruled=frozenset({0, 1}),
    groups={0: "First stage", 1: "Re-ranking & more"},
)
EVERY = (GROUPS_OF_ROWS, HOSTILE, SIGNS, WIDE, GROUPED, LONG, TEXTS, BROAD, MATRIX)


def rows_of(latex: str) -> list[str]:
    return [line for line in latex.splitlines() if line.endswith(r"\\")]


def column(*cells: Cell, digits: int | None = None) -> list[str]:
    latex = to_paper_latex(Table("t", "T", ["x"], [[cell] for cell in cells], digits=[digits]))
    return [line.removesuffix(r" \\") for line in rows_of(latex)[1:]]


def test_numbers_have_three_decimals_and_no_leading_zero_unless_their_column_exceeds_1() -> None:
    assert column(0.76149, -0.5, 1.0, None) == [".761", "$-$.500", "1.000", "--"]
    assert column(0.5, 12.345) == ["0.50", "12.35"]
    assert column(0.5, 123.45) == ["0.5", "123.5"]
    assert column(115.0, 2852.0) == ["115", "2852"]
    assert column(0.784, 0.5, digits=2) == [".78", ".50"]
    assert column(3, "all") == ["3", "all"]


def test_small_numbers_do_not_become_zero_and_p_values_keep_two_digits() -> None:
    assert column(0.5, 0.0002, 0.0) == [".500", ".0002", ".000"]
    assert column(PValue(0.0312), PValue(0.00001)) == [".031", r"\textless{} .001"]


def test_empty_columns_and_repeated_sentences_move_to_the_caption() -> None:
    why = "24 topics; a confidence interval needs 30"
    latex = to_paper_latex(
        Table(
            "t",
            "Tau",
            ["run", "tau", "2.5%", "97.5%", "why no interval"],
            [["a", 0.5, None, math.nan, why], ["b", 0.25, None, None, why]],
            "Best in bold.",
            heads=(("", 1), ("here", 4)),
            bold=frozenset({(0, 1)}),
        )
    )
    assert (
        r"\caption{Tau. Best in bold. Without values, and therefore left out: 2.5\%, 97.5\%. "
        rf"Why no interval: {why}.}}"
    ) in latex
    assert rows_of(latex) == [
        r"\multicolumn{1}{c}{} & \multicolumn{1}{c}{here} \\",
        r"run & tau \\",
        r"a & \textbf{.500} \\",
        r"b & .250 \\",
    ]


@pytest.mark.parametrize(("n_columns", "kind", "n_parts"), [(6, "table", 1), (16, "table*", 1)])
def test_a_table_spans_both_columns_only_if_it_does_not_fit_one(
    n_columns: int, kind: str, n_parts: int
) -> None:
    header = ["run", *[f"m{k}" for k in range(10, 9 + n_columns)]]
    latex = to_paper_latex(Table("t", "T", header, [["a", *[0.5] * (n_columns - 1)]]))
    assert latex.count(rf"\begin{{{kind}}}") == n_parts
    assert "resizebox" not in latex


def test_a_wide_table_is_split_between_heads_and_repeats_the_names() -> None:
    heads = (("", 1), *((f"group {k}", 12) for k in range(3)))
    header = ["run", *[f"measure{k}" for _ in range(3) for k in range(12)]]
    latex = to_paper_latex(
        Table("t", "T", header, [["a", *[0.5] * 36]], "Note.", heads=heads, marks={(0, 25): "†"})
    )
    parts = latex.split(r"\begin{table*}")[1:]
    assert [re.findall(r"group \d", part) for part in parts] == [
        ["group 0"],
        ["group 1"],
        ["group 2"],
    ]
    assert [part.count("run & ") for part in parts] == [1, 1, 1]
    assert [part.count(r"\dagger") for part in parts] == [0, 0, 1]
    assert [r"\addtocounter{table}{-1}" in part for part in parts] == [False, True, True]
    assert r"\caption{T (part 1 of 3). Note.}" in parts[0]
    assert r"\caption{T (part 2 of 3)}\label{tab:t-2}" in parts[1].replace("\n", "")


def test_parts_of_a_wide_table_repeat_as_many_names_as_distinguish_its_rows() -> None:
    header = ["list", "A", "B", "note", *[f"measure{k}" for k in range(30)]]
    rows: list[list[Cell]] = [["first", "R1", f"R{k}", "x", *[0.5] * 30] for k in range(2, 5)]
    latex = to_paper_latex(Table("t", "T", header, rows))
    assert latex.count(r"\begin{table") > 1
    assert latex.count("list & A & B & ") == latex.count(r"\begin{table")
    assert latex.count("note") == 1


def test_a_long_table_is_split_into_parts_with_every_row_once() -> None:
    latex = to_paper_latex(LONG)
    assert "longtable" not in latex
    rows = [line for line in latex.splitlines() if re.match(r"t\d+ &", line)]
    assert [row.split(" ")[0] for row in rows] == [f"t{k}" for k in range(120)]
    assert latex.count(r"\begin{table}") == 3  # 120 rows of 11.25 points are 1350, a part holds 549
    assert latex.count(r"topic & tau-b \\") == 3


def test_a_group_of_rows_that_is_split_has_its_name_above_each_part() -> None:
    rows: list[list[Cell]] = [[f"r{k}", 0.5] for k in range(120)]
    latex = to_paper_latex(
        Table("t", "T", ["run", "x"], rows, ruled=frozenset({0, 100}), groups={0: "A", 100: "B"})
    )
    assert re.findall(r"textit{(\w)}", latex) == ["A", "A", "A", "B"]


def test_two_columns_hold_every_kind_of_table_in_legible_type(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no table in two columns was typeset")
    sizes = font_sizes(typeset(tmp_path, "".join(map(to_paper_latex, EVERY))))
    assert {7.0, 9.0} <= sizes
