"""Options of commands that compute measures, and reading and naming their runs and qrels.

    class Command(FileCommand):
        def arguments(self, parser):
            parser.add_argument("qrels", metavar="QRELS")
            parser.add_argument("runs", nargs="+", metavar="RUN")
            add_options(parser, Options)          # a subclass of RunReading

        def compute(self, *, qrels, runs, **options):
            judged = read_one_qrels(self, qrels)  # or read_named_qrels(self, ["judged=q.txt"])
            for run in iterate_runs(self, runs, options):
                ...                               # the second run of a tag is tag#2, with a warning
            evaluations = evaluate_files(self, runs, {"q": judged}, options)

`iterate_runs` reads one file at a time, so a command that reduces each run at once needs the memory
of one run only. `options["measures"]` is a list of `assay.measures.measures.Measure`.
"""

from __future__ import annotations

import dataclasses
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.only_topics import filter_qrels
from assay.analyses.shared.reading import DefaultNames, EvaluationOptions
from assay.chunks import map_in_processes
from assay.cli.base import (
    BadInput,
    FileCommand,
    ProgressLine,
    make_tags_distinct,
    parse_named_file,
    strip_suffixes,
)
from assay.column_types import BattleColumns, JudgementColumns, QrelsColumns, RunColumns
from assay.formats.prel import SampledQrels
from assay.formats.qrels import SAMPLED_MESSAGE, lone_grade_warning, read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import Evaluation, Evaluator
from assay.measures.measures import (
    Measure,
    UnknownMeasure,
    parse_measures,
    refuse_estimates,
    refuse_indivisible,
)
from assay.precision import to_single_precision


@dataclasses.dataclass(frozen=True)
class InMemoryInputs:
    """Inputs held in memory, by the path that stands for them in a command's arguments."""

    runs: Mapping[str, Callable[[], RunColumns]] = dataclasses.field(default_factory=dict)
    qrels: Mapping[str, Callable[[], QrelsColumns]] = dataclasses.field(default_factory=dict)
    judgements: Mapping[str, Callable[[], JudgementColumns]] = dataclasses.field(
        default_factory=dict
    )
    prels: Mapping[str, Callable[[], SampledQrels]] = dataclasses.field(default_factory=dict)
    battles: Mapping[str, Callable[[], BattleColumns]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class PieceworkPlan:
    """Plan of a computation in independent pieces.

    label: name of the work for progress messages. function: (shared, piece) -> result, defined at
    the top level of a module and run in any process. finish: (results in the order of the pieces)
    -> the command's result.
    """

    label: str
    function: Callable[[Any, Any], Any]
    shared: Any
    pieces: list[Any]
    finish: Callable[[list[Any]], dict[str, Any]]


class PiecewiseCommand(FileCommand):
    """Base of commands whose work is a PieceworkPlan. The pieces are spread over processes, or over
    workers for a report of the web pages. piece: the dataclass of a piece's result, None for plain
    values."""

    takes_processes = True
    piece: type | None = None

    def plan(self, *_: Any, **options: Any) -> PieceworkPlan:
        raise NotImplementedError

    def compute(self, *, processes: int, **options: Any) -> dict[str, Any]:
        plan = self.plan(**options)
        results = []
        with ProgressLine(plan.label, len(plan.pieces)) as progress:
            for result in map_in_processes(
                plan.function, plan.pieces, processes=processes, shared=plan.shared
            ):
                results.append(result)
                progress.step()
        return plan.finish(results)


DEFAULT_MEASURES = "AP nDCG nDCG@10 RR@10 R@100 Judged@10"


class DefaultMeasures(list[Measure]):
    """The measures used if the user names none. A campaign limits their cutoffs to its judged
    depth."""


def parse_measure_list(text: str) -> list[Measure]:
    """Parse measures that can be computed from qrels, for argparse."""
    return _parse_measures(text, refuse_estimates)


def parse_divisible_measures(text: str) -> list[Measure]:
    """Parse measures that can be computed on parts of a collection, for argparse."""
    return _parse_measures(text, refuse_indivisible)


def parse_measures_or_estimates(text: str) -> list[Measure]:
    """Parse measures, including estimates from a sampled pool, for argparse."""
    return _parse_measures(text)


def _parse_measures(
    text: str, check: Callable[[list[Measure]], object] = lambda measures: None
) -> list[Measure]:
    try:
        measures = parse_measures(text)
        check(measures)
    except UnknownMeasure as error:
        raise ArgumentTypeError(str(error)) from None
    return DefaultMeasures(measures) if isinstance(text, DefaultNames) else measures


def iterate_runs(
    command: FileCommand, paths: Iterable[str], options: Mapping[str, Any]
) -> Iterator[RunColumns]:
    """Yield the runs of these files one by one, with distinct tags. Shows warnings and progress.

    Raises FormatError for a file that cannot be read.
    """
    paths = list(paths)
    if paths.count("-") > 1:
        raise BadInput("standard input (-) can be read only once")
    tags: list[str] = []
    with ProgressLine("reading runs", len(paths)) as progress:
        for path in paths:
            run = _read_run(command, path, options)
            command.show_reader_messages(run.name or path, run)
            names, renamed = make_tags_distinct([*tags, run.tag])
            tags.append(names[-1])
            if tags[-1] != run.tag:
                command.warn(f"{path}: {renamed[-1]}")
                run = dataclasses.replace(run, tag=tags[-1])
            yield run
            progress.step()


def _read_run(command: FileCommand, path: str, options: Mapping[str, Any]) -> RunColumns:
    stored = getattr(command, "stored", None)
    if stored is not None and path in stored.runs:
        run: RunColumns = stored.runs[path]()
        return to_single_precision(run) if options["precision"] == "float32" else run
    return read_run(path, lenient=options["lenient"], scores=options["precision"])


def read_runs(
    command: FileCommand, paths: Iterable[str], options: Mapping[str, Any]
) -> list[RunColumns]:
    """Read all runs into memory. Arguments as for `iterate_runs`."""
    return list(iterate_runs(command, paths, options))


def read_one_qrels(
    command: FileCommand,
    path: str,
    name: str | None = None,
    *,
    read: Callable[..., QrelsColumns] = read_qrels,
) -> QrelsColumns:
    """Read the qrels of a file and show warnings. name: by default the file's name without
    extensions."""
    stored = getattr(command, "stored", None)
    if stored is not None and path in stored.qrels:
        qrels = dataclasses.replace(stored.qrels[path](), name=name or strip_suffixes(path))
        refuse_sampled_qrels(command, path, qrels)
        if lone := lone_grade_warning(qrels):
            command.warn(f"{qrels.name}: {lone}")
        return restrict_to_group(command, qrels)
    qrels = read(path, name=name or strip_suffixes(path))
    refuse_sampled_qrels(command, path, qrels)
    command.show_reader_messages(path, qrels)
    return restrict_to_group(command, qrels)


def restrict_to_group(command: FileCommand, qrels: QrelsColumns) -> QrelsColumns:
    """Restrict qrels to the group of topics that a TopicGroupCommand currently computes. Raises
    BadInput if the qrels have no topic of the group."""
    if not isinstance(command, TopicGroupCommand):
        return qrels
    if command.topics_read is None:
        command.topics_read = list(qrels.topics)
    if command.only_these is None:
        return qrels
    if command.only_these.isdisjoint(qrels.topics):
        raise BadInput(f"{qrels.name} has no topic of this group")
    return filter_qrels(qrels, command.only_these)


def drop_topics_without_relevant(qrels: QrelsColumns, options: Mapping[str, Any]) -> QrelsColumns:
    """Remove topics without relevant documents from qrels if --only-with-relevant is set, for
    commands that pack the qrels before evaluating. Raises BadInput if no topic is left."""
    if not options["only_with_relevant"]:
        return qrels
    topic = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets))
    relevant = np.unique(topic[qrels.grades >= options["min_relevant"]]).tolist()
    if not relevant:
        raise BadInput(
            f"{qrels.name}: no document of any topic has grade {options['min_relevant']} or higher"
        )
    return filter_qrels(qrels, frozenset(qrels.topics[number] for number in relevant))


def refuse_sampled_qrels(command: FileCommand, path: str, qrels: QrelsColumns) -> None:
    """Raise BadInput for labels of a sampled pool if the command would count pairs outside the
    sample as not relevant."""
    if SAMPLED_MESSAGE in qrels.warnings and not getattr(command, "counts_labels_only", False):
        raise BadInput(
            f"{path}: {SAMPLED_MESSAGE}; `evaluate PRELS RUN... --sampled` estimates from the "
            "five-column file exported with them"
        )


def read_named_qrels(command: FileCommand, files: Iterable[str]) -> dict[str, QrelsColumns]:
    """Read `NAME=FILE` or `FILE` arguments. Return {name: qrels} in the order given. Raises
    BadInput for two of the same name."""
    named: dict[str, QrelsColumns] = {}
    for text in files:
        name, path = parse_named_file(text)
        if name in named:
            raise BadInput(f"two qrels are called {name}; rename one, for example first={path}")
        named[name] = read_one_qrels(command, path, name)
    return named


def evaluate_files(
    command: FileCommand,
    paths: Iterable[str],
    qrels: Mapping[str, QrelsColumns],
    options: Mapping[str, Any],
) -> dict[str, list[Evaluation]]:
    """Evaluate every run file under every qrels. Return {name of the qrels: one Evaluation per run
    in the order of the files}."""
    return evaluate_runs(
        iterate_runs(command, paths, options),
        qrels,
        options["measures"],
        EvaluationOptions.from_mapping(options),
        warn=command.warn,
        part=getattr(command, "only_these", None) is not None,
    )


def evaluate_runs(
    runs: Iterable[RunColumns],
    qrels: Mapping[str, QrelsColumns],
    measures: list[Measure],
    reading: EvaluationOptions,
    *,
    warn: Callable[[str], None],
    part: bool = False,
) -> dict[str, list[Evaluation]]:
    """Evaluate every run under every qrels, with one run in memory at a time. Return {name of the
    qrels: one Evaluation per run}.

    part: the qrels are limited to a group of topics, which a run need not have.
    """
    evaluators = {
        name: Evaluator(
            judged,
            measures,
            min_relevant=reading.min_relevant,
            missing_topics=reading.missing_topics,
            only_with_relevant=reading.only_with_relevant,
        )
        for name, judged in qrels.items()
    }
    evaluations: dict[str, list[Evaluation]] = {name: [] for name in qrels}
    for run in runs:
        for name, evaluator in evaluators.items():
            evaluations[name].append(evaluator.evaluate(run))
    if reading.missing_topics == "zero" and not part:
        warn_about_runs_without_topics(evaluations, warn)
    return evaluations


def warn_about_runs_without_topics(
    evaluations: Mapping[str, list[Evaluation]], warn: Callable[[str], None]
) -> None:
    """Warn about each run that shares no topic with the qrels, because all its scores would be 0.
    Raises BadInput if no run shares a topic with any qrels."""
    strangers = [
        (one.tag, name)
        for name, of_qrels in evaluations.items()
        for one in of_qrels
        if not one.has_topic.any()
    ]
    if strangers and len(strangers) == sum(map(len, evaluations.values())):
        raise BadInput("no run has results for a topic of the qrels; check the topic IDs")
    for tag, name in strangers:
        warn(f"{tag} has no results for the topics of {name or 'the qrels'}; check the topic IDs")
