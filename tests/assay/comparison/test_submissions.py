from __future__ import annotations

import math

import pytest

from assay.comparison.submissions import Submission, make_records, mean_ranks

BOARD = [
    Submission("a1", "2021-01-03", "alpha", 0.40, 0.50),
    Submission("a2", "2021-01-10", "alpha", 0.42, 0.30),
    Submission("a3", "2021-01-31", "alpha", 0.41, 0.60),
    Submission("a4", "2021-02-01", "alpha", 0.39, 0.20),
    Submission("b1", "2021-01-05", "beta", 0.45, 0.40, expected_private_rank=3.25),
]


def test_submissions_are_counted_by_month_and_breaches_named():
    found = make_records(BOARD)
    assert list(found) == ["alpha", "beta"]
    assert found["alpha"].submissions == 4
    assert found["alpha"].per_month == {"2021-01": 3, "2021-02": 1}
    assert found["alpha"].breaches == ["2021-01"]
    assert found["beta"].breaches == []
    assert make_records(BOARD, limit=3)["alpha"].breaches == []


def test_the_best_public_run_and_its_private_rank():
    found = make_records(BOARD)
    assert (
        found["alpha"].best_tag,
        found["alpha"].best_public_rank,
        found["alpha"].its_private_rank,
    ) == ("a2", 2, 4)
    assert (
        found["beta"].best_public_rank,
        found["beta"].its_private_rank,
        found["beta"].its_expected_private_rank,
    ) == (1, 3, 3.25)
    assert math.isnan(found["alpha"].its_expected_private_rank)


def test_a_given_private_rank_counts_more_than_one_from_scores():
    found = make_records([Submission("x", "2021-01-01", "g", 0.5, 0.1, private_rank=7)])
    assert found["g"].its_private_rank == 7


def test_equal_scores_share_the_mean_rank_and_the_first_submission_is_the_best():
    found = make_records(
        [Submission("late", "2021-03-01", "g", 0.5), Submission("early", "2021-02-01", "g", 0.5)]
    )
    assert (found["g"].best_tag, found["g"].best_public_rank) == ("early", 1.5)
    assert math.isnan(found["g"].its_private_rank)


def test_unknown_scores_have_no_rank_and_take_none():
    assert mean_ranks([0.2, float("nan"), 0.3]).tolist() == pytest.approx(
        [2, float("nan"), 1], nan_ok=True
    )
