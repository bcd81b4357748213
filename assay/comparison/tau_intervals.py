"""Intervals of tau-b between two rankings, where one covers; elsewhere the pairs of systems whose
order the topics leave undecided.

Resampled topics add noise to two rankings that carry noise already, so that their tau is too low:
the percentile interval alone covers .32 of the time with 30 systems and 25 topics. It covers where
the order of few pairs of systems is in doubt, and where the rankings differ in clearly more pairs
than doubt alone would make (docs/evidence/calibration.md)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.comparison.rankings import compute_sample_means, draw_topic_counts, tau_b, tau_b_batch
from assay.comparison.significance import MIN_VERDICT_TOPICS
from assay.labels.intervals import MAX_UNDEFINED, Floats, Interval, no_interval

MOST_DOUBT, CLEARLY = 0.1, 2.0
"""The expected share of pairs of systems that other topics would turn, in both rankings together,
may be so large, and pairs on which the rankings differ must be so many times as many (as must those
on which they agree)."""


class SystemOrder(NamedTuple):
    """How sure the order of each pair of systems is over the topics at hand.

    doubt: the expected share of pairs that other topics would turn. undecided: bool (systems,
    systems), not significant by the paired t-test at 5 %, or where a difference does not vary by
    the permutation test; a pair with itself left out. With fewer topics than a verdict needs doubt
    is NaN and every pair undecided."""

    doubt: float
    undecided: NDArray[np.bool_]


def order_certainty(values: Floats) -> SystemOrder:
    """values: float64 (topics, systems); topics on which a system does not count (NaN) are left
    out."""
    values = values[~np.isnan(values).any(axis=1)]
    n, systems = values.shape
    if n < MIN_VERDICT_TOPICS or systems < 2:
        return SystemOrder(
            math.nan,
            np.triu(np.ones((systems, systems), dtype=bool), k=1)
            if systems
            else np.zeros((0, 0), dtype=bool),
        )
    means, covariance = values.mean(axis=0), np.atleast_2d(np.cov(values.T))
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0) / n)
    difference = np.abs(means[:, None] - means[None, :])
    first, second = np.triu_indices(systems, k=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 1e-12, difference / error, np.where(difference > 1e-10, np.inf, 0.0))
    # a difference that does not vary is decided from VERDICT_TOPICS topics on: its permutation test
    # has p = 2^(1 - n)
    same = (error <= 1e-12) & (difference <= 1e-10)  # equal on every topic: nothing to turn
    turned = np.where(same, 0.0, scipy.special.ndtr(-t))
    undecided = np.triu(t < scipy.special.stdtrit(n - 1, 0.975), k=1)
    return SystemOrder(float(turned[first, second].mean()), undecided)


def compute_tau_intervals(
    a: Floats,
    b: Floats,
    *,
    rng: np.random.Generator,
    n_samples: int = 1000,
    confidence: float = 0.95,
) -> list[Interval]:
    """One a measure; the same samples of topics for all (percentiles, Efron 1979).

    a, b: float64 (n_topics, systems, measures), the same topics and systems under two qrels; NaN:
    the topic does not count for the system."""
    n_topics, _, n_measures = a.shape
    if n_topics == 0:
        return [no_interval("the qrels share no topic")] * n_measures
    if n_samples == 0:
        return [no_interval("no samples were asked for")] * n_measures
    counts = draw_topic_counts(n_topics, n_samples, rng)
    return [_tau_interval(counts, a[:, :, m], b[:, :, m], confidence) for m in range(n_measures)]


def _tau_interval(counts: Floats, a: Floats, b: Floats, confidence: float) -> Interval:
    n_topics = len(a)
    value = tau_b(*(compute_sample_means(np.ones((1, n_topics)), values)[0] for values in (a, b)))
    if math.isnan(value):
        return no_interval("tau-b is undefined on the shared topics", "topics")
    doubt = order_certainty(a).doubt + order_certainty(b).doubt
    if not doubt < MOST_DOUBT:
        shared = f"{n_topics} shared topic{'s' if n_topics != 1 else ''}"
        if n_topics < MIN_VERDICT_TOPICS:
            return no_interval(
                f"{shared}; an interval needs at least {MIN_VERDICT_TOPICS}", "topics"
            )
        return no_interval(
            f"the order of too many pairs of systems is undecided with {shared}: tau would be biased",
            "topics",
        )
    if min(1 - value, 1 + value) / 2 <= CLEARLY * doubt:
        how = "alike" if value > 0 else "turned round"
        return no_interval(
            (
                f"the rankings are {how} but for what other topics might turn: no interval so near "
                f"{'1' if value > 0 else '-1'}"
            ),
            "topics",
        )
    samples = tau_b_batch(compute_sample_means(counts, a), compute_sample_means(counts, b))
    undefined = float(np.isnan(samples).mean())
    if undefined > MAX_UNDEFINED:
        return no_interval(
            f"tau-b is undefined in {100 * undefined:.0f} % of the samples of topics", "topics"
        )
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(samples, [tail, 100 - tail])
    if not low <= value <= high:
        return no_interval(
            "the samples of topics are biased: their interval would leave tau itself out", "topics"
        )
    return Interval(float(low), float(high), "", "topics")


def undecided_pairs(a: Floats, b: Floats, names: list[str]) -> list[tuple[str, str]]:
    """Pairs of systems, by name, whose order is undecided under one of two qrels or both. a, b:
    (topics, systems)."""
    undecided = order_certainty(a).undecided | order_certainty(b).undecided
    return sorted(tuple(sorted((names[i], names[j]))) for i, j in np.argwhere(undecided).tolist())  # type: ignore[misc]
