"""The chain of runs that were the state of the art (Lin et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import AnalysisFiles, ReportKind
from analysis.systems.options import EVALUATION_KEYS, changed_options, report_fields
from analysis.systems.written_files import WrittenFile, format_tsv, get_chosen_runs, have_dates
from annotation.models import Campaign
from assay.analyses.leaderboard import Options, pictures, tables
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob

FIELDS = report_fields(
    Options,
    *("cutoff", "alpha", "decide", "correction", "family"),
    *("baselines", "until", "highlight", *EVALUATION_KEYS),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    order = {"order": files.others["order.tsv"]} if "order.tsv" in files.others else {}
    return {
        "qrels": files.qrels[0][1],
        "runs": files.runs,
        **order,
        **changed_options(FIELDS, options),
    }


def is_order_known(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Raises Refused where some of the runs have a date and some have none."""
    return have_dates(runs, or_none=True)


def order_table(report: Report, work: ClaimedJob) -> str:
    header = ["tag", "date", "group", "baseline", "description"]
    return format_tsv(
        header,
        [
            [
                r.tag,
                r.submitted_on.isoformat() if r.submitted_on else "",
                r.group,
                int(r.baseline),
                r.description,
            ]
            for r in get_chosen_runs(report)
        ],
    )


KIND = ReportKind(
    name="leaderboard",
    place=50,
    title="Leaderboard over time",
    sentence="The chain of runs that were the state of the art, and whether each step is significant.",
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    written=(WrittenFile("order.tsv", is_order_known, order_table),),
)
