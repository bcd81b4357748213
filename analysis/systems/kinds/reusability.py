"""Would a system that did not take part be judged fairly, and was the pool deep enough?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import Files, ReportKind, Result
from analysis.systems.options import (
    MEASURES,
    READING,
    Field,
    fields_of,
    given_of,
    measures_field,
)
from analysis.systems.written_files import WrittenFile, chosen_runs, tab_separated
from annotation.models import Campaign
from assay.analyses.reusability import Options
from assay.analyses.shared.pictures import MOST_RUNS
from assay.charts.lines import Line, lines
from assay.charts.points import DrawnInterval, intervals
from assay.charts.svg import Picture
from assay.comparison.reusability import largest_change
from assay.counts import counted
from assay.tabular import Cell, Table, place
from pooling.models import Run
from pooling.platform.jobs import Work

FIELDS = (
    measures_field(MEASURES, divisible=True),
    *fields_of(Options, "depth"),
    Field(
        "by_group",
        "Leave out whole groups",
        "yes",
        False,
        hint="As the runs' groups say; a run without one is a group of its own.",
    ),
    *fields_of(Options, "late"),
    *READING,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    by_group = options.get("by_group") and "groups.tsv" in files.others
    groups = {"groups": files.others["groups.tsv"]} if by_group else {}
    chosen = [one for one in FIELDS if one.name != "by_group"]
    return {"qrels": files.qrels[0][1], "runs": files.runs, **groups, **given_of(chosen, options)}


def groups_are_wanted(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return bool(parameters.get("options", {}).get("by_group"))


def group_table(report: Report, work: Work) -> str:
    return tab_separated(
        ["tag", "group"], [[run.tag, run.group or run.tag] for run in chosen_runs(report)]
    )


def tables(result: Result) -> list[Table]:
    units, depths = result["leave_out"], result["depth"]
    some = next(iter(units.values()), None) or next(iter(depths.values()))
    names = list(some["tau"])
    left: list[list[Cell]] = []
    runs: list[list[Cell]] = []
    for unit, changes in units.items():
        row: list[Cell] = [unit, changes["pairs"]]
        for name in names:
            score, rank = (
                largest_change(run[what][name] for run in changes["runs"].values())
                for what in ("score_change", "rank_change")
            )
            row += [changes["tau"][name], score, place(None if rank is None else abs(rank))]
        left.append(row)
        runs += [
            [
                unit,
                tag,
                *(
                    value
                    for name in names
                    for value in (run["score_change"][name], place(run["rank_change"][name]))
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
        f"{counted(result['qrels_pairs'], 'pair')}, {counted(result['topics'], 'topic')}."
    )
    over += f" Undefined: {result['undefined']}." if "undefined" in result else ""
    return [
        Table(
            "left-out",
            "One left out of the pool",
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
            "Changes of each run",
            [
                "left out",
                "run",
                *(f"{what} {name}" for name in names for what in ("score", "rank")),
            ],
            runs,
            "New minus old.",
        ),
        *([late_table(result["late"])] if "late" in result else []),
    ]


def late_table(late: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [
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
    note = (
        "Documents that it (its group) alone found lose their judgement. Expected: what such "
        "documents of others were worth; none above three holes a topic."
    )
    columns = [
        "run",
        "left out",
        "holes a topic",
        f"nDCG@{late['cutoff']} judged",
        "holes as 0",
        "at least",
        "at most",
        "expected",
    ]
    return Table("late", "As a late run", columns, rows, note)


def pictures(result: Result) -> list[Picture]:
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
        lines(
            curves,
            caption="Tau-b with the full qrels, by depth of the pool",
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
        largest = largest_change(run["score_change"][first] for run in one["runs"].values())
        rows.append(DrawnInterval(unit, largest, note="undefined"))
    caption = f"Largest change of {first} of any run when one is left out of the pool"
    drawn.append(
        intervals(
            rows[:MOST_RUNS],
            caption=caption,
            x_label=f"change of {first}",
            what="left out",
            reference=(0.0, ""),
        )
    )
    return drawn


KIND = ReportKind(
    name="reusability",
    place=100,
    title="Reusability of the pool",
    sentence="Would a system that did not take part be judged fairly, and was the pool deep enough?",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    written=(WrittenFile("groups.tsv", groups_are_wanted, group_table),),
)
