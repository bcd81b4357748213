"""Report the unjudged documents of a run that did not contribute to the pool, and its score
bounds."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np

from assay.analyses.shared.campaign_sources import CampaignCommand, add_campaign_options
from assay.analyses.shared.measures import parse_measure_list, read_one_qrels, read_runs
from assay.analyses.shared.reading import RunReading, measures_option
from assay.analyses.shared.run_groups import read_run_groups
from assay.analyses.shared.unjudged_tables import result_charts, result_tables
from assay.cli.base import BadInput, write_text_atomically
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.unjudged_documents import (
    MAX_MEAN_UNJUDGED,
    NEGLIGIBLE_WIDTH,
    ScoreBounds,
    TopicTop,
    UniqueDocumentGrades,
    UnjudgedDocument,
    add_later_judgements,
    count_to_narrow,
    imputed_ndcg,
    imputed_precision,
    judging_order,
    read_topic_tops,
    remaining_score_range,
    summarise_unique_documents,
)
from assay.formats.pool import HEADER_LINE, format_pool_line
from assay.measures.measures import Measure
from assay.measures.score_bounds import (
    compute_bounds,
    compute_difference_bounds,
    no_bounds_reason,
    required_depth,
)
from assay.options import add_options, option
from assay.results import Values

MEASURES = "nDCG@10 P@10 RBP(0.8)"
MAX_PRIORITY = 10_000
"""Maximum priority. Documents beyond this number share the lowest priority."""
GroupOf = Callable[[Sequence[str]], Sequence[str]]
"""(tags) -> the group of each run."""


@dataclass(frozen=True)
class Options(RunReading):
    measures: list[Measure] = measures_option(MEASURES, parse_measure_list)
    judge: int | None = option(
        None,
        "Number to judge",
        help="number of documents to judge first (default: half of the unjudged documents)",
        hint="Reports the effect of judging them. Leave empty for half of the unjudged.",
        least=1,
    )
    max_grade: int | None = option(
        None,
        "Highest grade",
        help="highest grade of the scale (default: the highest in the qrels)",
        hint="Unjudged documents may have any grade up to it. Leave empty for that of the qrels.",
        least=1,
        metavar="GRADE",
    )


def compute(
    qrels: QrelsColumns,
    run: RunColumns,
    options: Options,
    *,
    pool: Sequence[RunColumns] = (),
    group_of: GroupOf | None = None,
    rival: RunColumns | None = None,
    before: QrelsColumns | None = None,
) -> Values:
    """Compute the score bounds of a run over all possible grades of its unjudged documents.

    pool: runs from which scores are imputed. group_of: their groups, or None if each run is its own
    group. rival: a run to compare with. before: the qrels before later judgements were added.
    Raises BadInput for a measure without bounds, and for grades above the scale.
    """
    for measure in options.measures:
        if reason := no_bounds_reason(measure):
            raise BadInput(f"no score bounds of {measure}: {reason}")
    measures, min_relevant = options.measures, options.min_relevant
    highest = options.max_grade or max(int(qrels.grades.max(initial=0)), 1)
    if highest < int(qrels.grades.max(initial=0)):
        raise BadInput(
            f"--max-grade {highest} is below the highest grade of the qrels, expected at least "
            f"{int(qrels.grades.max())}"
        )
    tops = read_topic_tops(run, qrels, required_depth(measures))
    cutoff = find_cutoff(measures)
    result = list_unjudged(tops, cutoff) | compute_scores(tops, measures, min_relevant, highest)
    if before is not None:
        then = read_topic_tops(run, before, required_depth(measures))
        result["before"] = {
            "unjudged": list_unjudged(then, cutoff)["unjudged"]["total"]
        } | compute_scores(then, measures, min_relevant, highest)
    others = [one for one in pool if one.tag != run.tag]
    result |= impute_scores(qrels, tops, measures, others, group_of, min_relevant)
    if rival is not None:
        result["against"] = {
            "run": rival.tag,
            "differences": compute_differences(
                tops,
                read_topic_tops(rival, qrels, required_depth(measures)),
                measures,
                min_relevant,
                highest,
            ),
        }
    order = list_judging_order(qrels, run, measures, rival)
    result["order"] = [[hole.topic, hole.document, hole.weight] for hole in order]
    result["settles"] = compute_judging_effect(order, highest, options.judge)
    result |= {"run": run.tag, "cutoff": cutoff, "highest": highest}
    result["closed"] = completion_reason(order, result)
    return result


def find_cutoff(measures: Sequence[Measure]) -> int:
    return max(measure.cutoff or 10 for measure in measures)


def list_judging_order(
    qrels: QrelsColumns, run: RunColumns, measures: Sequence[Measure], rival: RunColumns | None
) -> list[UnjudgedDocument]:
    """Return the unjudged documents of the run and of the rival, the most informative first."""
    depth = required_depth(measures)
    return judging_order(
        read_topic_tops(run, qrels, depth),
        cutoff=find_cutoff(measures),
        rival=None if rival is None else read_topic_tops(rival, qrels, depth),
    )


def impute_scores(
    judged: QrelsColumns,
    tops: Sequence[TopicTop],
    measures: Sequence[Measure],
    runs: Sequence[RunColumns],
    group_of: GroupOf | None,
    min_relevant: int,
) -> Values:
    """Impute the score of each measure from documents found by only one run of the pool. None, with
    the reason, if that is not possible."""
    n_unjudged = {
        str(m): sum(r <= (m.cutoff or 10) for top in tops for r in top.unjudged) / max(len(tops), 1)
        for m in measures
    }
    filled: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    worths: dict[int, UniqueDocumentGrades] = {}
    tags = [run.tag for run in runs]
    owners = tags if group_of is None else group_of(tags)
    for measure in measures:
        name = str(measure)
        filled[name] = None
        if not runs:
            reasons[name] = "an imputed score needs the runs of the pool (--pool-runs)"
        elif measure.family not in ("nDCG", "P") or measure.cutoff is None:
            reasons[name] = (
                "scores are imputed for nDCG@k and P@k; the residual of RBP is in its bounds"
            )
        elif n_unjudged[name] > MAX_MEAN_UNJUDGED:
            reasons[name] = (
                f"{n_unjudged[name]:.1f} unjudged documents per topic: imputed scores are too high for "
                f"such runs; use the bounds, or judge some of them"
            )
        else:
            depth = measure.cutoff or 10
            if depth not in worths:
                worths[depth] = summarise_unique_documents(
                    runs, owners, judged, depth=depth, min_relevant=min_relevant
                )
            unique_grades = worths[depth]
            values = (
                imputed_ndcg(tops, unique_grades, cutoff=depth)
                if measure.family == "nDCG"
                else imputed_precision(
                    tops,
                    unique_grades,
                    cutoff=depth,
                    min_relevant=measure.min_relevant or min_relevant,
                )
            )
            filled[name] = mean_or_nan(values)
    return {"filled": filled} | ({"undefined": reasons} if reasons else {})


def compute_scores(
    tops: Sequence[TopicTop], measures: Sequence[Measure], min_relevant: int, highest: int
) -> dict[str, Any]:
    """Return the score of each measure, with unjudged documents as not relevant, and its bounds."""
    every = {
        str(measure): compute_ranges(tops, measure, min_relevant, highest) for measure in measures
    }
    return {
        "score": {name: mean_or_nan(bounds.zero) for name, bounds in every.items()},
        "bounds": {
            name: [mean_or_nan(bounds.low), mean_or_nan(bounds.high)]
            for name, bounds in every.items()
        },
    }


def completion_reason(order: Sequence[UnjudgedDocument], result: Mapping[str, Any]) -> str | None:
    """Return why no more documents need judgements, or None if some do."""
    if not order:
        return f"every result down to rank {result['cutoff']} has been judged"
    against = result.get("against")
    if against and next(iter(against["differences"].values()))["settled"]:
        return (
            f"the sign of the difference from {against['run']} is settled, whatever the grades of "
            f"the remaining unjudged documents"
        )
    name, bounds = next(iter((against["differences"] if against else result["bounds"]).items()))
    low, high = bounds["bounds"] if against else bounds
    if high - low < NEGLIGIBLE_WIDTH:
        what = f"the difference from {against['run']} by {name}" if against else name
        return f"the remaining unjudged documents change {what} by less than {NEGLIGIBLE_WIDTH}"
    return None


def compute_judging_effect(
    order: Sequence[UnjudgedDocument], highest: int, judge: int | None
) -> dict[str, Any]:
    """Return the shares of weight by which judging the first `judge` documents (default: half)
    would narrow the score bounds, NaN without weight."""
    widths = remaining_score_range(order, highest=highest)
    left = widths / widths[0] if widths[0] else np.full(len(widths), math.nan)
    n = min(judge or (len(order) + 1) // 2, len(order))
    steps = {str(share): float(left[round(share * len(order))]) for share in (0.1, 0.25, 0.5, 0.75)}
    return {"n": n, "left": float(left[n]), "enough": count_to_narrow(widths), "by_share": steps}


def compute_differences(
    tops: Sequence[TopicTop],
    rival: Sequence[TopicTop],
    measures: Sequence[Measure],
    min_relevant: int,
    highest: int,
) -> dict[str, dict[str, Any]]:
    """Return the bounds of the run's differences to the rival over all possible grades of the
    unjudged documents of both. A difference is settled if its bounds exclude 0."""
    bounds_of_measure = {}
    for measure in measures:
        try:
            bounds = compute_difference_bounds(
                tops, rival, measure, min_relevant=min_relevant, highest=highest
            )
        except ValueError as error:
            raise BadInput(str(error)) from None
        low, high = mean_or_nan(bounds.low), mean_or_nan(bounds.high)
        bounds_of_measure[str(measure)] = {
            "difference": mean_or_nan(bounds.zero),
            "bounds": [low, high],
            "settled": low > 0 or high < 0,
        }
    return bounds_of_measure


def write_top_up_pool(order: Sequence[UnjudgedDocument], out: IO[str]) -> None:
    """Write a pool of these pairs, the first with the highest priority."""
    out.write(HEADER_LINE)
    urgent = min(len(order), MAX_PRIORITY)
    out.writelines(
        format_pool_line(hole.topic, hole.document, hole.rank, max(urgent - k, 0), ())
        for k, hole in enumerate(order)
    )


def compute_ranges(
    tops: Sequence[TopicTop], measure: Measure, min_relevant: int, highest: int
) -> ScoreBounds:
    try:
        return compute_bounds(tops, measure, min_relevant=min_relevant, highest=highest)
    except ValueError as error:
        raise BadInput(str(error)) from None


def list_unjudged(tops: Sequence[TopicTop], cutoff: int) -> dict[str, Any]:
    per_topic = {top.topic: sum(rank <= cutoff for rank in top.unjudged) for top in tops}
    return {"unjudged": {"total": sum(per_topic.values()), "per_topic": per_topic}}


def mean_or_nan(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


class Command(CampaignCommand):
    help = (
        "Report the unjudged documents of a run that did not contribute to the pool: their number, "
        "the score bounds, and which to judge first."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)
    writes = ("output", "top_up")
    takes_seed = False
    run_places = ("run",)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("qrels", metavar="QRELS")
        parser.add_argument("run", metavar="RUN", help="run that did not contribute to the pool")
        add_campaign_options(parser)
        parser.add_argument(
            "--pool-runs",
            nargs="+",
            metavar="RUN",
            default=[],
            help=(
                "run files of the pool, for imputing scores from documents that only one of the "
                "runs found"
            ),
        )
        parser.add_argument(
            "--groups",
            metavar="FILE",
            help=(
                "table with the tag and group of each run of the pool (default: each run is its "
                "own group)"
            ),
        )
        parser.add_argument(
            "--against-run",
            metavar="BASELINE",
            help=(
                "other run; pairs are ordered by their largest possible effect on the score "
                "difference between RUN and BASELINE"
            ),
        )
        parser.add_argument(
            "--top-up",
            metavar="FILE",
            help="output pool file of the unjudged documents, most informative first (with --judge: the first N)",
        )
        parser.add_argument(
            "--topped-up",
            nargs="+",
            metavar="QRELS",
            default=[],
            help=(
                "qrels files of pools written by --top-up; results are reported with and without "
                "them"
            ),
        )
        add_options(parser, Options)

    def compute(
        self,
        *,
        qrels: str,
        run: str,
        pool_runs: list[str],
        groups: str | None,
        against_run: str | None,
        topped_up: list[str],
        top_up: str | None,
        **option_values: Any,
    ) -> Values:
        options = Options.from_mapping(option_values)
        first = read_one_qrels(self, qrels)
        later = [read_one_qrels(self, path) for path in topped_up]
        judged = add_later_judgements(first, later) if later else first
        (late,) = read_runs(self, [run], option_values)
        rival = None if against_run is None else read_runs(self, [against_run], option_values)[0]
        result = compute(
            judged,
            late,
            options,
            pool=read_runs(self, pool_runs, option_values) if pool_runs else [],
            group_of=None if groups is None else partial(read_run_groups, self, groups),
            rival=rival,
            before=first if later else None,
        )
        if top_up:
            order = list_judging_order(judged, late, options.measures, rival)
            with write_text_atomically(top_up) as out:
                write_top_up_pool(order[: options.judge], out)
        return result
