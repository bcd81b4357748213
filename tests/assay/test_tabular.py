"""Tables as CSV and LaTeX: escapes, undefined cells, precision. Expected by hand."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.tabular import (
    COMMON_CHARACTERS,
    OTHER_ENCODING_CHARACTERS,
    T1_CHARACTERS,
    Table,
    escape_latex,
    format_short,
    to_csv,
    to_latex,
    to_text,
)
from tests.conftest import absent

HOSTILE = Table(
    "hostile",
    "50 % of R&D",
    ["run", "nDCG_10", "note"],
    [
        ["=cmd|'/c calc'!A1", 0.1 + 0.2, 'say "hi", twice'],
        ["a_b&c%d#e$f{g}~^\\", None, "@SUM(1)"],
        ["plain", 3, "-1+1"],
    ],
)


def test_csv_has_full_precision_empty_cells_for_undefined_and_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(HOSTILE))))
    assert rows[0] == ["run", "nDCG_10", "note"]
    assert [row[1] for row in rows[1:]] == ["0.30000000000000004", "", "3"]
    assert rows[1][2] == 'say "hi", twice'
    for row in rows[1:]:
        assert row[0][0] not in "=+-@"
        assert row[2][0] not in "=+-@"


def test_text_aligns_columns_below_the_heads_of_their_groups() -> None:
    table = Table(
        "t",
        "Scores",
        ["run", "mean", "n", "mean"],
        [["a", 0.5, 12, None], ["bb", 0.25, 3, 1.0]],
        "Over topics.",
        heads=(("", 1), ("first measure", 2), ("second", 1)),
        marks={(0, 1): "†"},
    )
    assert to_text(table).splitlines() == [
        "Scores",
        "",
        "          first measure          second",
        "run  first measure: mean   n  second: mean",
        "a                0.5000†  12             –",
        "bb                0.2500   3        1.0000",
        "",
        "Over topics.",
    ]


def test_latex_escapes_its_special_characters_and_rounds() -> None:
    text = to_latex(HOSTILE)
    assert r"\caption{50 \% of R\&D}" in text
    assert r"run & nDCG\_10 & note \\" in text
    assert (
        r"a\_b\&c\%d\#e\$f\{g\}\textasciitilde{}\textasciicircum{}\textbackslash{} & -- & @SUM(1) \\"
        in text
    )
    assert r"& 0.3000 &" in text
    assert r"\begin{tabular}{lrl}" in text
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    assert escape_latex("a\nb\r<c>") == r"a b \textless{}c\textgreater{}"
    assert escape_latex("a\x07b\u202ec\x9f\ufeffd") == "abcd"


SIGNS = Table(
    "signs",
    "[50 %] of R&D",
    ["[run]", "*", "n--m"],
    [
        ["[a]b", "*c", 0.5],
        ["*d*", "[2pt]", None],
        ["bm25--rm3---x", "a|b?`c!`d''e``f", -1.0],
        [r"& % _ # $ ~ ^ \ { } < > | \\ -- [", "—–…•é ü ø ß æ", 1],
    ],
    heads=(("[", 1), ("*", 2)),
    ruled=frozenset({1}),
)


def test_latex_reads_no_name_as_an_argument_and_draws_no_two_signs_as_one() -> None:
    r"""\\[a] skips a line by the length a, \\* keeps lines together, -- is a dash, | a dash in the
    fonts of old, ?` and !` are Spanish signs."""
    lines = to_latex(SIGNS).splitlines()
    assert [line for line in lines if line.startswith(("[", "*"))] == []
    assert r"{}[a]b & *c & 0.5000 \\" in lines
    assert r"{}*d* & [2pt] & -- \\" in lines
    assert r"bm25-{}-rm3-{}-{}-x & a\textbar{}b?{}`c!{}`d'{}'e`{}`f & -1.0000 \\" in lines


LETTERS = Table("letters", "Élan", ["run", "b"], [["Łódź «ąę»", 1], ["Дon 中文", 2]])


def test_letters_that_latex_lacks_as_it_begins_are_named_with_what_has_them() -> None:
    lines = to_latex(LETTERS).splitlines()
    assert lines[:3] == [
        r"% needs \usepackage{booktabs}",
        r"% needs \usepackage[T1]{fontenc} for « » ą ę",
        "% needs lualatex or xelatex, and a font that has Д 中 文",
    ]
    assert [line for line in to_latex(GROUPED).splitlines() if line.startswith("%")] == [
        r"% needs \usepackage{booktabs}"
    ]


@pytest.mark.parametrize(
    ("letters", "head"),
    [
        (COMMON_CHARACTERS - OTHER_ENCODING_CHARACTERS - T1_CHARACTERS, ""),
        (T1_CHARACTERS, r"\usepackage[T1]{fontenc}"),
    ],
)
def test_pdflatex_has_the_letters_that_are_said_to_need_no_more(
    tmp_path: Path, letters: frozenset[str], head: str
) -> None:
    if shutil.which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no letter was typeset")
    told = to_latex(
        Table("every", "Every", ["letter"], [[f"x{letter}"] for letter in sorted(letters)])
    )
    assert "lualatex" not in told
    text = f"\\documentclass{{article}}{head}\\usepackage{{array,booktabs,longtable}}\n\\begin{{document}}\n{told}\\end{{document}}\n"
    (tmp_path / "letters.tex").write_text(text, encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "letters.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout.decode(errors="replace")[-1500:]


WIDE = Table("wide", "Wide", [f"a longer name {k}" for k in range(12)], [[0.5] * 12])
GROUPED = Table(
    "grouped",
    "R&D in 50 %",
    ["run", "p", "q"],
    [["a_b", 0.5, 0.25], ["c", None, 1.0]],
    "Of α, τ and ≥ 0.9 – “said”",
    heads=(("", 1), ("nDCG@10", 2)),
    bold=frozenset({(0, 1)}),
    marks={(0, 1): "†", (1, 2): "‡"},
    ruled=frozenset({1}),
)


def test_a_table_wider_than_a_page_is_shrunk_to_it() -> None:
    assert r"\resizebox{\linewidth}{!}{%" in to_latex(WIDE)
    assert r"\end{tabular}}" in to_latex(WIDE)
    assert "resizebox" not in to_latex(GROUPED)
    assert r"\label{tab:grouped}" in to_latex(GROUPED)


LONG = Table(
    "long",
    "Many pairs",
    ["topic", "tau-b"],
    [[f"t{k}", k / 200] for k in range(120)],
    "Of α",
    heads=(("", 1), ("of both", 1)),
    ruled=frozenset({60}),
)
TEXTS = Table(
    "texts",
    "Texts",
    ["topic", "what it says", "n"],
    [[f"t{k}", "a passage & more of it " * 9, k] for k in range(60)],
)
BROAD = Table(
    "broad", "Turned", [f"measure {k}" for k in range(13)], [[0.5] * 13 for _ in range(90)]
)
MATRIX = Table(
    "matrix", "Every run", [f"a run {k}" for k in range(50)], [[0.5] * 50 for _ in range(50)]
)


def test_a_table_longer_than_a_page_goes_on_over_pages_with_its_head_on_each() -> None:
    text = to_latex(LONG)
    assert r"\begin{longtable}{lr}" in text
    assert "tabular}" not in text
    head, rest = text.split(r"\endfirsthead")
    assert (
        head.count(r"topic & tau-b \\")
        == rest.split(r"\endhead")[0].count(r"topic & tau-b \\")
        == 1
    )
    assert [
        line
        for line in rest.splitlines()
        if line.startswith("t") and "&" in line and "topic" not in line
    ] == [rf"t{k} & {k / 200:.4f} \\" for k in range(120)]
    assert text.index("t59 &") < text.index(r"\midrule" + "\n" + "t60 &")
    assert r"p{" in to_latex(TEXTS)
    assert "landscape" not in to_latex(TEXTS)
    assert r"\begin{landscape}" in to_latex(BROAD)
    assert "longtable" not in to_latex(MATRIX)
    assert "resizebox" in to_latex(MATRIX)


def test_latex_typesets_every_kind_of_table_within_the_page(tmp_path: Path) -> None:
    latex = shutil.which("pdflatex")
    if latex is None:
        absent("latex", "pdflatex is not installed, so no table was typeset")
    tables = "".join(
        to_latex(one) for one in (HOSTILE, SIGNS, WIDE, GROUPED, LONG, TEXTS, BROAD, MATRIX)
    )
    text = f"\\documentclass{{article}}\n\\usepackage{{array,booktabs,graphicx,longtable,pdflscape}}\n\\begin{{document}}\n{tables}\\end{{document}}\n"
    (tmp_path / "all.tex").write_text(text, encoding="utf-8")
    command = [str(latex), "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    said = made.stdout.decode(errors="replace")
    assert made.returncode == 0, said[-1500:]
    assert "Overfull" not in said
    pages = re.search(r"all.pdf \((\d+) pages", said)
    assert pages is not None
    assert (
        int(pages[1]) >= 9
    )  # 120 rows at 46 a page, 60 of five lines, 90 on their side, and the rest


def test_short_numbers_have_four_decimals_or_their_power_of_ten() -> None:
    assert [format_short(value) for value in (0.0, 0.05, -0.00005, 1.0, 2.5e-7)] == [
        "0.0000",
        "0.0500",
        "-5.00e-05",
        "1.0000",
        "2.50e-07",
    ]


def test_sentences_stand_below_the_columns_of_a_text_table() -> None:
    why = (
        3 * "the signed-rank test and the t-test do not agree on the direction of the difference, "
    )
    table = Table(
        "t", "Pairs", ["A", "B", "p", "reason"], [["x", "y", 0.5, why], ["x", "z", 1, ""]]
    )
    assert to_text(table).splitlines() == [
        "Pairs",
        "",
        "A  B       p",
        "x  y  0.5000",
        "x  z       1",
        "",
        f"x, y: reason: {why}",
    ]
