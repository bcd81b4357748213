"""`manage.py bootstrap QRELS RUN...`: how certain each run's place is (Craswell et al. 2021)."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    all_runs,
    each_run,
    measure_list,
    one_qrels,
)
from assay.analyses.shared.rank_noise import RankNoise, add_label_options, wants_noise
from assay.analyses.shared.reading import Reading
from assay.cli.base import BadInput, positive, text_table
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.bootstrap import (
    BootstrapChunk,
    BootstrapTally,
    as_json,
    chunks,
    combine,
    run_chunk,
    summarise,
)
from assay.comparison.bootstrap_words import (
    LABELS_DRAWN,
    LABELS_HEADER,
    beaten_by,
    by_expected_rank,
    label_rows,
    many_comparisons,
    may_be,
)
from assay.comparison.significance import Floats
from assay.counts import counted, part_of
from assay.formats.opening import lines
from assay.measures.evaluation import Evaluation, Evaluator
from assay.measures.measures import Measure, name_of_condition
from assay.measures.score_table import ScoreTable, score_table
from assay.options import add_options, option

DEFAULT = "RR@100"
RESERVED = frozenset(("seed", "undefined", "by_group"))
"""Parts of the answer beside its conditions."""
TOP = 5
"""Ranks whose probability the table shows, as Tables 1 and 2 of the paper."""


@dataclass(frozen=True)
class Condition:
    """What runs are ranked by. topics_file: one topic id a line; None: all topics of the qrels.
    level: None: as --level."""

    name: str
    measure: Measure
    qrels: str
    topics_file: str | None = None
    level: int | None = None


@dataclass(frozen=True)
class Options(Reading):
    trials: int = option(1000, "Samples of the topics", least=1, most_in_form=1_000_000)


class Command(ByTopicGroup, OfCampaign, PiecewiseCommand):
    help = (
        "Rank runs on bootstrap samples of the topics: probability of each rank, expected rank, "
        "interval, who beats whom."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--measures",
            type=measure_list,
            metavar='"..."',
            help=f'default "{DEFAULT}", none where --condition is given',
        )
        add_options(parser, Options)
        parser.add_argument(
            "--show", metavar="TAGS", help="report these runs only, among all; separated by commas"
        )
        parser.add_argument(
            "--condition",
            action="append",
            default=[],
            type=condition,
            dest="conditions",
            metavar="NAME=MEASURE,QRELS[,TOPICS_FILE[,LEVEL]]",
            help="rank the runs under this condition too; may be repeated",
        )
        add_label_options(parser)

    def plan(
        self,
        *,
        qrels: str,
        runs: list[str],
        conditions: list[Condition],
        trials: int,
        seed: int,
        **options: Any,
    ) -> PieceworkPlan:
        measures = options["measures"] or ([] if conditions else measure_list(DEFAULT))
        conditions = [Condition(str(measure), measure, qrels) for measure in measures] + conditions
        if twice := [
            one.name
            for i, one in enumerate(conditions)
            if one.name in {other.name for other in conditions[:i]}
        ]:
            raise BadInput(f"two conditions are called {twice[0]}")
        if taken := [one.name for one in conditions if one.name in RESERVED]:
            raise BadInput(
                f"a condition cannot be called {taken[0]}: the answer has a part of this name, expected another name"
            )
        columns = (
            all_runs(self, runs, options) if wants_noise(options) else each_run(self, runs, options)
        )
        judged: dict[str, QrelsColumns] = {}
        tables = self.score_tables(conditions, columns, judged, options)
        tags = next(iter(tables.values())).tags
        shown = (
            tags if options["show"] is None else [tag for tag in options["show"].split(",") if tag]
        )
        if unknown := [tag for tag in shown if tag not in tags]:
            raise BadInput(
                f"no run is called {', '.join(unknown)} (--show); there are {', '.join(tags)}"
            )
        pieces = [(name, chunk) for name in tables for chunk in chunks(trials=trials, seed=seed)]

        def finish(tallies: list[BootstrapTally]) -> dict[str, Any]:
            result = {}
            for name, table in tables.items():
                summary = summarise(
                    combine(
                        tally for (of, _), tally in zip(pieces, tallies, strict=True) if of == name
                    )
                )
                result[name] = {
                    **as_json(summary, tags, table.scores, shown=shown),
                    "topics": len(table.topics),
                }
            if isinstance(columns, list):
                of_qrels = {one.name: one for one in conditions if one.qrels == qrels}
                noise = RankNoise(self, judged[qrels], columns, options, trials=trials, seed=seed)
                for name, one in of_qrels.items():
                    result[name]["labels"] = noise.of(
                        one.measure, one.level, tables[name].topics, list(shown)
                    )
            return result

        return PieceworkPlan(
            "bootstrap",
            _tally,
            {name: table.scores for name, table in tables.items()},
            pieces,
            finish,
        )

    def score_tables(
        self,
        conditions: list[Condition],
        runs: Iterable[RunColumns],
        judged: dict[str, QrelsColumns],
        options: dict[str, Any],
    ) -> dict[str, ScoreTable]:
        """The scores of all runs under each condition; each file is read once. judged: is filled
        with the qrels."""
        evaluators = {}
        for one in conditions:
            if one.qrels not in judged:
                judged[one.qrels] = one_qrels(self, one.qrels)
            level = options["level"] if one.level is None else one.level
            evaluators[one.name] = Evaluator(
                judged[one.qrels],
                [one.measure],
                level=level,
                topics=options["topics"],
                only_with_relevant=options["only_with_relevant"],
            )
        evaluations: dict[str, list[Evaluation]] = {one.name: [] for one in conditions}
        for run in runs:
            for name, evaluator in evaluators.items():
                evaluations[name].append(evaluator.evaluate(run))
        tables = {}
        for one in conditions:
            only = (
                None
                if one.topics_file is None
                else self.topic_ids(one.topics_file, judged[one.qrels].topics)
            )
            tables[one.name] = score_table(evaluations[one.name], only=only)
            if not tables[one.name].topics:
                raise BadInput(f"condition {one.name}: no topic counts for all runs")
        return tables

    def topic_ids(self, path: str, judged: Iterable[str]) -> set[str]:
        ids = {text.split()[0] for _, text in lines(path) if text.strip()}
        unknown = ids - set(judged)
        if unknown == ids:
            raise BadInput(f"{path}: none of its {counted(len(ids), 'topic')} is in the qrels")
        if unknown:
            self.warn(
                f"{path}: {part_of(len(unknown), len(ids), 'topic', 'is', 'are')} not in the qrels"
            )
        return ids

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        for name, condition in result.items():
            if not isinstance(condition, dict):
                continue
            tags = by_expected_rank(condition)
            n_ranks = min(TOP, len(condition["rank_share"][tags[0]]))
            places = [f"P(rank {r})" for r in range(1, n_ranks + 1)]
            header = [
                "run",
                "score",
                *places,
                "expected rank",
                "best",
                "worst",
                "2.5 %",
                "97.5 %",
                "may be",
                "significantly worse than",
            ]
            rows = [
                [
                    tag,
                    condition["observed"][tag],
                    *(condition["rank_share"][tag][str(r)] for r in range(1, n_ranks + 1)),
                    *(condition[key][tag] for key in ("expected_rank", "best_rank", "worst_rank")),
                    *condition["interval"][tag],
                    may_be(condition, tag),
                    beaten_by(condition, tag),
                ]
                for tag in tags
            ]
            over = (
                f"{counted(condition['topics'], 'topic')}, {counted(condition['trials'], 'trial')}"
            )
            parts.append(
                f"{name}: {over}\n{text_table(header, rows)}\n{many_comparisons(condition)}"
            )
            if condition.get("labels"):
                parts.append(
                    f"{LABELS_DRAWN}\n{text_table(LABELS_HEADER, label_rows(condition, tags))}"
                )
        return "\n\n".join(parts)


def _tally(scores: dict[str, Floats], piece: tuple[str, BootstrapChunk]) -> BootstrapTally:
    name, chunk = piece
    return run_chunk(scores[name], chunk)


def condition(text: str) -> Condition:
    """For argparse: NAME=MEASURE,QRELS[,TOPICS_FILE[,LEVEL]]."""
    name, rest = name_of_condition(text)
    parts = rest.split(",")
    if not name or not 2 <= len(parts) <= 4 or not parts[1]:
        raise ArgumentTypeError(f"{text!r} is not NAME=MEASURE,QRELS[,TOPICS_FILE[,LEVEL]]")
    measures = measure_list(parts[0])
    if len(measures) != 1:
        raise ArgumentTypeError(f"{text!r} names {len(measures)} measures, expected one")
    topics_file = parts[2] if len(parts) > 2 and parts[2] else None
    return Condition(
        name,
        measures[0],
        parts[1],
        topics_file,
        positive(parts[3]) if len(parts) > 3 and parts[3] else None,
    )
