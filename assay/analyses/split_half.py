"""Compare the conclusions from two random halves of the topics (Craswell et al. 2021, table 4)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.measures import (
    PiecewiseCommand,
    PieceworkPlan,
    evaluate_runs,
    iterate_runs,
    parse_measure_list,
    read_one_qrels,
)
from assay.analyses.shared.reading import EvaluationOptions, alpha_option, measures_option
from assay.analyses.shared.score_tables import result_conditions
from assay.charts.bars import stacked_bar_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.significance import Floats, no_verdict_reason
from assay.comparison.split_half import (
    ALPHA,
    DEFAULT_SPLITS,
    EMPTY_TALLY,
    SplitHalfChunk,
    SplitHalfTally,
    combine_tallies,
    make_chunks,
    run_chunk,
    tabulate_tally,
)
from assay.measures.measures import Measure
from assay.measures.score_table import make_score_table
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Cell, Table

TEST_NAMES = {"sign": "sign", "wrs": "rank-sum", "wsr": "signed-rank", "t": "t"}


@dataclass(frozen=True)
class Options(EvaluationOptions):
    measures: list[Measure] = measures_option("RR@100", parse_measure_list)
    splits: int = option(DEFAULT_SPLITS, "Random splits", least=1, most_in_form=100_000)
    alpha: float = alpha_option(ALPHA)


def plan_split_half(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: Options,
    *,
    seed: int = 0,
    warn: Warn,
    part: bool = False,
) -> PieceworkPlan:
    """Split the comparison of the runs on random halves of the topics into independent pieces.

    part: whether the qrels cover only one topic group. Raises BadInput for fewer than two runs or
    two topics.
    """
    evaluations = evaluate_runs(runs, {"": qrels}, options.measures, options, warn=warn, part=part)[
        ""
    ]
    if len(evaluations) < 2:
        raise BadInput("a comparison needs at least two runs")
    work = make_chunks(splits=options.splits, seed=seed)
    scored = {
        str(measure): make_score_table(evaluations, i) for i, measure in enumerate(options.measures)
    }
    for name, scores in scored.items():
        if len(scores.topics) < 2:
            raise BadInput(
                f"{name}: fewer than two topics have scores for all runs, so they cannot be split into halves"
            )
    pieces = [(name, chunk) for name in scored for chunk in work]

    def finish(tallies: list[SplitHalfTally]) -> Values:
        result: Values = {}
        for name, scores in scored.items():
            why = no_verdict_reason(len(scores.topics) // 2)
            whole = combine_tallies(
                tally for (of, _), tally in zip(pieces, tallies, strict=True) if of == name
            )
            about = {
                "topics": len(scores.topics),
                "splits": options.splits,
                "alpha": options.alpha,
                "no_verdict": f"halves of {why}" if why else "",
            }
            result[name] = {**asdict(tabulate_tally(EMPTY_TALLY if why else whole)), **about}
        return result

    shared = ({name: scores.scores for name, scores in scored.items()}, options.alpha)
    return PieceworkPlan("split halves", _run_piece, shared, pieces, finish)


def _run_piece(
    shared: tuple[dict[str, Floats], float], piece: tuple[str, SplitHalfChunk]
) -> SplitHalfTally:
    scores, alpha = shared
    name, chunk = piece
    return run_chunk(scores[name], chunk, alpha=alpha)


def result_tables(result: Values) -> list[Table]:
    made = []
    for number, (measure, condition) in enumerate(result_conditions(result).items(), 1):
        rows: list[list[Cell]] = []
        for which in ("mean", "median"):
            rows += [
                [which, TEST_NAMES.get(test, test), *rates.values()]
                for test, rates in condition[which].items()
            ]
        rates_named = list(next(iter(condition["mean"].values())))
        tied = (
            "undefined"
            if condition["tied_medians"] is None
            else f"{100 * condition['tied_medians']:.1f}%"
        )
        halves = f"{format_count(condition['splits'], 'split')} of {format_count(condition['topics'], 'topic')}"
        note = f"{halves}, α = {condition['alpha']:g}; halves with equal medians: {tied}."
        if condition.get("no_verdict"):
            note = f"{halves}. No verdict: {condition['no_verdict']}."
        made.append(
            Table(
                f"agreement-{number}",
                f"Agreement of halves by {measure}",
                ["compared by", "test", *rates_named],
                rows,
                note,
            )
        )
    return made


def result_charts(result: Values) -> list[Picture]:
    drawn = []
    for measure, one in result_conditions(result).items():
        if one.get("no_verdict"):
            drawn.append(
                stacked_bar_chart(
                    [],
                    [],
                    caption=f"Agreement of halves by {measure}",
                    what="test",
                    reason=f"No verdict: {one['no_verdict']}.",
                )
            )
            continue
        tests = {
            f"{kind}, {test}": rates
            for kind in ("mean", "median")
            for test, rates in one[kind].items()
        }
        names = [name for name in next(iter(tests.values())) if name != "significant"]
        compared = one["splits"]
        series = [
            (name, [float((rates[name] or 0) * 100) for rates in tests.values()]) for name in names
        ]
        drawn.append(
            stacked_bar_chart(
                list(tests),
                series,
                caption=(f"Agreement of halves by {measure}, percent of pairs"),
                what="test",
                counts=[compared] * len(tests),
                reason="There are no pairs of runs to compare.",
            )
        )
    return drawn


class Command(TopicGroupCommand, CampaignCommand, PiecewiseCommand):
    help = (
        "Split the topics into random halves, and count how often tests on both halves agree "
        "about pairs of runs."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)
    piece = SplitHalfTally

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        add_options(parser, Options)

    def plan(self, *, qrels: str, runs: list[str], seed: int, **options: Any) -> PieceworkPlan:
        judged = read_one_qrels(self, qrels)
        return plan_split_half(
            judged,
            iterate_runs(self, runs, options),
            Options.from_mapping(options),
            seed=seed,
            warn=self.warn,
            part=self.only_these is not None,
        )
