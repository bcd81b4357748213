"""Pools of other depths: sizes by hand, scores by pytrec_eval on qrels that were really cut."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval

from assay.formats.qrels import make_qrels
from assay.measures.measures import parse_measures
from assay.measures.packing import index_qrels, pack_run
from assay.measures.pool_depths import (
    UNRANKED,
    compute_best_ranks,
    count_pool_sizes,
    evaluate_cut_pools,
)
from tests.assay.measures.small_collections import run_columns

ONE = {"t": {"a": 4.0, "b": 3.0, "c": 2.0}, "u": {"a": 2.0}}
TWO = {"t": {"a": 4.0, "c": 3.0, "x": 2.0}}
GRADES = {"t": {"a": 0, "b": 1, "c": 2, "z": 1}, "u": {"a": 1}}
RUNS = [run_columns("one", ONE), run_columns("two", TWO)]


def qrels():
    return make_qrels(
        "q",
        [
            (topic, document, grade)
            for topic, of in GRADES.items()
            for document, grade in of.items()
        ],
    )


def test_a_document_stands_at_its_best_rank_in_any_run() -> None:
    judged = qrels()
    best = compute_best_ranks(
        [pack_run(run, index_qrels(judged)) for run in RUNS], len(judged.grades)
    )
    rows = [(topic, document) for topic, of in GRADES.items() for document in of]
    assert dict(zip(rows, best.tolist(), strict=True)) == {
        ("t", "a"): 1,
        ("t", "b"): 2,
        ("t", "c"): 2,
        ("t", "z"): UNRANKED,
        ("u", "a"): 1,
    }


def test_sizes_of_pools_count_what_nobody_judged_too() -> None:
    """t: a; a b c; a b c x. u: a at every depth."""
    assert count_pool_sizes(RUNS, ["t", "u"], [1, 2, 3]).tolist() == [[1, 1], [3, 1], [4, 1]]
    cuts = evaluate_cut_pools(qrels(), RUNS, parse_measures("P@2"), [1, 2, 3])
    assert [(cut.depth, cut.pairs.tolist(), cut.judged.tolist()) for cut in cuts] == [
        (1, [1, 1], [1, 1]),
        (2, [3, 1], [3, 1]),
        (3, [4, 1], [3, 1]),
    ]


@pytest.mark.parametrize(
    ("depth", "kept"), [(1, {"t": ["a"], "u": ["a"]}), (2, {"t": ["a", "b", "c"], "u": ["a"]})]
)
def test_scores_are_those_under_qrels_that_hold_only_the_pool(
    depth: int, kept: dict[str, list[str]]
) -> None:
    (cut,) = evaluate_cut_pools(qrels(), RUNS, parse_measures("nDCG AP P@5"), [depth])
    reduced = {
        topic: {document: GRADES[topic][document] for document in documents}
        for topic, documents in kept.items()
    }
    judge = pytrec_eval.RelevanceEvaluator(reduced, {"ndcg", "map", "P_5"})
    for number, scores in enumerate((ONE, TWO)):
        by_topic = judge.evaluate(scores)
        expected = [
            [by_topic[topic][name] if topic in by_topic else 0.0 for name in ("ndcg", "map", "P_5")]
            for topic in ("t", "u")
        ]
        assert cut.values[number] == pytest.approx(np.array(expected))


def test_what_cannot_be_cut_is_refused() -> None:
    with pytest.raises(ValueError, match="not drawn"):
        evaluate_cut_pools(qrels(), RUNS, parse_measures("infAP"), [1])
    with pytest.raises(ValueError, match="at least 1"):
        evaluate_cut_pools(qrels(), RUNS, parse_measures("AP"), [0, 1])
