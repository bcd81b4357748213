"""Holes of a late run: bounds by hand and by trying every grade, expected fill, order of
filling."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison.unjudged_documents import (
    TopicTop,
    UnjudgedDocument,
    count_to_narrow,
    imputed_ndcg,
    imputed_precision,
    judging_order,
    ndcg_bounds,
    precision_bounds,
    rbp_bounds,
    read_topic_tops,
    remaining_score_range,
    summarise_unique_documents,
)
from assay.formats.qrels import make_qrels
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measures
from tests.assay.sampling.test_estimates import ranking


def top(grades: list[int | None], judged: list[int]) -> TopicTop:
    return TopicTop("1", [f"d{k}" for k in range(len(grades))], grades, judged, len(grades))


def test_bounds_as_worked_by_hand() -> None:
    """Top three: grade 2, unjudged, 0. Judged grades: 2 and 1. Highest grade: 3."""
    tops = [top([2, None, 0], [2, 1, 0])]
    bounds = ndcg_bounds(tops, cutoff=3, highest=3)
    assert (bounds.low[0], bounds.high[0]) == pytest.approx((0.7602, 0.8671), abs=5e-5)
    assert precision_bounds(tops, cutoff=3, min_relevant=1).low[0] == pytest.approx(1 / 3)
    assert precision_bounds(tops, cutoff=3, min_relevant=1).high[0] == pytest.approx(2 / 3)
    residual = rbp_bounds(tops, persistence=0.5, min_relevant=1)
    assert (residual.low[0], residual.high[0]) == (0.5, 0.875)


@given(
    grades=st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=1, max_size=5),
    others=st.lists(st.integers(0, 2), max_size=4),
    cutoff=st.integers(1, 5),
)
@settings(max_examples=150, deadline=None)
def test_bounds_are_the_least_and_greatest_over_every_grade_of_every_hole(
    grades: list[Any], others: list[int], cutoff: int
) -> None:
    judged = [grade for grade in grades if grade is not None] + others
    holes = [k for k, grade in enumerate(grades[:cutoff]) if grade is None]
    values = []
    for filling in product(range(3), repeat=len(holes)):
        full = [0 if grade is None else grade for grade in grades[:cutoff]]
        for place, grade in zip(holes, filling, strict=True):
            full[place] = grade
        best = sorted([*judged, *filling], reverse=True)[:cutoff]
        ideal = sum(grade / math.log2(r + 2) for r, grade in enumerate(best))
        values.append(
            sum(grade / math.log2(r + 2) for r, grade in enumerate(full)) / ideal if ideal else 0.0
        )
    bounds = ndcg_bounds([top(grades, judged)], cutoff=cutoff, highest=2)
    assert (bounds.low[0], bounds.high[0]) == pytest.approx((min(values), max(values)), abs=1e-12)
    assert bounds.zero[0] == pytest.approx(values[0], abs=1e-12)


def test_a_hole_is_a_document_that_nobody_judged_also_where_the_qrels_have_it_with_a_negative_grade() -> (
    None
):
    qrels = make_qrels("q", [("1", "a", 2), ("1", "b", -1), ("2", "a", 1)])
    tops = read_topic_tops(ranking({"1": "abc"}), qrels, depth=2)
    assert [(found.grades, found.judged, found.n_retrieved) for found in tops] == [
        ([2, None], [2], 3),
        ([], [1], 0),
    ]
    assert tops[0].unjudged == [2]


def test_holes_as_zero_are_the_measures_as_usual() -> None:
    qrels = make_qrels(
        "q", [("1", "a", 2), ("1", "c", 1), ("1", "z", 3), ("2", "b", 1), ("2", "a", 0)]
    )
    run = ranking({"1": "abcd", "2": "cab"})
    tops = read_topic_tops(run, qrels, depth=3)
    plain = Evaluator(qrels, parse_measures("nDCG@3 P@3")).evaluate(run)
    assert ndcg_bounds(tops, cutoff=3, highest=3).zero == pytest.approx(plain.values[:, 0])
    assert precision_bounds(tops, cutoff=3, min_relevant=1).zero == pytest.approx(
        plain.values[:, 1]
    )


def test_what_only_one_group_found_tells_what_a_hole_is_worth() -> None:
    """Of group g only b (rank 2, grade 1) and d (rank 4, grade 0); of h only e (rank 1, grade 2)
    and f (rank 4, unjudged)."""
    runs = [ranking({"1": "abcd"}), ranking({"1": "acbd"}), ranking({"1": "eacf"})]
    qrels = make_qrels(
        "q", [("1", "a", 1), ("1", "b", 1), ("1", "c", 0), ("1", "d", 0), ("1", "e", 2)]
    )
    worth = summarise_unique_documents(runs, ["g", "g", "h"], qrels, depth=4, min_relevant=1)
    assert worth.numbers == (2, 1)
    assert worth.grade_at(3) == pytest.approx((1 + 2 + 0.3) / 3)
    assert worth.grade_at(4) == pytest.approx(0.3 / 2)
    assert worth.relevance_at(1) == pytest.approx((2 + 0.3) / 3)
    tops = [top([1, None, None, None], [1, 2])]
    ideal = 2 + 1 / math.log2(3)
    gained = 1 + 1.1 / math.log2(3) + 1.1 / 2 + 0.15 / math.log2(5)
    assert imputed_ndcg(tops, worth, cutoff=4)[0] == pytest.approx(gained / ideal)
    assert imputed_precision(tops, worth, cutoff=4, min_relevant=1)[0] == pytest.approx(
        (1 + 2.3 / 3 * 2 + 0.15) / 4
    )


def test_holes_that_settle_most_come_first() -> None:
    few, many = top([None, 1, None], [1]), TopicTop("2", ["x", "y"], [None, None], [3, 3, 3], 2)
    order = judging_order([few, many], cutoff=3)
    ideal = 3 * (1 + 1 / math.log2(3) + 0.5)
    expected = [
        ("1", "d0", 1 / 2),
        ("1", "d2", 0.25),
        ("2", "x", 1 / (2 * ideal)),
        ("2", "y", 1 / (2 * ideal * math.log2(3))),
    ]
    assert [(hole.topic, hole.document) for hole in order] == [
        (topic, document) for topic, document, _ in expected
    ]
    assert [hole.weight for hole in order] == pytest.approx([weight for *_, weight in expected])


def test_against_a_system_a_shared_hole_weighs_the_difference_and_the_systems_own_holes_come_in() -> (
    None
):
    own = TopicTop("1", ["a", "b"], [None, None], [1], 2)
    rival = TopicTop("1", ["a", "c"], [None, None], [1], 2)
    order = judging_order([own], cutoff=2, rival=[rival])
    assert [(hole.document, hole.weight) for hole in order] == [
        ("b", pytest.approx(1 / math.log2(3))),
        ("c", pytest.approx(1 / math.log2(3))),
        ("a", 0.0),
    ]


def test_no_hole_no_order() -> None:
    assert judging_order([top([1, 0], [1, 0])], cutoff=2) == []
    bounds = ndcg_bounds([top([1, 0], [1, 0])], cutoff=2, highest=3)
    assert bounds.low[0] == bounds.high[0] == 1.0
    assert np.isfinite(bounds.zero).all()


def test_what_judging_the_first_holes_settles() -> None:
    """Weights .02 .01 .004 at highest grade 3: .102 before, then .042, .012, 0."""
    order = [
        UnjudgedDocument("1", d, 1, w) for d, w in zip("abc", (0.02, 0.01, 0.004), strict=True)
    ]
    widths = remaining_score_range(order, highest=3)
    assert widths == pytest.approx([0.102, 0.042, 0.012, 0])
    assert count_to_narrow(widths) == 3
    assert count_to_narrow(widths, width=0.05) == 1
    assert remaining_score_range([], highest=3).tolist() == [0]
    assert count_to_narrow(remaining_score_range([], highest=3)) == 0
