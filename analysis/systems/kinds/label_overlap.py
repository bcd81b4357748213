"""Judged pairs against click labels (TripJudge's Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from analysis.judgements.rows import pool_ranks
from analysis.models import Report
from analysis.systems.kind import Files, ReportKind, named_file
from analysis.systems.options import Field, fields_of, given_of, named
from analysis.systems.written_files import WrittenFile, tab_separated
from annotation.models import Campaign
from assay.analyses.label_overlap import Options, pictures, tables
from pooling.models import Run
from pooling.platform.jobs import Refused, Work

FIELDS = (
    Field(
        "pool",
        "Pool",
        "pool",
        "",
        hint="Only pairs at the top of this pool count. Leave empty for the pool of the campaign, or all judged pairs.",
    ),
    *fields_of(Options, "top", "threshold"),
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "judged": files.qrels[0][1],
        "clicks": [named_file(pair) for pair in files.qrels[1:]],
    }
    if "pool.tsv" in files.others:
        given |= {"pool": files.others["pool.tsv"], **given_of(named(FIELDS, "top"), options)}
    return given | given_of(named(FIELDS, "threshold"), options)


def pool_is_wanted(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    options = parameters.get("options", {})
    return bool(options.get("top")) and bool(
        options.get("pool") or (campaign is not None and campaign.pool is not None)
    )


def pool_table(report: Report, work: Work) -> str:
    header = ["topic", "document", "best_rank"]
    if chosen := report.parameters.get("options", {}).get("pool"):
        pool = report.collection.pools.filter(pk=chosen).first()
        if pool is None:
            raise Refused(_("the pool that was chosen is not in the collection any more"))
        return tab_separated(
            header,
            pool.entries.order_by("position").values_list("topic__topic_id", "docno", "best_rank"),
        )
    assert report.campaign is not None
    return tab_separated(header, pool_ranks(report.campaign))


KIND = ReportKind(
    name="label_overlap",
    place=20,
    title="Labels against clicks",
    sentence="How many judged pairs have a click label, and how often the two agree or contradict each other.",
    fields=FIELDS,
    given=given,
    counts_labels_only=True,
    tables=tables,
    pictures=pictures,
    qrels_label="Judgements",
    click_qrels=True,
    least_runs=0,
    seeded=False,
    written=(WrittenFile("pool.tsv", pool_is_wanted, pool_table),),
)
