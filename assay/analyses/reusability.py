"""Measure how scores and ranks change if a run is left out of the pool, or the pool is
shallower."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import TopicGroupCommand
from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.measures import (
    DEFAULT_MEASURES,
    PiecewiseCommand,
    PieceworkPlan,
    drop_topics_without_relevant,
    iterate_runs,
    parse_divisible_measures,
    read_one_qrels,
)
from assay.analyses.shared.reading import EvaluationOptions, measures_option
from assay.analyses.shared.run_charts import MAX_RUNS
from assay.analyses.shared.run_groups import read_run_groups
from assay.charts.lines import Line, line_chart
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.reusability import (
    ReusabilityRequest,
    combine_results,
    find_largest_change,
    make_chunks,
    run_chunk,
    to_json,
)
from assay.comparison.unpooled_runs import iterate_left_out_scores
from assay.measures.batch import PackedCollection, pack_collection
from assay.measures.measures import Measure
from assay.number_words import format_count
from assay.options import add_options, option
from assay.results import Values
from assay.tabular import Cell, Table, format_rank

UNPOOLED_CUTOFF = 10
"""Cutoff of nDCG. For a shallower pool it is the pool's depth."""


@dataclass(frozen=True)
class Options(EvaluationOptions):
    measures: list[Measure] = measures_option(
        DEFAULT_MEASURES, parse_divisible_measures, divisible=True
    )
    depth: int = option(
        10, "Depth of the pool", help="depth of the pool", least=1, most_in_form=1000, metavar="K"
    )
    as_unpooled: bool = option(
        False,
        "Each run as an unpooled run",
        help=(
            "report each run as if it had not contributed to the pool: unjudged documents, "
            "score bounds and imputed score of nDCG"
        ),
        hint="Unjudged documents, score bounds and imputed score of nDCG.",
    )


def plan(
    qrels: QrelsColumns,
    runs: Iterable[RunColumns],
    options: Options,
    *,
    group_of: Callable[[Sequence[str]], tuple[str, ...]] | None = None,
) -> PieceworkPlan:
    """Plan, in independent pieces, the scoring of the runs with each run or group left out of the
    pool, and at each smaller depth.

    group_of: tags -> group of each run, or None to leave out single runs. Changes are new minus
    old. Raises BadInput if no topic counts.
    """
    judged = drop_topics_without_relevant(qrels, vars(options))
    kept = list(runs)
    collection = pack_collection(judged, kept)
    request = ReusabilityRequest(
        measures=tuple(options.measures),
        depth=options.depth,
        groups=None if group_of is None else group_of(collection.tags),
        min_relevant=options.min_relevant,
        missing_topics=options.missing_topics,
    )
    pieces = make_chunks(collection, request)
    to_rescore = kept if options.as_unpooled else []
    del kept

    def finish(means: list[np.ndarray]) -> Values:
        result = to_json(combine_results(collection, request, pieces, means))
        if undefined := undefined_reason(collection, missing_topics=options.missing_topics):
            result["undefined"] = undefined
        result |= {
            "pool_depth": options.depth,
            "qrels_pairs": len(collection.grades),
            "topics": len(collection.topics),
        }
        return (
            {**result, "unpooled": score_as_unpooled(judged, to_rescore, request)}
            if to_rescore
            else result
        )

    return PieceworkPlan("reusability", _run_piece, (collection, request), pieces, finish)


def undefined_reason(collection: PackedCollection, *, missing_topics: str) -> str:
    """Return why values are undefined, or an empty string."""
    if len(collection.tags) < 2:
        return "there is only one run, so tau is undefined"
    apart = (
        [tag for tag, has in zip(collection.tags, collection.has, strict=True) if not has.any()]
        if missing_topics == "skip"
        else []
    )
    names = f"{', '.join(apart)} {'has' if len(apart) == 1 else 'have'}"
    return (
        f"{names} no topic in common with the qrels and therefore no score: tau and the mean change of all runs are undefined"
        if apart
        else ""
    )


def score_as_unpooled(
    judged: QrelsColumns, runs: list[RunColumns], request: ReusabilityRequest
) -> dict[str, Any]:
    """Score each run as if it had not contributed to the pool.

    Returns the cutoff k and, by tag, `left_out`, `unjudged` (mean number of documents per topic),
    and nDCG@k computed in different ways: `judged` (with the complete qrels), `unjudged_as_0`,
    `bounds`, and `expected`, which is None with many unjudged documents.
    """
    cutoff = min(UNPOOLED_CUTOFF, request.depth)
    scores = iterate_left_out_scores(
        runs,
        request.groups or [run.tag for run in runs],
        judged,
        cutoff=cutoff,
        min_relevant=request.min_relevant,
    )
    rows = {
        one.tag: {
            "left_out": one.unit,
            "unjudged": one.mean_unjudged,
            "judged": one.judged,
            "unjudged_as_0": float(one.bounds.zero.mean()),
            "bounds": [float(one.bounds.low.mean()), float(one.bounds.high.mean())],
            "expected": one.filled if one.shows_imputed_score else None,
        }
        for one in scores
    }
    return {"cutoff": cutoff, "runs": rows}


def _run_piece(
    shared: tuple[PackedCollection, ReusabilityRequest], piece: tuple[int, int]
) -> np.ndarray:
    collection, request = shared
    return run_chunk(collection, request, piece)


def result_tables(result: Values) -> list[Table]:
    units, depths = result["leave_out"], result["depth"]
    some = next(iter(units.values()), None) or next(iter(depths.values()))
    names = list(some["tau"])
    left: list[list[Cell]] = []
    runs: list[list[Cell]] = []
    for unit, changes in units.items():
        row: list[Cell] = [unit, changes["pairs"]]
        for name in names:
            score, rank = (
                find_largest_change(run[what][name] for run in changes["runs"].values())
                for what in ("score_change", "rank_change")
            )
            row += [changes["tau"][name], score, format_rank(None if rank is None else abs(rank))]
        left.append(row)
        runs += [
            [
                unit,
                tag,
                *(
                    value
                    for name in names
                    for value in (run["score_change"][name], format_rank(run["rank_change"][name]))
                ),
            ]
            for tag, run in changes["runs"].items()
        ]
    heads = [f"{what} {name}" for name in names for what in ("tau", "score change", "rank change")]
    by_depth: list[list[Cell]] = [
        [
            int(depth),
            changes["pairs"],
            *(
                value
                for name in names
                for value in (changes["tau"][name], changes["mean_abs_change"][name])
            ),
        ]
        for depth, changes in depths.items()
    ]
    over = (
        f"Pool of depth {result['pool_depth']}, qrels of "
        f"{format_count(result['qrels_pairs'], 'pair')}, {format_count(result['topics'], 'topic')}."
    )
    return [
        Table(
            "left-out",
            "One run or group left out",
            ["left out", "pairs dropped", *heads],
            left,
            f"The largest change of any run. {over}",
        ),
        Table(
            "depths",
            "Shallower pools",
            ["depth", "pairs", *(f"{what} {n}" for n in names for what in ("tau", "mean change"))],
            by_depth,
            over,
        ),
        Table(
            "runs",
            "Changes by run",
            [
                "left out",
                "run",
                *(f"{what} {name}" for name in names for what in ("score", "rank")),
            ],
            runs,
            "New minus old.",
        ),
        *([format_unpooled_table(result["unpooled"])] if "unpooled" in result else []),
    ]


def format_unpooled_table(unpooled: Values) -> Table:
    rows: list[list[Cell]] = [
        [
            tag,
            one["left_out"],
            one["unjudged"],
            one["judged"],
            one["unjudged_as_0"],
            *one["bounds"],
            one["expected"],
        ]
        for tag, one in unpooled["runs"].items()
    ]
    note = (
        "Documents that only this run (or its group) found lose their judgement. The imputed "
        "score is based on such documents of other runs. It is undefined for more than three unjudged documents per topic."
    )
    columns = [
        "run",
        "left out",
        "unjudged per topic",
        f"nDCG@{unpooled['cutoff']} judged",
        "score, unjudged as 0",
        "lower bound",
        "upper bound",
        "imputed score",
    ]
    return Table("unpooled", "Scores as an unpooled run", columns, rows, note)


def result_charts(result: Values) -> list[Picture]:
    depths = result["depth"]
    some = next(iter(depths.values()), None) or next(iter(result["leave_out"].values()))
    names = list(some["tau"])
    at = [float(depth) for depth in depths]
    curves = [
        Line(
            name,
            [(float(depth), drawn["tau"][name]) for depth, drawn in depths.items()],
            marks=True,
        )
        for name in names
    ]
    reason = result.get("undefined", "Tau is undefined: all runs are tied.")
    drawn = [
        line_chart(
            curves,
            caption="Tau-b with the full qrels by pool depth",
            x_label="depth",
            y_label="tau-b",
            x_at=at,
            y_high=1.0,
            horizontal=[(0.9, "0.9")],
            reason=reason,
        )
    ]
    first = names[0]
    rows = []
    for unit, one in result["leave_out"].items():
        largest = find_largest_change(run["score_change"][first] for run in one["runs"].values())
        rows.append(DrawnInterval(unit, largest, note="undefined"))
    caption = f"Largest change of {first} when a run is left out"
    drawn.append(
        interval_chart(
            rows[:MAX_RUNS],
            caption=caption,
            x_label=f"change of {first}",
            what="left out",
            reference=(0.0, ""),
        )
    )
    return drawn


class Command(TopicGroupCommand, CampaignCommand, PiecewiseCommand):
    help = (
        "Leave one run or group out of the pool, or reduce the depth of the pool, and report "
        "how scores and ranks change."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--groups",
            metavar="FILE",
            help="table with the tag and group of each run, for leaving out whole groups",
        )
        add_options(parser, Options)

    def plan(
        self, *, qrels: str, runs: list[str], groups: str | None, **options: Any
    ) -> PieceworkPlan:
        return plan(
            read_one_qrels(self, qrels),
            iterate_runs(self, runs, options),
            Options.from_mapping(options),
            group_of=None if groups is None else partial(read_run_groups, self, groups),
        )
