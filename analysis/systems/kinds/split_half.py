"""Do two halves of the topics lead to the same conclusions? (Craswell et al. 2021, Table 4)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, ReportKind, Result
from analysis.systems.options import (
    READ,
    arguments_of,
    fields_of,
)
from assay.analyses.shared.score_tables import conditions_of
from assay.analyses.split_half import Options
from assay.charts.bars import stacked
from assay.comparison.split_half import SplitHalfTally
from assay.counts import counted
from assay.tabular import Cell, Table

FIELDS = (*fields_of(Options, "measures", "splits", "alpha", *READ),)


def arguments(files: Files, options: Mapping[str, Any]) -> list[str]:
    return [files.qrels[0][1], *files.runs, *arguments_of(FIELDS, options)]


TESTS = {"sign": "sign", "wrs": "rank-sum", "wsr": "signed-rank", "t": "t"}


def tables(result: Result) -> list[Table]:
    made = []
    for number, (measure, condition) in enumerate(conditions_of(result).items(), 1):
        rows: list[list[Cell]] = []
        for which in ("mean", "median"):
            rows += [
                [which, TESTS.get(test, test), *rates.values()]
                for test, rates in condition[which].items()
            ]
        rates_named = list(next(iter(condition["mean"].values())))
        tied = (
            "undefined"
            if condition["tied_medians"] is None
            else f"{100 * condition['tied_medians']:.1f} %"
        )
        halves = (
            f"{counted(condition['splits'], 'split')} of {counted(condition['topics'], 'topic')}"
        )
        note = f"{halves}, alpha {condition['alpha']:g}; halves with equal medians: {tied}."
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


def pictures(result: Result) -> list[str]:
    drawn = []
    for measure, one in conditions_of(result).items():
        if one.get("no_verdict"):
            drawn.append(
                stacked(
                    [],
                    [],
                    caption=f"How often the two halves agree by {measure}",
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
            stacked(
                list(tests),
                series,
                caption=(
                    f"How often the two halves agree by {measure}, percent of pairs of runs over "
                    f"{counted(compared, 'split')}"
                ),
                what="test",
                counts=[compared] * len(tests),
                reason="There is no pair of runs to compare.",
            )
        )
    return drawn


KIND = ReportKind(
    name="split_half",
    place=70,
    title="Two halves of the topics",
    sentence="How often tests on two halves of the topics agree about pairs of runs.",
    fields=FIELDS,
    arguments=arguments,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    piece=SplitHalfTally,
)
