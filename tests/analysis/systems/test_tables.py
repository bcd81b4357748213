"""Tables as CSV and LaTeX: escapes, undefined cells, precision. Expected by hand."""

from __future__ import annotations

import csv
import io

from analysis.systems.tabular import Table, latex_text, short, to_csv, to_latex

HOSTILE = Table(
    "hostile",
    "50 % of R&D",
    ["run", "nDCG_10", "note"],
    [["=cmd|'/c calc'!A1", 0.1 + 0.2, 'say "hi", twice'], ["a_b&c%d#e$f{g}~^\\", None, "@SUM(1)"], ["plain", 3, "-1+1"]],
)


def test_csv_has_full_precision_empty_cells_for_undefined_and_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(HOSTILE))))
    assert rows[0] == ["run", "nDCG_10", "note"]
    assert [row[1] for row in rows[1:]] == ["0.30000000000000004", "", "3"]
    assert rows[1][2] == 'say "hi", twice'
    for row in rows[1:]:
        assert row[0][0] not in "=+-@"
        assert row[2][0] not in "=+-@"


def test_latex_escapes_its_special_characters_and_rounds() -> None:
    text = to_latex(HOSTILE)
    assert r"\caption{50 \% of R\&D}" in text
    assert r"run & nDCG\_10 & note \\" in text
    assert r"a\_b\&c\%d\#e\$f\{g\}\textasciitilde{}\textasciicircum{}\textbackslash{} & -- & @SUM(1) \\" in text
    assert r"& 0.3000 &" in text
    assert r"\begin{tabular}{lrl}" in text
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    assert latex_text("a\nb\r<c>") == r"a b \textless{}c\textgreater{}"


def test_short_numbers_have_four_decimals_or_their_power_of_ten() -> None:
    assert [short(value) for value in (0.0, 0.05, -0.00005, 1.0, 2.5e-7)] == ["0.0000", "0.0500", "-5.00e-05", "1.0000", "2.50e-07"]
