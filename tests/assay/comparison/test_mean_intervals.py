"""Intervals of mean scores against scipy and Hall's transformation, and where there are none. What
they cover: tests/assay/comparison/test_calibration.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from assay.comparison.mean_intervals import mean_interval, mean_intervals, skewness
from tests.assay.comparison.hall import transformed, wider_interval

SCORES = np.random.default_rng(1).random(40)
EVEN = np.concatenate([SCORES, 1 - SCORES])
"""Symmetric: Hall's transformation leaves it alone."""


def test_the_interval_of_symmetric_scores_is_scipys_t_interval_over_the_topics_that_count() -> None:
    for alpha in (0.05, 0.01):
        expected = stats.t.interval(1 - alpha, 79, loc=EVEN.mean(), scale=stats.sem(EVEN))
        assert mean_interval(EVEN, alpha=alpha).bounds == pytest.approx(list(expected), rel=1e-9)
        assert mean_interval(
            np.append(EVEN, [math.nan, math.nan]), alpha=alpha
        ).bounds == pytest.approx(list(expected), rel=1e-9)


@pytest.mark.parametrize("power", [1, 5, -0.3])
def test_the_interval_of_skewed_scores_reaches_further_on_the_side_of_their_tail(
    power: float,
) -> None:
    """By the roots of Hall's polynomial (1992), which the code never evaluates."""
    scores = SCORES**power
    low, high = mean_interval(scores).bounds
    assert [low, high] == pytest.approx(list(wider_interval(scores)), rel=1e-9)
    plain = stats.t.interval(0.95, 39, loc=scores.mean(), scale=stats.sem(scores))
    assert high > plain[1] + 0.01 if power != 1 else high == pytest.approx(plain[1], abs=0.01)
    assert mean_interval(-scores).bounds == pytest.approx([-high, -low], rel=1e-12)


def test_halls_polynomial_is_that_of_his_paper_at_a_point_by_hand() -> None:
    """T = 3, skewness 2, 4 topics: 3 + 1 * 9 / 3 + 1 * 27 / 27 + 1 / 6 with skewness / sqrt(n) =
    1."""
    assert transformed(3.0, 2.0, 4) == pytest.approx(3 + 3 + 1 + 1 / 6)
    assert optimize.brentq(lambda t: transformed(t, 2.0, 4) - 43 / 6, 0, 9) == pytest.approx(3)


def test_the_skewness_is_scipys() -> None:
    rows = np.stack([SCORES**5, SCORES])
    assert skewness(rows) == pytest.approx(stats.skew(rows, axis=1), rel=1e-12)
    assert np.isnan(skewness(np.ones((1, 4)))).all()


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([], "0 topics; a confidence interval needs 30"),
        ([0.3, math.nan], "1 topic; a confidence interval needs 30"),
        ([k / 29 for k in range(29)], "29 topics; a confidence interval needs 30"),
        ([1.0] * 30, "all 30 topics have the same value"),
        ([0.1 + 0.2] * 20 + [0.3] * 20, "all 40 topics have the same value"),
        (
            [1.0] * 9 + [0.0] * 31,
            "31 of 40 topics have nearly the same value; a confidence interval needs 10 topics with another",
        ),
        (
            [k / 10 for k in range(9)] + [0.6 + k / 4000 for k in range(31)],
            "32 of 40 topics have nearly the same value; a confidence interval needs 10 topics with another",
        ),
    ],
)
def test_where_nothing_covers_there_is_none_and_the_reason_is_said(
    scores: list[float], reason: str
) -> None:
    found = mean_interval(np.array(scores, np.float64))
    assert found.reason == reason
    assert all(math.isnan(end) for end in found.bounds)


def test_ten_topics_off_the_most_frequent_value_are_enough() -> None:
    assert mean_interval(np.array([1.0] * 10 + [0.0] * 30)).reason == ""


def test_intervals_of_many_rows_are_those_of_each_and_never_have_no_width() -> None:
    rows = np.round(np.random.default_rng(2).random((30, 35)) ** 6, 1)
    for row, found in zip(rows, mean_intervals(rows), strict=True):
        assert (
            found == pytest.approx(mean_interval(row), nan_ok=True)
            or found.reason == mean_interval(row).reason
        )
        assert found.reason or found.high - found.low > 0.01
