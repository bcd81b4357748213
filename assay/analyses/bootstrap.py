"""Rank runs on bootstrap samples of the topics (Craswell et al. 2021)."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.analyses.shared.bootstrap_tables import result_charts, result_tables
from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.judged_files import scale_option
from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    iterate_runs,
    parse_measure_list,
    read_one_qrels,
)
from assay.analyses.shared.planning import read_label_table
from assay.analyses.shared.rank_noise import RankNoise, is_noise_requested
from assay.analyses.shared.reading import MEASURES_HINT, EvaluationOptions
from assay.cli.base import BadInput, Warn, parse_positive
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.bootstrap import (
    BootstrapChunk,
    BootstrapTally,
    combine_tallies,
    make_chunks,
    run_chunk,
    summarise_tally,
    to_json,
)
from assay.comparison.significance import Floats
from assay.formats.streams import iterate_lines
from assay.labels.labels import LabelTable
from assay.measures.evaluation import Evaluation, Evaluator
from assay.measures.measures import Measure, split_condition
from assay.measures.score_table import ScoreTable, make_score_table
from assay.number_words import format_count, format_part
from assay.options import add_options, option
from assay.results import Values

DEFAULT_MEASURE = "RR@100"
RESERVED_NAMES = frozenset(("seed", "undefined", "by_group"))
"""Keys of the result that cannot be names of conditions."""


@dataclass(frozen=True)
class Options(EvaluationOptions):
    measures: list[Measure] | None = option(
        None,
        "Measures",
        help=f'space-separated measures (default: "{DEFAULT_MEASURE}", or none with --condition)',
        hint=MEASURES_HINT,
        read=parse_measure_list,
        metavar='"..."',
        kind="measures",
    )
    trials: int = option(1000, "Bootstrap samples of topics", least=1, most_in_form=1_000_000)
    show: str = option(
        "",
        "Runs to report",
        help="comma-separated tags of the runs to report (default: all)",
        hint="All runs are ranked. Leave empty to report all of them.",
        metavar="TAGS",
        kind="tags",
    )
    grades: int = scale_option("Grades of these judgements")
    label_trials: int = option(
        200,
        "Simulated labellings",
        help="number of sets of labels resampled from the judgements",
        least=2,
        most_in_form=100_000,
    )


@dataclass(frozen=True, eq=False)
class Condition:
    """The qrels, measure and topics by which runs are ranked. topics: IDs, or None for all topics
    of the qrels. min_relevant: minimum relevant grade, or None for that of the options."""

    name: str
    measure: Measure
    qrels: QrelsColumns
    topics: Collection[str] | None = None
    min_relevant: int | None = None


def plan(
    conditions: Sequence[Condition],
    runs: Iterable[RunColumns],
    options: Options,
    *,
    judgements: LabelTable | None = None,
    behind: QrelsColumns | None = None,
    source: str = "the judgements",
    seed: int = 0,
    warn: Warn,
) -> PieceworkPlan:
    """Plan, in independent pieces, the ranking of the runs on samples of the topics under every
    condition.

    judgements: those from which the qrels named `behind` were made. source: name of the judgements
    in messages. Conditions with these qrels also get ranks under resampled labels. Raises BadInput
    for two conditions of the same name, unknown tags, and a condition in which no topic counts for
    all runs.
    """
    refuse_names([one.name for one in conditions])
    if judgements is not None:
        runs = list(runs)
    scored = score_tables(conditions, runs, options)
    tags = next(iter(scored.values())).tags
    shown = [tag for tag in options.show.split(",") if tag] or tags
    if unknown := [tag for tag in shown if tag not in tags]:
        raise BadInput(f"--show: unknown runs {', '.join(unknown)}; choose from {', '.join(tags)}")
    work = make_chunks(trials=options.trials, seed=seed)
    pieces = [(name, chunk) for name in scored for chunk in work]

    def finish(tallies: list[BootstrapTally]) -> Values:
        result: Values = {}
        for name, table in scored.items():
            summary = summarise_tally(
                combine_tallies(
                    tally for (of, _), tally in zip(pieces, tallies, strict=True) if of == name
                )
            )
            result[name] = {
                **to_json(summary, tags, table.scores, shown=shown),
                "topics": len(table.topics),
            }
        if judgements is not None and behind is not None and isinstance(runs, list):
            noise = RankNoise(judgements, behind, runs, source=source, warn=warn)
            for one in conditions:
                if one.qrels is behind:
                    result[one.name]["labels"] = noise.rank_runs(
                        one.measure,
                        options.min_relevant if one.min_relevant is None else one.min_relevant,
                        scored[one.name].topics,
                        list(shown),
                        labellings=options.label_trials,
                        trials=options.trials,
                        seed=seed,
                    )
        return result

    shared = {name: table.scores for name, table in scored.items()}
    return PieceworkPlan("bootstrap", _run_piece, shared, pieces, finish)


def refuse_names(names: Sequence[str]) -> None:
    """Raise BadInput if two conditions have the same name, or a condition has the name of another
    part of the result."""
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise BadInput(f"two conditions are called {twice[0]}; rename one")
    if taken := [name for name in names if name in RESERVED_NAMES]:
        raise BadInput(
            f"the condition name {taken[0]} is reserved for a part of the output; choose another name"
        )


def score_tables(
    conditions: Sequence[Condition], runs: Iterable[RunColumns], options: Options
) -> dict[str, ScoreTable]:
    """Score all runs under each condition, one run at a time."""
    evaluators = {
        one.name: Evaluator(
            one.qrels,
            [one.measure],
            min_relevant=options.min_relevant if one.min_relevant is None else one.min_relevant,
            missing_topics=options.missing_topics,
            only_with_relevant=options.only_with_relevant,
        )
        for one in conditions
    }
    evaluations: dict[str, list[Evaluation]] = {one.name: [] for one in conditions}
    for run in runs:
        for name, evaluator in evaluators.items():
            evaluations[name].append(evaluator.evaluate(run))
    scored = {}
    for one in conditions:
        scored[one.name] = make_score_table(evaluations[one.name], only=one.topics)
        if not scored[one.name].topics:
            raise BadInput(f"condition {one.name}: no topic has scores for all runs")
    return scored


def _run_piece(scores: dict[str, Floats], piece: tuple[str, BootstrapChunk]) -> BootstrapTally:
    name, chunk = piece
    return run_chunk(scores[name], chunk)


class WrittenCondition(NamedTuple):
    """A ranking condition as given on the command line, with the paths of qrels and topics."""

    name: str
    measure: Measure
    qrels: str
    topics: str | None = None
    min_relevant: int | None = None


def parse_condition(text: str) -> WrittenCondition:
    """Parse NAME=MEASURE,QRELS[,TOPICS_FILE[,MIN_RELEVANT]] for argparse."""
    name, rest = split_condition(text)
    parts = rest.split(",")
    if not name or not 2 <= len(parts) <= 4 or not parts[1]:
        raise ArgumentTypeError(f"{text!r} is not NAME=MEASURE,QRELS[,TOPICS_FILE[,MIN_RELEVANT]]")
    measures = parse_measure_list(parts[0])
    if len(measures) != 1:
        raise ArgumentTypeError(f"{text!r} names {len(measures)} measures, expected one")
    topics, min_relevant = [*parts[2:], "", ""][:2]
    return WrittenCondition(
        name,
        measures[0],
        parts[1],
        topics or None,
        parse_positive(min_relevant) if min_relevant else None,
    )


class Command(TopicGroupCommand, CampaignCommand, PiecewiseCommand):
    help = (
        "Rank runs on bootstrap samples of the topics. Report the probability of each rank, the "
        "expected rank, percentiles, and the share of samples in which one run beats another."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)
    piece = BootstrapTally

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--condition",
            action="append",
            default=[],
            type=parse_condition,
            dest="conditions",
            metavar="NAME=MEASURE,QRELS[,TOPICS_FILE[,MIN_RELEVANT]]",
            help="additional condition for ranking the runs; can be repeated",
        )
        parser.add_argument(
            "--judgements",
            metavar="FILE",
            help=(
                "file of the judgements from which QRELS was created; the runs are also ranked "
                "under resampled labels"
            ),
        )
        parser.add_argument(
            "--label-noise",
            action="store_true",
            help="add rankings under labels resampled from the judgements of --campaign",
        )
        add_options(parser, Options)

    def plan(
        self,
        *,
        qrels: str,
        runs: list[str],
        conditions: list[WrittenCondition],
        seed: int,
        **option_values: Any,
    ) -> PieceworkPlan:
        options = Options.from_mapping(option_values)
        measures = options.measures or ([] if conditions else parse_measure_list(DEFAULT_MEASURE))
        written = [WrittenCondition(str(one), one, qrels) for one in measures] + conditions
        refuse_names([one.name for one in written])
        judged = {
            path: read_one_qrels(self, path) for path in dict.fromkeys(one.qrels for one in written)
        }
        table = read_label_table(self, option_values) if is_noise_requested(option_values) else None
        if table is not None and qrels not in judged:
            raise BadInput(f"the judgements belong to {qrels}, but no condition uses these qrels")
        return plan(
            [
                Condition(
                    one.name,
                    one.measure,
                    judged[one.qrels],
                    None
                    if one.topics is None
                    else self.read_topic_ids(one.topics, judged[one.qrels].topics),
                    one.min_relevant,
                )
                for one in written
            ],
            iterate_runs(self, runs, option_values),
            options,
            judgements=table,
            behind=judged.get(qrels),
            source=option_values["judgements"] or "the campaign",
            seed=seed,
            warn=self.warn,
        )

    def read_topic_ids(self, path: str, judged: Collection[str]) -> set[str]:
        """Read topic IDs, one per line. Raises BadInput if the qrels have none of them."""
        ids = {text.split()[0] for _, text in iterate_lines(path) if text.strip()}
        unknown = ids - set(judged)
        if unknown == ids:
            raise BadInput(
                f"{path}: none of its {format_count(len(ids), 'topic')} is in the qrels; check the topic IDs"
            )
        if unknown:
            self.warn(
                f"{path}: {format_part(len(unknown), len(ids), 'topic', 'is', 'are')} not in the qrels"
            )
        return ids
