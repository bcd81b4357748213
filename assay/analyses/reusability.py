"""`manage.py reusability QRELS RUN...`: would a system that did not take part be judged fairly, and
was the pool deep enough?"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.by_topic_group import ByTopicGroup
from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import (
    DEFAULT_MEASURES,
    PiecewiseCommand,
    PieceworkPlan,
    all_runs,
    divisible_measures,
    one_qrels,
    topics_that_count,
)
from assay.analyses.shared.reading import Reading, measures_option
from assay.analyses.shared.run_groups import groups_of_runs
from assay.cli.base import text_table
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.late_runs import left_out_scores
from assay.comparison.reusability import (
    Request,
    as_json,
    chunks,
    combine,
    largest_change,
    run_chunk,
)
from assay.counts import counted
from assay.measures.batch import PackedCollection, pack
from assay.measures.measures import Measure
from assay.options import add_options, option

LATE_CUTOFF = 10
"""Of nDCG; of a shallower pool its depth."""


@dataclass(frozen=True)
class Options(Reading):
    measures: list[Measure] = measures_option(DEFAULT_MEASURES, divisible_measures)
    depth: int = option(10, "Depth of the pool", least=1, most_in_form=1000, metavar="K")
    late: bool = option(
        False,
        "What each one left out would be told as a late run",
        help="unjudged documents, score bounds and expected nDCG of each run as if it had not been pooled",
        hint="Holes, exact range and expected nDCG.",
    )


class Command(ByTopicGroup, OfCampaign, PiecewiseCommand):
    help = "Leave one run or group out of the pool, and make the pool shallower: how much do scores and ranks change?"

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("runs", nargs="+", metavar="RUN")
        add_campaign_options(parser)
        parser.add_argument(
            "--groups", metavar="FILE", help="tag and group of each run: whole groups are left out"
        )
        add_options(parser, Options)

    def plan(
        self,
        *,
        qrels: str,
        runs: list[str],
        depth: int,
        groups: str | None,
        late: bool,
        **options: Any,
    ) -> PieceworkPlan:
        judged = topics_that_count(one_qrels(self, qrels), options)
        collection = pack(judged, all_runs(self, runs, options))
        request = Request(
            measures=tuple(options["measures"]),
            depth=depth,
            groups=None if groups is None else groups_of_runs(self, groups, collection.tags),
            level=options["level"],
            topics=options["topics"],
        )
        pieces = chunks(collection, request)

        def finish(means: list[np.ndarray]) -> dict[str, Any]:
            answer = as_json(combine(collection, request, pieces, means))
            if undefined := why_undefined(collection, topics=options["topics"]):
                answer["undefined"] = undefined
            answer |= {
                "pool_depth": depth,
                "qrels_pairs": len(collection.grades),
                "topics": len(collection.topics),
            }
            return answer | (
                {"late": as_late_runs(judged, all_runs(self, runs, options), request)}
                if late
                else {}
            )

        return PieceworkPlan("reusability", _means, (collection, request), pieces, finish)

    def table(self, result: dict[str, Any], **options: Any) -> str:
        names = [str(measure) for measure in options["measures"]]
        of_group = options["groups"] is not None
        left = []
        for unit, changes_of in result["leave_out"].items():
            row: list[Any] = [unit, changes_of["pairs"]]
            for name in names:
                runs = changes_of["runs"].values()
                largest = [
                    largest_change(run[what][name] for run in runs)
                    for what in ("score_change", "rank_change")
                ]
                row += [
                    changes_of["tau"][name],
                    largest[0],
                    None if largest[1] is None else abs(largest[1]),
                ]
            left.append(row)
        header = ["left out", "pairs"] + [
            f"{what} {name}" for name in names for what in ("tau", "score", "rank")
        ]
        depths = [
            [
                depth,
                changes_of["pairs"],
                *(
                    value
                    for name in names
                    for value in (changes_of["tau"][name], changes_of["mean_abs_change"][name])
                ),
            ]
            for depth, changes_of in result["depth"].items()
        ]
        return "\n\n".join(
            [
                (
                    f"pool of depth {result['pool_depth']}, qrels of "
                    f"{counted(result['qrels_pairs'], 'pair')}, {counted(result['topics'], 'topic')}"
                ),
                (
                    f"{'groups' if of_group else 'runs'} left out; score, rank: the largest change of "
                    f"any run\n{text_table(header, left)}"
                ),
                "shallower pools; change: mean absolute change of the scores\n"
                + text_table(
                    ["depth", "pairs"]
                    + [f"{what} {name}" for name in names for what in ("tau", "change")],
                    depths,
                ),
                *([late_table(result["late"])] if "late" in result else []),
                *([f"undefined: {result['undefined']}"] if "undefined" in result else []),
            ]
        )


def why_undefined(collection: PackedCollection, *, topics: str) -> str:
    """Why there are values missing; empty where none is."""
    if len(collection.tags) < 2:
        return "one run makes no ranking of systems, so that there is no tau"
    apart = (
        [tag for tag, has in zip(collection.tags, collection.has, strict=True) if not has.any()]
        if topics == "intersection"
        else []
    )
    names = f"{', '.join(apart)} {'has' if len(apart) == 1 else 'have'}"
    return (
        f"{names} no topic in common with the qrels, and so no score: no tau, and no mean change of all runs"
        if apart
        else ""
    )


def as_late_runs(judged: QrelsColumns, runs: list[RunColumns], request: Request) -> dict[str, Any]:
    """cutoff k; runs, by tag: left_out, holes (mean a topic), nDCG@k judged (under all qrels),
    holes_as_0, bounds, and expected, null with many holes."""
    cutoff = min(LATE_CUTOFF, request.depth)
    scores = left_out_scores(
        runs,
        request.groups or [run.tag for run in runs],
        judged,
        cutoff=cutoff,
        level=request.level,
    )
    rows = {
        one.tag: {
            "left_out": one.unit,
            "holes": one.mean_holes,
            "judged": one.judged,
            "holes_as_0": float(one.bounds.zero.mean()),
            "bounds": [float(one.bounds.low.mean()), float(one.bounds.high.mean())],
            "expected": one.filled if one.is_filled else None,
        }
        for one in scores
    }
    return {"cutoff": cutoff, "runs": rows}


def late_table(late: dict[str, Any]) -> str:
    rows = [
        [
            tag,
            one["left_out"],
            one["holes"],
            one["judged"],
            one["holes_as_0"],
            *one["bounds"],
            one["expected"],
        ]
        for tag, one in late["runs"].items()
    ]
    header = [
        "run",
        "left out",
        "holes a topic",
        "judged",
        "holes as 0",
        "at least",
        "at most",
        "expected",
    ]
    return f"as a late run: nDCG@{late['cutoff']}\n" + text_table(header, rows)


def _means(shared: tuple[PackedCollection, Request], piece: tuple[int, int]) -> np.ndarray:
    collection, request = shared
    return run_chunk(collection, request, piece)
