"""Studies of a campaign or collection: what can be asked, the form, the study on a page, its folder
as a zip file."""

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
from analysis.studies import keeping
from analysis.studies.forms import StudyForm
from analysis.studies.papers import NAMES, study_named
from analysis.studies.selectors import about_study, body_of, file_of, visible_study
from analysis.systems.removal import goes_with_report
from analysis.systems.report_list import reports_page
from analysis.systems.reports import delete_report
from analysis.systems.views import frame, of_both
from annotation.models import Campaign
from assay.formats.errors import FormatError
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.platform.page_files import render
from pooling.selectors.jobs import shown
from pooling.tasks import send

TYPES = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
OTHER = "application/octet-stream"


def _index(request: HttpRequest, collection: Collection, campaign: Campaign | None) -> HttpResponse:
    here = (
        Report.objects.filter(campaign=campaign)
        if campaign
        else Report.objects.filter(collection=collection, campaign=None)
    )
    studies = [study_named(name) for name in NAMES]
    kinds = [(Report.STUDY + study.name, study.title) for study in studies]
    shown = reports_page(request, here.filter(kind__startswith=Report.STUDY), kinds)
    context = frame(collection, campaign) | {"studies": studies, "reports": shown}
    return render(request, "analysis/studies.html", context)


campaign_page, collection_page = of_both(_index)


def _new(
    request: HttpRequest, collection: Collection, campaign: Campaign | None, name: str
) -> HttpResponse:
    if name not in NAMES:
        raise Http404("No such study.")
    chosen = study_named(name)
    form = StudyForm(
        request.POST or None,
        request.FILES or None,
        study=chosen,
        collection=collection,
        campaign=campaign,
    )
    if form.is_valid():
        try:
            row = keeping.ask_for_study(
                chosen,
                collection=collection,
                campaign=campaign,
                given=form.given(),
                user=request.user,
            )
        except Refused as error:
            form.add_error(None, f"{str(error)[:1].upper()}{str(error)[1:]}.")
        except FormatError as error:
            form.add_error(None, "; ".join(error.lines()))
        else:
            return _started(row)
    context = frame(collection, campaign) | {"asked": chosen, "form": form}
    return render(request, "analysis/study_new.html", context, status=400 if form.errors else 200)


campaign_new, collection_new = of_both(_new, "POST")


def _started(row: Report) -> HttpResponse:
    if row.job is not None:
        send(row.job)
    return redirect("study", row.pk)


@login_required
@require_safe
def study(request: HttpRequest, pk: int) -> HttpResponse:
    row = visible_study(request, pk)
    context = frame(row.collection, row.campaign) | {
        "row": row,
        "study": keeping.study_of(row),
        "job": row.job,
        "full": False,
    }
    context |= {
        "work": shown(row.job) if row.job is not None else None,
        "goes": goes_with_report(row),
    }
    if row.finished_at:
        context |= {
            "body": mark_safe(body_of(row)),
            "about": about_study(row),
        }  # of report.html, which escapes what it says
    return render(request, "analysis/study.html", context)


@login_required
@require_safe
def folder(request: HttpRequest, pk: int) -> FileResponse:
    row = visible_study(request, pk)
    name, opened = keeping.handed_out(row, request.user)
    return FileResponse(opened, as_attachment=True, filename=name, content_type="application/zip")


@login_required
@require_safe
def file(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """One file of the folder. Always a download: what stands in it was written by people."""
    row = visible_study(request, pk)
    response = HttpResponse(
        file_of(row, name), content_type=TYPES.get(name.rpartition(".")[2], OTHER)
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{name.rpartition("/")[2]}"'
    return response


@login_required
@require_POST
def make_again(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The same question once more, on what is stored now."""
    row = visible_study(request, pk)
    try:
        fresh = keeping.ask_for_study_again(row, user=request.user)
    except Refused as error:
        messages.error(request, _("Not started: %(error)s.") % {"error": error})
        return redirect("study", pk)
    return _started(fresh)


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    row = visible_study(request, pk)
    delete_report(row)
    messages.success(request, _("The study is deleted."))
    return (
        redirect("campaign-studies", row.campaign.slug)
        if row.campaign
        else redirect("collection-studies", row.collection.slug)
    )
