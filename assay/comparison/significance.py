"""Two-sided tests of paired differences, single or in batches, and corrections for multiple
comparisons.

The last axis of every array is the topics. Further axes are a batch (pairs of runs, splits) and
give the shape of the p-values. A single comparison has no further axes.

Each test assumes a scale type of the scores (Ferrante, Ferro and Fuhr 2021, as cited by Lin et al.
2021):

    sign test        ordinal      counts topics on which one run is ahead
    rank-sum         ordinal      unpaired: compares the two samples of scores
    signed-rank      interval     ranks the sizes of the differences
    paired t         interval     compares the mean difference with its standard error

Conventions of all tests: if all differences are zero, p is 1. Differences are rounded to 12
decimals before they count as zero or equal, because scores are floating-point sums. Without topics,
or with an undefined score (NaN), p is NaN. Significant means p < alpha. If all differences are
equal but not zero, the t-test is undefined and verdicts use the permutation test. Below
MIN_VERDICT_TOPICS topics there is no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

DECIMALS = 12
"""Decimals to which differences of scores are rounded before they count as zero, tied or positive.
"""

MAX_EXACT_TOPICS = 200
"""Maximum number of nonzero differences for which the signed-rank test is exact."""

MAX_COUNTED_TOPICS = 40
"""Maximum number of nonzero differences for which sign changes are counted in whole numbers. With
more, floating-point numbers are faster."""

MIN_VERDICT_TOPICS = 6
"""Minimum topics for a verdict. With five, the smallest p of an exact test is 2 / 2^5, above 0.05.
"""

BLOCK_CELLS = 1 << 21
"""Elements that a batched test sorts at a time."""

TEST_SCALES = {
    "sign": "ordinal",
    "wrs": "ordinal",
    "wrs_tie_corrected": "ordinal",
    "wsr": "interval",
    "t": "interval",
}
"""The scale type that each test assumes. ESL is a ratio scale and so also an interval scale. RR is
ordinal, and whether it is an interval scale is disputed."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankSum:
    """p-values of the rank-sum test, all of one shape: as scipy's `ranksums` gives them, and with
    the variance reduced for ties."""

    p: Floats
    p_tie_corrected: Floats


def rounded_differences(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return b - a, rounded so that floating-point noise counts neither as a win nor as a
    difference."""
    return np.round(np.asarray(b, float) - np.asarray(a, float), DECIMALS) + 0.0


def no_verdict_reason(n_topics: int) -> str:
    """Return the reason why this number of topics allows no verdict, or an empty string if it
    does."""
    if n_topics >= MIN_VERDICT_TOPICS:
        return ""
    return f"{n_topics} {'topic' if n_topics == 1 else 'topics'}; a verdict needs at least {MIN_VERDICT_TOPICS}"


def is_constant(differences: Floats) -> NDArray[np.bool_]:
    """Return whether all differences (..., n) are equal after rounding."""
    rounded = np.round(differences, DECIMALS)
    return np.asarray((rounded == rounded[..., :1]).all(axis=-1))


def verdict_p_value(differences: ArrayLike) -> Floats:
    """Return the p-value used for verdicts, for differences (..., n): that of the paired t-test or,
    if it is undefined because all differences are equal, that of the permutation test (Fisher
    1935), 2^(1 - n)."""
    d = np.asarray(differences, float)
    p, n = paired_t_test(d), d.shape[-1]
    return p if n == 0 else np.where(np.isnan(p) & is_constant(d), 2.0 ** (1 - n), p)


def paired_t_test(differences: ArrayLike) -> Floats:
    """Return p of Student's paired t-test (1908) with n - 1 degrees of freedom, for differences
    (..., n).

    NaN without topics, and without variance if the differences are not zero: if all are equal, or
    for a single topic.
    """
    d = np.asarray(differences, float)
    n = d.shape[-1]
    if n == 0:
        return np.full(d.shape[:-1], np.nan)
    rounded = np.round(d, DECIMALS)
    mean = d.mean(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = ((d - mean[..., None]) ** 2).sum(axis=-1) / (n - 1)
    variance = np.where(is_constant(d) & (n > 1), 0.0, variance)
    return t_test_p(mean, variance, n, all_zero=(rounded == 0).all(axis=-1))


def t_test_p(
    mean: Floats, variance: Floats, n: int | Floats, *, all_zero: NDArray[np.bool_]
) -> Floats:
    """Return p of a mean difference from its sample variance over n topics. `all_zero` marks
    batches without any difference (p = 1). Otherwise NaN if the variance is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(mean) / np.sqrt(variance / n)
        p = 2 * scipy.special.stdtr(np.asarray(n - 1, float), -t)
    p = np.where(variance == 0, np.nan, p)
    return np.where(all_zero, 1.0, p)


def signed_rank_test(differences: ArrayLike) -> Floats:
    """Return p of Wilcoxon's signed-rank test (1945) for differences (..., n).

    Zeros are dropped, and tied sizes share their mean rank. Up to MAX_EXACT_TOPICS nonzero
    differences the distribution over all sign changes is exact, including ties. With more, it is
    the normal approximation with the variance reduced for ties and without continuity correction
    (scipy: zero_method="wilcox", correction=False, method="asymptotic").
    """
    d = np.round(np.asarray(differences, float), DECIMALS)
    positive, n, ties = np.moveaxis(_map_blocks(_signed_rank_rows, d), -1, 0)
    p = np.array(signed_rank_p(positive, n, ties))
    undefined = np.isnan(d).any(axis=-1) | (d.shape[-1] == 0)
    exact = (n <= MAX_EXACT_TOPICS) & (n > 0) & ~undefined
    if exact.any():
        p[exact] = _map_blocks(exact_signed_rank, d[exact])
    return np.where(undefined, np.nan, p)


def signed_rank_method(differences: ArrayLike) -> str:
    """Return how `signed_rank_test` computes p for differences (n): "exact" or "normal
    approximation"."""
    n = np.count_nonzero(np.round(np.asarray(differences, float), DECIMALS))
    return "exact" if n <= MAX_EXACT_TOPICS else "normal approximation"


def exact_signed_rank(differences: Floats) -> Floats:
    """Return exact signed-rank p-values (rows) of rounded differences (rows, n), of which each row
    has one that is not zero, over all sign changes."""
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=-1)
    first, last = find_tie_bounds(np.take_along_axis(sizes, order, -1))
    zeros = (differences == 0).sum(axis=-1)
    # twice the mean ranks of nonzero differences are whole numbers; zeros sort first
    doubled = np.where(
        np.arange(differences.shape[-1]) >= zeros[:, None], first + last + 2 - 2 * zeros[:, None], 0
    ).astype(np.int64)
    positive = np.where(np.take_along_axis(differences, order, -1) > 0, doubled, 0).sum(axis=-1)
    fewer = np.minimum(positive, doubled.sum(axis=-1) - positive)
    places = fewer // np.gcd.reduce(doubled, axis=-1)
    tails = [
        signed_rank_tail(ranks[zero:], place)
        for ranks, zero, place in zip(doubled, zeros.tolist(), places.tolist(), strict=True)
    ]
    return np.minimum(1.0, 2 * np.array(tails))


def signed_rank_tail(doubled: NDArray[np.int64], place: int) -> float:
    """Return P(the positive ranks sum to at most `place` units), see `signed_rank_cdf`."""
    n = len(doubled)
    if n > MAX_COUNTED_TOPICS:
        return float(signed_rank_cdf(doubled.tobytes())[place])
    bits = n + 1
    counts = count_sign_changes(doubled.tobytes()) & ((1 << bits * (place + 1)) - 1)
    return (counts % ((1 << bits) - 1)) / (1 << n)  # the remainder is the sum of the digits


@lru_cache(maxsize=1024)
def count_sign_changes(doubled: bytes) -> int:
    """Return the numbers of sign changes by sum of the positive ranks, as the digits of one number
    with a bit more per digit than there are ranks. Adding a rank is then one shift."""
    ranks = np.frombuffer(doubled, np.int64)
    counts = 1
    for step in (ranks // np.gcd.reduce(ranks)).tolist():
        counts += counts << (len(ranks) + 1) * step
    return counts


@lru_cache(maxsize=1024)
def signed_rank_cdf(doubled: bytes) -> Floats:
    """Return P(the positive ranks sum to at most i units) if both signs are equally likely, for i =
    0 ... half of all.

    doubled: the bytes of the doubled ranks. A unit is their greatest common divisor. Computed by
    one convolution with 1 + x^rank per rank.
    """
    ranks = np.frombuffer(doubled, np.int64)
    steps = ranks // np.gcd.reduce(ranks)
    share = np.zeros(int(steps.sum()) // 2 + 1)  # the other half is its mirror image
    share[0] = 0.5 ** len(steps)
    for step in steps.tolist():
        share[step:] += share[: max(len(share) - step, 0)]  # numpy copies what overlaps
    return np.cumsum(share)


def signed_rank_direction(differences: ArrayLike) -> Floats:
    """Return the sum of the ranks of positive differences minus that of negative ones, which is the
    direction of `signed_rank_test`."""
    d = np.round(np.asarray(differences, float), DECIMALS)
    positive, n, _ = np.moveaxis(_map_blocks(_signed_rank_rows, d), -1, 0)
    return 2 * positive - n * (n + 1) / 2


def _signed_rank_rows(d: Floats) -> Floats:
    """Return (rows, 3): sum of the ranks of positive differences, number of nonzero differences,
    sum of t^3 - t over groups of t ties."""
    sizes = np.abs(d)
    order = np.argsort(sizes, axis=-1)
    first, last = find_tie_bounds(np.take_along_axis(sizes, order, -1))
    zeros = (d == 0).sum(axis=-1, keepdims=True)
    counted = np.arange(d.shape[-1]) >= zeros  # zeros have the smallest size, so they sort first
    ranks = (first + last) / 2 + 1 - zeros
    positive = np.where(np.take_along_axis(d, order, -1) > 0, ranks, 0).sum(axis=-1)
    length = last - first + 1.0
    ties = np.where(counted, length**2 - 1, 0).sum(axis=-1)
    return np.stack([positive, d.shape[-1] - zeros[..., 0], ties], axis=-1)


def signed_rank_p(positive: Floats, n: ArrayLike, ties: Floats) -> Floats:
    """Return p from the sum of the ranks of positive differences. n: number of nonzero differences.
    ties: sum of t^3 - t over groups of t ties."""
    n = np.asarray(n, float)
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (positive - n * (n + 1) / 4) / np.sqrt(variance)
    return np.where(n == 0, 1.0, 2 * scipy.special.ndtr(-np.abs(z)))


def rank_sum_test(a: ArrayLike, b: ArrayLike) -> RankSum:
    """Return p of the unpaired rank-sum test (Wilcoxon 1945, Mann and Whitney 1947) between a (...,
    n) and b (..., m).

    Tied scores share their mean rank. It is the normal approximation without continuity correction.
    `p` has the variance without ties (scipy's `ranksums`), and `p_tie_corrected` reduces it. With
    the many ties of reciprocal ranks they differ. Scores are compared without rounding, except that
    pairs without a difference give 1.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    both = np.concatenate([a, b], axis=-1)
    n, m = a.shape[-1], b.shape[-1]
    packed = _map_blocks(lambda rows: _rank_sum_rows(rows, n), both)
    p, corrected = packed[..., 0], packed[..., 1]
    if n == m:
        same = (rounded_differences(a, b) == 0).all(axis=-1) & (n > 0)
        p, corrected = np.where(same, 1.0, p), np.where(same, 1.0, corrected)
    return RankSum(p, corrected)


def _rank_sum_rows(both: Floats, n: int) -> Floats:
    m = both.shape[-1] - n
    if n == 0 or m == 0:
        return np.full((*both.shape[:-1], 2), np.nan)
    order = np.argsort(both, axis=-1)
    first, last = find_tie_bounds(np.take_along_axis(both, order, -1))
    rank_total = np.where(order < n, (first + last) / 2 + 1, 0).sum(axis=-1)
    length = last - first + 1.0
    ties = (length**2 - 1).sum(axis=-1)
    p = np.stack([rank_sum_p(rank_total, n, m), rank_sum_p(rank_total, n, m, ties)], axis=-1)
    p[np.isnan(both).any(axis=-1)] = np.nan
    return p


def rank_sum_p(rank_total: Floats, n: int, m: int, ties: Floats | float = 0.0) -> Floats:
    """Return p from the sum of ranks of the first sample (n scores against m). ties: sum of t^3 - t
    over groups of t ties, to correct for them."""
    size = n + m
    variance = n * m / 12 * (size + 1 - np.asarray(ties, float) / (size * (size - 1)))
    distance = rank_total - n * (size + 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        z = distance / np.sqrt(variance)
    return np.where(variance <= 0, 1.0, 2 * scipy.special.ndtr(-np.abs(z)))


def sign_test(differences: ArrayLike) -> Floats:
    """Return p of the exact binomial sign test for differences (..., n). Ties are dropped."""
    d = np.round(np.asarray(differences, float), DECIMALS)
    p = binomial_test((d > 0).sum(axis=-1), (d < 0).sum(axis=-1))
    return np.where(np.isnan(d).any(axis=-1) | (d.shape[-1] == 0), np.nan, p)


def binomial_test(wins: ArrayLike, losses: ArrayLike) -> Floats:
    """Return p of the exact two-sided binomial test of wins among wins + losses with probability
    1/2, or 1 without any.

    With 1/2 the distribution is symmetric, so p is twice the smaller tail. Each count is computed
    once.
    """
    wins, losses = np.broadcast_arrays(np.asarray(wins, np.int64), np.asarray(losses, np.int64))
    fewer, n = np.minimum(wins, losses), wins + losses
    if fewer.size == 0:
        return np.ones(fewer.shape)
    keys, inverse = np.unique(fewer * (int(n.max()) + 1) + n, return_inverse=True)
    k, total = np.divmod(keys, int(n.max()) + 1)
    tails = np.where(
        total == 0,
        1.0,
        np.minimum(1.0, 2 * scipy.special.bdtr(k.astype(float), np.maximum(total, 1), 0.5)),
    )
    return tails[inverse].reshape(fewer.shape)


def find_tie_bounds(ordered: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and last position of the group of equal values at each position of sorted
    rows (..., n)."""
    n = ordered.shape[-1]
    positions = np.broadcast_to(np.arange(n), ordered.shape)
    starts = np.ones(ordered.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(starts, positions, 0), axis=-1)
    ends = np.ones(ordered.shape, bool)
    ends[..., :-1] = starts[..., 1:]
    backwards = np.where(ends, positions, n)[..., ::-1]
    return first, np.minimum.accumulate(backwards, axis=-1)[..., ::-1]


def rank_values(values: ArrayLike) -> Floats:
    """Return the rank of each value (..., n) along the last axis, 1 for the highest. Equal values
    share the mean rank. NaN for NaN."""
    values = np.asarray(values, float)
    order = np.argsort(-values, axis=-1)  # NaN sorts last
    first, last = find_tie_bounds(np.take_along_axis(values, order, -1))
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, -1)
    return np.where(np.isnan(values), np.nan, ranks)


def _map_blocks(rows_test: Callable[[Floats], Floats], values: Floats) -> Floats:
    """Apply the test to all rows of (..., n), a bounded number at a time."""
    batch, n = values.shape[:-1], values.shape[-1]
    flat = values.reshape(int(np.prod(batch, dtype=np.int64)), n)
    step = max(1, BLOCK_CELLS // max(n, 1))
    parts = [rows_test(flat[start : start + step]) for start in range(0, len(flat), step)]
    if not parts:
        tail = rows_test(np.zeros((1, n))).shape[1:]
        return np.empty(batch + tail)
    joined = np.concatenate(parts)
    return joined.reshape(batch + joined.shape[1:])


def adjust_p_values(
    p_values: Sequence[float] | Floats, correction: str, *, family: int | None = None
) -> Floats:
    """Return p-values corrected for a family of comparisons, to be compared with the same alpha.
    NaN stays NaN.

    none: unchanged. bonferroni: times the size of the family (Dunn 1961). holm: step-down (Holm
    1979). family: size of the family if larger than the list, because of comparisons made
    elsewhere. Undefined p-values are members of the family.
    """
    p = np.asarray(p_values, float)
    size = len(p) if family is None else family
    if size < len(p):
        raise ValueError(
            f"the family size {size} is smaller than the number of comparisons, {len(p)}"
        )
    if correction == "none":
        return p.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, p * size)
    if correction == "holm":
        order = np.argsort(p, kind="stable")  # NaN sorts last
        stepped = np.maximum.accumulate(np.minimum(1.0, p[order] * (size - np.arange(len(p)))))
        result = np.empty_like(p)
        result[order] = stepped
        return np.where(np.isnan(p), np.nan, result)
    raise ValueError(f"unknown correction {correction!r}; choose from {', '.join(CORRECTIONS)}")


CORRECTIONS = ("none", "bonferroni", "holm")
CORRECTION_NAMES = {
    "none": "uncorrected",
    "bonferroni": "Bonferroni correction",
    "holm": "Holm correction",
    "max": "randomised Tukey HSD",
}
"""Names of corrections in sentences, notes and titles."""


def mark_uncorrected(title: str, correction: str) -> str:
    """Return a table's title, which says so if its p-values are uncorrected."""
    return f"{title} ({CORRECTION_NAMES[correction]})" if correction == "none" else title
