"""Intervals of mean scores against scipy, and where there are none. What they cover: tests/analysis/core/test_calibration.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.core.mean_intervals import mean_interval, skewness

SCORES = np.random.default_rng(1).random(40)


def test_the_interval_is_scipys_t_interval_over_the_topics_that_count() -> None:
    low, high = stats.t.interval(0.95, 39, loc=SCORES.mean(), scale=stats.sem(SCORES))
    assert mean_interval(SCORES).bounds == pytest.approx([low, high], rel=1e-12)
    assert mean_interval(np.append(SCORES, [math.nan, math.nan])).bounds == pytest.approx([low, high], rel=1e-12)
    low, high = stats.t.interval(0.99, 39, loc=SCORES.mean(), scale=stats.sem(SCORES))
    assert mean_interval(SCORES, alpha=0.01).bounds == pytest.approx([low, high], rel=1e-12)


def test_the_skewness_is_scipys() -> None:
    assert skewness(SCORES**5) == pytest.approx(float(stats.skew(SCORES**5)), rel=1e-12)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([], "0 topics; an interval needs 25"),
        ([0.3, math.nan], "1 topic; an interval needs 25"),
        ([k / 24 for k in range(24)], "24 topics; an interval needs 25"),
        ([1.0] * 30, "all 30 topics have the same value"),
        # one topic in thirty: skewness 28 / sqrt(29), squared 784 / 29, five times that is 135.2
        ([1.0] + [0.0] * 29, "few topics bring most of the mean; with scores as skewed as these an interval needs 136 topics, not 30"),
    ],
)
def test_where_nothing_covers_there_is_none_and_the_reason_is_said(scores: list[float], reason: str) -> None:
    found = mean_interval(np.array(scores, np.float64))
    assert found.reason == reason
    assert all(math.isnan(end) for end in found.bounds)
