"""Tests, intervals and effect sizes of paired differences: type I error for equal systems, and
coverage of the true difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from assay.comparison import significance
from assay.comparison.mean_intervals import mean_intervals
from assay.comparison.system_comparison import (
    compute_effect_intervals,
    list_pairs,
    max_statistic_test,
    randomisation_test,
)
from assay.sampling.estimates import topic_interval
from benchmarks.calibration import bca
from benchmarks.calibration.coverage import CoverageShares, measure_coverage

Floats = NDArray[np.float64]
SHAPES = ("normal", "nDCG@10", "RR", "P@10")
"""Distributions of a topic's scores: normal with a topic effect, skewed between 0 and 1, 1/rank or
0, and tenths."""

RANKS_ALIKE = sum(1 / rank for rank in range(1, 11)) / 10
"""Mean reciprocal rank if ranks 1 to 10 are equally likely."""


def draw_equal_scores(
    shape: str, trials: int, topics: int, systems: int, rng: np.random.Generator
) -> Floats:
    """Draw scores of equal systems, shape (trials, systems, topics). Topics differ in difficulty,
    but on a topic all systems have the same distribution."""
    hard = rng.standard_normal((trials, 1, topics))
    own = rng.standard_normal((trials, systems, topics))
    relevance = np.sqrt(0.5) * hard + np.sqrt(0.5) * own
    if shape == "normal":
        return relevance
    uniform = stats.norm.cdf(relevance)
    if shape == "nDCG@10":
        return uniform**3
    if shape == "P@10":
        return np.floor(11 * uniform**2) / 10
    rank = np.floor(1 / np.maximum(uniform, 1e-3))  # 1 for half of the topics, 2 for a sixth, ...
    return np.where(rank <= 10, 1 / rank, 0.0)


def draw_unlike_scores(trials: int, topics: int, rng: np.random.Generator) -> Floats:
    """Draw scores of two systems with mean 0.1, shape (trials, 2, topics). One has nearly this
    score on each topic, the other has 1 on a tenth of the topics and 0 elsewhere."""
    steady = 0.1 + 0.02 * rng.standard_normal((trials, topics))
    return np.stack([steady, (rng.random((trials, topics)) < 0.1).astype(np.float64)], axis=1)


class TypeOne(NamedTuple):
    """Type I error of each test: share of pairs of equal systems that it calls different at
    0.05."""

    t: float
    wsr: float
    sign: float
    randomisation: float
    wrs: float
    won: float
    """By the former rule of `bootstrap`: beaten in 97.5% of the samples of topics."""


def measure_type_one(
    shape: str, topics: int, *, trials: int, rng: np.random.Generator, n_random: int = 999
) -> TypeOne:
    scores = (
        draw_unlike_scores(trials, topics, rng)
        if shape == "unlike"
        else draw_equal_scores(shape, trials, topics, 2, rng)
    )
    a, b = scores[:, 0], scores[:, 1]
    d = significance.rounded_differences(a, b)
    pair = np.array([0]), np.array([1])
    p = [
        randomisation_test(row[None], both.T, *pair, trials=n_random, rng=rng)[0][0]
        for row, both in zip(d, scores, strict=True)
    ]
    by = [
        significance.paired_t_test(d),
        significance.signed_rank_test(d),
        significance.sign_test(d),
        np.array(p),
        significance.rank_sum_test(a, b).p,
    ]
    return TypeOne(*[float((some < 0.05).mean()) for some in by], _draw_winner_scores(scores, rng))


def _draw_winner_scores(scores: Floats, rng: np.random.Generator) -> float:
    counts = rng.multinomial(
        scores.shape[2], np.full(scores.shape[2], 1 / scores.shape[2]), size=400
    )
    means = (scores[:, 1] - scores[:, 0]) @ counts.T
    share = (means > 1e-12).mean(axis=1) + (np.abs(means) <= 1e-12).mean(axis=1) / 2
    return float(((share <= 0.025) | (share >= 0.975)).mean())


class FamilyErrors(NamedTuple):
    """Family-wise error rates: shares of families of equal systems in which at least one pair is
    called different at 0.05."""

    raw: float
    bonferroni: float
    holm: float
    greatest: float


def measure_families(
    shape: str,
    systems: int,
    topics: int,
    *,
    trials: int,
    rng: np.random.Generator,
    n_random: int = 400,
) -> FamilyErrors:
    """Measure the family-wise error rate of the paired t-test, raw and corrected, and of the
    max-statistic test."""
    pairs = list_pairs(systems)
    first, second = np.array(pairs).T
    p_values = []
    for scores in draw_equal_scores(shape, trials, topics, systems, rng):
        d = significance.rounded_differences(scores[first], scores[second])
        p = significance.paired_t_test(d)
        held = [
            significance.adjust_p_values(p, family).min()
            for family in ("none", "bonferroni", "holm")
        ]
        p_values.append(
            [*held, max_statistic_test(scores.T, pairs, trials=n_random, rng=rng).min()]
        )
    return FamilyErrors(*(np.array(p_values) < 0.05).mean(axis=0).tolist())


SPARSE: dict[str, tuple[float, Callable[[np.random.Generator, tuple[int, int]], Floats]]] = {
    "gain up to 1 on 5% of topics": (
        0.025,
        lambda rng, shape: _draw_sparse(rng, shape, 0.05, rng.random(shape)),
    ),
    "RR: 3% newly answered": (
        0.03,
        lambda rng, shape: _draw_sparse(rng, shape, 0.03, np.ones(shape)),
    ),
    "gain of .5 on 5% of topics, loss of .5 on 1%": (
        0.02,
        lambda rng, shape: rng.choice([0.5, -0.5, 0.0], shape, p=[0.05, 0.01, 0.94]),
    ),
    "gain of 1 on 5% of topics, loss of .05 on the others": (
        0.0025,
        lambda rng, shape: _draw_sparse(rng, shape, 0.05, np.ones(shape), -0.05),
    ),
    "gain up to 1 on 10% of topics, ± .001 on the others": (
        0.05,
        lambda rng, shape: _draw_sparse(
            rng, shape, 0.1, rng.random(shape), _draw_noise(rng, shape, 0.001)
        ),
    ),
    "gain up to 1 on 10% of topics, ± .1 on the others": (
        0.05,
        lambda rng, shape: _draw_sparse(rng, shape, 0.1, rng.random(shape))
        + _draw_noise(rng, shape, 0.1),
    ),
    "lognormal": (float(np.exp(1.5**2 / 2)), lambda rng, shape: rng.lognormal(0, 1.5, shape)),
    "RR: 30% answered": (
        0.3 * RANKS_ALIKE,
        lambda rng, shape: _draw_sparse(rng, shape, 0.3, 1 / rng.integers(1, 11, shape)),
    ),
    "RR: 10% answered": (
        0.1 * RANKS_ALIKE,
        lambda rng, shape: _draw_sparse(rng, shape, 0.1, 1 / rng.integers(1, 11, shape)),
    ),
    "1 on 8% of topics, .1 on the others": (
        0.172,
        lambda rng, shape: _draw_sparse(rng, shape, 0.08, np.ones(shape), 0.1),
    ),
    "1 on 8% of topics, .1 ± .05 on the others": (
        0.172,
        lambda rng, shape: _draw_sparse(
            rng, shape, 0.08, np.ones(shape), 0.1 + _draw_noise(rng, shape, 0.05)
        ),
    ),
    "0 on 4% of topics, .6 ± .08 on the others": (
        0.576,
        lambda rng, shape: _draw_sparse(
            rng, shape, 0.04, np.zeros(shape), 0.6 + _draw_noise(rng, shape, 0.08)
        ),
    ),
    "0 on 4% of topics, .6 ± .05 on the others": (
        0.576,
        lambda rng, shape: _draw_sparse(
            rng, shape, 0.04, np.zeros(shape), 0.6 + _draw_noise(rng, shape, 0.05)
        ),
    ),
}
"""Distributions in which few topics determine the mean: true value, and a function that draws
scores or differences (trials, topics)."""


def _draw_sparse(
    rng: np.random.Generator,
    shape: tuple[int, int],
    share: float,
    there: Floats,
    elsewhere: Floats | float = 0.0,
) -> Floats:
    return np.where(rng.random(shape) < share, there, elsewhere)


def _draw_noise(rng: np.random.Generator, shape: tuple[int, int], deviation: float) -> Floats:
    return deviation * rng.standard_normal(shape)


class DifferenceCoverage(NamedTuple):
    """Coverage of intervals for paired differences: of the mean difference by t and by BCa (in all
    trials) and as shown, and of the effect size by the noncentral t."""

    t: CoverageShares
    bca: CoverageShares
    now: CoverageShares
    effect: CoverageShares


SPREADS = ("normal", "RR", "exponential", *list(SPARSE)[:7])
"""Distributions of the differences: of two systems with equal scores as in SHAPES, or skewed, with
a true mean that is not 0."""


def draw_differences(
    spread: str, topics: int, trials: int, rng: np.random.Generator
) -> tuple[float, float, Floats]:
    """Draw paired differences. Returns (true mean, true mean / standard deviation, differences
    (trials, topics))."""
    if spread in SPARSE:
        true, draw = SPARSE[spread]
        return true, true / float(draw(rng, (1, 1_000_000)).std()), draw(rng, (trials, topics))
    if spread == "exponential":
        return 1.0, 1.0, rng.exponential(1, (trials, topics))
    scores = draw_equal_scores(spread, trials, topics, 2, rng)
    return 0.0, 0.0, scores[:, 1] - scores[:, 0]


def measure_difference_coverage(
    spread: str, topics: int, *, trials: int, rng: np.random.Generator, n_samples: int = 500
) -> DifferenceCoverage:
    true, effect, d = draw_differences(spread, topics, trials, rng)
    counts = rng.multinomial(topics, np.full(topics, 1 / topics), size=n_samples) / topics
    by_bca = bca.bca_interval(d.mean(axis=1), counts @ d.T, (d.sum(axis=1) - d.T) / (topics - 1))
    deviation = np.where(significance.is_constant(d), np.nan, d.std(axis=1, ddof=1))
    return DifferenceCoverage(
        measure_coverage(true, [topic_interval(row) for row in d]),
        measure_coverage(true, by_bca),
        measure_coverage(true, [(one.low, one.high) for one in mean_intervals(d)]),
        measure_coverage(effect, compute_effect_intervals(d.mean(axis=1) / deviation, topics)),
    )


MEANS: dict[str, float] = {
    "nDCG@10": 1 / 4,  # mean of u^3
    "RR": sum((1 / rank - 1 / (rank + 1)) / rank for rank in range(1, 11)),
    "P@10": sum(1 - np.sqrt(tenth / 11) for tenth in range(1, 11)) / 10,
    "few topics score": 1 / 11,  # mean of u^10
    "answered in 5%": 0.05,
    **{name: SPARSE[name][0] for name in list(SPARSE)[7:]},
}
"""True mean of the scores of one system, with u uniform between 0 and 1: as in SHAPES, or with few
topics that determine it."""


class MeanCoverage(NamedTuple):
    """Coverage of intervals of a mean over topics: Student's t in all trials, and the interval
    shown."""

    everywhere: CoverageShares
    shown: CoverageShares


def measure_mean_coverage(
    spread: str, topics: int, *, trials: int, rng: np.random.Generator
) -> MeanCoverage:
    if spread in SPARSE:
        scores = SPARSE[spread][1](rng, (trials, topics))
    elif spread == "few topics score":
        scores = rng.random((trials, topics)) ** 10
    elif spread == "answered in 5%":
        scores = (rng.random((trials, topics)) < 0.05).astype(np.float64)
    else:
        scores = draw_equal_scores(spread, trials, topics, 1, rng)[:, 0]
    return MeanCoverage(
        measure_coverage(MEANS[spread], [topic_interval(row) for row in scores]),
        measure_coverage(MEANS[spread], [(one.low, one.high) for one in mean_intervals(scores)]),
    )
