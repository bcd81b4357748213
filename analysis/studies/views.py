"""Pages of studies: the form, the finished study, and its folder as a zip file."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analysis.models import Report
from analysis.studies import stored_studies
from analysis.studies.forms import StudyForm
from analysis.studies.papers import STUDY_NAMES, get_study
from analysis.studies.selectors import (
    describe_study,
    get_visible_study,
    read_study_file,
    report_body,
)
from analysis.systems.removal import count_dependent_rows
from analysis.systems.reports import delete_report
from analysis.systems.views import campaign_and_collection_views, frame_context
from annotation.models import Campaign
from assay.formats.errors import FormatError
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.platform.page_files import render_page
from pooling.platform.sentences import as_sentence
from pooling.selectors.jobs import make_job_view
from pooling.tasks import send

CONTENT_TYPES = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
DEFAULT_CONTENT_TYPE = "application/octet-stream"


def _study_form(
    request: HttpRequest, collection: Collection, campaign: Campaign | None, name: str
) -> HttpResponse:
    if name not in STUDY_NAMES:
        raise Http404("Unknown study.")
    chosen = get_study(name)
    form = StudyForm(
        request.POST or None,
        request.FILES or None,
        study=chosen,
        collection=collection,
        campaign=campaign,
    )
    if form.is_valid():
        try:
            row = stored_studies.request_study(
                chosen,
                collection=collection,
                campaign=campaign,
                given=form.given(),
                user=request.user,
            )
        except Refused as error:
            form.add_error(None, as_sentence(error))
        except FormatError as error:
            form.add_error(None, "; ".join(error.lines()))
        else:
            return _redirect_to_study(row)
    context = frame_context(collection, campaign) | {"asked": chosen, "form": form}
    return render_page(
        request, "analysis/study_new.html", context, status=400 if form.errors else 200
    )


campaign_new, collection_new = campaign_and_collection_views(_study_form, "POST")


def _redirect_to_study(row: Report) -> HttpResponse:
    if row.job is not None:
        send(row.job)
    return redirect("study", row.pk)


@login_required
@require_safe
def study(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_visible_study(request, pk)
    context = frame_context(row.collection, row.campaign) | {
        "row": row,
        "study": stored_studies.get_report_study(row),
        "job": row.job,
        "full": False,
    }
    context |= {
        "work": make_job_view(row.job) if row.job is not None else None,
        "goes": count_dependent_rows(row),
    }
    if row.finished_at:
        context |= {
            "body": mark_safe(report_body(row)),
            "about": describe_study(row),
        }  # from report.html, which escapes user input
    return render_page(request, "analysis/study.html", context)


@login_required
@require_safe
def folder(request: HttpRequest, pk: int) -> FileResponse:
    row = get_visible_study(request, pk)
    name, opened = stored_studies.open_for_download(row, request.user)
    return FileResponse(opened, as_attachment=True, filename=name, content_type="application/zip")


@login_required
@require_safe
def file(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Download one file of a study's folder. It is never displayed, because it contains text by
    users."""
    row = get_visible_study(request, pk)
    response = HttpResponse(
        read_study_file(row, name),
        content_type=CONTENT_TYPES.get(name.rpartition(".")[2], DEFAULT_CONTENT_TYPE),
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{name.rpartition("/")[2]}"'
    return response


@login_required
@require_POST
def make_again(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Repeat a study on the data stored now."""
    row = get_visible_study(request, pk)
    try:
        fresh = stored_studies.rerun_study(row, user=request.user)
    except Refused as error:
        messages.error(request, as_sentence(error))
        return redirect("study", pk)
    return _redirect_to_study(fresh)


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_visible_study(request, pk)
    delete_report(row)
    messages.success(request, _("Study deleted."))
    return (
        redirect("campaign-systems", row.campaign.slug)
        if row.campaign
        else redirect("collection-analyses", row.collection.slug)
    )
