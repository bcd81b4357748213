"""Simulated annotators answer as their kind does."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.core import simulation

VALUES = [0, 1, 2, 3]


def grades(kind, true_grade, *, reliability=0.8, n=4000):
    rng = np.random.default_rng(1)
    return [
        simulation.simulate_answer(
            kind, true_grade, VALUES, reliability=reliability, seconds=48, rng=rng
        )
        for _ in range(n)
    ]


def test_a_reliable_annotator_is_right_as_often_as_told_and_mostly_near_when_wrong():
    found = [row.grade for row in grades("reliable", 3)]
    assert found.count(3) / 4000 == pytest.approx(0.8, abs=0.02)
    # A mistake is a neighbour in three quarters of the cases, and then in a third of the rest.
    assert found.count(2) / 4000 == pytest.approx(0.2 * (0.75 + 0.25 / 3), abs=0.02)


def test_a_perfect_annotator_never_errs_and_a_contrarian_always_does():
    assert {row.grade for row in grades("reliable", 1, reliability=1.0, n=100)} == {1}
    assert {row.grade for row in grades("contrarian", 0, reliability=1.0, n=100)} == {3}


def test_a_confuser_takes_topic_for_partial_and_back():
    assert [grades("confuser", grade, reliability=1.0, n=1)[0].grade for grade in VALUES] == [
        0,
        2,
        1,
        3,
    ]


def test_a_clicker_answers_anything_and_a_speeder_in_less_than_a_second():
    found = [row.grade for row in grades("clicker", 3)]
    assert all(found.count(grade) / 4000 == pytest.approx(0.25, abs=0.03) for grade in VALUES)
    assert max(row.active_ms for row in grades("speeder", 3)) < 1000


def test_the_median_time_is_the_one_asked_for():
    assert np.median([row.active_ms for row in grades("reliable", 2)]) == pytest.approx(
        48_000, rel=0.05
    )


def test_kinds_come_in_their_proportions_and_unknown_ones_are_refused():
    assert (
        simulation.assign_kinds(
            10, simulation.parse_mixture("reliable:8,clicker:1,dropout:1")
        ).count("reliable")
        == 8
    )
    assert len(simulation.assign_kinds(7, simulation.parse_mixture("reliable:2,clicker:1"))) == 7
    for wrong in ("", "robot", "reliable:-1", "reliable:x"):
        with pytest.raises(ValueError):
            simulation.parse_mixture(wrong)


def test_a_grade_of_the_qrels_becomes_the_highest_of_the_scale_that_is_not_above_it():
    assert [simulation.map_to_scale(grade, [0, 2, 5]) for grade in (None, -1, 0, 1, 2, 4, 7)] == [
        0,
        0,
        0,
        0,
        2,
        2,
        5,
    ]
