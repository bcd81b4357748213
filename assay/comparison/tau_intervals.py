"""Confidence intervals of tau-b between two rankings, and the pairs of systems whose order the
topics leave undecided.

Resampling topics adds noise to rankings that already are noisy, so the resampled tau is too low.
The percentile interval by itself covers 32% with 30 systems and 25 topics. It has its nominal
coverage, and is given, only if few pairs of systems have an uncertain order and the rankings differ
in clearly more pairs than uncertainty would cause (docs/evidence/calibration.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.comparison.rankings import compute_sample_means, draw_topic_counts, tau_b, tau_b_batch
from assay.comparison.significance import MIN_VERDICT_TOPICS
from assay.labels.intervals import MAX_UNDEFINED, Floats, Interval, no_interval

MAX_DOUBT = 0.1
"""Maximum expected share of pairs of systems that other topics would swap, over both rankings, for
which an interval is given."""
MIN_RATIO_TO_DOUBT = 2.0
"""Minimum ratio, to this expected share, of the share of pairs on which the rankings differ and of
the share on which they agree."""


class SystemOrder(NamedTuple):
    """Certainty of the order of each pair of systems, given the topics.

    doubt: expected share of pairs that other topics would swap. undecided: bool (systems, systems),
    pairs that are not significant at 5% by the paired t-test, or by the permutation test if the
    differences do not vary. Only the upper triangle is set. With fewer topics than a verdict needs,
    doubt is NaN and every pair is undecided.
    """

    doubt: float
    undecided: NDArray[np.bool_]


def compute_order_certainty(values: Floats) -> SystemOrder:
    """Compute the certainty of each pair's order. values: float64 (topics, systems). Topics with
    NaN are left out."""
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
    # differences that do not vary are decided from MIN_VERDICT_TOPICS topics on, because the
    # permutation test has p = 2^(1 - n)
    same = (error <= 1e-12) & (difference <= 1e-10)  # equal on every topic: no order to swap
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
    """Return one percentile interval (Efron 1979) per measure, from the same samples of topics.

    a, b: float64 (n_topics, systems, measures), the same topics and systems under two qrels, NaN if
    the topic does not count for the system.
    """
    n_topics, _, n_measures = a.shape
    if n_topics == 0:
        return [no_interval("the qrels share no topic")] * n_measures
    if n_samples == 0:
        return [no_interval("the number of samples is 0")] * n_measures
    counts = draw_topic_counts(n_topics, n_samples, rng)
    return [_tau_interval(counts, a[:, :, m], b[:, :, m], confidence) for m in range(n_measures)]


def _tau_interval(counts: Floats, a: Floats, b: Floats, confidence: float) -> Interval:
    n_topics = len(a)
    value = tau_b(*(compute_sample_means(np.ones((1, n_topics)), values)[0] for values in (a, b)))
    if math.isnan(value):
        return no_interval("tau-b is undefined on the shared topics", "topics")
    doubt = compute_order_certainty(a).doubt + compute_order_certainty(b).doubt
    if not doubt < MAX_DOUBT:
        shared = f"{n_topics} shared topic{'s' if n_topics != 1 else ''}"
        if n_topics < MIN_VERDICT_TOPICS:
            return no_interval(
                f"{shared}; a confidence interval needs at least {MIN_VERDICT_TOPICS}", "topics"
            )
        return no_interval(
            f"the order of too many pairs of systems is undecided with {shared}, so tau would be biased",
            "topics",
        )
    if min(1 - value, 1 + value) / 2 <= MIN_RATIO_TO_DOUBT * doubt:
        how = "alike" if value > 0 else "reversed"
        return no_interval(
            (
                f"the rankings are {how} except for pairs that other topics might reverse, and a "
                f"confidence interval for a tau so near {'1' if value > 0 else '-1'} would be unreliable"
            ),
            "topics",
        )
    samples = tau_b_batch(compute_sample_means(counts, a), compute_sample_means(counts, b))
    undefined = float(np.isnan(samples).mean())
    if undefined > MAX_UNDEFINED:
        return no_interval(
            f"tau-b is undefined in {100 * undefined:.0f}% of the samples of topics", "topics"
        )
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(samples, [tail, 100 - tail])
    if not low <= value <= high:
        return no_interval(
            "the samples of topics are biased: their confidence interval would exclude tau itself",
            "topics",
        )
    return Interval(float(low), float(high), "", "topics")


def list_undecided_pairs(a: Floats, b: Floats, names: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of systems, by name, whose order is undecided under one of two qrels or
    both. a, b: (topics, systems)."""
    undecided = compute_order_certainty(a).undecided | compute_order_certainty(b).undecided
    return sorted(tuple(sorted((names[i], names[j]))) for i, j in np.argwhere(undecided).tolist())  # type: ignore[misc]
