"""Confidence intervals of means over topics and of mean differences, for new topics. If an interval
would not have its nominal coverage, a reason is given instead.

Coverage is simulated in docs/evidence/calibration.md, "Means of systems" and "Differences of
systems".
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.labels.intervals import Interval, no_interval

Floats = NDArray[np.float64]

MIN_TOPICS = 30
"""Minimum number of topics for an interval. With fewer, a kind of topic that makes up a twelfth of
all is missing from one sample in ten."""
MIN_OTHERS = 10
"""Minimum number of topics that differ from the most frequent value, for an interval. If few topics
determine the mean, no interval has its nominal coverage."""
MAX_TIED_SHARE = 0.01
"""Tolerance within which values count as equal."""


def mean_interval(values: Floats, *, alpha: float = 0.05) -> Interval:
    """Return the interval of one mean. values: float64 (n_topics), NaN for topics that are left
    out."""
    (interval,) = mean_intervals(values[~np.isnan(values)][None], alpha=alpha)
    return interval


def mean_intervals(values: Floats, *, alpha: float = 0.05) -> list[Interval]:
    """Return the intervals of the means of rows (k, n_topics) without NaN.

    Bounds are Student's t (1908), extended in the direction of the skewness by Hall's
    transformation (1992) if that reaches further. Gives a reason instead of an interval below
    MIN_TOPICS topics, or with fewer than MIN_OTHERS topics off the most frequent value.
    """
    values, n = (
        np.ascontiguousarray(values),
        values.shape[1],
    )  # so that a single row is summed in the same order as many rows
    reasons = [_no_interval_reason(row) for row in values]
    if all(reasons):
        return [no_interval(reason, "topics") for reason in reasons]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(n)
    below, above = _studentised_bounds(skewness(values), n, alpha)
    return [
        no_interval(reason, "topics") if reason else Interval(float(low), float(high), "", "topics")
        for low, high, reason in zip(
            mean - above * error, mean - below * error, reasons, strict=True
        )
    ]


def _studentised_bounds(skew: Floats, n: int, alpha: float) -> tuple[Floats, Floats]:
    """Return the lowest and the highest studentised mean (k): -t and t, or the values that Hall's
    transformation maps to them if these are further out."""
    t = float(scipy.special.stdtrit(n - 1, 1 - alpha / 2))
    scale = skew / math.sqrt(n)
    # without skewness the transformation is the identity, and its formula 0 / 0
    is_straight = np.abs(scale) < 1e-6
    divisor = np.where(is_straight, 1.0, scale)

    def invert(normal: float) -> Floats:
        return np.where(
            is_straight, normal, 3 / divisor * (np.cbrt(1 + scale * (normal - scale / 6)) - 1)
        )

    return np.minimum(-t, invert(-t)), np.maximum(t, invert(t))


def _no_interval_reason(values: Floats) -> str:
    n = len(values)
    if n < MIN_TOPICS:
        return f"{n} {'topic' if n == 1 else 'topics'}; a confidence interval needs {MIN_TOPICS}"
    ordered = np.sort(values)
    alike = int(
        (np.searchsorted(ordered, ordered + MAX_TIED_SHARE, side="right") - np.arange(n)).max()
    )
    if ordered[-1] - ordered[0] < 1e-12:
        return f"all {n} topics have the same value"
    if n - alike < MIN_OTHERS:
        return f"{alike} of {n} topics have nearly the same value; a confidence interval needs {MIN_OTHERS} topics with another"
    return ""


def skewness(values: Floats) -> Floats:
    """Return (k), the skewness of rows (k, n) as scipy.stats.skew computes it (moments divided by
    n). NaN for a constant row."""
    off = values - values.mean(axis=1, keepdims=True)
    squares = off * off
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((squares * off).mean(axis=1) / squares.mean(axis=1) ** 1.5)
