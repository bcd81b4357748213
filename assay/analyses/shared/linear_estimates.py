"""Estimates that are sums over pairs (HT-P@k, HT-DCG@k): their interval for these very topics, and
with the help of a regression on ranks.

these_topics(sample, packed, measures, level)               {tag: {measure: {"value", "interval",
"these_topics", "undefined"}}}
with_rank_model(sample, packed, measures, level, seed)      the same
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from assay.measures.measures import Measure
from assay.measures.packing import PackedRun
from assay.sampling.correction import (
    CorrectedEstimate,
    EstimationTargets,
    compute_run_weights,
    correct_estimates,
    cross_fit_estimates,
    make_regression_features,
    summarise_run_ranks,
)
from assay.sampling.estimates import OUTSIDE_REASON, JudgedSample, clip_to_range

LINEAR_FAMILIES = ("HT-P", "HT-DCG")


def filter_linear(measures: Sequence[Measure]) -> list[Measure]:
    return [measure for measure in measures if measure.family in LINEAR_FAMILIES]


def fixed_topics_estimates(
    sample: JudgedSample, packed: Sequence[PackedRun], measures: Sequence[Measure], level: int
) -> dict[str, Any]:
    """From the variance of judging alone: what the whole pool judged would say of these topics lies
    in it. NaN where there is none."""
    by_run: dict[str, Any] = {one.tag: {} for one in packed}
    for measure, targets in iterate_targets(sample, packed, measures, level):
        for tag, row in _iterate_rows(packed, measure, correct_estimates(targets, 0.0)):
            by_run[tag][str(measure)] = row
    return by_run


def rank_model_estimates(
    sample: JudgedSample,
    packed: Sequence[PackedRun],
    measures: Sequence[Measure],
    level: int,
    seed: int,
) -> dict[str, Any]:
    """Cross-fitted regression of the label on ln best rank, votes, votes² and mean 60/(60 + rank)
    (SAMPLING 3.4). As certain as a larger sample."""
    by_run: dict[str, Any] = {one.tag: {} for one in packed}
    features = make_regression_features(summarise_run_ranks(packed, len(sample.grades)))
    for measure, targets in iterate_targets(sample, packed, measures, level):
        for tag, row in _iterate_rows(
            packed, measure, cross_fit_estimates(targets, features, np.random.default_rng(seed))
        ):
            by_run[tag][str(measure)] = row
    return by_run


def iterate_targets(
    sample: JudgedSample, packed: Sequence[PackedRun], measures: Sequence[Measure], level: int
) -> Iterator[tuple[Measure, EstimationTargets]]:
    """Of each measure that is a sum over pairs, a target a run."""
    for measure in filter_linear(measures):
        graded, lowest = measure.family == "HT-DCG", measure.level or level
        labels = np.where(
            sample.grades >= 0, sample.grades if graded else sample.grades >= lowest, np.nan
        ).astype(np.float64)
        weights = np.column_stack(
            [
                compute_run_weights(one, sample, cutoff=measure.cutoff or 10, discounted=graded)
                for one in packed
            ]
        )
        yield measure, EstimationTargets(sample, weights, labels, np.zeros(len(labels)))


def _iterate_rows(
    packed: Sequence[PackedRun], measure: Measure, estimate: CorrectedEstimate
) -> Iterator[tuple[str, dict[str, Any]]]:
    for k, one in enumerate(packed):
        yield one.tag, {"value": float(estimate.values[k])} | interval_values(measure, estimate, k)


def interval_values(
    measure: Measure, estimate: CorrectedEstimate, k: int, *, difference: bool = False
) -> dict[str, Any]:
    """interval (new topics) and these_topics of a target, within the range of the measure;
    undefined: why one of them is missing."""
    new = clip_to_range(
        measure, float(estimate.new_low[k]), float(estimate.new_high[k]), difference=difference
    )
    these = clip_to_range(
        measure, float(estimate.low[k]), float(estimate.high[k]), difference=difference
    )
    reason = estimate.why[k] or (
        OUTSIDE_REASON if math.isnan(new[0]) or math.isnan(these[0]) else None
    )
    return {"interval": list(new), "these_topics": list(these)} | (
        {"undefined": reason} if reason else {}
    )
