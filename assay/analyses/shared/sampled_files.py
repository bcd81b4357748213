"""Read sampled pools from files and estimate scores from them.

pool = read_sampled_pool(self, "pool.prel")                    # reads and warns
result = evaluate_sampled({"name": pool}, runs, measures, options, seed=0)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.measures import InMemoryInputs
from assay.analyses.shared.reading import SampledEvaluationOptions
from assay.cli.base import BadInput, FileCommand
from assay.column_types import RunColumns
from assay.formats.prel import SampledQrels, read_prel
from assay.measures.measures import FAMILIES, Measure, parse_measures
from assay.measures.packing import PackedRun, PairIndex, index_qrels, pack_run
from assay.number_words import format_count
from assay.results import Values
from assay.sampling.estimates import (
    COVERAGE_NOTES,
    OUTSIDE_REASON,
    JudgedSample,
    clip_to_range,
    estimate_topics,
    make_sample,
    no_interval_reason,
    topic_interval,
)

SAMPLED_MEASURES = "HT-nDCG@10 HT-P@10 xinfAP"


@dataclass(frozen=True, eq=False)
class SampledPool:
    prel: SampledQrels
    sample: JudgedSample
    index: PairIndex


def read_sampled_pool(command: FileCommand, path: str) -> SampledPool:
    """Read a sampled pool. Warns about strata without judged pairs, because they bias estimates
    downwards."""
    stored: InMemoryInputs | None = getattr(command, "stored", None)
    prel = stored.prels[path]() if stored is not None and path in stored.prels else read_prel(path)
    for warning in prel.warnings:
        command.warn(f"{path}: {warning}")
    sample = make_sample(prel)
    if not sample.n_judged.any():
        raise BadInput(f"{path}: no pair has a grade, so there is nothing to estimate from")
    if sample.ungraded_reason is not None:
        command.warn(f"{path}: {sample.ungraded_reason}; no confidence intervals are shown")
    if empty := sample.list_empty_strata():
        command.warn(
            f"{path}: no judged pair in {format_count(len(empty), 'stratum', plural='strata')} "
            f"({', '.join(empty[:5])}{' ...' if len(empty) > 5 else ''}); their documents "
            "count as not relevant"
        )
    return SampledPool(prel, sample, index_qrels(prel.qrels))


def refuse_topic_choice(options: Mapping[str, Any]) -> None:
    """Raise BadInput for `only_with_relevant`. A topic without relevant pairs in the sample may
    have some outside it, so topics would be left out at random."""
    if options["only_with_relevant"]:
        raise BadInput(
            "--only-with-relevant is not available for a sampled pool, where topics without "
            "relevant documents are unknown; every topic counts"
        )


def refuse_unsampled(measures: Sequence[Measure]) -> None:
    """Raise BadInput for measures that are not estimates. On a sampled pool they would count pairs
    outside the sample as not relevant."""
    instead = {"P": "HT-P", "nDCG": "HT-nDCG", "AP": "xinfAP"}
    for measure in measures:
        if not FAMILIES[measure.family].sampled:
            hint = f"; {instead[measure.family]} estimates it" if measure.family in instead else ""
            raise BadInput(
                f"{measure} on a sampled pool would treat unsampled pairs as not relevant{hint} "
                f"(estimates: {', '.join(name for name, family in FAMILIES.items() if family.sampled)})"
            )


def measures_or_default(measures: Sequence[Measure], default: str) -> list[Measure]:
    """Return the measures, or the defaults for sampled pools if the user named none."""
    chosen = (
        parse_measures(SAMPLED_MEASURES)
        if list(measures) == parse_measures(default)
        else list(measures)
    )
    refuse_unsampled(chosen)
    return chosen


def evaluate_sampled(
    pools: Mapping[str, SampledPool],
    runs: Iterable[RunColumns],
    measures: Sequence[Measure],
    options: SampledEvaluationOptions,
    *,
    seed: int,
) -> Values:
    """Estimate every measure of every run from every pool (docs/reference/commands.md).

    seed: for the folds of the rank model. Raises BadInput for options that a sampled pool does not
    allow."""
    keys = ("qrels", "interval", "interval_reason", "per_topic", "topics", "pool")
    optional = ("these_topics", "these_topics_reason", "rank_model", "undefined", "caution")
    result: Values = {key: {} for key in (*keys, *optional)}
    refuse_topic_choice(vars(options))
    packed_by_pool: dict[str, list[PackedRun]] = {name: [] for name in pools}
    for run in runs:
        for name, pool in pools.items():
            packed_by_pool[name].append(pack_run(run, pool.index))
    for name, pool in pools.items():
        reasons = {str(measure): no_interval_reason(pool.sample, measure) for measure in measures}
        means: dict[str, dict[str, float]] = {}
        intervals: dict[str, dict[str, list[float]]] = {}
        why_none: dict[str, dict[str, str]] = {}
        topics: dict[str, dict[str, dict[str, float]]] = {}
        missing: dict[str, int] = {}
        for packed in packed_by_pool[name]:
            values = estimate_topics(
                packed, pool.sample, measures, min_relevant=options.min_relevant
            )
            if options.missing_topics == "skip":
                values[~packed.has_topic] = math.nan
            kept = ~np.isnan(values).any(axis=1)
            missing[packed.tag] = int((~packed.has_topic).sum())
            columns = list(zip(map(str, measures), values[kept].T, strict=True))
            means[packed.tag] = {
                key: float(column.mean()) if len(column) else math.nan for key, column in columns
            }
            intervals[packed.tag], why_none[packed.tag] = _compute_intervals(
                measures, values[kept], reasons
            )
            topics[packed.tag] = {
                str(measure): {
                    t: float(v)
                    for t, v in zip(pool.sample.topics, values[:, k].tolist(), strict=True)
                    if not math.isnan(v)
                }
                for k, measure in enumerate(measures)
            }
        result["qrels"][name], result["per_topic"][name] = means, topics
        result["interval"][name], result["interval_reason"][name] = intervals, why_none
        _add_linear_estimates(result, name, pool, packed_by_pool[name], measures, options, seed)
        result["topics"][name] = {
            "qrels": len(pool.sample.topics),
            "missing": missing,
            "without_relevant": int((pool.sample.n_relevant(options.min_relevant) == 0).sum()),
        }
        n_judged = int(pool.sample.n_judged.sum())
        result["pool"][name] = {
            "pairs": len(pool.sample.grades),
            "judged": n_judged,
            "drawn": pool.sample.drawn,
            "strata": len(pool.sample.sizes),
        }
        result["undefined"][name] = {
            key: reason for key, reason in reasons.items() if reason is not None
        }
        result["caution"][name] = {
            str(m): words
            for m in measures
            if reasons[str(m)] is None and (words := COVERAGE_NOTES.get(m.family)) is not None
        }
    for key in optional:
        if not any(result[key].values()):
            del result[key]
    return result


def _compute_intervals(
    measures: Sequence[Measure], values: np.ndarray, reasons: Mapping[str, str | None]
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return by measure, for one run, (the confidence interval for new topics, limited to the
    measure's range; the reason for each missing one). values: float64 (n_topics, n_measures)."""
    intervals, why_none = {}, {}
    for measure, column in zip(measures, values.T, strict=True):
        name = str(measure)
        reason = reasons[name] or (
            f"{format_count(len(column), 'topic counts', plural='topics count')}; a confidence interval needs two"
            if len(column) < 2
            else None
        )
        low, high = (
            (math.nan, math.nan) if reason else clip_to_range(measure, *topic_interval(column))
        )
        intervals[name] = [low, high]
        if reason or math.isnan(low):
            why_none[name] = reason or OUTSIDE_REASON
    return intervals, why_none


def _add_linear_estimates(
    result: Values,
    name: str,
    pool: SampledPool,
    packed: Sequence[PackedRun],
    measures: Sequence[Measure],
    options: SampledEvaluationOptions,
    seed: int,
) -> None:
    """Add the estimates of measures that are sums over pairs over all topics of the pool."""
    # imported here because only these estimates need scipy
    from assay.analyses.shared.linear_estimates import (
        filter_linear,
        fixed_topics_estimates,
        rank_model_estimates,
    )

    if options.missing_topics != "zero" or not filter_linear(measures):
        if options.rank_model:
            raise BadInput(
                "--rank-model needs HT-P@k or HT-DCG@k over all topics of the pool; add one to --measures"
            )
        return
    rows = fixed_topics_estimates(pool.sample, packed, measures, options.min_relevant)
    result["these_topics"][name] = {
        tag: {m: row["these_topics"] for m, row in of_run.items()} for tag, of_run in rows.items()
    }
    result["these_topics_reason"][name] = {
        tag: {m: row["undefined"] for m, row in of_run.items() if "undefined" in row}
        for tag, of_run in rows.items()
    }
    if options.rank_model:
        result["rank_model"][name] = rank_model_estimates(
            pool.sample, packed, measures, options.min_relevant, seed
        )
        result["seed"] = seed
