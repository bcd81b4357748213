"""Estimates of measures that are sums over pairs (HT-P@k, HT-DCG@k): confidence intervals for the
same topics, and estimates with a regression on ranks.

    fixed_topics_estimates(sample, packed, measures, min_relevant) -> {tag: {measure: values}}
    rank_model_estimates(sample, packed, measures, min_relevant, seed) -> the same

values: {"value", "interval", "these_topics"}, and "undefined" with the reason for missing ones.
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
    sample: JudgedSample,
    packed: Sequence[PackedRun],
    measures: Sequence[Measure],
    min_relevant: int,
) -> dict[str, Any]:
    """Estimate the scores that the same topics would have if the whole pool were judged. The
    intervals reflect the variance of sampling alone. Undefined values are NaN."""
    by_run: dict[str, Any] = {one.tag: {} for one in packed}
    for measure, targets in iterate_targets(sample, packed, measures, min_relevant):
        for tag, row in _iterate_rows(packed, measure, correct_estimates(targets, 0.0)):
            by_run[tag][str(measure)] = row
    return by_run


def rank_model_estimates(
    sample: JudgedSample,
    packed: Sequence[PackedRun],
    measures: Sequence[Measure],
    min_relevant: int,
    seed: int,
) -> dict[str, Any]:
    """Estimate with a cross-fitted regression of the label on ln best rank, votes, votes² and mean
    60 / (60 + rank), which has the effect of a larger sample (docs/reference/methods/sampling.md).
    """
    by_run: dict[str, Any] = {one.tag: {} for one in packed}
    features = make_regression_features(summarise_run_ranks(packed, len(sample.grades)))
    for measure, targets in iterate_targets(sample, packed, measures, min_relevant):
        for tag, row in _iterate_rows(
            packed, measure, cross_fit_estimates(targets, features, np.random.default_rng(seed))
        ):
            by_run[tag][str(measure)] = row
    return by_run


def iterate_targets(
    sample: JudgedSample,
    packed: Sequence[PackedRun],
    measures: Sequence[Measure],
    min_relevant: int,
) -> Iterator[tuple[Measure, EstimationTargets]]:
    """Yield each measure that is a sum over pairs, with one estimation target per run."""
    for measure in filter_linear(measures):
        graded, lowest = measure.family == "HT-DCG", measure.min_relevant or min_relevant
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
    """Yield (tag, values of an estimated measure) for each run."""
    for k, one in enumerate(packed):
        yield one.tag, {"value": float(estimate.values[k])} | interval_values(measure, estimate, k)


def interval_values(
    measure: Measure, estimate: CorrectedEstimate, k: int, *, difference: bool = False
) -> dict[str, Any]:
    """Return `interval` (for new topics) and `these_topics` of a target, clipped to the range of
    the measure, and in `undefined` why one of them is missing."""
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
