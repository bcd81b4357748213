"""Judged pairs against click labels (TripJudge's Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from analysis.judgements.rows import read_pool_ranks
from analysis.models import Report
from analysis.systems.kind import AnalysisFiles, ReportKind, format_named_file
from analysis.systems.options import ReportField, changed_options, list_named_fields, report_fields
from analysis.systems.written_files import WrittenFile, format_tsv
from annotation.models import Campaign
from assay.analyses.label_overlap import Options, pictures, tables
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob, Refused

FIELDS = (
    ReportField(
        "pool",
        "Pool",
        "pool",
        "",
        hint="Only pairs at the top of this pool count. Leave empty for the pool of the campaign, or all judged pairs.",
    ),
    *report_fields(Options, "top", "threshold"),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "judged": files.qrels[0][1],
        "clicks": [format_named_file(pair) for pair in files.qrels[1:]],
    }
    if "pool.tsv" in files.others:
        given |= {
            "pool": files.others["pool.tsv"],
            **changed_options(list_named_fields(FIELDS, "top"), options),
        }
    return given | changed_options(list_named_fields(FIELDS, "threshold"), options)


def is_pool_needed(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    options = parameters.get("options", {})
    return bool(options.get("top")) and bool(
        options.get("pool") or (campaign is not None and campaign.pool is not None)
    )


def pool_table(report: Report, work: ClaimedJob) -> str:
    header = ["topic", "document", "best_rank"]
    if chosen := report.parameters.get("options", {}).get("pool"):
        pool = report.collection.pools.filter(pk=chosen).first()
        if pool is None:
            raise Refused(_("the pool that was chosen is not in the collection any more"))
        return format_tsv(
            header,
            pool.entries.order_by("position").values_list("topic__topic_id", "docno", "best_rank"),
        )
    assert report.campaign is not None
    return format_tsv(header, read_pool_ranks(report.campaign))


KIND = ReportKind(
    name="label_overlap",
    place=20,
    title="Labels against clicks",
    sentence="How many judged pairs have a click label, and how often the two agree or contradict each other.",
    fields=FIELDS,
    given=call_arguments,
    counts_labels_only=True,
    tables=tables,
    pictures=pictures,
    qrels_label="Judgements",
    click_qrels=True,
    least_runs=0,
    seeded=False,
    written=(WrittenFile("pool.tsv", is_pool_needed, pool_table),),
)
