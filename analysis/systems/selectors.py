"""Queries for stored reports, for pages and API."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import Q, QuerySet
from django.http import Http404

from analysis.models import Report
from analysis.systems.inputs import InputFile
from annotation.permissions import visible_campaigns
from pooling.models import Collection, Run
from pooling.permissions import get_person


def visible_reports(request_or_user: Any) -> QuerySet[Report]:
    """Return the reports of the campaigns and collections that the user manages, without
    studies."""
    return exclude_studies(visible_rows(request_or_user))


def exclude_studies(rows: QuerySet[Report]) -> QuerySet[Report]:
    return rows.exclude(kind__startswith=Report.STUDY)


def visible_rows(request_or_user: Any) -> QuerySet[Report]:
    """Return the reports and studies of the campaigns and collections that the user manages."""
    user = get_person(request_or_user)
    reports = Report.objects.select_related("collection", "campaign", "job", "created_by").defer(
        "result"
    )
    if not user.is_authenticated:
        return reports.none()
    if user.is_superuser:
        return reports
    return reports.filter(
        Q(campaign__in=visible_campaigns(user)) | Q(campaign=None, collection__managers=user)
    ).distinct()


def get_visible_report(request_or_user: Any, pk: int) -> Report:
    """Return the report with this ID. Raises Http404 for users who may not see it."""
    report = visible_reports(request_or_user).filter(pk=pk).first()
    if report is None:
        raise Http404("Report not found.")
    return report


def ordered_result(report: Report) -> dict[str, Any] | None:
    """Return a report's result with its keys in the command's order, which the database may not
    keep."""
    name = report.files.get("result.json")
    if name is None:
        return report.result
    with default_storage.open(name, "rb") as source:
        result: dict[str, Any] = json.loads(source.read())
        return result


def list_renamed_runs(report: Report) -> list[tuple[str, str]]:
    """Return the report's runs whose tag has changed since the request, as (tag in the report,
    current tag)."""
    then = {
        one.row: one.name for one in map(InputFile.from_json, report.inputs) if one.kind == "run"
    }
    now = Run.objects.filter(pk__in=then).order_by("pk").values_list("pk", "tag")
    return [(then[row], tag) for row, tag in now if tag != then[row]]


def list_related_reports(report: Report) -> list[dict[str, Any]]:
    """Return the other reports of the same kind on the same input, newest last."""
    if not report.input_digest:
        return []
    same = Report.objects.filter(
        kind=report.kind,
        input_digest=report.input_digest,
        collection=report.collection,
        campaign=report.campaign,
    )
    others = same.exclude(pk=report.pk).exclude(result=None).order_by("finished_at")
    return [result for one in others if (result := ordered_result(one)) is not None]


def list_report_files(reports: QuerySet[Report]) -> list[str]:
    """Return the storage names of all files of these reports."""
    return [name for files in reports.values_list("files", flat=True) for name in files.values()]


def list_collection_files(collection: Collection) -> list[str]:
    """Return the storage names of the files of a collection's reports, which are deleted with
    it."""
    return list_report_files(Report.objects.filter(collection=collection))
