"""The statistics of a campaign (TripJudge's Table 1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.campaigns.statistics import (
    RankCoverage,
    TopicSeconds,
    compute_campaign_statistics,
    find_complete_depth,
    find_slowest_topics,
)
from assay.labels.labels import make_label_table
from tests.assay.labels.judged import table_of_pairs, table_of_rows

DAY = 24 * 60 * 60.0
ROWS = [  # topic, document, annotator, grade; seconds; hours after the first midnight
    (("t1", "d1", "a", 0), 10.0, 1),
    (("t1", "d1", "b", 0), 20.0, 2),
    (("t1", "d1", "c", 3), 60.0, 11.9),
    (("t1", "d2", "a", 2), 30.0, 12),
    (("t1", "d2", "b", 3), math.nan, 47),
    (("t2", "d1", "a", 2), 50.0, 48),
]
FIRST_DAY = 18_000 * DAY


@pytest.fixture
def table():
    return table_of_rows(
        [row[0] for row in ROWS],
        n_grades=4,
        seconds=[row[1] for row in ROWS],
        judged_at=[FIRST_DAY + 3600 * row[2] for row in ROWS],
    )


def test_counts_and_means_by_hand(table):
    s = compute_campaign_statistics(table, min_relevant=2, documents=1000)
    assert (s.topics, s.documents, s.pairs, s.labelled_pairs, s.judgements, s.annotators) == (
        2,
        1000,
        3,
        2,
        6,
        3,
    )
    assert s.per_pair == 2.0
    assert s.per_labelled_pair == 2.5
    assert s.per_annotator == 2.0
    assert s.grades[0] == (2, 2 / 6, 15.0, 15.0)
    assert s.grades[2] == (2, 2 / 6, 40.0, 40.0)
    assert s.grades[3] == (2, 2 / 6, 60.0, 60.0)
    assert s.grades[1][:2] == (0, 0.0)
    assert all(math.isnan(x) for x in s.grades[1][2:])


def test_half_days_start_at_0_and_12_utc_and_empty_ones_are_there(table):
    s = compute_campaign_statistics(table, min_relevant=2)
    assert s.per_12h == [(FIRST_DAY + i * DAY / 2, n) for i, n in enumerate([3, 1, 0, 1, 1])]


def test_daily_seconds_are_means_by_grade_of_days_with_a_known_time(table):
    s = compute_campaign_statistics(table, min_relevant=2)
    assert [day for day, _ in s.daily_seconds] == [FIRST_DAY, FIRST_DAY + 2 * DAY]
    first, last = (means for _, means in s.daily_seconds)
    np.testing.assert_array_equal(list(first.values()), [15.0, math.nan, 30.0, 60.0])
    np.testing.assert_array_equal(list(last.values()), [math.nan, math.nan, 50.0, math.nan])


def test_without_times_pool_or_collection_those_figures_are_none():
    s = compute_campaign_statistics(table_of_pairs([[0, 1]], n_grades=4), min_relevant=2)
    assert (s.per_12h, s.daily_seconds, s.complete_depth, s.coverage, s.documents) == (
        None,
        None,
        None,
        None,
        None,
    )
    assert math.isnan(s.grades[0].mean_seconds)


def test_the_relevant_share_is_of_two_grade_labels_and_not_of_binarised_labels(table):
    s = compute_campaign_statistics(table, min_relevant=2)
    assert s.relevant_share_per_topic == {
        "t1": 0.5
    }  # d1 not relevant, d2 relevant; t2 has no label
    three = compute_campaign_statistics(table_of_pairs([[0, 2, 3]], n_grades=4), min_relevant=2)
    assert three.relevant_share == 1  # its 4-grade label would be 0


def test_a_relevant_share_above_one_half_and_grades_counted_from_one_are_warned_about(table):
    assert compute_campaign_statistics(table, min_relevant=2).warnings == []  # exactly one half
    warnings = compute_campaign_statistics(
        table_of_pairs([[3, 3], [1, 1], [2, 2]], n_grades=4), min_relevant=2
    ).warnings
    assert any("66.7% of the labels are relevant" in text for text in warnings)
    assert any("no judgement has grade 0" in text for text in warnings)


def test_the_pool_is_complete_to_the_deepest_rank_whose_pairs_all_have_labels(table):
    pool = [("t1", "d1", 1), ("t1", "d2", 2), ("t2", "d1", 3), ("t2", "d9", 4)]
    s = compute_campaign_statistics(table, min_relevant=2, pool=pool)
    assert s.complete_depth == 2  # t2 d1 has one judgement only
    assert s.coverage == {1: (1, 1, 1), 2: (1, 1, 1), 3: (1, 1, 0), 4: (1, 0, 0)}
    assert (
        compute_campaign_statistics(
            table, min_relevant=2, pool=pool, min_judgements=1
        ).complete_depth
        == 3
    )


def test_judged_pairs_outside_the_pool_are_warned_about(table):
    s = compute_campaign_statistics(table, min_relevant=2, pool=[("t1", "d1", 1)])
    assert s.complete_depth == 1
    assert "2 judged pairs are not in the pool" in s.warnings


@pytest.mark.parametrize(
    ("labelled", "depth"),
    [
        ({1: 0, 2: 5}, 0),
        ({1: 5, 2: 5, 3: 4}, 2),
        ({1: 5, 2: 5}, 2),
        ({1: 5, 4: 0}, 3),
        ({2: 0}, 0),
        ({}, 0),
    ],
)
def test_complete_depth_stops_at_the_first_gap(labelled, depth):
    assert (
        find_complete_depth({rank: RankCoverage(5, 5, n) for rank, n in labelled.items()}) == depth
    )


def test_no_judgements_give_statistics_with_undefined_means():
    s = compute_campaign_statistics(
        table_of_pairs([], n_grades=4), min_relevant=2, pool=[("t", "d", 1)]
    )
    assert (s.topics, s.pairs, s.judgements, s.annotators, s.complete_depth) == (0, 0, 0, 0, 0)
    assert math.isnan(s.per_pair)
    assert math.isnan(s.relevant_share)
    assert math.isnan(s.grades[0].share)


def test_tripjudges_table_1_has_its_shares_and_3_08_judgements_a_pair():
    """38,810 judgements on 12,590 pairs of 1,136 topics by 135 annotators: 10, 28, 33 (34 by its
    own counts) and 29 %."""
    n, n_pairs = 38_810, 12_590
    pair = np.arange(n) % n_pairs
    table = make_label_table(
        topics=[f"t{i}" for i in range(1136)],
        documents=[f"d{i}" for i in range(n_pairs)],
        annotators=[f"a{i}" for i in range(135)],
        topic=pair % 1136,
        document=pair,
        annotator=(pair + np.arange(n) // n_pairs) % 135,
        grade=np.repeat(np.arange(4), [3811, 10901, 13008, 11090]),
        n_grades=4,
    )
    s = compute_campaign_statistics(table, min_relevant=2)
    assert (s.topics, s.pairs, s.labelled_pairs, s.judgements, s.annotators) == (
        1136,
        12_590,
        12_590,
        38_810,
        135,
    )
    assert [round(100 * s.grades[grade].share) for grade in range(4)] == [10, 28, 34, 29]
    assert round(s.per_pair, 2) == 3.08
    assert round(s.per_annotator) == 287


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1e7), min_size=1, max_size=30))
def test_half_days_hold_every_dated_judgement_once(times):
    rows = [("t", f"d{i}", "a", 0) for i in range(len(times))]
    s = compute_campaign_statistics(
        table_of_rows(rows, n_grades=2, judged_at=times), min_relevant=1
    )
    starts = [start for start, _ in s.per_12h]
    assert sum(n for _, n in s.per_12h) == len(times)
    assert starts == [starts[0] + i * DAY / 2 for i in range(len(starts))]
    assert starts[0] <= min(times) < starts[0] + DAY / 2
    assert starts[-1] <= max(times) < starts[-1] + DAY / 2


def test_the_slowest_topics_come_first_and_those_without_a_time_are_not_counted():
    table = make_label_table(
        topics=["a", "b", "c", "d"],
        documents=["x"],
        annotators=["p", "q"],
        topic=[0, 0, 1, 2, 3],
        document=[0, 0, 0, 0, 0],
        annotator=[0, 1, 0, 0, 0],
        grade=[0, 1, 1, 0, 1],
        seconds=[10.0, 20.0, 15.0, math.nan, 40.0],
        n_grades=2,
    )
    assert find_slowest_topics(table, 2) == (
        3,
        [("d", TopicSeconds(1, 40.0)), ("a", TopicSeconds(2, 15.0))],
    )  # b has 15 s, too, and comes later
