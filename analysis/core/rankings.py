"""How much two rankings of the same systems agree.

A ranking is given by one number a system, usually a mean measure; higher is better. Numbers are compared after rounding to 10
decimals: sums in floating point would else break ties that are there. Undefined correlations are NaN: fewer than two systems,
a system without a number, or (tau-b) a ranking in which all are tied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

DECIMALS = 10
CHUNK = 1 << 22
"""Signs of pairs that are held at once."""


class PairCounts(NamedTuple):
    """Numbers of pairs of systems, for each of n samples. undefined: a system without a number, or fewer than two systems."""

    concordant_less_discordant: NDArray[np.int64]
    untied_x: NDArray[np.int64]
    untied_y: NDArray[np.int64]
    undefined: NDArray[np.bool_]


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b (Kendall 1945, corrected for ties in both): (C - D) / sqrt((pairs untied in x) (pairs untied in y))."""
    return float(tau_b_batch(*_single(x, y))[0])


def tau_b_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """float64 (n): tau-b of each row of x with the same row of y. x, y: (n, systems)."""
    counts = _count_pairs(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    product = counts.untied_x.astype(np.float64) * counts.untied_y
    undefined = counts.undefined | (product == 0)
    return np.where(undefined, math.nan, counts.concordant_less_discordant / np.sqrt(np.where(undefined, 1, product)))


def tau_a(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-a (Kendall 1938): (C - D) / all pairs; ties count as neither, so that it stays below 1."""
    return float(tau_a_batch(*_single(x, y))[0])


def tau_a_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """float64 (n): tau-a of each row of x with the same row of y. x, y: (n, systems)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counts = _count_pairs(x, y)
    n_pairs = x.shape[1] * (x.shape[1] - 1) // 2
    return np.where(counts.undefined, math.nan, counts.concordant_less_discordant / max(n_pairs, 1))


def tau_ap(reference: ArrayLike, other: ArrayLike, names: Sequence[str]) -> float:
    """AP correlation (Yilmaz, Aslam and Robertson 2008): errors near the top of the ranking weigh more. Not symmetric.

    The mean over the systems of `other`, its first left out, of the share of the systems above it there that the reference has
    above it too, scaled to [-1, 1]. Tied systems are ordered by name in either ranking (ours; the paper has no ties).
    """
    reference, other = _rounded(reference), _rounded(other)
    n = len(names)
    if n < 2 or np.isnan(reference).any() or np.isnan(other).any():
        return math.nan
    place = np.empty(n, dtype=np.int64)
    place[order_of(reference, names)] = np.arange(n)
    walked = place[order_of(other, names)]
    correct = (walked[:, None] > walked[None, :]) & np.tri(n, k=-1, dtype=bool)
    return float(2 * (correct.sum(axis=1)[1:] / np.arange(1, n)).mean() - 1)


def order_of(means: ArrayLike, names: Sequence[str]) -> NDArray[np.int64]:
    """int64 (systems): indices of the systems, best first; tied ones by name."""
    rounded = _rounded(means)
    return np.array(sorted(range(len(names)), key=lambda i: (-rounded[i], names[i])), dtype=np.int64)


def tied_pairs(means: ArrayLike) -> int:
    """Pairs of systems whose means are equal to 10 decimals."""
    _, counts = np.unique(_rounded(means), return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def swapped_pairs(a: ArrayLike, b: ArrayLike, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that a and b order differently, as (higher in a, higher in b), sorted; a pair tied in either is no swap."""
    a, b = _rounded(a), _rounded(b)
    above_in_a = a[:, None] > a[None, :]
    above_in_b = b[None, :] > b[:, None]
    return sorted((names[i], names[j]) for i, j in np.argwhere(above_in_a & above_in_b).tolist())


class Interval(NamedTuple):
    """A percentile bootstrap interval; NaN without a topic or a defined sample. n_undefined: samples left out, their tau undefined."""

    low: float
    high: float
    n_undefined: int


def bootstrap_tau(a: Floats, b: Floats, *, rng: np.random.Generator, n_samples: int = 1000, confidence: float = 0.95) -> list[Interval]:
    """Intervals of tau-b under resampling of topics (Efron 1979; percentiles), one a measure; the same samples for all.

    a, b: float64 (n_topics, systems, measures), the same topics and systems under two qrels; NaN: the topic does not count for the system.
    """
    n_topics, _, n_measures = a.shape
    if n_topics == 0 or n_samples == 0:
        return [Interval(math.nan, math.nan, 0)] * n_measures
    counts = resample_counts(n_topics, n_samples, rng)
    return [
        percentile_interval(tau_b_batch(sample_means(counts, a[:, :, m]), sample_means(counts, b[:, :, m])), confidence)
        for m in range(n_measures)
    ]


def resample_counts(n_topics: int, n_samples: int, rng: np.random.Generator) -> Floats:
    """float64 (n_samples, n_topics): how often each topic is drawn in each sample of n_topics with replacement."""
    return rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=n_samples).astype(np.float64)


def sample_means(counts: Floats, values: Floats) -> Floats:
    """float64 (n_samples, n): means of each column of values (n_topics, n) under each sample; NaN values do not count."""
    present = ~np.isnan(values)
    sums = counts @ np.where(present, values, 0)
    weights = np.broadcast_to(counts.sum(axis=1)[:, None], sums.shape) if present.all() else counts @ present
    return np.divide(sums, weights, out=np.full(sums.shape, math.nan), where=weights > 0)


def percentile_interval(samples: Floats, confidence: float) -> Interval:
    defined = samples[~np.isnan(samples)]
    n_undefined = len(samples) - len(defined)
    if not len(defined):
        return Interval(math.nan, math.nan, n_undefined)
    tail = 50 * (1 - confidence)
    low, high = np.percentile(defined, [tail, 100 - tail])
    return Interval(float(low), float(high), n_undefined)


def _single(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(x, dtype=np.float64)[None, :], np.asarray(y, dtype=np.float64)[None, :]


def _rounded(means: ArrayLike) -> Floats:
    return np.asarray(np.round(np.asarray(means, dtype=np.float64), DECIMALS), dtype=np.float64)


def _count_pairs(x: Floats, y: Floats) -> PairCounts:
    """In chunks of samples, so that memory does not grow with their number."""
    if x.shape != y.shape:
        raise ValueError(f"the rankings have shapes {x.shape} and {y.shape}")
    n, systems = x.shape
    first, second = np.triu_indices(systems, k=1)
    undefined = np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1) | (systems < 2)
    total, untied_x, untied_y = (np.zeros(n, dtype=np.int64) for _ in range(3))
    step = max(1, CHUNK // max(1, len(first)))
    for start in range(0, n, step):
        chunk = slice(start, min(start + step, n))
        signs_x, signs_y = _signs(x[chunk], first, second), _signs(y[chunk], first, second)
        total[chunk] = (signs_x * signs_y).sum(axis=1, dtype=np.int64)
        untied_x[chunk] = np.count_nonzero(signs_x, axis=1)
        untied_y[chunk] = np.count_nonzero(signs_y, axis=1)
    return PairCounts(total, untied_x, untied_y, undefined)


def _signs(values: Floats, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int8]:
    """int8 (n, pairs): 1 where the first of the pair is higher, -1 lower, 0 tied."""
    codes = _rounded(values)
    left, right = codes[:, first], codes[:, second]
    return (left > right).astype(np.int8) - (left < right).astype(np.int8)
