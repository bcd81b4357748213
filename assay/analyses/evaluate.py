"""Score runs under one or several qrels, or estimate their scores from a sampled pool."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.evaluate_tables import NO_TOPIC_REASON, result_charts, result_tables
from assay.analyses.shared.measures import (
    DEFAULT_MEASURES,
    evaluate_runs,
    iterate_runs,
    parse_measures_or_estimates,
    read_named_qrels,
)
from assay.analyses.shared.only_topics import add_topics_option, filter_qrels, read_topic_filter
from assay.analyses.shared.reading import (
    EvaluationOptions,
    SampledEvaluationOptions,
    measures_option,
)
from assay.analyses.shared.sampled_files import (
    SAMPLED_MEASURES,
    SampledPool,
    evaluate_sampled,
    measures_or_default,
    read_sampled_pool,
)
from assay.cli.base import BadInput, Warn, parse_named_file, parse_seed
from assay.column_types import QrelsColumns, RunColumns
from assay.measures.evaluation import Evaluation
from assay.measures.measures import Measure, UnknownMeasure, refuse_estimates
from assay.options import add_options, option
from assay.results import Values


@dataclass(frozen=True)
class Options(SampledEvaluationOptions):
    measures: list[Measure] = measures_option(DEFAULT_MEASURES, read=parse_measures_or_estimates)
    per_topic: bool = option(False, "Scores per topic", help="include the score of every topic")
    intervals: bool = option(
        False,
        "Confidence intervals",
        help="include the 95% confidence interval of each mean (always with --sampled)",
    )


def compute(
    qrels: Mapping[str, QrelsColumns],
    runs: Iterable[RunColumns],
    options: Options,
    *,
    warn: Warn,
    part: bool = False,
) -> Values:
    """Score every run under every qrels.

    qrels: by name. runs: read one at a time. part: the qrels are limited to a group of topics.
    Returns the means over the topics that count, on the scale of each measure. A mean is NaN, with
    a reason in `undefined`, if no topic counts. Raises BadInput for measures that need a sampled
    pool, or if no run has a topic of the qrels.
    """
    try:
        refuse_estimates(options.measures)
    except UnknownMeasure as error:
        raise BadInput(str(error)) from None
    under = evaluate_runs(runs, qrels, options.measures, options, warn=warn, part=part)
    result: Values = {
        "qrels": {
            name: {e.tag: list_means(e) for e in of_qrels} for name, of_qrels in under.items()
        }
    }
    if options.per_topic:
        result["per_topic"] = {
            name: {e.tag: topic_values(e) for e in of_qrels} for name, of_qrels in under.items()
        }
    if options.intervals:
        result |= list_intervals(under)
    result["topics"] = {name: count_topics(of_qrels) for name, of_qrels in under.items()}
    result["settings"] = describe_settings(options)
    undefined = {
        name: {e.tag: NO_TOPIC_REASON for e in of_qrels if not e.n_averaged}
        for name, of_qrels in under.items()
    }
    if any(undefined.values()):
        result["undefined"] = undefined
    return result


def compute_sampled(
    pools: Mapping[str, SampledPool],
    runs: Iterable[RunColumns],
    options: Options,
    *,
    seed: int = 0,
) -> Values:
    """Estimate the scores of every run from every sampled pool, with 95% confidence intervals.

    pools: by name. seed: for the folds of the rank model. Raises BadInput for measures that are not
    estimates, and for `only_with_relevant`."""
    measures = measures_or_default(options.measures, DEFAULT_MEASURES)
    result = evaluate_sampled(pools, runs, measures, options, seed=seed)
    if not options.per_topic:
        del result["per_topic"]
    return {**result, "settings": describe_settings(options)}


def describe_settings(options: EvaluationOptions) -> Values:
    return {key: getattr(options, key) for key in ("min_relevant", "missing_topics", "precision")}


def list_means(evaluation: Evaluation) -> dict[str, float]:
    return dict(zip(map(str, evaluation.measures), evaluation.means().tolist(), strict=True))


def topic_values(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Return {measure: {topic: value}} for the topics that count, sorted."""
    order = sorted(range(len(evaluation.topics)), key=lambda i: evaluation.topics[i].encode())
    return {
        str(measure): {
            evaluation.topics[i]: float(evaluation.values[i, column])
            for i in order
            if not math.isnan(evaluation.values[i, column])
        }
        for column, measure in enumerate(evaluation.measures)
    }


def list_intervals(evaluations: Mapping[str, list[Evaluation]]) -> Values:
    """Return `interval` ({name: {tag: {measure: [low, high]}}}, NaN if undefined) and
    `interval_reason` (the same, with reasons)."""
    # imported here because only intervals need scipy
    from assay.comparison.mean_intervals import mean_interval

    interval: Values = {}
    reason: Values = {}
    for name, made in evaluations.items():
        interval[name], reason[name] = {}, {}
        for e in made:
            by_measure = {
                str(measure): mean_interval(column)
                for measure, column in zip(e.measures, e.values.T, strict=True)
            }
            interval[name][e.tag] = {measure: one.bounds for measure, one in by_measure.items()}
            reason[name][e.tag] = {
                measure: one.reason for measure, one in by_measure.items() if one.reason
            }
    return {"interval": interval, "interval_reason": reason}


def count_topics(evaluations: list[Evaluation]) -> Values:
    """Return the number of topics of the qrels and of those without relevant documents, and for
    each run the numbers that are missing, ignored (not in the qrels) and in the means."""
    first = evaluations[0]
    return {
        "qrels": len(first.topics),
        "without_relevant": int((~first.with_relevant).sum()),
        "missing": {e.tag: e.n_missing for e in evaluations},
        "ignored": {e.tag: e.n_ignored for e in evaluations},
        "averaged": {e.tag: e.n_averaged for e in evaluations},
    }


class Command(TopicGroupCommand, CampaignCommand):
    help = (
        "Compute measures of runs: means over topics and, with --per-topic, the score of each "
        "topic."
    )
    takes_seed = False
    qrels_place = "judged"
    estimates_sampled = True
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("judged", metavar="QRELS", help="qrels file, or NAME=FILE")
        parser.add_argument("runs", metavar="RUN", nargs="+")
        add_campaign_options(parser)
        parser.add_argument(
            "--qrels",
            metavar="NAME=FILE",
            action="append",
            default=[],
            help="additional qrels file for the same runs",
        )
        parser.add_argument(
            "--sampled",
            action="store_true",
            help="read QRELS as a sampled pool (topic 0 document stratum grade) and estimate "
            f"scores (default measures: {SAMPLED_MEASURES})",
        )
        add_topics_option(parser)
        parser.add_argument(
            "--seed",
            type=parse_seed,
            default=0,
            metavar="N",
            help="random seed for the folds of the rank model (default: 0)",
        )
        add_options(parser, Options)

    def compute(
        self,
        *,
        judged: str,
        runs: list[str],
        qrels: list[str],
        sampled: bool,
        seed: int,
        **option_values: Any,
    ) -> Values:
        options = Options.from_mapping(option_values)
        if sampled and option_values["only_topics"]:
            raise BadInput(
                "--only-topics cannot be used with a sampled pool, whose inclusion probabilities apply only to all topics together"
            )
        if options.rank_model and not sampled:
            raise BadInput("--rank-model is only for sampled pools; add --sampled")
        if sampled:
            files = dict(map(parse_named_file, [judged, *qrels]))
            if len(files) <= len(qrels):
                raise BadInput("two pools have the same name; rename one, for example first=FILE")
            pools = {name: read_sampled_pool(self, path) for name, path in files.items()}
            return compute_sampled(
                pools, iterate_runs(self, runs, option_values), options, seed=seed
            )
        named = read_named_qrels(self, [judged, *qrels])
        all_topics = [topic for of_qrels in named.values() for topic in of_qrels.topics]
        wanted = read_topic_filter(self, option_values, all_topics, "the qrels")
        return compute(
            {name: filter_qrels(of_qrels, wanted) for name, of_qrels in named.items()},
            iterate_runs(self, runs, option_values),
            options,
            warn=self.warn,
            part=self.only_these is not None,
        )
