"""Estimates from human judgements of a sampled pool, corrected with an LLM judge's labels of the
whole pool (prediction-powered inference).

A target is linear in the labels: θ = Σ a_i y_i over the pooled pairs, with a_i from a run and a
measure (`compute_run_weights`).

    θ̂_λ = λ Σ a_i f_i + Σ_{judged} a_i (y_i - λ f_i) / π_i      f: the LLM judge's label of each pair

λ = 0 uses human judgements alone. PPI++ (Angelopoulos, Duchi and Zrnic 2023) chooses the λ of the
smallest variance. The estimator is the difference estimator of survey sampling (Särndal, Swensson
and Wretman 1992). The cross-fitted form (Zrnic and Candès 2024) learns to predict the human label
from the LLM judge's label, rank and votes on four fifths of the sample, and predicts the labels of
the rest. The estimates are unbiased whatever the LLM judge's quality, but only if its labels were
fixed before the sample was drawn and annotators did not see them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.measures.evaluation import ratio_or_zero, sum_by_topic
from assay.measures.packing import PackedRun
from assay.pools.rank_model import RRF_CONSTANT
from assay.pools.strata import VOTE_DEPTH
from assay.sampling.estimates import JudgedSample, topic_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_FOLDS = 5
RIDGE_PENALTY = 0.1
MIN_JUDGED = 100
MIN_RELEVANT = 5
"""Minimum judged relevant pairs per target. With fewer, the estimated variance is close to 0."""


@dataclass(frozen=True, eq=False)
class CorrectedEstimate:
    """Estimates of several targets. values, variances, lambdas: float64 (n_targets). low, high:
    bounds of the 95% CI for this pool and these topics. new_low, new_high: for new topics. Bounds
    are NaN if `why` has a reason. by_topic: float64 (n_topics, n_targets), which sum to the values.
    residuals: float64 (n_judged, n_targets), human label minus predicted label."""

    values: Floats
    variances: Floats
    lambdas: Floats
    low: Floats
    high: Floats
    new_low: Floats
    new_high: Floats
    why: list[str | None]
    by_topic: Floats
    residuals: Floats


@dataclass(frozen=True, eq=False)
class EstimationTargets:
    """Quantities to estimate from a sampled pool, each a weighted sum of labels, and the labels of
    its pairs. weights: float64 (n_rows, n_targets), the a_i. labels: float64 (n_rows), human
    labels, NaN if not judged. llm: float64 (n_rows), the LLM judge's labels."""

    sample: JudgedSample
    weights: Floats
    labels: Floats
    llm: Floats

    @cached_property
    def judged(self) -> Ints:
        return np.flatnonzero(~np.isnan(self.labels))

    @cached_property
    def inverse_probabilities(self) -> Floats:
        """Return float64 (n_judged), the weights 1 / π."""
        return self.sample.weight[self.judged]


def compute_run_weights(
    packed: PackedRun, sample: JudgedSample, *, cutoff: int, discounted: bool
) -> Floats:
    """Return float64 (n_rows), the weights a_i that make a target a mean over topics: 1 / kT for
    P@k, or 1 / (T log2(rank + 1)) for DCG@k."""
    weights = np.zeros(len(sample.grades))
    near = packed.rank <= cutoff
    gain = 1 / np.log2(packed.rank[near] + 1) if discounted else 1 / cutoff
    weights[packed.row[near]] = gain / len(sample.topics)
    return weights


def stratified_variance(targets: EstimationTargets, residuals: Floats) -> Floats:
    """Return float64 (n_targets), the variance Σ_h N_h² (1 - n_h/N_h) s²_h / n_h of z = a
    (residual). residuals: float64 (n_judged) or (n_judged, n_targets).

    NaN if a stratum that is not completely judged has fewer than two judged pairs.
    """
    sample, rows = targets.sample, targets.judged
    z = targets.weights[rows] * (residuals if residuals.ndim == 2 else residuals[:, None])
    factor = _stratum_factors(sample)
    return (factor[:, None] * _cross_products(sample, rows, z, z)).sum(axis=0)


def _stratum_factors(sample: JudgedSample) -> Floats:
    """Return float64 (n_strata), N_h² (1 - f_h) / (n_h (n_h - 1)), the factor from a sum of squared
    deviations to a variance."""
    n, size = sample.n_judged.astype(np.float64), sample.sizes.astype(np.float64)
    missing = size - n
    factor = np.zeros(len(size))
    has_two = n >= 2
    factor[has_two] = size[has_two] * missing[has_two] / (n[has_two] * (n[has_two] - 1))
    factor[(missing > 0) & ~has_two] = math.nan
    return factor


def _cross_products(sample: JudgedSample, rows: Ints, x: Floats, y: Floats) -> Floats:
    """Return float64 (n_strata, n_targets), Σ (x - mean)(y - mean) over the judged pairs of each
    stratum."""
    n_strata, code = len(sample.sizes), sample.stratum[rows]
    member = np.zeros((n_strata, len(rows)))
    member[code, np.arange(len(rows))] = 1
    count = np.maximum(sample.n_judged, 1)[:, None]
    return member @ (x * y) - (member @ x) * (member @ y) / count


def tune_lambda(targets: EstimationTargets) -> Floats:
    """Return float64 (n_targets), the λ of the smallest variance, limited to [0, 1], or 0 if the
    LLM judge's label does not vary."""
    rows, sample = targets.judged, targets.sample
    factor = np.nan_to_num(_stratum_factors(sample))[:, None]
    y = targets.weights[rows] * targets.labels[rows, None]
    f = targets.weights[rows] * targets.llm[rows, None]
    together, alone = (
        (factor * _cross_products(sample, rows, y, f)).sum(axis=0),
        (factor * _cross_products(sample, rows, f, f)).sum(axis=0),
    )
    return np.clip(ratio_or_zero(together, alone), 0, 1)


def correct_estimates(targets: EstimationTargets, lambdas: Floats | float) -> CorrectedEstimate:
    """Return θ̂_λ of each target. lambdas: 0 for human judgements alone, 1 for PPI,
    `tune_lambda(targets)` for PPI++."""
    lambdas = np.broadcast_to(np.asarray(lambdas, np.float64), (targets.weights.shape[1],))
    predicted = targets.llm[:, None] * lambdas
    return _make_estimate(targets, predicted, predicted[targets.judged], lambdas)


def cross_fit_estimates(
    targets: EstimationTargets, features: Floats, rng: np.random.Generator
) -> CorrectedEstimate:
    """Return estimates with each fold's labels predicted by a ridge regression on the other four.
    features: float64 (n_rows, n_features), made from ranks and the LLM judge's labels only."""
    from sklearn.linear_model import (
        Ridge,
    )  # slow to import and used only here

    rows, labels = targets.judged, targets.labels[targets.judged]
    if len(rows) == len(targets.labels):
        return correct_estimates(targets, 0.0)  # nothing is left to predict
    n_folds = min(N_FOLDS, len(rows))
    fold = rng.permutation(np.arange(len(rows)) % max(n_folds, 1))
    centred = (features - features.mean(axis=0)) / np.where(
        features.std(axis=0) > 0, features.std(axis=0), 1
    )
    everywhere, own = np.zeros(len(features)), np.zeros(len(rows))
    weight = (
        targets.inverse_probabilities / targets.inverse_probabilities.mean()
        if len(rows)
        else targets.inverse_probabilities
    )
    for k in range(n_folds):
        learned, held = fold != k, fold == k
        if not learned.any():
            continue
        model = Ridge(alpha=RIDGE_PENALTY).fit(
            centred[rows[learned]], labels[learned], sample_weight=weight[learned]
        )
        predicted = model.predict(centred)
        everywhere += held.mean() * predicted
        own[held] = predicted[rows[held]]
    n_targets = targets.weights.shape[1]
    return _make_estimate(
        targets,
        np.broadcast_to(everywhere[:, None], (len(everywhere), n_targets)),
        np.broadcast_to(own[:, None], (len(own), n_targets)),
        np.full(n_targets, math.nan),
    )


def _make_estimate(
    targets: EstimationTargets, predicted: Floats, own: Floats, lambdas: Floats
) -> CorrectedEstimate:
    """Return the difference estimates that result from predicted labels. predicted: float64
    (n_rows, n_targets), for all pairs. own: float64 (n_judged, n_targets), the prediction that is
    subtracted for each judged pair."""
    sample, rows = targets.sample, targets.judged
    residuals = targets.labels[rows, None] - own
    spread = targets.weights[rows] * residuals * targets.inverse_probabilities[:, None]
    n_topics = len(sample.topics)
    by_topic = np.zeros((n_topics, targets.weights.shape[1]))
    np.add.at(by_topic, sample.topic, targets.weights * predicted)
    np.add.at(by_topic, sample.topic[rows], spread)
    values, variances = by_topic.sum(axis=0), stratified_variance(targets, residuals)
    why = [_no_estimate_reason(targets, column, variances[column]) for column in range(len(values))]
    shown = np.array([reason is None for reason in why], bool)
    half = scipy.special.ndtri(0.975) * np.sqrt(np.where(shown, variances, math.nan))
    new = np.array(
        [topic_interval(by_topic[:, column] * n_topics) for column in range(len(values))]
    ).reshape(-1, 2)
    new[~shown] = math.nan
    return CorrectedEstimate(
        values,
        variances,
        np.asarray(lambdas),
        values - half,
        values + half,
        new[:, 0],
        new[:, 1],
        why,
        by_topic,
        residuals,
    )


def anticipated_variance(targets: EstimationTargets, residuals: Floats) -> Floats:
    """Return float64 (n_targets), Σ_h (N_h/n_h - 1) s²_h Σ_{i in h} a_i², where s²_h is the mean
    square of the stratum's residuals.

    Used for a target of few pairs, of which hardly any is judged: its own spread cannot be
    estimated, but that of all pairs of the stratum can. residuals: float64 (n_judged). NaN if a
    stratum that is not completely judged has fewer than two judged pairs.
    """
    sample, rows = targets.sample, targets.judged
    squares = sum_by_topic(sample.stratum[rows], residuals**2, len(sample.sizes))
    missing = sample.sizes > sample.n_judged
    factor = np.where(
        missing,
        ratio_or_zero(sample.sizes - sample.n_judged, sample.n_judged)
        * ratio_or_zero(squares, sample.n_judged),
        0.0,
    )
    factor[missing & (sample.n_judged < 2)] = math.nan
    weights = np.zeros((len(sample.sizes), targets.weights.shape[1]))
    np.add.at(weights, sample.stratum, targets.weights**2)
    return (factor[:, None] * weights).sum(axis=0)


def _no_estimate_reason(targets: EstimationTargets, column: int, variance: float) -> str | None:
    rows = targets.judged
    if len(rows) == len(targets.labels):
        return None  # all are judged, so nothing is estimated
    if (reason := targets.sample.ungraded_reason) is not None:
        return reason
    if len(rows) < MIN_JUDGED:
        return f"{len(rows)} judged pairs; a confidence interval needs {MIN_JUDGED}"
    if math.isnan(variance):
        return "a stratum has fewer than two judged pairs, so its variance is unknown"
    relevant = count_relevant(targets, column)
    if relevant < MIN_RELEVANT or variance <= 0:
        return f"{relevant} judged relevant pairs among those that count, too few to estimate the variance"
    if (stratum := _find_unseen_stratum(targets, column, 1.96 * math.sqrt(variance))) is not None:
        return (
            f"stratum {stratum} has no judged relevant pair, and a single one would move the "
            "estimate out of its confidence interval"
        )
    return None


def _find_unseen_stratum(targets: EstimationTargets, column: int, half: float) -> str | None:
    """Return the stratum with the largest weight without a judged relevant pair of the target, if a
    single such pair would change the estimate by more than `half`, or None.

    The pairs of such a stratum add nothing to the estimated variance. With a stratum of weight 18,
    intervals covered 62%.
    """
    sample, weights = targets.sample, np.abs(targets.weights[:, column])
    rows = targets.judged[targets.labels[targets.judged] > 0]
    largest = np.zeros(len(sample.sizes))
    counting = np.flatnonzero(weights)
    np.maximum.at(largest, sample.stratum[counting], weights[counting])
    moved = np.where(
        sample.sizes > sample.n_judged, largest * ratio_or_zero(sample.sizes, sample.n_judged), 0.0
    )
    moved[sample.stratum[rows[weights[rows] > 0]]] = 0.0
    heaviest = int(np.argmax(moved))
    return sample.names[heaviest] if moved[heaviest] > half else None


def count_relevant(targets: EstimationTargets, column: int) -> int:
    rows = targets.judged
    return int(((targets.weights[rows, column] != 0) & (targets.labels[rows] > 0)).sum())


class RunRankSummary(NamedTuple):
    """Ranks of each pair in the runs. best: int64 (n_rows), 0 if no run has the pair. votes:
    float64, share of runs with the pair in their top ten. closeness: float64, mean of 60/(60 +
    rank), counting 0 for runs without the pair."""

    best: Ints
    votes: Floats
    closeness: Floats


def summarise_run_ranks(runs: Sequence[PackedRun], n_rows: int) -> RunRankSummary:
    best, votes, closeness = (
        np.full(n_rows, np.iinfo(np.int64).max),
        np.zeros(n_rows),
        np.zeros(n_rows),
    )
    for packed in runs:
        np.minimum.at(best, packed.row, packed.rank)
        votes[packed.row[packed.rank <= VOTE_DEPTH]] += 1
        closeness[packed.row] += RRF_CONSTANT / (RRF_CONSTANT + packed.rank)
    n = max(len(runs), 1)
    return RunRankSummary(
        np.where(best == np.iinfo(np.int64).max, 0, best), votes / n, closeness / n
    )


def make_regression_features(ranking: RunRankSummary, llm: Ints | None = None) -> Floats:
    """Return float64 (n_rows, n), features for the regression: ln of the best rank, votes, votes²,
    and mean closeness. With an LLM judge, one column for each of its grades except the lowest
    replaces the closeness. A pair that no run has counts as just below the deepest rank."""
    best, votes, closeness = ranking
    deep = np.where(best > 0, best, best.max(initial=0) + 1)
    columns = [np.log(deep), votes, votes**2]
    if llm is None:
        columns.append(closeness)
    else:
        columns += [(llm == grade).astype(np.float64) for grade in np.unique(llm)[1:].tolist()]
    return np.column_stack(columns)
