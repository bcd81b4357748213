"""How much two rankings of the same systems agree.

A ranking is given by one number a system, usually a mean measure; higher is better. Numbers are
compared after rounding to 10 decimals: sums in floating point would else break ties that are there.
Undefined correlations are NaN: fewer than two systems, a system without a number, or (tau-b) a
ranking in which all are tied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

DECIMALS = 10
CHUNK_CELLS = 1 << 22
"""Signs of pairs that are held at once."""


class PairCounts(NamedTuple):
    """Numbers of pairs of systems, for each of n samples. undefined: a system without a number, or
    fewer than two systems."""

    concordant_less_discordant: NDArray[np.int64]
    untied_x: NDArray[np.int64]
    untied_y: NDArray[np.int64]
    undefined: NDArray[np.bool_]


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b (Kendall 1945, corrected for ties in both): (C - D) / sqrt((pairs untied in
    x) (pairs untied in y))."""
    return float(tau_b_batch(*_to_batch(x, y))[0])


def tau_b_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """float64 (n): tau-b of each row of x with the same row of y. x, y: (n, systems)."""
    counts = _count_pairs(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    product = counts.untied_x.astype(np.float64) * counts.untied_y
    undefined = counts.undefined | (product == 0)
    return np.where(
        undefined,
        math.nan,
        counts.concordant_less_discordant / np.sqrt(np.where(undefined, 1, product)),
    )


def tau_a(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-a (Kendall 1938): (C - D) / all pairs; ties count as neither, so that it stays
    below 1."""
    return float(tau_a_batch(*_to_batch(x, y))[0])


def tau_a_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """float64 (n): tau-a of each row of x with the same row of y. x, y: (n, systems)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counts = _count_pairs(x, y)
    n_pairs = x.shape[1] * (x.shape[1] - 1) // 2
    return np.where(counts.undefined, math.nan, counts.concordant_less_discordant / max(n_pairs, 1))


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """AP correlation (Yilmaz, Aslam and Robertson 2008): errors near the top of the ranking weigh
    more. Not symmetric.

    The mean over the systems of `other`, its first left out, of the share of the systems above it
    there that the reference has above it too, scaled to [-1, 1]. With ties the variants of Urbano
    and Marrero (2017): tau_ap,a where only `other` has them, tau_ap,b (which is symmetric) where
    the reference has them; NaN where all are tied in either. `tau_ap_variant` says which."""
    reference, other = _round_means(reference), _round_means(other)
    if len(reference) < 2 or np.isnan(reference).any() or np.isnan(other).any():
        return math.nan
    if len(np.unique(reference)) == 1 or len(np.unique(other)) == 1:
        return math.nan
    if len(np.unique(reference)) == len(reference):
        return _tau_ap_a(reference, other)
    return (_one_sided_tau_ap_b(reference, other) + _one_sided_tau_ap_b(other, reference)) / 2


def tau_ap_variant(reference: ArrayLike, other: ArrayLike) -> str:
    """Which AP correlation `tau_ap` is of these: "tau_ap", "tau_ap,a" or "tau_ap,b"."""
    if count_tied_pairs(reference):
        return "tau_ap,b"
    return "tau_ap,a" if count_tied_pairs(other) else "tau_ap"


def _tau_ap_a(reference: Floats, other: Floats) -> float:
    """The mean of tau_ap over all orders of the systems that are tied in `other`; the reference has
    no ties.

    A system of a group of t below p others stands at each rank p + 1 ... p + t equally often. Of
    those p, the same ones are rightly above it at every rank; of its own group, half are."""
    n, shares = len(other), 0.0
    for value in np.unique(other):
        group, above = reference[other == value], reference[other > value]
        right = float((above[None, :] > group[:, None]).sum(axis=1).mean())
        n_above = np.arange(len(above), len(above) + len(group))
        n_above = n_above[n_above > 0]  # nothing is above the first system, which does not count
        shares += float(((right + (n_above - len(above)) / 2) / n_above).sum())
    return 2 * shares / (n - 1) - 1


def _one_sided_tau_ap_b(reference: Floats, other: Floats) -> float:
    """The mean over the systems below the first group of `other`, of the share of those in higher
    groups that the reference, too, has above it; a pair tied in the reference is not rightly
    ordered."""
    above = other[None, :] > other[:, None]
    right = above & (reference[None, :] > reference[:, None])
    counted = above.any(axis=1)
    return float(2 * (right.sum(axis=1)[counted] / above.sum(axis=1)[counted]).mean() - 1)


def tau_of_sorted_names(x: ArrayLike, y: ArrayLike, names: Sequence[str]) -> float:
    """Not a correlation of the rankings, but what TripJudge's published script computes: it hands
    the systems' names, each list sorted by value, to the correlation, which takes two lists of
    names for two rankings by alphabet. Equal values keep the order of the names given."""
    places = {name: place for place, name in enumerate(sorted(names))}
    first, second = (
        [places[names[i]] for i in np.argsort(-values, kind="stable").tolist()]
        for values in (np.asarray(x), np.asarray(y))
    )
    return tau_b(first, second)


def count_tied_pairs(means: ArrayLike) -> int:
    """Pairs of systems whose means are equal to 10 decimals."""
    _, counts = np.unique(_round_means(means), return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def list_leaders(means: Mapping[str, float]) -> list[str]:
    """Tags of the highest mean, in their order; means that are equal to 10 decimals are tied."""
    best = max(round(mean, DECIMALS) for mean in means.values())
    return [tag for tag, mean in means.items() if round(mean, DECIMALS) == best]


def list_swapped_pairs(a: ArrayLike, b: ArrayLike, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that a and b order differently, as (higher in a, higher in b), sorted; a pair tied in
    either is no swap."""
    a, b = _round_means(a), _round_means(b)
    above_in_a = a[:, None] > a[None, :]
    above_in_b = b[None, :] > b[:, None]
    return sorted((names[i], names[j]) for i, j in np.argwhere(above_in_a & above_in_b).tolist())


def draw_topic_counts(n_topics: int, n_samples: int, rng: np.random.Generator) -> Floats:
    """float64 (n_samples, n_topics): how often each topic is drawn in each sample of n_topics with
    replacement."""
    return rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=n_samples).astype(
        np.float64
    )


def compute_sample_means(counts: Floats, values: Floats) -> Floats:
    """float64 (n_samples, n): means of each column of values (n_topics, n) under each sample; NaN
    values do not count."""
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
    """In chunks of samples, so that memory does not grow with their number."""
    if x.shape != y.shape:
        raise ValueError(f"the rankings have shapes {x.shape} and {y.shape}")
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
    """int8 (n, pairs): 1 where the first of the pair is higher, -1 lower, 0 tied."""
    codes = _round_means(values)
    left, right = codes[:, first], codes[:, second]
    return (left > right).astype(np.int8) - (left < right).astype(np.int8)
