"""Would a system that did not take part be judged fairly, and was the pool deep enough?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import Files, ReportKind
from analysis.systems.options import (
    READ,
    Field,
    fields_of,
    given_of,
)
from analysis.systems.written_files import WrittenFile, chosen_runs, tab_separated
from annotation.models import Campaign
from assay.analyses.reusability import Options, pictures, tables
from pooling.models import Run
from pooling.platform.jobs import Work

FIELDS = (
    *fields_of(Options, "measures", "depth"),
    Field(
        "by_group",
        "Leave out whole groups",
        "yes",
        False,
        hint="By the groups of the runs. A run without one is a group of its own.",
    ),
    *fields_of(Options, "late", *READ),
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
