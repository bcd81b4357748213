"""Runs of the real collections, per topic, against pytrec_eval: it compares scores as float32, so do
we here."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measure
from tests.assay.comparison.rankings_by_hand import (
    REFERENCE_NAMES,
    Grades,
    Scores,
    reference_values,
)

pytestmark = pytest.mark.data

MAX_RUNS = 5
"""Of one folder: they differ in rankings, not in what a reader or a measure meets."""
COLLECTIONS = [
    (
        "clef-ehealth-2015/qrels.eng.clef2015.qtest.graded.txt.gz",
        "clef-ehealth-2015/runs-full/*",
        8,
    ),
    (
        "clef-ehealth-2015/qrels.eng.clef2015.qtest.graded.txt.gz",
        "clef-ehealth-2015/runs-top100/*",
        68,
    ),
    (
        "clef-ehealth-2015/qread.eng.clef2015.qtest.graded.txt.gz",
        "clef-ehealth-2015/runs-top100/*",
        68,
    ),
    ("dl21-passage/qrels.nist.txt.gz", "dl21-passage/runs-judged53/*", 63),
    ("dl21-passage/qrels.gpt4.txt.gz", "dl21-passage/runs-all477-top10/*", 63),
    ("robust03/qrels.robust2003.txt.gz", "robust03/runs/*", 17),
    ("trec-covid-r4-ohsu/qrels.covid-round4.txt.gz", "trec-covid-r4-ohsu/runs/*", 16),
    ("trec-covid/qrels.covid-complete.txt.gz", "trec-covid-r4-ohsu/runs/*", 16),
    ("cranfield/qrels.graded.txt", "cranfield/runs/*", 10),
    ("nfcorpus/beir/qrels/test.tsv", "nfcorpus/runs/*", 10),
    ("nfcorpus/sim-clicks/expected.qrels.dctr.txt", "nfcorpus/runs/*", 10),
    ("nfcorpus-sparse/qrels.single.txt", "nfcorpus-sparse/runs-msmarco-format/*", 6),
    ("vaswani-npl/qrels", "vaswani-npl/runs/*", 10),
    ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run.txt", 1),
    ("trec_eval-reference/qrels.rel_level", "trec_eval-reference/results.*", 3),
    ("trec_eval-reference/qrels.comment.test.gz", "trec_eval-reference/results.comment.test.gz", 1),
    ("trec_eval-reference/qrels-302.test", "trec_eval-reference/results-302.test", 1),
    ("format-samples/trectools-qrel1.txt", "format-samples/trectools-r?.run", 4),
    ("format-samples/ir_measures-compat.qrels", "format-samples/ir_measures-compat.run.gz", 1),
    ("format-samples/ir_measures-cwl.qrels", "format-samples/ir_measures-cwl.run", 1),
]


def words_of_lines(path: Path) -> Iterator[list[str]]:
    """The file read as simply as can be, so that our readers are checked too."""
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                yield line.split()


def plain_run(path: Path) -> Scores:
    run: Scores = {}
    for words in words_of_lines(path):
        if len(words) == 3:
            run.setdefault(words[0], {})[words[1]] = -float(words[2])
        else:
            run.setdefault(words[0], {})[words[2]] = float(words[4])
    return run


def plain_qrels(path: Path) -> Grades:
    grades: Grades = {}
    for words in words_of_lines(path):
        if words[0] != "query-id":
            grades.setdefault(words[0], {})[words[-2]] = int(words[-1])
    return grades


@pytest.mark.long
@pytest.mark.parametrize(
    ("qrels_file", "runs", "n_runs"),
    COLLECTIONS,
    ids=[f"{qrels} {runs}" for qrels, runs, _ in COLLECTIONS],
)
def test_runs_agree_with_pytrec_eval_on_every_topic(
    data_folder: Path, qrels_file: str, runs: str, n_runs: int
) -> None:
    judged = plain_qrels(data_folder / qrels_file)
    graded = max(max(grades.values()) for grades in judged.values()) > 1
    kinds = [(1, False), (1, True)] + ([(2, False)] if graded else [])
    plain = [parse_measure(name) for name in REFERENCE_NAMES]
    qrels = read_qrels(str(data_folder / qrels_file))
    evaluators = {
        (level, condensed): Evaluator(
            qrels, [dataclasses.replace(m, condensed=condensed) for m in plain], min_relevant=level
        )
        for level, condensed in kinds
    }
    files = sorted(
        path
        for path in data_folder.glob(runs)
        if path.name != "results-302.test" or "302" in qrels_file
    )
    assert len(files) == n_runs
    for file in files[:: -(-n_runs // MAX_RUNS)]:
        rankings = plain_run(file)
        run = read_run(str(file), scores="float32", lenient=True)
        for (level, condensed), evaluator in evaluators.items():
            theirs = reference_values(rankings, judged, level=level, condensed=condensed)
            ours = evaluator.evaluate(run)
            none = dict.fromkeys(REFERENCE_NAMES.values(), 0.0)
            expected = [
                [theirs.get(topic, none)[name] for name in REFERENCE_NAMES.values()]
                for topic in ours.topics
            ]
            np.testing.assert_allclose(
                ours.values, expected, rtol=0, atol=1e-9, err_msg=f"{file.name} {level} {condensed}"
            )
