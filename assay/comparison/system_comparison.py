"""Paired tests of every pair of systems, with confidence intervals, effect sizes, and corrections
for multiple comparisons.

    compared = compare_systems(values, pairs, trials=..., rng=...)    tests, intervals, effects, wins
    correct_p_values(compared, values, "holm" | "max" | ..., rng=...)  p-values for the family
    assign_letters(means, pairs, different)                            compact letter display

Sources: Smucker, Allan and Carterette (2007) on the randomisation test, Carterette (2012) on
multiple comparisons, Sakai (2014, 2018) on effect sizes and intervals, Piepho (2004) on letters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.comparison.mean_intervals import MIN_TOPICS, mean_intervals
from assay.comparison.significance import (
    MIN_VERDICT_TOPICS,
    adjust_p_values,
    no_verdict_reason,
    paired_t_test,
    rounded_differences,
    sign_test,
    signed_rank_direction,
    signed_rank_test,
    verdict_p_value,
)
from assay.labels.intervals import Interval

Floats = NDArray[np.float64]
TESTS = ("t", "wsr", "sign", "randomisation")
FAMILIES = ("none", "bonferroni", "holm", "max")
MAX_ENUMERATED = 20
"""Maximum number of topics with a difference for which all sign changes are enumerated. With more,
random ones are drawn."""
BLOCK_CELLS = 1 << 22
"""Numbers held in memory at a time."""
CACHE_ENTRIES = 1 << 16
"""Scores permuted at a time, which fit into a processor's cache."""
TOLERANCE = 1e-12
"""Tolerance, as a share of the summed values, within which a sum counts as equal to the observed
one (see `rounding_allowance`)."""


@dataclass(frozen=True, eq=False)
class PairComparisons:
    """Results for each pair (a, b) as arrays (n_pairs). Differences are b - a.

    p: test -> raw two-sided p. That of t is NaN if the differences do not vary. verdict_p: p of t,
    or of the permutation test if t is NaN. opposed: whether signed ranks and mean disagree in
    direction, so that the pair gets no verdict. intervals: confidence intervals of the mean
    difference, from `mean_intervals`. effect: mean difference / standard deviation of the
    differences (Cohen's d_z), NaN if they do not vary. effect_low, effect_high: its confidence
    interval by the noncentral t. exact: bool, whether all sign changes were enumerated. n_topics:
    number of topics in all comparisons. trials: number of random sign changes.
    """

    pairs: list[tuple[int, int]]
    difference: Floats
    intervals: list[Interval]
    effect: Floats
    effect_low: Floats
    effect_high: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]
    p: dict[str, Floats]
    verdict_p: Floats
    opposed: NDArray[np.bool_]
    exact: NDArray[np.bool_]
    n_topics: int
    trials: int


def list_pairs(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n) for b in range(a + 1, n)]


def compare_systems(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    trials: int,
    rng: np.random.Generator,
    alpha: float = 0.05,
) -> PairComparisons:
    """Compare systems in pairs. values: float64 (n_topics, n_systems), without NaN. Raises
    ValueError for fewer than two topics."""
    n = len(values)
    if n < 2:
        raise ValueError("a paired test needs at least two topics")
    first, second = (
        np.array([a for a, _ in pairs], np.int64),
        np.array([b for _, b in pairs], np.int64),
    )
    d = rounded_differences(values[:, first].T, values[:, second].T)
    mean, sd = d.mean(axis=1), d.std(axis=1, ddof=1)
    sd = np.where(np.ptp(d, axis=1) == 0, 0.0, sd)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(sd > 0, mean / sd, np.nan)
    bounds = compute_effect_intervals(effect, n, alpha=alpha)
    p, exact = randomisation_test(d, values, first, second, trials=trials, rng=rng)
    return PairComparisons(
        pairs=list(pairs),
        difference=mean,
        intervals=mean_intervals(d, alpha=alpha),
        effect=effect,
        effect_low=bounds[:, 0],
        effect_high=bounds[:, 1],
        wins=(d > 0).sum(axis=1),
        ties=(d == 0).sum(axis=1),
        losses=(d < 0).sum(axis=1),
        p={
            "t": paired_t_test(d),
            "wsr": signed_rank_test(d),
            "sign": sign_test(d),
            "randomisation": p,
        },
        verdict_p=verdict_p_value(d),
        opposed=signed_rank_direction(d) * mean < 0,
        exact=exact,
        n_topics=n,
        trials=trials,
    )


def randomisation_test(
    d: Floats,
    values: Floats,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    trials: int,
    rng: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return p of the paired randomisation test (Fisher 1935) on the mean difference, and whether
    all sign changes were enumerated.

    d: float64 (n_pairs, n_topics). Random sign changes are the same for all pairs. The observed one
    counts among them (Davison and Hinkley 1997), so p is at least 1 / (trials + 1).
    """
    n_different = (d != 0).sum(axis=1)
    exact = n_different <= MAX_ENUMERATED
    p = np.ones(len(d))
    for row in np.flatnonzero(exact & (n_different > 0)).tolist():
        p[row] = enumerate_p(d[row][d[row] != 0])
    rest = np.flatnonzero(~exact)
    if len(rest):
        reached = np.zeros(len(rest), np.int64)
        observed = np.abs(d[rest].sum(axis=1)) - rounding_allowance(values)
        step = max(1, BLOCK_CELLS // max(values.shape[0], len(rest), 1))
        for start in range(0, trials, step):
            signs = (
                rng.integers(0, 2, (min(step, trials - start), values.shape[0]), dtype=np.int8)
                * 2.0
                - 1.0
            )
            # the difference of two systems' sums is the sum of their differences
            sums = signs @ values
            reached += (np.abs(sums[:, second[rest]] - sums[:, first[rest]]) >= observed).sum(
                axis=0
            )
        p[rest] = (reached + 1) / (trials + 1)
    return p, exact


def enumerate_p(d: Floats) -> float:
    """Return p over all 2^n sign changes of nonzero differences (n)."""
    sums = np.zeros(1)
    for size in np.abs(d[1:]).tolist():
        sums = np.concatenate([sums - size, sums + size])
    sums = np.abs(np.abs(d[0]) + sums)  # the opposite sign of the first is the mirror image
    return float((sums >= abs(d.sum()) - rounding_allowance(d)).mean())


def rounding_allowance(scores: Floats) -> float:
    """Return the maximum difference by rounding between sums of these scores over topics (n_topics,
    ...)."""
    return TOLERANCE * max(float(np.abs(scores).sum(axis=0).max()), 1.0)


def monte_carlo_error(p: float, trials: int) -> float:
    """Return the standard error of a p-value from random sign changes."""
    return math.sqrt(p * (1 - p) / trials)


def compute_effect_intervals(effect: Floats, n: int, *, alpha: float = 0.05) -> Floats:
    """Return float64 (n_pairs, 2), confidence intervals of effect sizes from the noncentral
    t-distributions for which the observed t is a limit quantile (Steiger and Fouladi 1997). NaN if
    the effect is, and beyond the range in which the distribution can be computed."""
    t = np.abs(effect) * math.sqrt(n)  # the distribution is computed reliably on this side only
    reach = 6 * np.sqrt(1 + t**2 / (2 * (n - 1)))  # six standard errors of the noncentrality

    def at(probability: float) -> Floats:
        return find_falling_root(
            lambda noncentrality: scipy.special.nctdtr(n - 1, noncentrality, t) - probability,
            t - reach,
            t + reach,
        )

    bounds = np.stack([at(1 - alpha / 2), at(alpha / 2)], axis=1) / math.sqrt(n)
    bounds[np.isnan(bounds).any(axis=1)] = math.nan
    return np.where((effect < 0)[:, None], -bounds[:, ::-1], bounds)


BISECTION_STEPS = 60
"""Number of halvings of a bracket, after which its width is below rounding."""


def find_falling_root(function: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return, by bisection, the points (n) just beyond which falling functions cross 0 between low
    and high, each (n). NaN if a function does not cross 0."""
    crosses = (function(low) >= 0) & (function(high) <= 0)
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(crosses, high, math.nan)


def correct_p_values(
    compared: PairComparisons,
    values: Floats,
    family: str,
    *,
    rng: np.random.Generator,
    size: int | None = None,
) -> dict[str, Floats]:
    """Return test -> p-values corrected for the family. none, bonferroni, holm: each test by
    itself. max: the randomised Tukey HSD, with NaN for the other tests. size: size of the family,
    if larger than the number of pairs."""
    if family == "max":
        nothing = np.full(len(compared.pairs), math.nan)
        p = max_statistic_test(values, compared.pairs, trials=compared.trials, rng=rng)
        return {test: p if test == "randomisation" else nothing for test in TESTS}
    return {test: adjust_p_values(p, family, family=size) for test, p in compared.p.items()}


def deciding_p(compared: PairComparisons, held: Mapping[str, Floats], family: str) -> Floats:
    """Return the corrected p-value on which the verdict on each pair rests: of the randomisation
    test for the family `max`, otherwise of t or, if undefined, of the permutation test."""
    return held["randomisation"] if family == "max" else adjust_p_values(compared.verdict_p, family)


def find_significant(compared: PairComparisons, p: Floats, *, alpha: float) -> NDArray[np.bool_]:
    """Return whether each pair differs significantly at alpha. p: from `deciding_p`. False for
    pairs whose mean and signed ranks disagree in direction, and for all pairs below
    MIN_VERDICT_TOPICS topics."""
    return np.asarray(
        (np.nan_to_num(p, nan=1.0) < alpha)
        & ~compared.opposed
        & (compared.n_topics >= MIN_VERDICT_TOPICS)
    )


def max_statistic_test(
    values: Floats, pairs: Sequence[tuple[int, int]], *, trials: int, rng: np.random.Generator
) -> Floats:
    """Return p of each pair under the permutation distribution of the maximum difference of all
    pairs (randomised Tukey HSD, Carterette 2012).

    values: (n_topics, n_systems). The scores of a topic are permuted among the systems of the
    family. The test makes no distributional assumption and controls the family-wise error rate if
    all systems are equal. Scores are taken relative to the first system, because a common part only
    adds rounding errors to the sums.
    """
    used, place = np.unique(np.array(pairs), return_inverse=True)
    first, second = place.reshape(-1, 2).T
    scores = np.ascontiguousarray(values[:, used] - values[:, used[:1]])
    everyone = len(pairs) == len(used) * (len(used) - 1) // 2
    greatest = np.empty(trials)
    step = max(1, CACHE_ENTRIES // scores.size)
    for start in range(0, trials, step):
        some = slice(start, min(start + step, trials))
        sums = rng.permuted(
            np.broadcast_to(scores, (some.stop - start, *scores.shape)), axis=2
        ).sum(axis=1)
        greatest[some] = (
            np.ptp(sums, axis=1)
            if everyone
            else np.abs(sums[:, second] - sums[:, first]).max(axis=1)
        )
    greatest.sort()
    sums = scores.sum(axis=0)
    observed = np.abs(sums[second] - sums[first]) - rounding_allowance(scores)
    return (trials - np.searchsorted(greatest, observed, side="left") + 1) / (trials + 1)


def assign_letters(
    means: Floats, pairs: Sequence[tuple[int, int]], different: NDArray[np.bool_]
) -> list[str]:
    """Return the letters of each system, `a` for the best group. Systems that share a letter do not
    differ significantly (compact letter display, Piepho 2004, insert and absorb).

    different: bool (n_pairs). A pair that was not compared counts as not different.
    """
    n = len(means)
    columns = [set(range(n))]
    for (a, b), apart in zip(pairs, different.tolist(), strict=True):
        if not apart:
            continue
        for column in [c for c in columns if a in c and b in c]:
            columns.remove(column)
            columns += [column - {a}, column - {b}]
        columns = [
            c
            for k, c in enumerate(columns)
            if c and not any(c < other or (c == other and j < k) for j, other in enumerate(columns))
        ]
    columns.sort(key=lambda c: sorted((-means[i], i) for i in c))
    return [
        "".join(_format_letter(k) for k, column in enumerate(columns) if i in column)
        for i in range(n)
    ]


def group_systems(
    compared: PairComparisons, values: Floats, different: NDArray[np.bool_], tags: Sequence[str]
) -> dict[str, Any]:
    """Return `groups`, the letters by tag, and `no_verdict`, the reason why there are none or an
    empty string. values: (n_topics, n_systems)."""
    why = no_verdict_reason(compared.n_topics)
    shown = (
        [""] * len(tags) if why else assign_letters(values.mean(axis=0), compared.pairs, different)
    )
    return {"groups": dict(zip(tags, shown, strict=True)), "no_verdict": why}


def _format_letter(number: int) -> str:
    """Return a ... z, then a1 ... z1, and so on."""
    return chr(97 + number % 26) + ("" if number < 26 else str(number // 26))


MAX_TOPICS = 1_000_000


def compute_power(difference: float, sd: float, n: int, *, alpha: float) -> float:
    """Return the power of the two-sided paired t-test with n topics for a true mean difference. sd:
    standard deviation of the differences."""
    critical = float(scipy.special.stdtrit(n - 1, 1 - alpha / 2))
    shift = abs(difference) / sd * math.sqrt(n)
    if shift > critical + 12:
        return 1.0  # the distribution cannot be computed there and is not needed
    # from 5 on it is below 1e-11 and cannot be computed reliably
    other_side = scipy.special.nctdtr(n - 1, shift, -critical) if shift < 5 else 0.0
    return float(1 - scipy.special.nctdtr(n - 1, shift, critical) + other_side)


def topics_for_power(
    difference: float, sd: float, *, target_power: float, alpha: float
) -> float | None:
    """Return the minimum number of topics, at least MIN_VERDICT_TOPICS, for which the paired t-test
    has the target power for this difference. None if more than MAX_TOPICS, NaN for a standard
    deviation of 0."""
    if sd == 0:
        return math.nan
    return _find_fewest(
        lambda n: compute_power(difference, sd, n, alpha=alpha) >= target_power, MIN_VERDICT_TOPICS
    )


def topics_for_width(width: float, sd: float, *, alpha: float) -> float | None:
    """Return the minimum number of topics for which the t-interval of the difference is at most
    this wide. sd: standard deviation of the differences. It is at least MIN_TOPICS, because no
    interval is shown with fewer. None and NaN as for `topics_for_power`."""
    if sd == 0:
        return math.nan
    return _find_fewest(lambda n: interval_width(sd, n, alpha=alpha) <= width, MIN_TOPICS)


def interval_width(sd: float, n: int, *, alpha: float) -> float:
    """Return the width of the t-interval of a mean difference over n topics (at least two)."""
    return 2 * float(scipy.special.stdtrit(n - 1, 1 - alpha / 2)) * sd / math.sqrt(n)


def _find_fewest(enough: Callable[[int], bool], least: int) -> int | None:
    if not enough(MAX_TOPICS):
        return None
    low, high = least - 1, MAX_TOPICS  # invariant: `low` is not enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable_difference(sd: float, n: int, *, target_power: float, alpha: float) -> float:
    """Return the true difference that n topics detect with the target power. NaN below
    MIN_VERDICT_TOPICS topics and without variance."""
    if n < MIN_VERDICT_TOPICS or sd == 0:
        return math.nan
    most = (float(scipy.special.stdtrit(n - 1, 1 - alpha / 2)) * 2 + 8) * sd / math.sqrt(n)
    missing = np.vectorize(
        lambda difference: target_power - compute_power(difference, sd, n, alpha=alpha)
    )
    return float(find_falling_root(missing, np.zeros(1), np.array([most]))[0])
