"""Bias-corrected and accelerated intervals: those of scipy on the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.calibration import bca


def scipys(d: np.ndarray, statistic, n_samples: int, seed: int) -> tuple[float, float]:
    found = stats.bootstrap(
        (d,),
        statistic,
        n_resamples=n_samples,
        method="BCa",
        rng=np.random.default_rng(seed),
        vectorized=True,
    )
    return tuple(found.confidence_interval)


def test_any_statistic_has_that_of_scipy_from_its_samples_and_its_jackknife() -> None:
    """The variance of a skewed sample: bias and acceleration are both far from 0."""
    x = np.random.default_rng(2).exponential(1, 30)
    drawn = np.random.default_rng(5).integers(30, size=(800, 30))
    left_out = np.array([np.delete(x, i).var() for i in range(30)])
    found = bca.bca_interval(np.array([x.var()]), x[drawn].var(axis=1)[:, None], left_out[:, None])
    assert found[0].tolist() == pytest.approx(scipys(x, np.var, 800, 5))
    percentiles = np.percentile(x[drawn].var(axis=1), [2.5, 97.5])
    assert found[0, 1] > percentiles[1] * 1.05  # a percentile interval would be another one


def test_units_that_are_alike_are_counted_as_often_as_they_are_there() -> None:
    x = np.repeat([0.0, 1.0, 5.0], [4, 3, 2])
    samples = x[np.random.default_rng(3).integers(9, size=(400, 9))].mean(axis=1)[:, None]
    without = np.array([(x.sum() - value) / 8 for value in (0.0, 1.0, 5.0)])[:, None]
    each = bca.bca_interval(np.array([x.mean()]), samples, np.repeat(without, [4, 3, 2], axis=0))
    assert (
        bca.bca_interval(np.array([x.mean()]), samples, without, times=np.array([4, 3, 2])).tolist()
        == each.tolist()
    )


def test_there_is_none_where_something_is_undefined() -> None:
    samples = np.array([[0.1], [np.nan], [0.3]])
    assert np.isnan(bca.bca_interval(np.array([0.2]), samples, np.array([[0.1], [0.3]]))).all()
