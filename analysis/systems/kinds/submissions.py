"""Who submitted how often, and how the best of a group fares in private (Craswell et al. 2021)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from analysis.judgements.labels import campaign_qrels, is_own
from analysis.models import Report
from analysis.systems.kind import Files, ReportKind
from analysis.systems.options import LEVEL, Field, fields_of, given_of, named
from analysis.systems.selectors import result_of
from analysis.systems.written_files import WrittenFile, all_dated, chosen_runs, tab_separated
from annotation.models import Campaign
from assay.analyses.submissions import Options, pictures, tables
from assay.column_types import QrelsColumns
from assay.measures.evaluation import evaluate
from assay.measures.measures import UnknownMeasure, parse_measure
from pooling.models import Qrels, Run
from pooling.platform.jobs import Refused, Work
from pooling.services.qrels import grades_of
from pooling.services.runs import rankings_of

FIELDS = (
    Field("measure", "Measure", "measure", "RR@100"),
    *fields_of(Options, "limit", "until"),
    Field(
        "ranks",
        "Expected private ranks",
        "report",
        "",
        report="bootstrap",
        hint="From a finished report of bootstrap ranks.",
    ),
    *fields_of(Options, "condition"),
    LEVEL,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "file": files.others["submissions.tsv"],
        **given_of(named(FIELDS, "limit", "until"), options),
    }
    if "ranks.json" in files.others:
        given |= {
            "ranks": files.others["ranks.json"],
            **given_of(named(FIELDS, "condition"), options),
        }
    return given


def dates_are_known(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    """Raises Refused where a run has no date."""
    return all_dated(runs)


def ranks_are_wanted(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return bool(parameters.get("options", {}).get("ranks"))


def submission_table(report: Report, work: Work) -> str:
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
    runs = chosen_runs(report)
    for i, run in enumerate(runs):
        work.progress(i, total=len(runs), message=f"evaluating {run.tag}")
        rankings = rankings_of(run)
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
    return tab_separated(["tag", "date", "group", "score", "private score"], rows)


def _stored_qrels(report: Report, reference: str) -> QrelsColumns:
    if is_own(reference) and report.campaign is not None:
        return campaign_qrels(report.campaign, reference, reference)
    row = Qrels.objects.filter(
        collection=report.collection, pk=int(reference.rpartition(":")[2])
    ).first()
    if row is None:
        raise Refused(_("qrels that were chosen are not in the collection any more"))
    return grades_of(row)


def ranks_file(report: Report, work: Work) -> str:
    """What the bootstrap that was chosen has said."""
    same = type(report).objects.filter(
        collection=report.collection, campaign=report.campaign, kind="bootstrap"
    )
    chosen = same.filter(pk=report.parameters["options"]["ranks"]).first()
    result = result_of(chosen) if chosen is not None else None
    if result is None:
        raise Refused(_("the report on the certainty of the ranks is not there any more"))
    return json.dumps(result, ensure_ascii=False) + "\n"


KIND = ReportKind(
    name="submissions",
    place=80,
    title="Submissions by group",
    sentence="Who submitted how often, and how the best of a group under public qrels fares under private ones.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels_label="Public qrels",
    private_qrels=True,
    seeded=False,
    written=(
        WrittenFile("submissions.tsv", dates_are_known, submission_table),
        WrittenFile("ranks.json", ranks_are_wanted, ranks_file),
    ),
)
