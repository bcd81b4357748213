"""People's judgements of a sampled pool, corrected by a machine's labels of the whole pool
(SAMPLING 5.2).

A target is linear in the labels: θ = Σ a_i y_i over the pooled pairs, with a_i of a run and a
measure (`compute_run_weights`).

    θ̂_λ = λ Σ a_i f_i + Σ_{judged} a_i (y_i - λ f_i) / π_i         f: the machine's label of every
    pair

lambda = 0 is people alone; PPI++ (Angelopoulos, Duchi and Zrnic 2023) chooses the λ of the smallest
variance; it is the difference estimator of survey sampling (Särndal, Swensson and Wretman 1992).
The cross-fitted form (Zrnic and Candès 2024) learns the relation of people's label and machine's,
rank and votes from four fifths of the sample and applies it to the rest. Unbiased whatever the
machine does; valid only if its labels were frozen before the draw and people did not see them."""

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
"""Judged relevant pairs that a target needs: with fewer the variance is estimated as nothing, or
nearly."""


@dataclass(frozen=True, eq=False)
class CorrectedEstimate:
    """Of one target each: values, variances, lambdas float64 (n_targets); low, high of the 95 %
    interval for this pool and these topics, new_low, new_high for new topics; NaN where `why` has a
    reason. by_topic: float64 (n_topics, n_targets), whose sums are the values. residuals: float64
    (n_judged, n_targets), people's label less what was predicted."""

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
    """weights: float64 (n_rows, n_targets), the a_i. labels: float64 (n_rows), what people said,
    NaN where nothing is judged. machine: float64 (n_rows)."""

    sample: JudgedSample
    weights: Floats
    labels: Floats
    machine: Floats

    @cached_property
    def judged(self) -> Ints:
        return np.flatnonzero(~np.isnan(self.labels))

    @cached_property
    def expanded(self) -> Floats:
        """float64 (n_judged): 1 / π."""
        return self.sample.weight[self.judged]


def compute_run_weights(
    packed: PackedRun, sample: JudgedSample, *, cutoff: int, discounted: bool
) -> Floats:
    """float64 (n_rows): a_i of the mean over topics of P@k (1 / kT), or of DCG@k (1 / (T log2(rank
    + 1)))."""
    weights = np.zeros(len(sample.grades))
    near = packed.rank <= cutoff
    gain = 1 / np.log2(packed.rank[near] + 1) if discounted else 1 / cutoff
    weights[packed.row[near]] = gain / len(sample.topics)
    return weights


def stratified_variance(targets: EstimationTargets, residuals: Floats) -> Floats:
    """float64 (n_targets): Σ_h N_h² (1 - n_h/N_h) s²_h / n_h of z = a (residual). residuals:
    float64 (n_judged) or (n_judged, n_targets).

    NaN where a stratum that is not wholly judged has fewer than two judged pairs.
    """
    sample, rows = targets.sample, targets.judged
    z = targets.weights[rows] * (residuals if residuals.ndim == 2 else residuals[:, None])
    factor = _stratum_factors(sample)
    return (factor[:, None] * _cross_products(sample, rows, z, z)).sum(axis=0)


def _stratum_factors(sample: JudgedSample) -> Floats:
    """float64 (n_strata): N_h² (1 - f_h) / (n_h (n_h - 1)), by which a sum of squared deviations
    becomes a variance."""
    n, size = sample.n_judged.astype(np.float64), sample.sizes.astype(np.float64)
    missing = size - n
    factor = np.zeros(len(size))
    has_two = n >= 2
    factor[has_two] = size[has_two] * missing[has_two] / (n[has_two] * (n[has_two] - 1))
    factor[(missing > 0) & ~has_two] = math.nan
    return factor


def _cross_products(sample: JudgedSample, rows: Ints, x: Floats, y: Floats) -> Floats:
    """float64 (n_strata, n_targets): Σ (x - mean)(y - mean) over the judged pairs of each
    stratum."""
    n_strata, code = len(sample.sizes), sample.stratum[rows]
    member = np.zeros((n_strata, len(rows)))
    member[code, np.arange(len(rows))] = 1
    count = np.maximum(sample.n_judged, 1)[:, None]
    return member @ (x * y) - (member @ x) * (member @ y) / count


def tune_lambda(targets: EstimationTargets) -> Floats:
    """float64 (n_targets): the λ of the smallest variance, cut to [0, 1]; 0 where the machine's
    label does not vary."""
    rows, sample = targets.judged, targets.sample
    factor = np.nan_to_num(_stratum_factors(sample))[:, None]
    y = targets.weights[rows] * targets.labels[rows, None]
    f = targets.weights[rows] * targets.machine[rows, None]
    together, alone = (
        (factor * _cross_products(sample, rows, y, f)).sum(axis=0),
        (factor * _cross_products(sample, rows, f, f)).sum(axis=0),
    )
    return np.clip(ratio_or_zero(together, alone), 0, 1)


def correct_estimates(targets: EstimationTargets, lambdas: Floats | float) -> CorrectedEstimate:
    """θ̂_λ of each target. lambdas: 0 is people alone, 1 PPI, `tune_lambda(targets)` PPI++."""
    lambdas = np.broadcast_to(np.asarray(lambdas, np.float64), (targets.weights.shape[1],))
    predicted = targets.machine[:, None] * lambdas
    return _make_estimate(targets, predicted, predicted[targets.judged], lambdas)


def cross_fit_estimates(
    targets: EstimationTargets, features: Floats, rng: np.random.Generator
) -> CorrectedEstimate:
    """Each fold's labels predicted by a ridge regression on the other four. features: float64
    (n_rows, n_features), made from ranks and the machine's labels only."""
    from sklearn.linear_model import (
        Ridge,
    )  # seconds to import, and nothing else of this module needs it

    rows, labels = targets.judged, targets.labels[targets.judged]
    if len(rows) == len(targets.labels):
        return correct_estimates(targets, 0.0)  # nothing is left to predict
    n_folds = min(N_FOLDS, len(rows))
    fold = rng.permutation(np.arange(len(rows)) % max(n_folds, 1))
    centred = (features - features.mean(axis=0)) / np.where(
        features.std(axis=0) > 0, features.std(axis=0), 1
    )
    everywhere, own = np.zeros(len(features)), np.zeros(len(rows))
    weight = targets.expanded / targets.expanded.mean() if len(rows) else targets.expanded
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
    """predicted: float64 (n_rows, n_targets) of all pairs; own: float64 (n_judged, n_targets), of
    the judged ones what is subtracted."""
    sample, rows = targets.sample, targets.judged
    residuals = targets.labels[rows, None] - own
    spread = targets.weights[rows] * residuals * targets.expanded[:, None]
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
    """float64 (n_targets): Σ_h (N_h/n_h - 1) s²_h Σ_{i in h} a_i², s²_h the mean square of the
    stratum's residuals (ours).

    For a target of few pairs, of which hardly one is judged: its own spread cannot be told, that of
    all pairs of the stratum can. residuals: float64 (n_judged). NaN where a stratum that is not
    wholly judged has fewer than two judged pairs."""
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
        return None  # all are judged: nothing is estimated
    if (reason := targets.sample.why_ungraded) is not None:
        return reason
    if len(rows) < MIN_JUDGED:
        return f"{len(rows)} judged pairs, but an interval needs {MIN_JUDGED}"
    if math.isnan(variance):
        return "a stratum has fewer than two judged pairs, so that its spread is not known"
    relevant = count_relevant(targets, column)
    if relevant < MIN_RELEVANT or variance <= 0:
        return (
            f"{relevant} judged relevant pairs among those that count, too few to tell the spread"
        )
    if (stratum := _find_unseen_stratum(targets, column, 1.96 * math.sqrt(variance))) is not None:
        return (
            f"no relevant pair is judged of stratum {stratum}, where a single one would move the "
            f"estimate out of its interval"
        )
    return None


def _find_unseen_stratum(targets: EstimationTargets, column: int, half: float) -> str | None:
    """The heaviest stratum without a judged relevant pair that counts, if one such pair would move
    the estimate by more than `half`; else None.

    Its pairs bring nothing to the variance, whatever their number: with a stratum of weight 18
    intervals covered .62 (ours)."""
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
    """How the runs rank each pair. best: int64 (n_rows), 0 where no run has it. votes: float64,
    share of runs with it in their first ten. closeness:
    float64, mean of 60/(60 + rank), 0 where a run lacks it."""

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


def make_regression_features(standing: RunRankSummary, machine: Ints | None = None) -> Floats:
    """float64 (n_rows, n): ln best rank, votes, votes², and mean closeness (SAMPLING 3.4); with a
    machine, a column for each of its grades but the lowest in place of the closeness (5.2). A pair
    that no run has counts as just below the deepest."""
    best, votes, closeness = standing
    deep = np.where(best > 0, best, best.max(initial=0) + 1)
    columns = [np.log(deep), votes, votes**2]
    if machine is None:
        columns.append(closeness)
    else:
        columns += [
            (machine == grade).astype(np.float64) for grade in np.unique(machine)[1:].tolist()
        ]
    return np.column_stack(columns)
