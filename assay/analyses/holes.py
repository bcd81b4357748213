"""`manage.py holes QRELS RUN`: what is open about a run that did not contribute to the pool."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from assay.analyses.shared.campaign_sources import OfCampaign, add_campaign_options
from assay.analyses.shared.measures import all_runs, measure_list, one_qrels
from assay.analyses.shared.reading import RUNS, Reading
from assay.analyses.shared.run_groups import groups_of_runs
from assay.cli.base import BadInput, positive, text_table, whole_file
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.holes import (
    MANY_HOLES,
    SETTLED,
    Bounds,
    Hole,
    TopicTop,
    UniqueWorth,
    enough_to_settle,
    filled_ndcg,
    filled_precision,
    order_of_filling,
    tops_under,
    widths_left,
    with_later,
    worth_of_uniques,
)
from assay.counts import counted
from assay.formats.pool import HEADER_LINE, pool_line
from assay.measures.hole_bounds import bounds_of, depth_of, difference_of, why_not
from assay.measures.measures import Measure
from assay.options import add_options

MEASURES = "nDCG@10 P@10 RBP(0.8)"
MOST_PRIORITY = 10_000
"""Priorities of a pool are small numbers; beyond this many holes the last ones share the lowest."""


class Command(OfCampaign):
    help = (
        "Documents of a late run that nobody has judged: how many, the exact range of its scores, "
        "and which to judge first."
    )
    writes = ("output", "top_up")
    takes_seed = False
    run_places = ("run",)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("run", metavar="RUN", help="the late run")
        add_campaign_options(parser)
        parser.add_argument(
            "--measures",
            type=measure_list,
            default=MEASURES,
            metavar='"..."',
            help=f'any of qrels (default "{MEASURES}")',
        )
        parser.add_argument(
            "--pool",
            nargs="+",
            metavar="RUN",
            default=[],
            help="runs of the pool: what only one of them found tells what a hole is worth",
        )
        parser.add_argument(
            "--groups",
            metavar="FILE",
            help="tag and group of each run of the pool; a run is a group of its own without it",
        )
        parser.add_argument(
            "--against",
            metavar="RUN",
            help="order the holes by what they tell about the difference to this run",
        )
        parser.add_argument(
            "--judge",
            type=positive,
            metavar="N",
            help="number of unjudged documents to judge first; shows the effect on the score bounds",
        )
        parser.add_argument(
            "--top-up",
            metavar="FILE",
            help="write the holes, in that order (the first N with --judge), as a pool for a campaign",
        )
        parser.add_argument(
            "--topped-up",
            nargs="+",
            metavar="QRELS",
            default=[],
            help="qrels judged since from such a pool; shows the result with and without them",
        )
        parser.add_argument(
            "--scale",
            type=positive,
            metavar="GRADE",
            help="highest grade (default: that of the qrels)",
        )
        parser.add_argument(
            "--level",
            type=positive,
            default=1,
            metavar="N",
            help="lowest relevant grade, except for nDCG (default 1)",
        )
        add_options(parser, Reading, *RUNS)

    def compute(
        self,
        *,
        qrels: str,
        run: str,
        measures: list[Measure],
        pool: list[str],
        groups: str | None,
        against: str | None,
        scale: int | None,
        level: int,
        topped_up: list[str],
        **options: Any,
    ) -> dict[str, Any]:
        first = one_qrels(self, qrels)
        judged = (
            with_later(first, [one_qrels(self, path) for path in topped_up]) if topped_up else first
        )
        for measure in measures:
            if reason := why_not(measure):
                raise BadInput(f"there is no range of {measure}: {reason}")
        (late,) = all_runs(self, [run], options)
        highest = scale or max(int(judged.grades.max(initial=0)), 1)
        if highest < int(judged.grades.max(initial=0)):
            raise BadInput(
                f"--scale {highest}, but the qrels have the grade {int(judged.grades.max())}"
            )
        tops = tops_under(late, judged, depth_of(measures))
        cutoff = max(measure.cutoff or 10 for measure in measures)
        result = holes_of(tops, cutoff) | scores_of(tops, measures, level, highest)
        if topped_up:
            before = tops_under(late, first, depth_of(measures))
            result["before"] = {"holes": holes_of(before, cutoff)["holes"]["total"]} | scores_of(
                before, measures, level, highest
            )
        result |= self.filled(judged, late, tops, measures, pool, groups, level, options)
        rival = None
        if against is not None:
            (other,) = all_runs(self, [against], options)
            rival = tops_under(other, judged, depth_of(measures))
            result["against"] = {
                "run": other.tag,
                "differences": differences(tops, rival, measures, level, highest),
            }
        order = order_of_filling(tops, cutoff=cutoff, rival=rival)
        result["order"] = [[hole.topic, hole.document, hole.weight] for hole in order]
        result["settles"] = what_it_settles(order, highest, options["judge"])
        if options["top_up"]:
            with whole_file(options["top_up"]) as out:
                write_top_up(order[: options["judge"]], out)
        result |= {"run": late.tag, "cutoff": cutoff, "highest": highest}
        result["closed"] = why_closed(order, result)
        return result

    def filled(
        self,
        judged: QrelsColumns,
        late: RunColumns,
        tops: Sequence[TopicTop],
        measures: Sequence[Measure],
        pool: Sequence[str],
        groups: str | None,
        level: int,
        options: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Expected fill of each measure, or null with the reason."""
        runs = [run for run in all_runs(self, pool, options) if run.tag != late.tag] if pool else []
        holes = {
            str(m): sum(r <= (m.cutoff or 10) for top in tops for r in top.holes)
            / max(len(tops), 1)
            for m in measures
        }
        filled: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        worths: dict[int, UniqueWorth] = {}
        tags = [run.tag for run in runs]
        owners = tags if groups is None else groups_of_runs(self, groups, tags)
        for measure in measures:
            name = str(measure)
            filled[name] = None
            if not runs:
                reasons[name] = "--pool with the runs of the pool tells what a hole is worth"
            elif measure.family not in ("nDCG", "P") or measure.cutoff is None:
                reasons[name] = (
                    "expected fill is for nDCG@k and P@k; the residual of RBP is in its bounds"
                )
            elif holes[name] > MANY_HOLES:
                reasons[name] = (
                    f"{holes[name]:.1f} holes a topic: expected fill flatters such runs; trust "
                    f"the bounds, or judge some"
                )
            else:
                depth = measure.cutoff or 10
                if depth not in worths:
                    worths[depth] = worth_of_uniques(runs, owners, judged, depth=depth, level=level)
                worth = worths[depth]
                values = (
                    filled_ndcg(tops, worth, cutoff=depth)
                    if measure.family == "nDCG"
                    else filled_precision(tops, worth, cutoff=depth, level=measure.level or level)
                )
                filled[name] = mean(values)
        return {"filled": filled} | ({"undefined": reasons} if reasons else {})

    def table(self, result: dict[str, Any], **options: Any) -> str:
        total, per_topic = result["holes"]["total"], result["holes"]["per_topic"]
        n = max(len(per_topic), 1)
        holes, topics = ("" if total == 1 else "s"), ("" if n == 1 else "s")
        lines = [
            f"{result['run']}: {total} hole{holes} in the first {result['cutoff']} of "
            f"{len(per_topic)} topic{topics}, {total / n:.2f} a topic, "
            f"at most {max(per_topic.values(), default=0)}"
        ]
        rows = [
            [name, score, *result["bounds"][name], result["filled"][name]]
            for name, score in result["score"].items()
        ]
        lines.append(text_table(["measure", "holes as 0", "at least", "at most", "expected"], rows))
        lines += sorted({f"expected: {reason}" for reason in result.get("undefined", {}).values()})
        if "against" in result:
            part = result["against"]["differences"]
            rows = [
                [name, one["difference"], *one["bounds"], "yes" if one["settled"] else "no"]
                for name, one in part.items()
            ]
            lines.append(
                f"against {result['against']['run']}\n"
                + text_table(
                    ["difference in", "holes as 0", "at least", "at most", "settled"], rows
                )
            )
        if result["order"]:
            lines.append(settled_words(result))
            first = [[topic, document, weight] for topic, document, weight in result["order"][:10]]
            lines.append(
                f"judge first ({min(10, len(result['order']))} of {len(result['order'])})\n"
                + text_table(["topic", "document", "weight"], first)
            )
        if result["closed"]:
            lines.append(f"Closed: {result['closed']}.")
        lines.append("The range holds as long as only this run's holes are judged.")
        return "\n\n".join(lines)


def scores_of(
    tops: Sequence[TopicTop], measures: Sequence[Measure], level: int, highest: int
) -> dict[str, Any]:
    """score (holes as 0) and bounds of each measure."""
    every = {str(measure): ranges(tops, measure, level, highest) for measure in measures}
    return {
        "score": {name: mean(bounds.zero) for name, bounds in every.items()},
        "bounds": {name: [mean(bounds.low), mean(bounds.high)] for name, bounds in every.items()},
    }


def why_closed(order: Sequence[Hole], result: Mapping[str, Any]) -> str | None:
    """Why no more needs to be judged for this report; None while something is open."""
    if not order:
        return f"every result down to rank {result['cutoff']} has been judged"
    against = result.get("against")
    if against and next(iter(against["differences"].values()))["settled"]:
        return (
            f"the sign of the difference to {against['run']} is settled, whatever the holes that "
            f"are left turn out to be"
        )
    name, bounds = next(iter((against["differences"] if against else result["bounds"]).items()))
    low, high = bounds["bounds"] if against else bounds
    if high - low < SETTLED:
        what = f"the difference to {against['run']} by {name}" if against else name
        return f"what the holes that are left may change of {what} is under {SETTLED}"
    return None


def what_it_settles(order: Sequence[Hole], highest: int, judge: int | None) -> dict[str, Any]:
    """Of judging the first `judge` holes (half of them unless given): parts by weight, NaN where
    the holes have no weight."""
    widths = widths_left(order, highest=highest)
    left = widths / widths[0] if widths[0] else np.full(len(widths), math.nan)
    n = min(judge or (len(order) + 1) // 2, len(order))
    steps = {str(share): float(left[round(share * len(order))]) for share in (0.1, 0.25, 0.5, 0.75)}
    return {"n": n, "left": float(left[n]), "enough": enough_to_settle(widths), "by_share": steps}


def differences(
    tops: Sequence[TopicTop],
    rival: Sequence[TopicTop],
    measures: Sequence[Measure],
    level: int,
    highest: int,
) -> dict[str, dict[str, Any]]:
    """Of the late run to the other, whatever the holes of both turn out to be; settled where the
    range excludes 0."""
    bounds_of_measure = {}
    for measure in measures:
        try:
            bounds = difference_of(tops, rival, measure, level=level, highest=highest)
        except ValueError as error:
            raise BadInput(str(error)) from None
        low, high = mean(bounds.low), mean(bounds.high)
        bounds_of_measure[str(measure)] = {
            "difference": mean(bounds.zero),
            "bounds": [low, high],
            "settled": low > 0 or high < 0,
        }
    return bounds_of_measure


def settled_words(result: Mapping[str, Any]) -> str:
    """What judging the first holes would settle, by weights: they leave out what a hole that turns
    out relevant does to the ideal."""
    part = result["settles"]
    of_what = f"{'the difference by ' if 'against' in result else ''}nDCG@{result['cutoff']}"
    ideal = (
        "a hole that turns out relevant moves the ideal, too. What is certain are the ranges above."
    )
    if part["left"] is None or math.isnan(part["left"]):
        return f"By their weights the holes leave nothing open of {of_what}, but {ideal}"
    return (
        f"Judging the first {part['n']} of {counted(len(result['order']), 'hole')} settles "
        f"{1 - part['left']:.0%} of what they leave open of {of_what}, "
        f"by their weights; {part['enough']} settle all but {SETTLED}. Weights are no bound: {ideal}"
    )


def write_top_up(order: Sequence[Hole], out: IO[str]) -> None:
    """A pool of exactly these pairs, the first the most urgent."""
    out.write(HEADER_LINE)
    urgent = min(len(order), MOST_PRIORITY)
    out.writelines(
        pool_line(hole.topic, hole.document, hole.rank, max(urgent - k, 0), ())
        for k, hole in enumerate(order)
    )


def ranges(tops: Sequence[TopicTop], measure: Measure, level: int, highest: int) -> Bounds:
    try:
        return bounds_of(tops, measure, level=level, highest=highest)
    except ValueError as error:
        raise BadInput(str(error)) from None


def holes_of(tops: Sequence[TopicTop], cutoff: int) -> dict[str, Any]:
    per_topic = {top.topic: sum(rank <= cutoff for rank in top.holes) for top in tops}
    return {"holes": {"total": sum(per_topic.values()), "per_topic": per_topic}}


def mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
