"""What the commands that compute measures share: their options, and how runs and qrels are read and
named.

    class Command(FileCommand):
        def arguments(self, parser):
            parser.add_argument("qrels", metavar="QRELS")
            parser.add_argument("runs", nargs="+", metavar="RUN")
            add_options(parser, Options)                          # Options of the analysis, a
            subclass of Reading: --min-relevant --missing-topics --only-with-relevant --precision --lenient

        def compute(self, *, qrels, runs, **options):
            judged = one_qrels(self, qrels)                       # or named_qrels(self,
            ["judged=q.txt", ...]) -> {name: Qrels}
            for run in each_run(self, runs, options):             # tags are distinct: the second of
            a name is tag#2, with a warning
                ...
            evaluations = evaluate_files(self, runs, {"q": judged}, options)   # {"q": [Evaluation,
            one a run]}

`iterate_runs` reads one file at a time, so that a command that reduces a run at once needs no more
memory than one run. Measures arrive in `options["measures"]` as a list of
`assay.measures.measures.Measure`."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import ByTopicGroup
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
from assay.column_types import JudgementColumns, QrelsColumns, RunColumns
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
    """What need not be read from files, by the path under which a command's arguments name it."""

    runs: Mapping[str, Callable[[], RunColumns]] = dataclasses.field(default_factory=dict)
    qrels: Mapping[str, Callable[[], QrelsColumns]] = dataclasses.field(default_factory=dict)
    judgements: Mapping[str, Callable[[], JudgementColumns]] = dataclasses.field(
        default_factory=dict
    )
    prels: Mapping[str, Callable[[], SampledQrels]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class PieceworkPlan:
    """Work in independent pieces, called `label` while it lasts: function(shared, piece) of each,
    in any process, where function is one of a module's top level; finish(results, in the order of
    the pieces) is the command's answer."""

    label: str
    function: Callable[[Any, Any], Any]
    shared: Any
    pieces: list[Any]
    finish: Callable[[list[Any]], dict[str, Any]]


class PiecewiseCommand(FileCommand):
    """A command whose work is a PieceworkPlan. It spreads the pieces over processes; a report of
    the web pages over workers. piece: the dataclass of a piece's result, None for plain values."""

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
    """The measures if the user names none. A campaign limits their cutoffs to its judged depth."""


def parse_measure_list(text: str) -> list[Measure]:
    """For argparse: the measures named, of those that qrels can tell, or its error."""
    return _parse_measures(text, refuse_estimates)


def parse_divisible_measures(text: str) -> list[Measure]:
    """For argparse of commands that compute measures on parts of a collection."""
    return _parse_measures(text, refuse_indivisible)


def parse_measures_or_estimates(text: str) -> list[Measure]:
    """For argparse of commands that take a sampled pool, too."""
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
    """The runs of these files one by one, their tags made distinct; warnings and progress go to
    standard error.

    Raises FormatError for a file that cannot be read.
    """
    paths = list(paths)
    if paths.count("-") > 1:
        raise BadInput("standard input (-) can be read only once")
    tags: list[str] = []
    with ProgressLine("reading runs", len(paths)) as progress:
        for path in paths:
            run = _read_run(command, path, options)
            command.note_reading(run.name or path, run)
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
    """As each_run, all in memory at once."""
    return list(iterate_runs(command, paths, options))


def read_one_qrels(
    command: FileCommand,
    path: str,
    name: str | None = None,
    *,
    read: Callable[..., QrelsColumns] = read_qrels,
) -> QrelsColumns:
    """The qrels of this file, called `name` or as the file without its extensions; warnings go to
    standard error."""
    stored = getattr(command, "stored", None)
    if stored is not None and path in stored.qrels:
        qrels = dataclasses.replace(stored.qrels[path](), name=name or strip_suffixes(path))
        refuse_sampled_qrels(command, path, qrels)
        if lone := lone_grade_warning(qrels):
            command.warn(f"{qrels.name}: {lone}")
        return restrict_to_group(command, qrels)
    qrels = read(path, name=name or strip_suffixes(path))
    refuse_sampled_qrels(command, path, qrels)
    command.note_reading(path, qrels)
    return restrict_to_group(command, qrels)


def restrict_to_group(command: FileCommand, qrels: QrelsColumns) -> QrelsColumns:
    """Cut to the group of topics that a command of `ByTopicGroup` computes within; BadInput where
    they have none of it."""
    if not isinstance(command, ByTopicGroup):
        return qrels
    if command.topics_read is None:
        command.topics_read = list(qrels.topics)
    if command.only_these is None:
        return qrels
    if command.only_these.isdisjoint(qrels.topics):
        raise BadInput(f"{qrels.name} has no topic of this group")
    return filter_qrels(qrels, command.only_these)


def drop_topics_without_relevant(qrels: QrelsColumns, options: Mapping[str, Any]) -> QrelsColumns:
    """With --only-with-relevant: without the topics that have no relevant document, as
    `evaluate_files` leaves them out. For commands that pack the qrels before anything is evaluated.
    BadInput where no topic is left."""
    if not options["only_with_relevant"]:
        return qrels
    topic = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets))
    relevant = np.unique(topic[qrels.grades >= options["min_relevant"]]).tolist()
    if not relevant:
        raise BadInput(f"{qrels.name}: no topic has a document of grade {options['level']} or more")
    return filter_qrels(qrels, frozenset(qrels.topics[number] for number in relevant))


def refuse_sampled_qrels(command: FileCommand, path: str, qrels: QrelsColumns) -> None:
    """BadInput for labels of a sampled pool where a number would count what was not drawn as not
    relevant."""
    if SAMPLED_MESSAGE in qrels.warnings and not getattr(command, "counts_labels_only", False):
        raise BadInput(
            f"{path}: {SAMPLED_MESSAGE}; `evaluate PRELS RUN... --sampled` estimates from the five "
            f"columns that are exported beside them"
        )


def read_named_qrels(command: FileCommand, files: Iterable[str]) -> dict[str, QrelsColumns]:
    """Qrels of `NAME=FILE` or `FILE` arguments by name, in the order given. Raises BadInput for two
    of one name."""
    named: dict[str, QrelsColumns] = {}
    for text in files:
        name, path = parse_named_file(text)
        if name in named:
            raise BadInput(f"two qrels are called {name}; name them, as in first={path}")
        named[name] = read_one_qrels(command, path, name)
    return named


def evaluate_files(
    command: FileCommand,
    paths: Iterable[str],
    qrels: Mapping[str, QrelsColumns],
    options: Mapping[str, Any],
) -> dict[str, list[Evaluation]]:
    """Every run under every qrels. -> {name of the qrels: [one Evaluation a run, in the order of
    the files]}"""
    return evaluate_runs(
        iterate_runs(command, paths, options),
        qrels,
        options["measures"],
        EvaluationOptions.of(options),
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
    """Every run under every qrels; one run is in memory at a time. part: the qrels were cut to some
    topics, which a run need not have. -> {name of the qrels: [one Evaluation a run]}"""
    evaluators = {
        name: Evaluator(
            judged,
            measures,
            level=reading.min_relevant,
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
    """A warning of each run that shares no topic with the qrels, which would be 0 throughout;
    BadInput where no run shares one with any of them."""
    strangers = [
        (one.tag, name)
        for name, of_qrels in evaluations.items()
        for one in of_qrels
        if not one.has_topic.any()
    ]
    if strangers and len(strangers) == sum(map(len, evaluations.values())):
        raise BadInput("no run has a topic of the qrels; are the topics' ids spelled alike?")
    for tag, name in strangers:
        warn(f"{tag} has no topic of {name or 'the qrels'}; are the topics' ids spelled alike?")
