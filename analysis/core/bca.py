"""Bias-corrected and accelerated bootstrap intervals (Efron 1987), many at once.

    bca(value, samples, left_out)                     of any statistic, from its resamples and its jackknife
    of_differences(values, first, second, ...)        of mean differences of systems over topics, one matrix product for all pairs

Where they cover what they say is in docs/calibration.md: for differences of means from LEAST_TOPICS topics on. For agreement and tau they
cover less than the jackknife on Fisher's z does (`core/intervals.py`), so they are not used there.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]
LEAST_TOPICS = 50
"""With fewer topics the interval of a mean difference by BCa is too short (.78 to .90 at 5 and 10, .91 at 25 for skewed scores)."""
BLOCK = 1 << 22
"""Numbers that are held at once."""


def bca(value: Floats, samples: Floats, left_out: Floats, *, times: NDArray[np.number] | None = None, confidence: float = 0.95) -> Floats:
    """(k, 2): the bounds of k statistics; NaN where the statistic or a resample of it is undefined, or no resample differs from another.

    value: (k). samples: (n_samples, k), the statistics of the resamples. left_out: (n, k), without one unit each; times: (n) or (n, k), how
    many units each row stands for. Quantiles are interpolated linearly; a resample as large as the value counts half (as scipy has it).
    """
    times = np.ones(1) if times is None else times
    times = np.broadcast_to(times.reshape(len(times), -1), left_out.shape)
    mean = (times * left_out).sum(axis=0) / times.sum(axis=0)
    distance = mean - left_out
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = (times * distance**3).sum(axis=0) / (6 * (times * distance**2).sum(axis=0) ** 1.5)
    below = ((samples < value).sum(axis=0) + (samples <= value).sum(axis=0)) / (2 * len(samples))
    return bounds(np.sort(samples, axis=0), below, acceleration, np.isnan(value) | np.isnan(samples).any(axis=0), confidence)


def bounds(ordered: Floats, below: Floats, acceleration: Floats, undefined: NDArray[np.bool_], confidence: float) -> Floats:
    """(k, 2), from resamples (n_samples, k) in ascending order, the share of them below the value, and the acceleration, each (k)."""
    z = scipy.special.ndtri((1 - confidence) / 2) * np.array([1.0, -1.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = scipy.special.ndtri(below)[:, None]
        shifted = bias + z
        share = scipy.special.ndtr(bias + shifted / (1 - np.nan_to_num(acceleration)[:, None] * shifted))
    place = np.clip(np.nan_to_num(share), 0, 1) * (len(ordered) - 1)
    first = np.floor(place).astype(np.int64)
    second = np.minimum(first + 1, len(ordered) - 1)
    column = np.arange(ordered.shape[1])[:, None]
    interpolated = ordered[first, column] + (place - first) * (ordered[second, column] - ordered[first, column])
    interpolated[undefined | np.isnan(share).any(axis=1) | (ordered[0] == ordered[-1])] = np.nan
    return np.asarray(interpolated, np.float64)


def of_differences(
    values: Floats, first: NDArray[np.int64], second: NDArray[np.int64], *, n_samples: int, rng: np.random.Generator, confidence: float = 0.95
) -> Floats:
    """(n_pairs, 2): of the mean differences second - first of systems, topics resampled; the same samples for all pairs.

    values: float64 (n_topics, n_systems), without NaN. NaN where a difference does not vary.
    """
    d = values[:, second] - values[:, first]
    value = d.mean(axis=0)
    centred = d - value
    with np.errstate(divide="ignore", invalid="ignore"):  # without topic i the mean is lower by (d_i - mean) / (n - 1)
        acceleration = (centred**3).sum(axis=0) / (6 * (centred**2).sum(axis=0) ** 1.5)
    means = resampled_means(values, n_samples=n_samples, rng=rng)
    intervals = np.empty((len(first), 2))
    step = max(1, BLOCK // n_samples)
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        differences = (means[second[some]] - means[first[some]]).T
        below = ((differences < value[some] - 1e-15).sum(axis=0) + (differences <= value[some] + 1e-15).sum(axis=0)) / (2 * n_samples)
        constant = np.ptp(d[:, some], axis=0) < 1e-12
        intervals[some] = bounds(np.sort(differences, axis=0), below, acceleration[some], constant, confidence)
    return intervals


def resampled_means(values: Floats, *, n_samples: int, rng: np.random.Generator) -> Floats:
    """(n_systems, n_samples): means over topics drawn with replacement. values: (n_topics, n_systems)."""
    n, systems = values.shape
    means = np.empty((systems, n_samples))
    step = max(1, BLOCK // n)
    for start in range(0, n_samples, step):
        width = min(step, n_samples - start)
        drawn = rng.integers(n, size=(width, n))
        drawn += np.arange(width)[:, None] * n
        counts = np.bincount(drawn.ravel(), minlength=width * n).reshape(width, n).astype(np.float64)
        with threadpool_limits(1, user_api="blas"):
            means[:, start : start + width] = (counts @ values).T / n
    return means
