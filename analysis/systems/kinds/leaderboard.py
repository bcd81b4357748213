"""The chain of runs that were the state of the art (Lin et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import Files, ReportKind
from analysis.systems.options import READ, fields_of, given_of
from analysis.systems.written_files import WrittenFile, all_dated, chosen_runs, tab_separated
from annotation.models import Campaign
from assay.analyses.leaderboard import Options, pictures, tables
from pooling.models import Run
from pooling.platform.jobs import Work

FIELDS = fields_of(
    Options,
    *("cutoff", "alpha", "decide", "correction", "family"),
    *("baselines", "until", "highlight", *READ),
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    order = {"order": files.others["order.tsv"]} if "order.tsv" in files.others else {}
    return {"qrels": files.qrels[0][1], "runs": files.runs, **order, **given_of(FIELDS, options)}


def order_is_known(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Raises Refused where some of the runs have a date and some have none."""
    return all_dated(runs, or_none=True)


def order_table(report: Report, work: Work) -> str:
    header = ["tag", "date", "group", "baseline", "description"]
    return tab_separated(
        header,
        [
            [
                r.tag,
                r.submitted_on.isoformat() if r.submitted_on else "",
                r.group,
                int(r.baseline),
                r.description,
            ]
            for r in chosen_runs(report)
        ],
    )


KIND = ReportKind(
    name="leaderboard",
    place=50,
    title="Leaderboard over time",
    sentence="The chain of runs that were the state of the art, and whether each step is significant.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    written=(WrittenFile("order.tsv", order_is_known, order_table),),
)
