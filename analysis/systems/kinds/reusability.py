"""Would a system that did not take part be judged fairly, and was the pool deep enough?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import AnalysisFiles, ReportKind
from analysis.systems.options import (
    EVALUATION_KEYS,
    ReportField,
    changed_options,
    report_fields,
)
from analysis.systems.written_files import WrittenFile, format_tsv, get_chosen_runs
from annotation.models import Campaign
from assay.analyses.reusability import Options, pictures, tables
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob

FIELDS = (
    *report_fields(Options, "measures", "depth"),
    ReportField(
        "by_group",
        "Leave out whole groups",
        "yes",
        False,
        hint="By the groups of the runs. A run without one is a group of its own.",
    ),
    *report_fields(Options, "late", *EVALUATION_KEYS),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    by_group = options.get("by_group") and "groups.tsv" in files.others
    groups = {"groups": files.others["groups.tsv"]} if by_group else {}
    chosen = [one for one in FIELDS if one.name != "by_group"]
    return {
        "qrels": files.qrels[0][1],
        "runs": files.runs,
        **groups,
        **changed_options(chosen, options),
    }


def has_groups(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return bool(parameters.get("options", {}).get("by_group"))


def group_table(report: Report, work: ClaimedJob) -> str:
    return format_tsv(
        ["tag", "group"], [[run.tag, run.group or run.tag] for run in get_chosen_runs(report)]
    )


KIND = ReportKind(
    name="reusability",
    place=100,
    title="Reusability of the pool",
    sentence="Would a system that did not take part be judged fairly, and was the pool deep enough?",
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    written=(WrittenFile("groups.tsv", has_groups, group_table),),
)
