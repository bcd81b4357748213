"""Results of the analyses that score generated answers: means by system, and the table of scores
by topic that other analyses read."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.reading import EvaluationOptions
from assay.atomic_files import write_text_atomically
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput, FileCommand
from assay.formats.answers import GeneratedAnswer, ItemLabel
from assay.formats.topic_scores import write_topic_scores
from assay.measures.answer_scores import count_labels
from assay.measures.evaluation import compute_topic_means
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, list_options, option
from assay.results import Values
from assay.tabular import Cell, Table

_MISSING = list_options(EvaluationOptions, "missing_topics")[0].about


@dataclass(frozen=True)
class AnswerOptions(CheckedOptions):
    missing_topics: str = option(
        "zero",
        "Topics without an answer of a system",
        help="topics for which a system has no answer",
        choices=_MISSING.choices,
    )
    per_topic: bool = option(False, "Add the scores of each topic")


@dataclass(frozen=True, eq=False)
class AnswerScores:
    """Scores of answers. values: float64 (n_systems, n_topics, n_measures), NaN without an answer
    or if undefined. has_answer: bool (n_systems, n_topics). absent: float64 (n_topics, n_measures),
    the score of no answer, NaN if the topic's scores are undefined. counts: {label: number}."""

    systems: list[str]
    topics: list[str]
    measures: Sequence[str]
    values: np.ndarray
    has_answer: np.ndarray
    absent: np.ndarray
    counts: Mapping[str, int]

    def averaged_values(self, options: AnswerOptions) -> np.ndarray:
        """Return the values of which means are taken. If topics without an answer count, they count
        as 0, unless the scores of the topic are undefined."""
        if options.missing_topics == "skip":
            return self.values
        return np.where(self.has_answer[:, :, None], self.values, self.absent)


def collect_scores(
    scores: Mapping[tuple[str, str], Mapping[str, float]],
    topics: Sequence[str],
    measures: Sequence[str],
    counts: Mapping[str, int],
    *,
    absent: Mapping[str, Mapping[str, float]] | None = None,
) -> AnswerScores:
    """Arrange the scores of answers, given by (system, topic). absent: scores of no answer by
    topic, 0 by default."""
    systems = list(dict.fromkeys(system for system, _ in scores))
    values = np.full((len(systems), len(topics), len(measures)), np.nan)
    has_answer = np.zeros(values.shape[:2], dtype=bool)
    place = {topic: i for i, topic in enumerate(topics)}
    row = {system: i for i, system in enumerate(systems)}
    for (system, topic), of in scores.items():
        values[row[system], place[topic]] = [of[measure] for measure in measures]
        has_answer[row[system], place[topic]] = True
    without = np.zeros(values.shape[1:])
    for topic, of in (absent or {}).items():
        without[place[topic]] = [of[measure] for measure in measures]
    return AnswerScores(systems, list(topics), measures, values, has_answer, without, counts)


def index_answers(
    answers: Iterable[GeneratedAnswer],
) -> dict[tuple[str, str], GeneratedAnswer]:
    """Return the answers by (system, topic). Raises BadInput for a second answer of a system to a
    topic."""
    by_key: dict[tuple[str, str], GeneratedAnswer] = {}
    for answer in answers:
        if by_key.setdefault((answer.run, answer.topic), answer) is not answer:
            raise BadInput(
                f"duplicate answer of {answer.run} to topic {answer.topic}, expected one per topic"
            )
    return by_key


def group_labels(
    labels: Iterable[ItemLabel],
) -> dict[tuple[str, str], dict[tuple[int, ...], str]]:
    """Return {(system, topic): {item: label}}."""
    groups: dict[tuple[str, str], dict[tuple[int, ...], str]] = {}
    for one in labels:
        groups.setdefault((one.run, one.topic), {})[one.item] = one.label
    return groups


def list_item_labels(
    labels: Mapping[tuple[int, ...], str], n_items: int, *, name: str, answer: tuple[str, str]
) -> list[str | None]:
    """Return the labels of an answer by position, None for items without. Raises BadInput for a
    position outside the list."""
    if outside := [item[0] for item in labels if item[0] >= n_items]:
        raise BadInput(
            f"the answer of {answer[0]} to {answer[1]} has a label for {name} {max(outside)}, "
            f"but the topic's list has {format_count(n_items, name)}, counted from 0"
        )
    return [labels.get((i,)) for i in range(n_items)]


def score_items(
    lists: Mapping[str, Sequence[Any]],
    labels: Iterable[ItemLabel],
    score: Callable[[Sequence[Any], list[str | None]], dict[str, float]],
    *,
    item: str,
    no_list: str,
    measures: Sequence[str],
    values: Mapping[str, float],
) -> AnswerScores:
    """Score each answer with at least one label by its topic's list of items.

    score: (items, label of each item or None) -> scores by measure. item: what an item is called.
    no_list: beginning of the message for a topic without items.
    values: the known labels. Raises BadInput for a label of a topic or item that the lists lack."""
    scores: dict[tuple[str, str], dict[str, float]] = {}
    seen: list[str | None] = []
    for (system, topic), known in group_labels(labels).items():
        if topic not in lists:
            raise BadInput(f"{no_list} for topic {topic}")
        items = lists[topic]
        item_labels = list_item_labels(known, len(items), name=item, answer=(system, topic))
        scores[system, topic] = score(items, item_labels)
        seen += item_labels
    absent = {topic: score(items, [None] * len(items)) for topic, items in lists.items()}
    counts = count_labels(seen, values)
    return collect_scores(scores, list(lists), measures, counts, absent=absent)


def answer_result(scores: AnswerScores, options: AnswerOptions) -> Values:
    """Return the JSON values: means over topics, counts, and on request the scores by topic."""
    values = scores.averaged_values(options)
    means = [compute_topic_means(of_system) for of_system in values]
    result: Values = {
        "systems": {
            system: dict(zip(scores.measures, of.tolist(), strict=True))
            for system, of in zip(scores.systems, means, strict=True)
        },
        "answers": dict(zip(scores.systems, scores.has_answer.sum(axis=1).tolist(), strict=True)),
        "topics": len(scores.topics),
        "labels": dict(scores.counts),
        "missing_topics": options.missing_topics,
    }
    if options.per_topic:
        result["per_topic"] = {
            system: {
                measure: dict(zip(scores.topics, values[i, :, j].tolist(), strict=True))
                for j, measure in enumerate(scores.measures)
            }
            for i, system in enumerate(scores.systems)
        }
    return result


def answer_tables(result: Values) -> list[Table]:
    measures = list(next(iter(result["systems"].values()), {}))
    rows: list[list[Cell]] = [
        [system, *of.values(), result["answers"][system]]
        for system, of in result["systems"].items()
    ]
    counted = ", ".join(f"{n:,} {label}" for label, n in result["labels"].items())
    missing = "count as 0" if result["missing_topics"] == "zero" else "are left out"
    note = (
        f"Means over {format_count(result['topics'], 'topic')}; topics without an answer of a "
        f"system {missing}. Labels: {counted}."
    )
    made = [Table("scores", "Scores of the answers", ["system", *measures, "answers"], rows, note)]
    if "per_topic" in result:
        by_topic: list[list[Cell]] = [
            [system, topic, *(of[measure][topic] for measure in measures)]
            for system, of in result["per_topic"].items()
            for topic in of[measures[0]]
        ]
        header = ["system", "topic", *measures]
        made.append(Table("topics", "Scores by topic", header, by_topic))
    return made


def answer_charts(result: Values) -> list[Picture]:
    measures = list(next(iter(result["systems"].values()), {}))[:1]
    return [
        interval_chart(
            [DrawnInterval(system, of[measure]) for system, of in result["systems"].items()],
            caption=measure.replace("_", " "),
            x_label=measure.replace("_", " "),
            what="system",
        )
        for measure in measures
    ]


class AnswerCommand(FileCommand):
    """Base of commands that score answers and can write the scores by topic."""

    takes_seed = False
    writes = ("output", "scores")
    tables = staticmethod(answer_tables)
    charts = staticmethod(answer_charts)

    def add_answer_options(self, parser: ArgumentParser) -> None:
        add_options(parser, AnswerOptions)
        parser.add_argument(
            "--scores",
            metavar="FILE",
            help=(
                "output file of scores by topic (run measure topic value), for use with `compare "
                "systems --scores`"
            ),
        )

    def finish(self, scores: AnswerScores, option_values: Mapping[str, Any]) -> Values:
        options = AnswerOptions.from_mapping(option_values)
        if option_values.get("scores"):
            values = scores.averaged_values(options)
            with write_text_atomically(option_values["scores"]) as out:
                write_topic_scores(scores.systems, scores.topics, scores.measures, values, out)
        return answer_result(scores, options)
