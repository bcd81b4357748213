"""Numbers of a study as LaTeX commands. Expected by hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from analysis.studies.macros import render_macros, render_words
from assay.tabular import Table
from tests.conftest import absent

SCORES = Table(
    "scores",
    "Scores",
    ["run", "mean", "n", "mean"],
    [["bm25", 0.385, 12, None], ["a_b", 0.25, 12, 1.5], ["a-b", -0.5, 12, 2.0]],
    heads=(("", 1), ("nDCG@10", 2), ("50%", 1)),
    bold=frozenset({(0, 1)}),
)


def test_every_number_has_a_command_named_after_table_row_and_column() -> None:
    assert render_macros([SCORES]).splitlines() == [
        "% scores: Scores",
        r"\newcommand{\scoresBmTwoFiveNDCGAtOneZeroMean}{.385}",
        r"\newcommand{\scoresBmTwoFiveN}{12}",
        r"\newcommand{\scoresBmTwoFiveFiveZeroPercentMean}{--}",
        r"\newcommand{\scoresABNDCGAtOneZeroMean}{.250}",
        r"\newcommand{\scoresABN}{12}",
        r"\newcommand{\scoresABFiveZeroPercentMean}{1.50}",
        r"\newcommand{\scoresABNDCGAtOneZeroMeanB}{$-$.500}",
        r"\newcommand{\scoresABNB}{12}",
        r"\newcommand{\scoresABFiveZeroPercentMeanB}{2.00}",
        r"\newcommand{\scoresNDCGAtOneZeroMeanBest}{.385}",
        r"\newcommand{\scoresNDCGAtOneZeroMeanBestRow}{bm25}",
    ]
    assert render_macros([Table("none", "None", ["x"], [])]).strip() == ""


def test_words_are_escaped_and_keys_in_the_font_of_code() -> None:
    assert render_words(["50 % of `a_b`.", "Next."]).splitlines() == [
        r"50 \% of \texttt{a\_b}.",
        "",
        "Next.",
    ]


def test_latex_reads_the_commands(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no command was read")
    text = (
        rf"\documentclass{{article}}{render_macros([SCORES])}\begin{{document}}"
        r"\typeout{<\scoresBmTwoFiveNDCGAtOneZeroMean>}x\end{document}"
    )
    (tmp_path / "a.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert made.returncode == 0
    assert b"<.385>" in made.stdout
