"""Correlations between two rankings of the same systems.

A ranking is given by one number per system, usually a mean measure. Higher is better. Numbers are
compared after rounding to 10 decimals, because floating-point sums would otherwise break ties.
Correlations are NaN if undefined: fewer than two systems, a system without a number, or, for tau-b,
a ranking in which all are tied.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

DECIMALS = 10
CHUNK_CELLS = 1 << 22
"""Maximum pair signs held in memory at a time."""


class PairCounts(NamedTuple):
    """Numbers of pairs of systems, each for n samples. undefined: a system without a number, or
    fewer than two systems."""

    concordant_less_discordant: NDArray[np.int64]
    untied_x: NDArray[np.int64]
    untied_y: NDArray[np.int64]
    undefined: NDArray[np.bool_]


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Return Kendall's tau-b (Kendall 1945), corrected for ties in both: (C - D) / sqrt((pairs
    untied in x) (pairs untied in y))."""
    return float(tau_b_batch(*_to_batch(x, y))[0])


def tau_b_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return float64 (n), tau-b of each row of x with the same row of y. x, y: (n, systems)."""
    counts = _count_pairs(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    product = counts.untied_x.astype(np.float64) * counts.untied_y
    undefined = counts.undefined | (product == 0)
    return np.where(
        undefined,
        math.nan,
        counts.concordant_less_discordant / np.sqrt(np.where(undefined, 1, product)),
    )


def tau_a(x: ArrayLike, y: ArrayLike) -> float:
    """Return Kendall's tau-a (Kendall 1938), (C - D) / all pairs. Ties count as neither, so tau-a
    stays below 1 with them."""
    return float(tau_a_batch(*_to_batch(x, y))[0])


def tau_a_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return float64 (n), tau-a of each row of x with the same row of y. x, y: (n, systems)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counts = _count_pairs(x, y)
    n_pairs = x.shape[1] * (x.shape[1] - 1) // 2
    return np.where(counts.undefined, math.nan, counts.concordant_less_discordant / max(n_pairs, 1))


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """Return the AP correlation (Yilmaz, Aslam and Robertson 2008), in which differences near the
    top weigh more. It is not symmetric.

    It is the mean over the systems of `other` except its first of the share of the systems above it
    that the reference also has above it, scaled to [-1, 1]. With ties it is a variant of Urbano and
    Marrero (2017), which `tau_ap_variant` names: tau_ap,a if only `other` has ties, tau_ap,b
    (symmetric) if the reference has them. NaN if all systems are tied in either.
    """
    reference, other = _round_means(reference), _round_means(other)
    if len(reference) < 2 or np.isnan(reference).any() or np.isnan(other).any():
        return math.nan
    if len(np.unique(reference)) == 1 or len(np.unique(other)) == 1:
        return math.nan
    if len(np.unique(reference)) == len(reference):
        return _tau_ap_a(reference, other)
    return (_one_sided_tau_ap_b(reference, other) + _one_sided_tau_ap_b(other, reference)) / 2


def symmetric_tau_ap_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return float64 (n), the mean of `tau_ap` in both directions of each row of x and of y. x, y:
    (n, systems)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return np.array([(tau_ap(a, b) + tau_ap(b, a)) / 2 for a, b in zip(x, y, strict=True)])


def tau_ap_variant(reference: ArrayLike, other: ArrayLike) -> str:
    """Return which AP correlation `tau_ap` computes: "tau_ap", "tau_ap,a" or "tau_ap,b"."""
    if count_tied_pairs(reference):
        return "tau_ap,b"
    return "tau_ap,a" if count_tied_pairs(other) else "tau_ap"


def _tau_ap_a(reference: Floats, other: Floats) -> float:
    """Return the mean of tau_ap over all orders of the systems that are tied in `other`. The
    reference has no ties.

    A system of a group of t below p others has each rank p + 1 ... p + t equally often. Of those p,
    the same ones are correctly above it at every rank. Of its own group, half are.
    """
    n, shares = len(other), 0.0
    for value in np.unique(other):
        group, above = reference[other == value], reference[other > value]
        right = float((above[None, :] > group[:, None]).sum(axis=1).mean())
        n_above = np.arange(len(above), len(above) + len(group))
        n_above = n_above[n_above > 0]  # the first system has none above it and does not count
        shares += float(((right + (n_above - len(above)) / 2) / n_above).sum())
    return 2 * shares / (n - 1) - 1


def _one_sided_tau_ap_b(reference: Floats, other: Floats) -> float:
    """Return the mean, over the systems below the first group of `other`, of the share of systems
    in higher groups that the reference also has above it. A pair tied in the reference is not
    correctly ordered."""
    above = other[None, :] > other[:, None]
    right = above & (reference[None, :] > reference[:, None])
    counted = above.any(axis=1)
    return float(2 * (right.sum(axis=1)[counted] / above.sum(axis=1)[counted]).mean() - 1)


def correlate_sorted_names(x: ArrayLike, y: ArrayLike, names: Sequence[str]) -> float:
    """Return the value that TripJudge's published script computes, which is not a correlation of
    the rankings. It passes the systems' names, sorted by value in each list, to a correlation that
    ranks names alphabetically. Equal values keep the order of `names`."""
    places = {name: place for place, name in enumerate(sorted(names))}
    first, second = (
        [places[names[i]] for i in np.argsort(-values, kind="stable").tolist()]
        for values in (np.asarray(x), np.asarray(y))
    )
    return tau_b(first, second)


def count_tied_pairs(means: ArrayLike) -> int:
    """Return the number of pairs of systems whose means are equal to 10 decimals."""
    _, counts = np.unique(_round_means(means), return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def list_leaders(means: Mapping[str, float]) -> list[str]:
    """Return the tags tied for the highest mean, in input order. Means that agree to 10 decimals
    are tied."""
    best = max(round(mean, DECIMALS) for mean in means.values())
    return [tag for tag, mean in means.items() if round(mean, DECIMALS) == best]


def list_swapped_pairs(a: ArrayLike, b: ArrayLike, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that a and b order differently, as (higher in a, higher in b), sorted. A
    pair tied in either is not a swap."""
    a, b = _round_means(a), _round_means(b)
    above_in_a = a[:, None] > a[None, :]
    above_in_b = b[None, :] > b[:, None]
    return sorted((names[i], names[j]) for i, j in np.argwhere(above_in_a & above_in_b).tolist())


def draw_topic_counts(n_topics: int, n_samples: int, rng: np.random.Generator) -> Floats:
    """Draw samples of topics with replacement. Returns float64 (n_samples, n_topics), how often
    each topic is in each sample of n_topics."""
    return rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=n_samples).astype(
        np.float64
    )


def compute_sample_means(counts: Floats, values: Floats) -> Floats:
    """Return float64 (n_samples, n), the mean of each column of values (n_topics, n) in each
    sample, ignoring NaN."""
    present = ~np.isnan(values)
    sums = counts @ np.where(present, values, 0)
    weights = (
        np.broadcast_to(counts.sum(axis=1)[:, None], sums.shape)
        if present.all()
        else counts @ present
    )
    return np.divide(sums, weights, out=np.full(sums.shape, math.nan), where=weights > 0)


def _to_batch(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(x, dtype=np.float64)[None, :], np.asarray(y, dtype=np.float64)[None, :]


def _round_means(means: ArrayLike) -> Floats:
    return np.asarray(np.round(np.asarray(means, dtype=np.float64), DECIMALS), dtype=np.float64)


def _count_pairs(x: Floats, y: Floats) -> PairCounts:
    """Count pairs in chunks of samples, to bound memory."""
    if x.shape != y.shape:
        raise ValueError(f"the rankings must have the same shape, not {x.shape} and {y.shape}")
    n, systems = x.shape
    first, second = np.triu_indices(systems, k=1)
    undefined = np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1) | (systems < 2)
    total, untied_x, untied_y = (np.zeros(n, dtype=np.int64) for _ in range(3))
    step = max(1, CHUNK_CELLS // max(1, len(first)))
    for start in range(0, n, step):
        chunk = slice(start, min(start + step, n))
        signs_x, signs_y = (
            _pair_signs(x[chunk], first, second),
            _pair_signs(y[chunk], first, second),
        )
        total[chunk] = (signs_x * signs_y).sum(axis=1, dtype=np.int64)
        untied_x[chunk] = np.count_nonzero(signs_x, axis=1)
        untied_y[chunk] = np.count_nonzero(signs_y, axis=1)
    return PairCounts(total, untied_x, untied_y, undefined)


def _pair_signs(
    values: Floats, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Return int8 (n, pairs): 1 if the first of the pair is higher, -1 if lower, 0 if tied."""
    codes = _round_means(values)
    left, right = codes[:, first], codes[:, second]
    return (left > right).astype(np.int8) - (left < right).astype(np.int8)
