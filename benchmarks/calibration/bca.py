"""Bias-corrected and accelerated bootstrap intervals (Efron 1987) of any statistic, many at once,
from its resamples and its jackknife.

Assay does not show them. docs/evidence/calibration.md compares them with the intervals shown.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bca_interval(
    value: Floats,
    samples: Floats,
    left_out: Floats,
    *,
    times: NDArray[np.number] | None = None,
    confidence: float = 0.95,
) -> Floats:
    """Compute BCa bounds for k statistics, shape (k, 2). NaN if the statistic or a resample of it
    is undefined, or if all resamples are equal.

    value: (k). samples: (n_samples, k), the statistics of the resamples. left_out: (n, k), the
    statistics without one unit each. times: (n) or (n, k), number of units that each row stands
    for. Quantiles are interpolated linearly. A resample equal to the value counts half, as in
    scipy.
    """
    times = np.ones(1) if times is None else times
    times = np.broadcast_to(times.reshape(len(times), -1), left_out.shape)
    mean = (times * left_out).sum(axis=0) / times.sum(axis=0)
    distance = mean - left_out
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = (times * distance**3).sum(axis=0) / (
            6 * (times * distance**2).sum(axis=0) ** 1.5
        )
    below = ((samples < value).sum(axis=0) + (samples <= value).sum(axis=0)) / (2 * len(samples))
    return bca_bounds(
        np.sort(samples, axis=0),
        below,
        acceleration,
        np.isnan(value) | np.isnan(samples).any(axis=0),
        confidence,
    )


def bca_bounds(
    ordered: Floats,
    below: Floats,
    acceleration: Floats,
    undefined: NDArray[np.bool_],
    confidence: float,
) -> Floats:
    """Compute BCa bounds, shape (k, 2), from resamples (n_samples, k) in ascending order, the share
    of them below the value, and the acceleration, each (k)."""
    z = scipy.special.ndtri((1 - confidence) / 2) * np.array([1.0, -1.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = scipy.special.ndtri(below)[:, None]
        shifted = bias + z
        share = scipy.special.ndtr(
            bias + shifted / (1 - np.nan_to_num(acceleration)[:, None] * shifted)
        )
    place = np.clip(np.nan_to_num(share), 0, 1) * (len(ordered) - 1)
    first = np.floor(place).astype(np.int64)
    second = np.minimum(first + 1, len(ordered) - 1)
    column = np.arange(ordered.shape[1])[:, None]
    interpolated = ordered[first, column] + (place - first) * (
        ordered[second, column] - ordered[first, column]
    )
    interpolated[undefined | np.isnan(share).any(axis=1) | (ordered[0] == ordered[-1])] = np.nan
    return np.asarray(interpolated, np.float64)
