"""Measures of runs under one or several qrels."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    DEFAULT_MEASURES,
    each_run,
    evaluate_runs,
    measures_or_estimates,
    named_qrels,
)
from assay.analyses.shared.only_topics import add_only_topics, only_topics, qrels_of
from assay.analyses.shared.reading import Reading, measures_option
from assay.analyses.shared.sampled_files import SAMPLED_MEASURES, evaluate_sampled, sampled_measures
from assay.cli.base import BadInput, named_file, text_table
from assay.column_types import QrelsColumns, RunColumns
from assay.counts import counted, part_of
from assay.measures.evaluation import Evaluation
from assay.measures.measures import Measure, UnknownMeasure, refuse_estimates
from assay.options import add_options, option
from assay.tables import Scores

Warn = Callable[[str], None]
"""Takes a sentence for a person."""


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option(DEFAULT_MEASURES, read=measures_or_estimates)
    per_topic: bool = option(False, "Also the value of every topic")
    intervals: bool = option(
        False,
        "Also the 95 % interval of each mean",
        help="also the 95 % interval of each mean over topics (with --sampled always)",
    )


@dataclass(frozen=True, eq=False)
class Result:
    """evaluations: by name of the qrels, one a run, in the order of the runs."""

    evaluations: dict[str, list[Evaluation]]
    options: Options

    def scores(self, name: str) -> Scores:
        """The values under the qrels of this name as one array."""
        of_qrels = self.evaluations[name]
        first = of_qrels[0]
        return Scores(
            [one.tag for one in of_qrels],
            list(first.topics),
            [str(measure) for measure in first.measures],
            np.array([one.values for one in of_qrels]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the command `evaluate` (docs/reference/commands.md); undefined is NaN."""
        under, options = self.evaluations, self.options
        result: dict[str, Any] = {
            "qrels": {
                name: {e.tag: means_of(e) for e in of_qrels} for name, of_qrels in under.items()
            }
        }
        if options.per_topic:
            result["per_topic"] = {
                name: {e.tag: topics_of(e) for e in of_qrels} for name, of_qrels in under.items()
            }
        if options.intervals:
            result |= intervals_of(under)
        result["topics"] = {name: topic_counts(of_qrels) for name, of_qrels in under.items()}
        result["settings"] = settings_of(options)
        undefined = {name: reasons(of_qrels) for name, of_qrels in under.items()}
        if any(undefined.values()):
            result["undefined"] = undefined
        return result


def compute(
    qrels: Mapping[str, QrelsColumns],
    runs: Iterable[RunColumns],
    options: Options,
    *,
    warn: Warn,
    part: bool = False,
) -> Result:
    """Measures of every run under every qrels. part: the qrels were cut to some topics."""
    return Result(
        evaluate_runs(runs, qrels, options.measures, options, warn=warn, part=part), options
    )


def settings_of(options: Reading) -> dict[str, Any]:
    return {key: getattr(options, key) for key in ("level", "topics", "scores")}


class Command(ByTopicGroup, OfCampaign):
    help = "Measures of runs under qrels: means over the topics of the qrels, and each topic on request."
    takes_seed = False
    qrels_place = "judged"
    estimates_sampled = True

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("judged", metavar="QRELS", help="qrels, or NAME=FILE")
        parser.add_argument("runs", metavar="RUN", nargs="+")
        add_campaign_options(parser)
        parser.add_argument(
            "--qrels",
            metavar="NAME=FILE",
            action="append",
            default=[],
            help="further qrels for the same runs",
        )
        parser.add_argument(
            "--sampled",
            action="store_true",
            help="QRELS is a sampled pool (topic 0 document stratum grade): estimates with intervals, by default "
            + SAMPLED_MEASURES,
        )
        parser.add_argument(
            "--rank-model",
            action="store_true",
            help="with --sampled: HT-P@k and HT-DCG@k with the help of a regression on ranks, too",
        )
        add_only_topics(parser)
        add_options(parser, Options)

    def compute(
        self, *, judged: str, runs: list[str], qrels: list[str], sampled: bool, **options: Any
    ) -> dict[str, Any]:
        if sampled and options["only_topics"]:
            raise BadInput(
                "--only-topics is for judged qrels; the probabilities of a sampled pool are those of all its topics"
            )
        if options["rank_model"] and not sampled:
            raise BadInput(
                "--rank-model is for sampled pools (--sampled): where everything is judged there is nothing to help"
            )
        if sampled:
            return self.estimates([judged, *qrels], runs, options["per_topic"], options)
        try:
            refuse_estimates(options["measures"])
        except UnknownMeasure as error:
            raise BadInput(str(error)) from None
        named = named_qrels(self, [judged, *qrels])
        all_topics = [topic for of_qrels in named.values() for topic in of_qrels.topics]
        wanted = only_topics(self, options, all_topics, "the qrels")
        return compute(
            {name: qrels_of(of_qrels, wanted) for name, of_qrels in named.items()},
            each_run(self, runs, options),
            Options.of(options),
            warn=self.warn,
            part=self.only_these is not None,
        ).to_dict()

    def estimates(
        self, files: list[str], runs: list[str], per_topic: bool, options: dict[str, Any]
    ) -> dict[str, Any]:
        measures = sampled_measures(options["measures"], DEFAULT_MEASURES)
        named = dict(map(named_file, files))
        if len(named) < len(files):
            raise BadInput("two pools have one name; name them, as in first=FILE")
        result = evaluate_sampled(self, named, runs, measures, options)
        if not per_topic:
            del result["per_topic"]
        result["settings"] = settings_of(Reading.of(options))
        return result

    def table(self, result: dict[str, Any], **options: Any) -> str:
        if "pool" in result:
            return estimates_table(result)
        parts = [side_by_side(result["qrels"]), notes(result["topics"])]
        if "interval" in result:
            parts.append(intervals_table(result))
        for name, by_run in result.get("per_topic", {}).items():
            parts.append(f"{name}, each topic\n" + per_topic_table(by_run))
        return "\n\n".join(parts)


def estimates_table(result: dict[str, Any]) -> str:
    """Each mean with the ends of its interval for new topics."""
    parts = []
    for name, means in result["qrels"].items():
        measures = list(next(iter(means.values()), {}))
        rows = [
            [tag, *(v for m in measures for v in (run_means[m], *result["interval"][name][tag][m]))]
            for tag, run_means in means.items()
        ]
        pool, topics = result["pool"][name], result["topics"][name]
        parts.append(
            f"{name}: {judged_words(pool)}, {counted(topics['qrels'], 'topic')}. "
            "Estimates, each with the 95% confidence interval of the mean over all topics of this "
            "kind; that of a few new ones varies more"
        )
        parts.append(
            text_table(["run"] + [cell for m in measures for cell in (m, "from", "to")], rows)
        )
        parts += reasons_below(result, name)
        if these := result.get("these_topics", {}).get(name):
            parts.append(these_topics_table(these, result["these_topics_reason"][name]))
        if name in result.get("rank_model", {}):
            parts.append(rank_model_table(result["rank_model"][name]))
    return "\n\n".join(parts)


def judged_words(pool: dict[str, Any]) -> str:
    judged = f"{part_of(pool['judged'], pool['pairs'], 'pair')} judged"
    return (
        judged if pool["drawn"] in (None, pool["judged"]) else f"{judged}, {pool['drawn']:,} drawn"
    )


def reasons_below(result: dict[str, Any], name: str) -> list[str]:
    """Why intervals are missing, once for each measure or for the runs that it concerns, and what
    was measured of those that are shown."""
    of_measure = result.get("undefined", {}).get(name, {})
    lines = [f"{m}: no interval, {reason}" for m, reason in of_measure.items()]
    for tag, by_measure in result["interval_reason"][name].items():
        lines += [
            f"{m} of {tag}: no interval, {reason}"
            for m, reason in by_measure.items()
            if m not in of_measure
        ]
    return [*lines, *(f"{words}." for words in result.get("caution", {}).get(name, {}).values())]


def these_topics_table(
    ranges: dict[str, dict[str, list[float]]], reasons: dict[str, dict[str, str]]
) -> str:
    rows = [
        [f"{tag}, {m}", *ends, reasons[tag].get(m, "")]
        for tag, by_measure in ranges.items()
        for m, ends in by_measure.items()
    ]
    title = "95% confidence interval of the mean for these topics, if all of this pool were judged"
    return f"{title}\n{text_table(['run, measure', 'from', 'to', 'why none'], rows)}"


def rank_model_table(estimates: dict[str, dict[str, dict[str, Any]]]) -> str:
    rows = [
        [
            f"{tag}, {m}",
            one["value"],
            *one["interval"],
            *one["these_topics"],
            one.get("undefined", ""),
        ]
        for tag, by_measure in estimates.items()
        for m, one in by_measure.items()
    ]
    header = [
        "run, measure",
        "estimate",
        "new topics from",
        "to",
        "these topics from",
        "to",
        "why none",
    ]
    return f"Helped by a regression on ranks\n{text_table(header, rows)}"


def means_of(evaluation: Evaluation) -> dict[str, float]:
    return dict(zip(map(str, evaluation.measures), evaluation.means().tolist(), strict=True))


def topics_of(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """{measure: {topic: value}} for the topics that count, sorted."""
    order = sorted(range(len(evaluation.topics)), key=lambda i: evaluation.topics[i].encode())
    return {
        str(measure): {
            evaluation.topics[i]: float(evaluation.values[i, column])
            for i in order
            if not math.isnan(evaluation.values[i, column])
        }
        for column, measure in enumerate(evaluation.measures)
    }


def intervals_of(evaluations: dict[str, list[Evaluation]]) -> dict[str, Any]:
    """`interval` (name: tag: measure: [from, to], NaN where there is none) and `interval_reason`
    (the same, the reasons)."""
    from assay.comparison.mean_intervals import (
        mean_interval,
    )  # here: who asks for no intervals does not wait for scipy

    interval: dict[str, Any] = {}
    reason: dict[str, Any] = {}
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


def intervals_table(result: dict[str, Any]) -> str:
    parts = []
    for name, by_run in result["qrels"].items():
        rows = []
        for tag, means in by_run.items():
            reasons = result["interval_reason"][name][tag]
            rows += [
                [
                    tag,
                    measure,
                    mean,
                    *result["interval"][name][tag][measure],
                    reasons.get(measure, ""),
                ]
                for measure, mean in means.items()
            ]
        parts.append(
            f"{name}, 95 % intervals over topics\n"
            + text_table(["run", "measure", "mean", "from", "to", "why none"], rows)
        )
    return "\n\n".join(parts)


def topic_counts(evaluations: list[Evaluation]) -> dict[str, Any]:
    """Topics of the qrels, those without relevant documents; of each run those missing, ignored
    (not in the qrels), averaged over."""
    first = evaluations[0]
    return {
        "qrels": len(first.topics),
        "without_relevant": int((~first.with_relevant).sum()),
        "missing": {e.tag: e.n_missing for e in evaluations},
        "ignored": {e.tag: e.n_ignored for e in evaluations},
        "averaged": {e.tag: e.n_averaged for e in evaluations},
    }


def reasons(evaluations: list[Evaluation]) -> dict[str, str]:
    return {
        e.tag: "no topic of the run counts under these qrels"
        for e in evaluations
        if not e.n_averaged
    }


def side_by_side(means: dict[str, dict[str, dict[str, float]]]) -> str:
    """One row a run; the measures under each qrels beside each other, the qrels' name above
    them."""
    tags = list(next(iter(means.values())))
    blocks = [["", *text_table(["run"], [[tag] for tag in tags]).splitlines()]]
    for name, by_run in means.items():
        measures = list(next(iter(by_run.values())))
        blocks.append(
            [name, *text_table(measures, [list(by_run[tag].values()) for tag in tags]).splitlines()]
        )
    widths = [max(map(len, block)) for block in blocks]
    return "\n".join(
        "   ".join(line.ljust(width) for line, width in zip(lines, widths, strict=True)).rstrip()
        for lines in zip(*blocks, strict=True)
    )


def notes(topics: dict[str, dict[str, Any]]) -> str:
    """What the means are over, a sentence for each qrels."""
    sentences = []
    for name, counts in topics.items():
        averaged = set(counts["averaged"].values())
        over = f"{averaged.pop()}" if len(averaged) == 1 else f"{min(averaged)} to {max(averaged)}"
        sentence = (
            f"{name}: means over {over} of {counted(counts['qrels'], 'topic')}, "
            f"{counts['without_relevant']} without relevant documents"
        )
        for kind, text in (
            ("missing", "topics missing from runs"),
            ("ignored", "topics of runs that are not in the qrels, ignored"),
        ):
            concerned = {tag: n for tag, n in counts[kind].items() if n}
            if concerned:
                shown = ", ".join(f"{tag} {n}" for tag, n in list(concerned.items())[:5])
                sentence += f"; {text}: {shown}" + (
                    f" and {len(concerned) - 5} more runs" if len(concerned) > 5 else ""
                )
        sentences.append(sentence)
    return "\n".join(sentences)


def per_topic_table(by_run: dict[str, dict[str, dict[str, float]]]) -> str:
    rows = []
    for tag, by_measure in by_run.items():
        topics = next(iter(by_measure.values()))
        rows += [
            [tag, topic, *(values[topic] for values in by_measure.values())] for topic in topics
        ]
    return text_table(["run", "topic", *next(iter(by_run.values()))], rows)
