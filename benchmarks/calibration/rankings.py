"""Coverage of the intervals of tau-b between two rankings and of a system's rank. The true ranking
is by the systems' true means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from assay.comparison import bootstrap
from assay.comparison.rankings import compute_sample_means, draw_topic_counts, tau_b, tau_b_batch
from assay.comparison.tau_intervals import compute_tau_intervals
from assay.labels.intervals import MAX_COEFFICIENT
from benchmarks.calibration.bca import bca_interval
from benchmarks.calibration.coverage import CoverageShares, measure_coverage, percentile_intervals

Floats = NDArray[np.float64]
LIKENESS = {"about .3": 0.5, "about .6": 0.8, "about .8": 0.95, "1": 1.0}
"""True tau -> correlation of the systems' true means under the two qrels."""
SPREADS = (0.15, 0.4, 1.0, 3.0)
"""Spread of the systems' true means, in standard deviations of a score over topics."""


class TauCoverage(NamedTuple):
    """Coverage of four intervals of tau-b: the one shown, the percentile interval, BCa, and the
    jackknife on Fisher's z."""

    now: CoverageShares
    before: CoverageShares
    bca: CoverageShares
    jackknife: CoverageShares


def draw_scores(
    systems: int, topics: int, alike: float, apart: float, rng: np.random.Generator
) -> tuple[float, Floats, Floats]:
    """Draw scores under two qrels. Returns (true tau, scores, scores), both arrays of shape
    (topics, systems, 1). The qrels share the topic effects, and their noise has a correlation of
    0.3 or 0.8."""
    effect = (rng.random((systems, 2)) - 0.5) * np.sqrt(12)
    true = (
        np.stack([effect[:, 0], alike * effect[:, 0] + np.sqrt(1 - alike**2) * effect[:, 1]])
        * apart
    )
    shared = rng.choice([0.3, 0.8])
    noise = rng.standard_normal((2, topics, systems))
    noise[1] = shared * noise[0] + np.sqrt(1 - shared**2) * noise[1]
    values = true[:, None, :] + noise + rng.standard_normal((topics, 1))
    return tau_b(true[0], true[1]), values[0][:, :, None], values[1][:, :, None]


def measure_tau_coverage(
    systems: int,
    topics: int,
    alike: float,
    *,
    trials: int,
    rng: np.random.Generator,
    n_samples: int = 200,
) -> TauCoverage:
    """Measure the coverage of intervals of tau-b, over systems with similar and with different true
    means."""
    truth, now, others = [], [], []
    counts, without = (
        draw_topic_counts(topics, n_samples, rng),
        np.ones((topics, topics)) - np.eye(topics),
    )
    for trial in range(trials):
        true, a, b = draw_scores(systems, topics, alike, SPREADS[trial % len(SPREADS)], rng)
        (interval,) = compute_tau_intervals(a, b, rng=rng, n_samples=n_samples)
        truth.append(true)
        now.append((interval.low, interval.high))
        drawn = np.concatenate([counts, without, np.ones((1, topics))])
        others.append(
            tau_b_batch(*(compute_sample_means(drawn, values[:, :, 0]) for values in (a, b)))
        )
    samples, left_out, value = np.split(np.array(others).T, [n_samples, n_samples + topics])
    accelerated = bca_interval(value[0], samples, left_out)
    return TauCoverage(
        *(
            measure_coverage(truth, some)
            for some in (
                now,
                percentile_intervals(samples),
                accelerated,
                _jackknife_interval(value[0], left_out),
            )
        )
    )


def _jackknife_interval(value: Floats, left_out: Floats) -> Floats:
    """Return jackknife intervals on Fisher's z with Student's t, shape (k, 2). value: (k).
    left_out: (n, k), the values without each unit."""
    n = len(left_out)
    z = np.arctanh(np.clip(left_out, -MAX_COEFFICIENT, MAX_COEFFICIENT))
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt(
        (n - 1) / n * ((z - z.mean(axis=0)) ** 2).sum(axis=0)
    )
    middle = np.arctanh(np.clip(value, -MAX_COEFFICIENT, MAX_COEFFICIENT))
    return np.tanh(np.column_stack([middle - reach, middle + reach]))


class RankCoverage(NamedTuple):
    """Coverage of intervals of ranks: shares of systems whose true rank lies in the interval, for
    all systems and for the best one. width: mean number of ranks in it.

    before: the 2.5 and 97.5 percentiles of the rank over samples of topics, rounded outwards to
    whole ranks.
    """

    now: float
    now_best: float
    now_width: float
    before: float
    before_best: float
    before_width: float


def draw_ranked_scores(
    systems: int, topics: int, apart: float | None, rng: np.random.Generator
) -> Floats:
    """Draw scores of systems, best first, shape (systems, topics).

    apart: standard deviation of the systems' true means, which are drawn uniformly, in standard
    deviations of the noise. None means true means from 0.111 down in steps of 0.001, where every
    second system has nearly the same score on each topic and the others have 1 on few topics and 0
    elsewhere.
    """
    if apart is None:
        means = (0.111 - 0.001 * np.arange(systems))[:, None]
        steady = means + 0.02 * rng.standard_normal((systems, topics))
        return np.where(
            np.arange(systems)[:, None] % 2 == 0, steady, rng.random((systems, topics)) < means
        )
    means = np.sort((rng.random(systems) - 0.5) * np.sqrt(12) * apart)[::-1]
    return np.asarray(
        means[:, None] + rng.standard_normal((systems, topics)) + rng.standard_normal(topics)
    )


def measure_rank_coverage(
    systems: int,
    topics: int,
    apart: float | None,
    *,
    trials: int,
    rng: np.random.Generator,
    n_samples: int = 300,
) -> RankCoverage:
    """Measure the coverage of intervals of ranks, for the systems of `draw_ranked_scores`."""
    true = np.arange(1, systems + 1)
    counts = bootstrap.draw_topic_counts(topics, n_samples, rng)
    hits = []
    for _ in range(trials):
        values = draw_ranked_scores(systems, topics, apart, rng)
        now = bootstrap.compare_means(values).rank_interval
        sampled = bootstrap.compute_sample_means(values, counts)
        low, high = np.percentile(
            (-sampled).argsort(axis=0).argsort(axis=0) + 1, [2.5, 97.5], axis=1
        )
        before = np.column_stack([np.floor(low), np.ceil(high)])
        for bounds in (now, before):
            hit = (bounds[:, 0] <= true) & (true <= bounds[:, 1])
            hits.append([hit.mean(), hit[0], (bounds[:, 1] - bounds[:, 0]).mean() + 1])
    return RankCoverage(*np.array(hits, np.float64).reshape(trials, 6).mean(axis=0).tolist())
