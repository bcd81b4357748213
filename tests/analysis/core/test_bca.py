"""Bias-corrected and accelerated intervals: those of scipy on the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.core import bca
from analysis.core.system_comparison import all_pairs, compare


def scipys(d: np.ndarray, statistic, n_samples: int, seed: int) -> tuple[float, float]:
    found = stats.bootstrap((d,), statistic, n_resamples=n_samples, method="BCa", rng=np.random.default_rng(seed), vectorized=True)
    return tuple(found.confidence_interval)


@pytest.mark.parametrize("n", [12, 200])
def test_intervals_of_differences_are_those_of_scipy_on_the_same_samples(n: int) -> None:
    values = np.random.default_rng(1).random((n, 3)) ** 3
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    found = bca.of_differences(values, first, second, n_samples=500, rng=np.random.default_rng(7))
    for k in range(3):
        expected = scipys(values[:, second[k]] - values[:, first[k]], np.mean, 500, 7)
        assert found[k].tolist() == pytest.approx(expected, abs=1e-12)


def test_any_statistic_has_that_of_scipy_from_its_samples_and_its_jackknife() -> None:
    """The variance of a skewed sample: bias and acceleration are both far from 0."""
    x = np.random.default_rng(2).exponential(1, 30)
    drawn = np.random.default_rng(5).integers(30, size=(800, 30))
    left_out = np.array([np.delete(x, i).var() for i in range(30)])
    found = bca.bca(np.array([x.var()]), x[drawn].var(axis=1)[:, None], left_out[:, None])
    assert found[0].tolist() == pytest.approx(scipys(x, np.var, 800, 5))
    percentiles = np.percentile(x[drawn].var(axis=1), [2.5, 97.5])
    assert found[0, 1] > percentiles[1] * 1.05  # a percentile interval would be another one


def test_units_that_are_alike_are_counted_as_often_as_they_are_there() -> None:
    x = np.repeat([0.0, 1.0, 5.0], [4, 3, 2])
    samples = x[np.random.default_rng(3).integers(9, size=(400, 9))].mean(axis=1)[:, None]
    without = np.array([(x.sum() - value) / 8 for value in (0.0, 1.0, 5.0)])[:, None]
    each = bca.bca(np.array([x.mean()]), samples, np.repeat(without, [4, 3, 2], axis=0))
    assert bca.bca(np.array([x.mean()]), samples, without, times=np.array([4, 3, 2])).tolist() == each.tolist()


def test_there_is_none_where_nothing_varies_or_something_is_undefined() -> None:
    same = np.column_stack([np.arange(60.0), np.arange(60.0) + 0.25, np.random.default_rng(0).random(60)])
    found = bca.of_differences(same, np.array([0, 0]), np.array([1, 2]), n_samples=50, rng=np.random.default_rng(0))
    assert np.isnan(found[0]).all()
    assert not np.isnan(found[1]).any()
    samples = np.array([[0.1], [np.nan], [0.3]])
    assert np.isnan(bca.bca(np.array([0.2]), samples, np.array([[0.1], [0.3]]))).all()


def test_too_few_topics_have_none_for_it_is_too_short_there() -> None:
    """Ten topics of skewed scores: the share of intervals that hold the true difference of 0 is below .92, that of t is not."""
    rng = np.random.default_rng(4)
    d = np.diff((rng.random((600, 10, 2)) ** 3), axis=2)[:, :, 0]
    none = np.zeros(10)
    by_bca = [bca.of_differences(np.column_stack([none, row]), np.array([0]), np.array([1]), n_samples=300, rng=rng)[0] for row in d]
    by_t = [compare(np.column_stack([none, row]), [(0, 1)], trials=1, rng=rng) for row in d[:300]]
    assert np.mean([low <= 0 <= high for low, high in by_bca]) < 0.91
    assert np.mean([found.low[0] <= 0 <= found.high[0] for found in by_t]) > 0.92
    assert np.isnan(by_t[0].bca).all()


def test_fifty_topics_have_one_for_every_pair() -> None:
    values = np.random.default_rng(6).random((50, 4))
    found = compare(values, all_pairs(4), trials=10, rng=np.random.default_rng(1))
    assert ((found.bca[:, 0] < found.difference) & (found.difference < found.bca[:, 1])).all()
    assert found.bca == pytest.approx(np.column_stack([found.low, found.high]), abs=0.02)
