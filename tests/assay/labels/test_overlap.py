from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.labels.overlap import count_label_overlap, find_contradictions
from assay.measures.packing import TopicDocumentPairs
from tests.assay.comparison.rankings_by_hand import Grades, qrels_of

JUDGED = {"1": {"a": 1, "b": 0, "c": 1, "d": 0, "e": -1}, "2": {"a": 2, "b": 1}}
CLICKS = {"1": {"a": 3, "b": 0, "c": 0, "e": 1, "x": 1}, "3": {"a": 0}, "2": {"b": -1}}


def test_shares_and_counts_worked_by_hand() -> None:
    # judged: 1a 1b 1c 1d 2a 2b (1e is unjudged); relevant: a:3, c:0, 2a none, 2b none (negative);
    # irrelevant: b:0, d none
    assert count_label_overlap(qrels_of(JUDGED), qrels_of(CLICKS)).shares() == {
        "pairs": 6,
        "relevant": {"unlabelled": 2 / 6, "0": 1 / 6, "1": 0, "3": 1 / 6},
        "irrelevant": {"unlabelled": 1 / 6, "0": 1 / 6, "1": 0, "3": 0},
        "agree": 3 / 6,
        "disagree": 3 / 6,
        "both": 3,
        "judged_only": 3,
        "clicked_only": 3,
        "contradicting": 1,
    }


def test_pairs_with_judgements_and_clicks_of_different_sides_are_listed() -> None:
    judged = qrels_of({"1": {"a": 1, "b": 0, "c": 1, "d": 1}})
    clicks = qrels_of({"1": {"a": 1, "b": 1, "c": 0, "d": -1}})
    assert find_contradictions(judged, clicks) == [("1", "b", 0, 1), ("1", "c", 1, 0)]
    assert find_contradictions(judged, clicks, min_relevant=2) == [
        ("1", "a", 1, 1),
        ("1", "b", 0, 1),
    ]


def test_the_threshold_moves_judgements_from_relevant_to_irrelevant() -> None:
    found = count_label_overlap(qrels_of(JUDGED), qrels_of(CLICKS), min_relevant=2)
    assert found.relevant == {"unlabelled": 1, "0": 0, "1": 0, "3": 0}
    assert found.irrelevant == {"unlabelled": 2, "0": 2, "1": 0, "3": 1}
    assert (found.n_agreeing, found.n_contradicting) == (4, 1)


def test_only_pairs_at_the_top_of_the_pool_are_considered() -> None:
    top = TopicDocumentPairs(["1", "7"], np.array([0, 0, 0, 1]), np.array([b"a", b"d", b"x", b"a"]))
    found = count_label_overlap(qrels_of(JUDGED), qrels_of(CLICKS), within=top)
    assert (found.n_pairs, found.n_both, found.n_judged_only, found.n_clicked_only) == (2, 1, 1, 1)


def test_shares_of_no_pairs_are_undefined() -> None:
    shares = count_label_overlap(qrels_of({"1": {"a": -1}}), qrels_of(CLICKS)).shares()
    assert shares["pairs"] == 0
    assert math.isnan(shares["agree"])
    assert math.isnan(shares["relevant"]["unlabelled"])


def test_clicks_without_a_label_and_judgements_without_a_row_are_no_trouble() -> None:
    assert count_label_overlap(qrels_of(JUDGED), qrels_of({})).relevant == {"unlabelled": 4}
    assert count_label_overlap(qrels_of({}), qrels_of(CLICKS)).n_clicked_only == 6


tables = st.dictionaries(
    st.sampled_from("12"),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-1, 3), min_size=1),
    max_size=2,
)


@settings(max_examples=150, deadline=None)
@given(tables, tables, st.integers(1, 3))
def test_counts_agree_with_a_slow_twin(judged: Grades, clicks: Grades, min_relevant: int) -> None:
    labels = {(t, d): g for t, grades in judged.items() for d, g in grades.items() if g >= 0}
    clicked = {(t, d): g for t, grades in clicks.items() for d, g in grades.items() if g >= 0}
    found = count_label_overlap(qrels_of(judged), qrels_of(clicks), min_relevant=min_relevant)
    agree = sum(
        (grade >= min_relevant) == (clicked.get(pair, 0) >= 1) for pair, grade in labels.items()
    )
    both = labels.keys() & clicked.keys()
    assert (found.n_pairs, found.n_agreeing) == (len(labels), agree)
    assert (found.n_both, found.n_judged_only, found.n_clicked_only) == (
        len(both),
        len(labels) - len(both),
        len(clicked) - len(both),
    )
    assert found.n_contradicting == sum(
        (labels[pair] >= min_relevant) != (clicked[pair] >= 1) for pair in both
    )
    assert sum(found.relevant.values()) + sum(found.irrelevant.values()) == len(labels)
