"""Coverage of intervals: how often there is an interval, and how often it contains the true
value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bounds = tuple[float, float]
ROUNDING = 1e-9


class CoverageShares(NamedTuple):
    """Coverage of an interval. shown: share of the trials that have an interval. covered: share of
    these intervals that contain the true value, NaN without any."""

    shown: float
    covered: float


def measure_coverage(
    true: float | Sequence[float] | Floats, bounds: Sequence[Bounds] | Floats
) -> CoverageShares:
    """Measure how often intervals contain the true value. true: one value, or one per trial.
    bounds: lower and upper bound of each trial, NaN without an interval."""
    low, high = np.array(bounds, np.float64).reshape(-1, 2).T
    there = ~np.isnan(low) & ~np.isnan(high)
    hit = (low - ROUNDING <= true) & (np.asarray(true) <= high + ROUNDING)
    return CoverageShares(
        float(there.mean()), float(hit[there].mean()) if there.any() else math.nan
    )


def percentile_intervals(samples: Floats) -> list[Bounds]:
    """Compute the percentile bootstrap interval of each trial: the 2.5 and 97.5 percentiles of the
    defined samples (n_samples, k)."""
    if not np.isnan(samples).any():
        low, high = np.quantile(samples, [0.025, 0.975], axis=0)
        return list(zip(low.tolist(), high.tolist(), strict=True))
    intervals = []
    for column in samples.T:
        defined = column[~np.isnan(column)]
        intervals.append(
            (float(np.quantile(defined, 0.025)), float(np.quantile(defined, 0.975)))
            if len(defined)
            else (math.nan, math.nan)
        )
    return intervals
