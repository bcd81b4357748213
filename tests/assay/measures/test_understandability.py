"""Understandability-biased RBP by hand, against the reference values and the organisers' own."""

from __future__ import annotations

import csv
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.analyses.score_facets import Options, compute
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.understandability import FACET_MEASURES
from tests.analysis.commands.called import answer

CLEF = "clef-ehealth-2015"


def test_by_hand_and_as_a_command(tmp_path: Path) -> None:
    """Topic 1: ranks a (relevant, 3), b (not relevant), c (relevant, 1), d (relevant, no grade)."""
    files = {
        "qrels": "1 0 a 1\n1 0 b 0\n1 0 c 2\n1 0 d 1\n2 0 a 1\n",
        "facet": "1 0 a 3\n1 0 b 3\n1 0 c 1\n2 0 a 0\n",
        "run": "".join(f"1 Q0 {d} {i} {9 - i} x\n" for i, d in enumerate("abcd", 1)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = [str(tmp_path / name) for name in files]
    made, _ = answer("score_facets", *paths, "--persistence", "0.5", "--per-topic")
    expected = {"RBP": 0.5 * (1 + 0.25 + 0.125), "uRBP": 0.5 * 1, "uRBPgr": 0.5 * (1 + 0.4 * 0.25)}
    assert {name: of["1"] for name, of in made["per_topic"]["x"].items()} == pytest.approx(expected)
    halves = {name: value / 2 for name, value in expected.items()}  # the run lacks topic 2
    assert made["systems"]["x"] == pytest.approx(halves)
    skipped = assay.score_facets(*paths, persistence=0.5, missing_topics="skip")
    assert skipped["systems"]["x"] == pytest.approx(expected)
    # grades 1, 0, 2, 1 against 3, 3, 1, 0
    assert made["correlation"]["pairs"] == 4
    assert made["correlation"]["pearson"] == pytest.approx(
        np.corrcoef([1, 0, 2, 1], [3, 3, 1, 0])[0, 1]
    )


def test_a_facet_that_does_not_vary_has_no_correlation() -> None:
    made = assay.score_facets({"1": {"a": 1, "b": 0}}, {"1": {"a": 2, "b": 2}}, {"1": {"a": 1.0}})
    assert made["correlation"] == {"pairs": 2, "pearson": None, "spearman": None, "tau_b": None}


@pytest.mark.parametrize("gains", ["0", "0,2", "a,b"])
def test_gains_are_numbers_from_0_to_1(gains: str) -> None:
    with pytest.raises(ValueError, match="not a list of gains"):
        Options(gains=gains)


def runs(folder: Path, names: list[str]):
    return (read_run(folder / CLEF / "runs-top100" / f"{name}.gz") for name in names)


@pytest.mark.data
@pytest.mark.parametrize("labels", ["published_labels", "labels_of_judgements_tsv"])
def test_values_are_those_of_the_reference(labels: str, data_folder: Path) -> None:
    reference = data_folder / "answers-reference" / "facets"
    expected = json.loads((reference / "urbp.expected.json").read_text(encoding="utf-8"))[labels]
    if labels == "published_labels":
        files = [
            data_folder / CLEF / f"{q}.eng.clef2015.qtest.graded.txt.gz" for q in ("qrels", "qread")
        ]
    else:
        files = [
            reference / f"labels.{q}.expected.qrels" for q in ("relevance", "understandability")
        ]
    qrels, facet = map(read_qrels, files)
    names = list(expected)
    for p in expected[names[0]]:
        scores, _ = compute(qrels, facet, runs(data_folder, names), Options(persistence=float(p)))
        values = np.where(scores.has_answer[:, :, None], scores.values, 0)
        for name, of_run in zip(names, values, strict=True):
            for measure, column in zip(FACET_MEASURES, of_run.T, strict=True):
                wanted = expected[name][p]["per_topic"][measure]
                assert dict(zip(scores.topics, column, strict=True)) == pytest.approx(
                    wanted, abs=1e-9
                )


@pytest.mark.data
def test_correlation_of_labels_is_that_of_the_reference(data_folder: Path) -> None:
    reference = data_folder / "answers-reference" / "facets"
    expected = json.loads((reference / "agreement.expected.json").read_text(encoding="utf-8"))
    qrels, facet = (
        read_qrels(reference / f"labels.{q}.expected.qrels")
        for q in ("relevance", "understandability")
    )
    _, about = compute(qrels, facet, [], Options())
    wanted = expected["correlation_of_labels"]
    for name, key in (("pearson", "pearson"), ("spearman", "spearman"), ("tau_b", "kendall_tau_b")):
        assert math.isclose(about["correlation"][name], wanted[key], abs_tol=1e-9)
    assert about["correlation"]["pairs"] == wanted["pairs"]


@pytest.mark.data
def test_with_one_grade_per_document_values_are_the_organisers_own(data_folder: Path) -> None:
    """Their tool takes documents in the order of the run's lines."""
    reference = data_folder / "answers-reference" / "facets"
    with gzip.open(reference / "organisers-urbp.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["topic"] != "all"]
    names = list(dict.fromkeys(row["run"] for row in rows))
    qrels, facet = (
        read_qrels(data_folder / CLEF / f"{q}.eng.clef2015.qtest.graded.txt.gz")
        for q in ("qrels", "qread")
    )
    folder = data_folder / CLEF / "runs-top100"
    read = (read_run(folder / f"{name}.gz", order="rank") for name in names)
    scores, _ = compute(qrels, facet, read, Options(by_document=True))
    assert len(rows) == 30 * 66 * 3
    for row in rows:
        place = names.index(row["run"]), scores.topics.index(row["topic"])
        value = scores.values[place][FACET_MEASURES.index(row["measure"])]
        assert np.nan_to_num(value) == pytest.approx(float(row["value"]), abs=5.1e-5)
