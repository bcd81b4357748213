"""Stopping rules for partly judged pools. They only give advice.

    completed = simulate_scores(features, tops, grades, min_relevant, rng)
    decisions = decide_pairs(completed, tags)                                    prioritised pools
    comparisons = compare_sampled_systems(targets, features, tags, seed)         sampled pools
    left = estimate_remaining_relevant(n_left, relevant, n)                      audit pairs

For a prioritised pool, unjudged grades are simulated from the rank model, refitted on bootstrapped
topics. Such completions are too certain for confidence intervals (their 95% intervals contained the
true value in 40% to 98% of cases). But if every pair of the best five systems was decided or tied
in them, none of the decisions was wrong. For a sampled pool, the variance rule compares the
sampling variance with the variance over topics. See docs/reference/methods/sampling.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.labels.intervals import share_upper_bound
from assay.number_words import format_count
from assay.pools.depth import PooledPairs
from assay.pools.rank_model import (
    RankFeatures,
    count_judged_by_topic,
    fit_rank_model,
    score_pairs,
    sigmoid,
)
from assay.sampling.correction import (
    MIN_JUDGED,
    CorrectedEstimate,
    EstimationTargets,
    anticipated_variance,
    cross_fit_estimates,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_BEST = 5
N_COMPLETIONS = 40
N_REFITS = 4
MAX_FLIP_SHARE = 0.05
TIE_WIDTH = 0.01
MIN_TIE_SHARE = 0.95
N_INTERIM_CHECKS = 10
"""Number of interim checks of a pool, one per tenth. More frequent checks stop too early."""
MIN_PER_TOPIC = 10.0
MIN_TOPICS = 10
MAX_BEFORE_ADVICE = 0.9
"""Share of the pool beyond which advice comes too late to save work."""


@dataclass(frozen=True, eq=False)
class TopKMatrix:
    """The runs' top documents as a sparse matrix, to compute nDCG for many labellings at once.
    discount: float64 sparse (n_runs, n_pairs), 1 / log2(rank + 1) of the pairs in a run's top
    `cutoff`. topic: int64 (n_pairs)."""

    discount: scipy.sparse.csr_matrix
    topic: Ints
    n_topics: int
    cutoff: int

    def ndcg(self, grades: Floats) -> Floats:
        """Return float64 (n_runs, n), the mean nDCG@cutoff of each run. grades: float64 (n_pairs,
        n)."""
        ideal = self.ideal(grades)[self.topic]
        share = np.divide(grades, ideal, out=np.zeros(grades.shape), where=ideal > 0)
        return (self.discount @ share) / self.n_topics

    def ideal(self, grades: Floats) -> Floats:
        """Return float64 (n_topics, n), the ideal DCG of each topic over its best `cutoff`
        grades."""
        ideal = np.zeros((self.n_topics, grades.shape[1]))
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.topic, minlength=self.n_topics))))
        gains = 1 / np.log2(np.arange(2, self.cutoff + 2))
        by_topic = np.argsort(self.topic, kind="stable")
        for topic in range(self.n_topics):
            own = -np.sort(-grades[by_topic[starts[topic] : starts[topic + 1]]], axis=0)[
                : self.cutoff
            ]
            ideal[topic] = gains[: len(own)] @ own
        return ideal


def make_top_k_matrix(pool: PooledPairs, *, cutoff: int = 10) -> TopKMatrix:
    row, run = np.nonzero((pool.ranks > 0) & (pool.ranks <= cutoff))
    gain = 1 / np.log2(pool.ranks[row, run].astype(np.float64) + 1)
    return TopKMatrix(
        scipy.sparse.csr_matrix((gain, (run, row)), shape=(len(pool.tags), len(pool))),
        pool.topic.astype(np.int64),
        len(pool.topics),
        cutoff,
    )


def never_useful_reason(n_pairs: int, n_topics: int) -> str | None:
    """Return why advice on a pool of this size is never useful, or None if it may be."""
    if n_topics < MIN_TOPICS:
        return f"{format_count(n_topics, 'topic')}; advice needs at least {MIN_TOPICS}"
    if MIN_PER_TOPIC * n_topics > MAX_BEFORE_ADVICE * n_pairs:
        return (
            f"the pool has {n_pairs / n_topics:.1f} pairs per topic; advice needs "
            f"{MIN_PER_TOPIC:.0f} judged pairs per topic"
        )
    return None


def no_check_reason(
    n_judged: int, n_pairs: int, n_topics: int, *, last: int | None = None
) -> str | None:
    """Return why no interim check is due now, or None if one is. last: number of pairs judged at
    the previous check."""
    if n_topics < MIN_TOPICS:
        return f"{format_count(n_topics, 'topic')}; advice needs at least {MIN_TOPICS}"
    if n_judged < MIN_PER_TOPIC * n_topics:
        return f"available from {MIN_PER_TOPIC:.0f} judged pairs per topic ({n_judged / n_topics:.1f} now)"
    if last is not None and n_judged - last < n_pairs // N_INTERIM_CHECKS and n_judged < n_pairs:
        return (
            f"the last interim check was at {last} judged pairs; the next is possible after "
            f"another tenth of the pool, at {last + n_pairs // N_INTERIM_CHECKS}"
        )
    return None


def simulate_scores(
    features: RankFeatures,
    tops: TopKMatrix,
    grades: NDArray[np.integer],
    *,
    min_relevant: int,
    rng: np.random.Generator,
    n: int = N_COMPLETIONS,
) -> Floats | None:
    """Return float64 (n_runs, n), the nDCG of every run with unjudged pairs simulated from the rank
    model. None unless both classes have been judged.

    grades: int (n_pairs), in the pool's order, negative if not judged. A simulated relevant pair
    gets one of the judged relevant grades by their frequency, and a non-relevant one
    correspondingly.
    """
    own = grades[features.rows]
    labels = np.where(own >= 0, own >= min_relevant, np.nan)
    open_ = np.flatnonzero(own < 0)
    filled = np.repeat(np.maximum(own, 0).astype(np.float64)[:, None], n, axis=1)
    of_relevant, of_others = own[own >= min_relevant], own[(own >= 0) & (own < min_relevant)]
    if not len(of_relevant) or not len(of_others):
        return None
    relevant, judged = count_judged_by_topic(features, labels)
    rate = relevant.sum() / judged.sum()
    fit = None
    for k in range(n):
        if k % max(n // N_REFITS, 1) == 0:
            weights = np.bincount(
                rng.integers(0, features.n_topics, features.n_topics), minlength=features.n_topics
            ).astype(np.float64)
            fit = fit_rank_model(features, labels, weights=weights, start=fit) or fit
        if fit is None:
            return None
        drawn_rate = np.clip(
            rng.beta(relevant + 2 * rate + 0.02, judged - relevant + 2 * (1 - rate) + 0.02),
            1e-6,
            1 - 1e-6,
        )
        chance = sigmoid(
            score_pairs(features, labels, fit, odds=np.log(drawn_rate / (1 - drawn_rate)))
        )[open_]
        is_relevant = rng.random(len(open_)) < chance
        filled[open_, k] = np.where(
            is_relevant, rng.choice(of_relevant, len(open_)), rng.choice(of_others, len(open_))
        )
    back = np.empty_like(filled)
    back[features.rows] = filled
    return tops.ndcg(back)


class PairOrder(StrEnum):
    BEFORE = "before"
    EQUAL = "equal"
    OPEN = "open"


class PairDecision(NamedTuple):
    """Decision on a pair of systems (a, b), a being the better one in the mean of the completions.
    flip: share of completions with b ahead. equal: share with a difference of at most 0.01."""

    a: str
    b: str
    order: PairOrder
    flip: float
    equal: float


def decide_pairs(
    completed: Floats, tags: Sequence[str], *, best: int = N_BEST
) -> list[PairDecision]:
    """Classify every pair of the best systems as decided (order flips in less than 5% of
    completions), equal (within 0.01 in at least 95%) or open.

    completed: float64 (n_runs, n_completions).
    """
    mean = np.round(completed.mean(axis=1), 10)
    leading = sorted(range(len(tags)), key=lambda k: (-mean[k], tags[k].encode("utf-8")))[:best]
    decisions = []
    for a, b in combinations(leading, 2):
        difference = completed[a] - completed[b]
        flip, equal = (
            float((difference < 0).mean()),
            float((np.abs(difference) <= TIE_WIDTH + 1e-12).mean()),
        )
        order = (
            PairOrder.EQUAL
            if equal >= MIN_TIE_SHARE
            else PairOrder.BEFORE
            if flip < MAX_FLIP_SHARE
            else PairOrder.OPEN
        )
        decisions.append(PairDecision(tags[a], tags[b], order, flip, equal))
    return decisions


def can_stop(decisions: Sequence[PairDecision]) -> bool:
    return bool(decisions) and all(decision.order is not PairOrder.OPEN for decision in decisions)


SHARE_OF_SPREAD = 0.35
"""Share of the variance of a difference due to sampling, below which judging the rest narrows its
interval by less than a fifth: 1 - √0.65."""
NEGLIGIBLE_DIFFERENCE = 0.02
"""Half-width, in nDCG, of the change by further judging below which more judging is not advised."""
ONE_SIDED_Z = 1.645
"""Standard normal quantile of 0.95."""


class SampledComparison(NamedTuple):
    """The best system compared with another. difference: on the scale of nDCG. judging: v_j, the
    variance that judging the rest would remove. topics: v_t, the total variance over topics. half:
    half-width of the 95% confidence interval for new topics. why: reason for giving no advice."""

    best: str
    other: str
    difference: float
    judging: float
    topics: float
    half: float
    why: str | None
    n_topics: int

    @property
    def max_sampling_share(self) -> float:
        """Return an upper 95% bound of the share of the variance over topics that sampling causes:
        r + 1.645 · 2 √(r (1 - r) / T) with r = v_j / v_t (`judging` / `topics`) and T topics.

        The topics' true differences and the sampling errors are independent, but over T topics the
        mean of their products is not 0. Its standard deviation is √(v_d v_j / T), it counts twice
        in v_t, and it disappears together with the errors when the rest is judged.
        """
        if self.topics <= 0:
            return 0.0 if self.judging == 0 else 1.0
        share = min(self.judging / self.topics, 1.0)
        return min(share + 2 * ONE_SIDED_Z * math.sqrt(share * (1 - share) / self.n_topics), 1.0)

    @property
    def is_equal_so_far(self) -> bool:
        return self.why is None and self.topics == 0 and self.difference == 0

    @property
    def is_done(self) -> bool:
        """Return whether more judging is not worthwhile: the upper bound of v_j / v_t is at most
        0.35, or 1.96 √v_j is at most 0.02."""
        if self.why is not None or self.is_equal_so_far:
            return self.why is None and self.judging == 0
        return self.is_barely_narrowed or 1.96 * math.sqrt(self.judging) <= NEGLIGIBLE_DIFFERENCE

    @property
    def is_barely_narrowed(self) -> bool:
        return self.max_sampling_share <= SHARE_OF_SPREAD


def compare_sampled_systems(
    targets: EstimationTargets,
    features: Floats,
    tags: Sequence[str],
    seed: int,
    *,
    best: int = N_BEST,
) -> list[SampledComparison]:
    """Apply the variance rule to a sampled pool: compare the best system with the next four.
    Judging can stop if each comparison is done.

    targets: for each run, the mean of DCG on the scale of nDCG (weights divided by the mean ideal).
    features: features of the regression that reduces the variance (`make_regression_features`).
    """
    alone = cross_fit_estimates(targets, features, np.random.default_rng(seed))
    order = sorted(
        range(len(tags)),
        key=lambda k: (-round(float(alone.values[k]), 10), tags[k].encode("utf-8")),
    )[:best]
    if len(order) < 2:
        return []
    weights = targets.weights[:, order[:1]] - targets.weights[:, order[1:]]
    estimate = cross_fit_estimates(
        EstimationTargets(targets.sample, weights, targets.labels, targets.llm),
        features,
        np.random.default_rng(seed),
    )
    spread = topic_variances(estimate)
    halves = scipy.special.stdtrit(max(len(estimate.by_topic) - 1, 1), 0.975) * np.sqrt(spread)
    judging, why = _remaining_variances(targets, weights, estimate)
    n_topics, best_tag = len(estimate.by_topic), tags[order[0]]
    return [
        SampledComparison(
            best_tag,
            tags[other],
            float(estimate.values[k]),
            float(judging[k]),
            float(spread[k]),
            float(halves[k]),
            why[k],
            n_topics,
        )
        for k, other in enumerate(order[1:])
    ]


def _remaining_variances(
    targets: EstimationTargets, weights: Floats, estimate: CorrectedEstimate
) -> tuple[Floats, list[str | None]]:
    """Return the variance v_j that judging the rest would remove from each difference, and the
    reason if there is none. The difference of nearly equal systems depends on few pairs, of which
    hardly any is judged. Then the spread of all residuals of each stratum is used instead of
    theirs."""
    judging, why = estimate.variances.copy(), list(estimate.why)
    if targets.sample.ungraded_reason is not None or len(targets.judged) < MIN_JUDGED:
        return judging, why
    for column in range(len(judging)):
        if why[column] is not None:
            one = EstimationTargets(
                targets.sample, weights[:, [column]], targets.labels, targets.llm
            )
            judging[column] = anticipated_variance(one, estimate.residuals[:, column])[0]
            why[column] = None if not math.isnan(judging[column]) else why[column]
    return judging, why


def topic_variances(estimate: CorrectedEstimate) -> Floats:
    """Return float64 (n_targets), s² / T of the topics' values, whose mean is the estimate."""
    n_topics = len(estimate.by_topic)
    return (
        (estimate.by_topic * n_topics).var(axis=0, ddof=1) / n_topics
        if n_topics > 1
        else np.full(estimate.by_topic.shape[1], math.nan)
    )


class RemainingRelevant(NamedTuple):
    """Number of relevant pairs among those not yet assigned: estimate and upper bound of a
    one-sided 95% confidence interval."""

    estimate: float
    upper: float


def estimate_remaining_relevant(
    n_left: int, relevant: int, n: int, *, found_since: int = 0, confidence: float = 0.95
) -> RemainingRelevant:
    """Estimate the remaining relevant pairs from `n` audit pairs, sampled at random from `n_left`
    pairs, `relevant` of them relevant (Clopper and Pearson 1934, one-sided).

    found_since: relevant pairs found among the n_left since then, including audit pairs, which are
    not left any more.
    """
    if not n:
        return RemainingRelevant(math.nan, float(n_left))
    upper = (
        n_left * share_upper_bound(n, relevant, confidence=confidence)
        if n < n_left
        else float(relevant)
    )
    return RemainingRelevant(
        max(n_left * relevant / n - found_since, 0.0), max(upper - found_since, 0.0)
    )


def has_reached_recall(n_found: int, left: RemainingRelevant, *, recall: float) -> bool:
    """Return whether the share `recall` of the relevant pairs has been found, at the upper bound of
    those left: left recall <= n_found (1 - recall)."""
    return n_found > 0 and left.upper * recall <= n_found * (1 - recall) + 1e-9
