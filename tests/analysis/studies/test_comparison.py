"""The study of systems: its folder, and its numbers against the hand and scipy."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from shutil import which

import pytest
from scipy import stats

from tests.analysis.studies.made import about, refusal, study_of, table
from tests.conftest import absent

QRELS = "".join(f"{t} 0 r 1\n" for t in range(6))
RUNS = {
    "good": "".join(f"{t} Q0 r 1 2 good\n{t} Q0 x 2 1 good\n" for t in range(6)),
    "late": "".join(f"{t} Q0 x 1 2 late\n{t} Q0 r 2 1 late\n" for t in range(6)),
    "mixed": "".join(f"{t} Q0 {'r' if t < 3 else 'x'} 1 2 mixed\n" for t in range(6)),
}
"""RR: good 1, late .5, mixed 1 1 1 0 0 0."""
TOML = 'study = "comparison"\ntitle = "Three & more"\nqrels = "qrels.txt"\nruns = ["good.txt", "late.txt", "mixed.txt"]\nmeasures = "RR"\n'


def made(tmp_path: Path, more: str = "") -> Path:
    return study_of(tmp_path, "comparison", TOML + more, qrels=QRELS, groups="0\tHead\n1\tHead\n2\tTail\n3\tTail\n4\tTail\n5\tTail\n", **RUNS)


def test_means_letters_and_bold_are_those_of_the_hand(tmp_path: Path) -> None:
    out = made(tmp_path)
    rows = {row["run"]: row for row in table(out, "scores")}
    assert {tag: float(row["mean"]) for tag, row in rows.items()} == {"good": 1.0, "late": 0.5, "mixed": 0.5}
    assert rows["good"]["group"] != rows["late"]["group"]  # a constant difference: t gives p = 0
    latex = (out / "tables" / "scores.tex").read_text(encoding="utf-8")
    assert r"good & \textbf{1.0000} & " in latex
    assert r"\multicolumn{2}{c}{RR}" in latex
    assert r"\cmidrule(lr){2-3}" in latex


def test_against_a_baseline_daggers_stand_behind_what_the_test_finds(tmp_path: Path) -> None:
    out = made(tmp_path, 'against = "late"\n')
    assert "good & \\textbf{1.0000}$^{\\dagger}$ \\\\" in (out / "tables" / "scores.tex").read_text(encoding="utf-8")
    data = json.loads((out / "tables" / "scores.json").read_text(encoding="utf-8"))
    assert data["marks"] == [[0, 1, "†"]]  # mixed differs from late by +.5 and -.5: no mark


def test_tests_of_a_pair_are_those_of_scipy(tmp_path: Path) -> None:
    row = next(row for row in table(made(tmp_path), "differences-RR") if (row["A"], row["B"]) == ("good", "mixed"))
    good, mixed = [1] * 6, [1, 1, 1, 0, 0, 0]
    found = stats.ttest_rel(mixed, good)
    low, high = found.confidence_interval(0.95)
    assert float(row["t p"]) == pytest.approx(found.pvalue)
    assert [float(row["2.5 %"]), float(row["97.5 %"])] == pytest.approx([low, high])
    assert (row["wins"], row["ties"], row["losses"]) == ("0", "3", "3")
    assert float(row["randomisation p"]) == pytest.approx(2 / 8)


def test_the_interval_of_the_effect_stands_beside_it(tmp_path: Path) -> None:
    """As scipy's noncentral t has it: at either end the observed t is just likely."""
    row = next(row for row in table(made(tmp_path), "differences-RR") if (row["A"], row["B"]) == ("good", "mixed"))
    n = sum(int(row[name]) for name in ("wins", "ties", "losses"))
    t = float(row["effect"]) * n**0.5
    assert stats.nct.sf(t, n - 1, float(row["from"]) * n**0.5) == pytest.approx(0.025, abs=1e-4)
    assert stats.nct.cdf(t, n - 1, float(row["to"]) * n**0.5) == pytest.approx(0.025, abs=1e-4)


def test_groups_of_topics_have_their_own_table(tmp_path: Path) -> None:
    out = made(tmp_path, 'topic_groups = "groups.txt"\n')
    assert {row["run"]: float(row["mean"]) for row in table(out, "scores-Head")} == {"good": 1.0, "late": 0.5, "mixed": 1.0}
    assert {row["run"]: float(row["mean"]) for row in table(out, "scores-Tail")} == {"good": 1.0, "late": 0.5, "mixed": 0.25}


def test_the_noise_of_labels_is_told_where_single_judgements_are_given(tmp_path: Path) -> None:
    """Each topic's document judged by three, all agreeing on topics 0 to 4, two of three on topic 5."""
    rows = "".join(f"{t},r,{who},{int(t < 5 or who != 'c')}\n" for t in range(6) for who in "abc")
    toml = TOML + 'judgements = "judged.txt"\nscale = 2\nlabel_trials = 400\n'
    out = study_of(tmp_path, "comparison", toml, qrels=QRELS, judged=f"topic,document,annotator,grade\n{rows}", **RUNS)
    [row] = table(out, "noise")
    # good finds every document first, mixed none of topic 5, late all second: of three drawn the majority is relevant with 20/27
    error = (20 / 27 * 7 / 27) ** 0.5 / 6
    assert float(row["by labels"]) == pytest.approx(error * 0.5, abs=0.01)  # pairs differ by 1, .5 and .5 of the topic: median .5
    assert (out / "figures" / "noise.pdf").exists()
    assert "judgements" not in " ".join(about(out)["left_out"].values())


def test_what_is_missing_is_left_out_and_said(tmp_path: Path) -> None:
    out = made(tmp_path)
    assert about(out)["left_out"] == {"groups": "needs `topic_groups`: a file of topics and their groups"}
    for name in ("report.html", "report.md"):
        assert "a file of topics and their groups" in (out / name).read_text(encoding="utf-8")


def test_a_study_made_again_is_the_same_bytes(tmp_path: Path) -> None:
    out = made(tmp_path)
    first = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    again = made(tmp_path)
    assert {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()} == first
    kinds = {path.suffix for path in first}
    assert kinds >= {".tex", ".csv", ".json", ".pdf", ".svg", ".png", ".html", ".md", ".toml"}
    for line in (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256(first[Path(name)]).hexdigest() == digest


def test_the_report_tells_inputs_by_their_digest_and_how_it_was_made(tmp_path: Path) -> None:
    out = made(tmp_path)
    digest = hashlib.sha256(QRELS.encode()).hexdigest()
    assert {"key": "qrels", "path": "qrels.txt", "bytes": len(QRELS), "sha256": digest} in about(out)["inputs"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert digest in page
    assert "manage.py compare_systems qrels.txt good.txt late.txt mixed.txt" in page
    assert "Three &amp; more" in page
    assert str(tmp_path) not in page + (out / "report.md").read_text(encoding="utf-8") + (out / "study.json").read_text(encoding="utf-8")


def test_mistakes_are_told_by_line_and_nothing_is_written(tmp_path: Path) -> None:
    assert f"{tmp_path}/study.toml:2: unknown key 'qrel', expected 'qrels'" in refusal(tmp_path, "comparison", '\nqrel = "a"\n')
    assert "study.toml:1: there is no file a.txt" in refusal(tmp_path, "comparison", 'qrels = "a.txt"\n')
    assert "study.toml:1: no file is called *.run" in refusal(tmp_path, "comparison", 'runs = "*.run"\n')
    assert "expected one of none, bonferroni, holm, max" in refusal(tmp_path, "comparison", 'family = "tukey"\n')
    assert "expected a whole number of at least 1" in refusal(tmp_path, "comparison", "trials = 0\n")
    assert "study.toml:2: not TOML" in refusal(tmp_path, "comparison", "\nqrels = \n")
    assert "the file is for the study 'sota'" in refusal(tmp_path, "comparison", 'study = "sota"\n')
    assert "no part of the study comparison can be made" in refusal(tmp_path, "comparison", "")


def test_only_a_study_that_nobody_has_changed_is_replaced(tmp_path: Path) -> None:
    from tests.analysis.commands.judged_file import refused

    out = made(tmp_path)
    again = ("study", "comparison", str(tmp_path / "inputs" / "study.toml"), "--output", str(out))
    assert "--replace puts the new one in its place" in refused(*again)[2]
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    status, _, err = refused(*again, "--replace")
    assert (status, (out / "notes.txt").read_text(encoding="utf-8")) == (2, "mine")
    assert "notes.txt" in err
    other = tmp_path / "mine"
    other.mkdir()
    (other / "a").write_text("a", encoding="utf-8")
    assert "is no study" in refused(*again[:3], "--output", str(other), "--replace")[2]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_latex_of_a_study_is_typeset(tmp_path: Path) -> None:
    if which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no table of a study was typeset")
    out = made(tmp_path, 'against = "late"\n')
    tables = "".join(rf"\input{{{path}}}" for path in sorted((out / "tables").glob("*.tex")))
    paper = rf"\documentclass{{article}}\usepackage{{array,booktabs,graphicx,longtable,pdflscape}}\begin{{document}}{tables}\end{{document}}"
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    typeset = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"], cwd=tmp_path, check=True, capture_output=True)
    assert b"Overfull" not in typeset.stdout
