"""Who submitted how often, and how the best of a group fares in private (Craswell et al. 2021)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from analysis.judgements.labels import is_own_labels, make_campaign_qrels
from analysis.models import Report
from analysis.systems.kind import AnalysisFiles, ReportKind
from analysis.systems.options import (
    LEVEL,
    ReportField,
    changed_options,
    list_named_fields,
    report_fields,
)
from analysis.systems.selectors import ordered_result
from analysis.systems.written_files import WrittenFile, format_tsv, get_chosen_runs, have_dates
from annotation.models import Campaign
from assay.analyses.submissions import Options, pictures, tables
from assay.column_types import QrelsColumns
from assay.measures.evaluation import evaluate
from assay.measures.measures import UnknownMeasure, parse_measure
from pooling.models import Qrels, Run
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services.qrels import load_grades
from pooling.services.runs import load_rankings

FIELDS = (
    ReportField("measure", "Measure", "measure", "RR@100"),
    *report_fields(Options, "limit", "until"),
    ReportField(
        "ranks",
        "Expected private ranks",
        "report",
        "",
        report="bootstrap",
        hint="From a finished report of bootstrap ranks.",
    ),
    *report_fields(Options, "condition"),
    LEVEL,
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "file": files.others["submissions.tsv"],
        **changed_options(list_named_fields(FIELDS, "limit", "until"), options),
    }
    if "ranks.json" in files.others:
        given |= {
            "ranks": files.others["ranks.json"],
            **changed_options(list_named_fields(FIELDS, "condition"), options),
        }
    return given


def has_dates(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Raises Refused where a run has no date."""
    return have_dates(runs)


def needs_ranks(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return bool(parameters.get("options", {}).get("ranks"))


def submission_table(report: Report, work: ClaimedJob) -> str:
    """Means under the public and the private qrels, which is all that the command needs to know of
    the runs."""
    options = report.parameters.get("options", {})
    try:
        measure = parse_measure(options.get("measure") or "RR@100")
    except UnknownMeasure as error:
        raise Refused(str(error)) from None
    public, private = (
        _stored_qrels(report, reference) for reference in report.parameters["qrels"][:2]
    )
    rows = []
    runs = get_chosen_runs(report)
    for i, run in enumerate(runs):
        work.progress(i, total=len(runs), message=f"evaluating {run.tag}")
        rankings = load_rankings(run)
        scores = [
            evaluate(rankings, qrels, [measure], level=int(options.get("level") or 1)).means()[0]
            for qrels in (public, private)
        ]
        day = run.submitted_on.isoformat() if run.submitted_on else ""
        rows.append(
            [
                run.tag,
                day,
                run.group or run.tag,
                *("" if np.isnan(score) else repr(float(score)) for score in scores),
            ]
        )
    return format_tsv(["tag", "date", "group", "score", "private score"], rows)


def _stored_qrels(report: Report, reference: str) -> QrelsColumns:
    if is_own_labels(reference) and report.campaign is not None:
        return make_campaign_qrels(report.campaign, reference, reference)
    row = Qrels.objects.filter(
        collection=report.collection, pk=int(reference.rpartition(":")[2])
    ).first()
    if row is None:
        raise Refused(_("qrels that were chosen are not in the collection any more"))
    return load_grades(row)


def ranks_file(report: Report, work: ClaimedJob) -> str:
    """What the bootstrap that was chosen has said."""
    same = type(report).objects.filter(
        collection=report.collection, campaign=report.campaign, kind="bootstrap"
    )
    chosen = same.filter(pk=report.parameters["options"]["ranks"]).first()
    result = ordered_result(chosen) if chosen is not None else None
    if result is None:
        raise Refused(_("the report on the certainty of the ranks is not there any more"))
    return json.dumps(result, ensure_ascii=False) + "\n"


KIND = ReportKind(
    name="submissions",
    place=80,
    title="Submissions by group",
    sentence="Who submitted how often, and how the best of a group under public qrels fares under private ones.",
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    qrels_label="Public qrels",
    private_qrels=True,
    seeded=False,
    written=(
        WrittenFile("submissions.tsv", has_dates, submission_table),
        WrittenFile("ranks.json", needs_ranks, ranks_file),
    ),
)
