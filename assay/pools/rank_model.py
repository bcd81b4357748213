"""Estimate how likely each unjudged pair of a pool is relevant, from its ranks in the runs.

    features = make_pool_features(pool)               once per pool
    fit = fit_rank_model(features, labels)            None if only one class has been judged
    value = score_pairs(features, labels, fit)        float64 (n_pairs), log-odds of relevance

The model is a logistic regression over all topics: continuous active learning (Cormack and Grossman
2014) with ranks instead of text as features. Pairs and runs are sorted first, so that the order of
files and rows does not change any digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from assay.pools.depth import PooledPairs
from assay.pools.strata import VOTE_DEPTH

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RRF_CONSTANT = 60
PENALTY = 0.5
"""C of the logistic regression as in scikit-learn: weight of the log-likelihood relative to half
the squared coefficients."""
DECIMALS = 9
"""Decimals to which scores are rounded before they are compared, because the last bits of a matrix
product depend on the machine. Ties are broken by pair."""
MAX_STEPS = 50


@dataclass(frozen=True, eq=False)
class RankFeatures:
    """Features of a pool's pairs. rows: int64 (n_pairs), the pool's row of each pair, sorted by
    topic and document as bytes. topic: int64 (n_pairs), in the same order.

    fixed: float64 (n_pairs, n_runs + 4), standardised: 60/(60 + rank) in each run divided by √runs,
    their mean, ln of the best rank, share of runs with the pair in their top ten, share of runs
    with the pair. fused: float64 (n_pairs), Σ 1/(60 + rank).
    """

    rows: Ints
    topic: Ints
    n_topics: int
    fixed: Floats
    fused: Floats

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class RankModelFit:
    """A fitted model. coefficients: float64 (n_features), of the fixed features and of the topic's
    log-odds. mean, scale: mean and scale of the log-odds in the fit."""

    coefficients: Floats
    intercept: float
    mean: float
    scale: float


def make_pool_features(pool: PooledPairs) -> RankFeatures:
    rows = np.lexsort((pool.documents, pool.topic)).astype(np.int64)
    runs = sorted(range(len(pool.tags)), key=lambda k: pool.tags[k].encode("utf-8"))
    ranks = pool.ranks[np.ix_(rows, np.array(runs, np.int64))].astype(np.float64)
    is_ranked = ranks > 0
    closeness = np.where(is_ranked, RRF_CONSTANT / (RRF_CONSTANT + ranks), 0.0)
    n_runs = max(len(runs), 1)
    best = np.where(pool.best_rank[rows] > 0, pool.best_rank[rows], max(pool.depth, 1) + 1)
    shared = [
        closeness.sum(axis=1) / n_runs,
        np.log(best),
        (is_ranked & (ranks <= VOTE_DEPTH)).sum(axis=1) / n_runs,
        is_ranked.sum(axis=1) / n_runs,
    ]
    fixed = _standardise(np.column_stack([closeness, *shared]))
    fixed[:, : len(runs)] /= np.sqrt(n_runs)
    return RankFeatures(
        rows,
        pool.topic[rows].astype(np.int64),
        len(pool.topics),
        fixed,
        closeness.sum(axis=1) / RRF_CONSTANT,
    )


def _standardise(columns: Floats) -> Floats:
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def topic_log_odds(features: RankFeatures, labels: Floats) -> Floats:
    """Return float64 (n_topics), the smoothed log-odds of relevance of each topic: ln((rel + 2g +
    .02) / (nonrel + 2(1 - g) + .02)), where g is the rate over all topics.

    labels: float64 (n_pairs), in the order of `features.rows`: 1 relevant, 0 not relevant, NaN not
    judged.
    """
    relevant, judged = count_judged_by_topic(features, labels)
    rate = relevant.sum() / max(judged.sum(), 1.0)
    return np.log((relevant + 2 * rate + 0.02) / (judged - relevant + 2 * (1 - rate) + 0.02))


def count_judged_by_topic(features: RankFeatures, labels: Floats) -> tuple[Floats, Floats]:
    """Return the numbers of relevant and of judged pairs per topic, each float64 (n_topics)."""
    known = ~np.isnan(labels)
    relevant = np.bincount(
        features.topic[known], weights=labels[known], minlength=features.n_topics
    ).astype(np.float64, copy=False)
    return relevant, np.bincount(features.topic[known], minlength=features.n_topics).astype(
        np.float64
    )


def fit_rank_model(
    features: RankFeatures,
    labels: Floats,
    *,
    weights: Floats | None = None,
    start: RankModelFit | None = None,
) -> RankModelFit | None:
    """Fit the regression to the judged pairs' labels. Returns None unless both classes have been
    judged.

    weights: float64 (n_topics), how often each topic counts (for a bootstrap of topics). start: an
    earlier fit, from which the new one converges faster.
    """
    known = np.flatnonzero(~np.isnan(labels))
    importance = np.ones(len(known)) if weights is None else weights[features.topic[known]]
    counted = importance > 0
    known, importance = known[counted], importance[counted]
    classes = labels[known]
    if not len(known) or classes.min() == classes.max():
        return None
    odds = topic_log_odds(features, labels)[features.topic]
    mean, scale = float(odds.mean()), float(odds.std()) or 1.0
    columns = np.column_stack([features.fixed[known], (odds[known] - mean) / scale])
    first = None if start is None else np.append(start.coefficients, start.intercept)
    coefficients = fit_logistic(columns, classes, importance, start=first)
    return RankModelFit(coefficients[:-1], float(coefficients[-1]), mean, scale)


def fit_logistic(
    columns: Floats, classes: Floats, importance: Floats, *, start: Floats | None = None
) -> Floats:
    """Return the coefficients and, last, the intercept that minimise ½ Σ w² + C Σ log-loss, found
    by Newton's method. The intercept is not penalised.

    columns: float64 (n, n_features). classes: 0 or 1. importance: float64 (n), weight of each row.
    """
    n_features = columns.shape[1]
    with_one = np.column_stack([columns, np.ones(len(columns))])
    ridge = np.append(np.ones(n_features), 0.0)
    at = np.zeros(n_features + 1) if start is None else start.copy()

    def loss(point: Floats) -> float:
        value = with_one @ point
        return 0.5 * float(ridge @ point**2) + PENALTY * float(
            importance @ (np.logaddexp(0, value) - classes * value)
        )

    with threadpool_limits(1, user_api="blas"):
        # for small products several threads are slower than one
        current = loss(at)
        for _ in range(MAX_STEPS):
            chance = sigmoid(with_one @ at)
            gradient = ridge * at + PENALTY * (with_one.T @ (importance * (chance - classes)))
            if np.abs(gradient).max() < 1e-6:
                break
            curvature = (PENALTY * importance * chance * (1 - chance))[:, None] * with_one
            step = np.linalg.solve(with_one.T @ curvature + np.diag(ridge + 1e-10), gradient)
            size = 1.0
            while (further := loss(at - size * step)) > current and size > 1e-6:
                size /= 2
            at, before, current = at - size * step, current, further
            if before - current <= 1e-12 * abs(before):
                break
    return at


def sigmoid(value: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(value, -500, 500)))


def score_pairs(
    features: RankFeatures, labels: Floats, fit: RankModelFit | None, *, odds: Floats | None = None
) -> Floats:
    """Return float64 (n_pairs), the log-odds of relevance. Without a fit they are the scores of
    reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).

    odds: float64 (n_topics), used instead of the topics' own log-odds.
    """
    if fit is None:
        return features.fused
    own = (topic_log_odds(features, labels) if odds is None else odds)[features.topic]
    return (
        features.fixed @ fit.coefficients[:-1]
        + fit.coefficients[-1] * (own - fit.mean) / fit.scale
        + fit.intercept
    )
