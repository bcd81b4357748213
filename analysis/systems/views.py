"""Pages of reports on systems, for a campaign, a collection, or everything that the user may
see."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.judgements import interim_checks
from analysis.judgements.campaign_sample import (
    describe_prioritised_progress,
    describe_stages,
    is_sampled,
)
from analysis.models import Report
from analysis.systems import reports, top_ups
from analysis.systems.answer_page import page_context
from analysis.systems.files_zip import stream_archive
from analysis.systems.forms import ReportForm
from analysis.systems.kinds import KINDS
from analysis.systems.removal import count_dependent_rows
from analysis.systems.report_list import reports_page
from analysis.systems.selectors import (
    get_visible_report,
    list_related_reports,
    list_renamed_runs,
    ordered_result,
    visible_reports,
    visible_rows,
)
from annotation.models import Campaign
from annotation.permissions import can_create, get_managed_campaign
from assay.number_words import format_count
from assay.results import undefined_reasons
from assay.tabular import Table, to_csv, to_latex
from pooling.models import Collection
from pooling.permissions import get_managed_collection
from pooling.platform.jobs import Refused
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id
from pooling.platform.sentences import as_sentence
from pooling.selectors.jobs import make_job_view
from pooling.tasks import send

FIGURE_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
SHOWN_ROWS = 500
"""Maximum number of table rows on the page. Downloads contain all."""
UNFOLDED_ROWS = 15
"""Maximum number of rows of a table that is shown unfolded. The first table is never folded."""


def campaign_and_collection_views(
    page: Callable[..., HttpResponse], *methods: str
) -> tuple[Callable[..., HttpResponse], Callable[..., HttpResponse]]:
    """Return two views that show the same page, for a campaign and for a collection that the user
    manages. page: takes request, collection, campaign or None, and the other parts of the
    address."""

    @login_required
    @require_http_methods(["GET", "HEAD", *methods])
    def of_campaign(request: HttpRequest, slug: str, **named: str) -> HttpResponse:
        campaign = get_managed_campaign(request, slug)
        return page(request, campaign.collection, campaign, **named)

    @login_required
    @require_http_methods(["GET", "HEAD", *methods])
    def of_collection(request: HttpRequest, slug: str, **named: str) -> HttpResponse:
        return page(request, get_managed_collection(request, slug), None, **named)

    return of_campaign, of_collection


def _report_list(
    request: HttpRequest, collection: Collection, campaign: Campaign | None
) -> HttpResponse:
    mine = (
        Report.objects.filter(campaign=campaign)
        if campaign
        else Report.objects.filter(collection=collection, campaign=None)
    )
    leads, job = (
        page_context(campaign, request.GET.get("measure", ""))
        if campaign is not None
        else (None, None)
    )
    if job is not None:
        send(job)
    if leads is not None and request.headers.get("HX-Request") and leads.get("working"):
        return HttpResponse(status=204)  # unchanged: keep the content that is being read
    if leads is not None and "answer" in leads:
        leads["tables"] = [table_context(one, folded=False) for one in leads["tables"]]
    context = frame_context(collection, campaign) | {
        "leads": leads,
        "reports": reports_page(request, mine),
        "sampled": describe_stages(campaign)
        if campaign is not None and is_sampled(campaign)
        else "",
        "ordered": describe_prioritised_progress(campaign) if campaign is not None else "",
        "advice": interim_checks.get_stopping_advice(campaign) if campaign is not None else None,
        "n_runs": collection.runs.count(),
        "n_qrels": collection.qrels.count(),
        "n_clicks": collection.qrels.filter(kind="clicks").count(),
    }
    return render_page(request, "analysis/systems.html", context)


campaign_page, collection_page = campaign_and_collection_views(_report_list)


def frame_context(collection: Collection, campaign: Campaign | None) -> dict[str, Any]:
    """Return the template context that all pages of reports and studies need: the campaign or
    collection, and the base template."""
    base = "analysis/dashboard.html" if campaign else "analysis/systems_collection.html"
    return {"collection": collection, "campaign": campaign, "tab": "systems", "base": base}


def _report_form(
    request: HttpRequest, collection: Collection, campaign: Campaign | None, kind: str
) -> HttpResponse:
    if kind not in KINDS:
        raise Http404("Unknown analysis.")
    form = ReportForm(
        request.POST or None,
        request.FILES or None,
        kind=KINDS[kind],
        collection=collection,
        campaign=campaign,
    )
    if form.is_valid():
        try:
            report = reports.request_report(
                KINDS[kind],
                collection=collection,
                campaign=campaign,
                parameters=form.parameters(),
                seed=form.seed,
                user=request.user,
                lists=form.lists(),
            )
        except Refused as error:
            form.add_error(None, as_sentence(error))
        else:
            return _redirect_to_reports(report)
    context = frame_context(collection, campaign) | {"asked": KINDS[kind], "form": form}
    return render_page(
        request, "analysis/report_new.html", context, status=400 if form.errors else 200
    )


campaign_new, collection_new = campaign_and_collection_views(_report_form, "POST")


def _redirect_to_reports(*reports: Report) -> HttpResponse:
    """Send the jobs of new reports, and redirect to the report if there is only one, or else to all
    reports of the campaign."""
    for report in reports:
        if report.job is not None:
            send(report.job)
    campaign = reports[0].campaign
    return (
        redirect("report", reports[0].pk)
        if len(reports) == 1 or campaign is None
        else redirect("campaign-systems", campaign.slug)
    )


def _report_refused(request: HttpRequest, why: Refused, page: str, key: str | int) -> HttpResponse:
    messages.error(request, as_sentence(why))
    return redirect(page, key)


@login_required
@require_POST
def compare_with_clicks(request: HttpRequest, slug: str) -> HttpResponse:
    """Request reports that compare rankings and labels of the campaign's judgements with those of
    all click qrels of the collection."""
    campaign = get_managed_campaign(request, slug)
    try:
        made = reports.request_click_reports(campaign, user=request.user)
    except Refused as error:
        return _report_refused(request, error, "campaign-systems", slug)
    if len(made) > 1:
        messages.success(request, _("Two reports were started. They appear in the list below."))
    return _redirect_to_reports(*made)


@login_required
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List all reports and studies that the user may see."""
    shown = reports_page(request, visible_rows(request), everywhere=True)
    return render_page(request, "analysis/reports.html", {"reports": shown, "everywhere": True})


@login_required
@require_safe
def report(request: HttpRequest, pk: int) -> HttpResponse:
    report = get_visible_report(request, pk)
    result = ordered_result(report)
    kind = KINDS[report.kind]
    context = frame_context(report.collection, report.campaign) | {
        "report": report,
        "kind": kind,
        "job": report.job,
        "full": False,
    }
    context["work"] = make_job_view(report.job) if report.job is not None else None
    if result is not None:
        pictures = (
            kind.pictures(result, list_related_reports(report))
            if kind.beside_others
            else kind.pictures(result)
        )
        context |= {
            "tables": [
                table_context(table, folded=number >= 1)
                for number, table in enumerate(kind.tables_below_verdicts(result))
            ],
            "pictures": pictures,
            "verdicts": kind.verdicts(result),
            "figures": list_figures(report),
            "undefined": undefined_reasons(result),
            "renamed": list_renamed_runs(report),
            "top_up": _top_up_context(request, report, result) if kind.topped_up else None,
        }
    context["goes"] = count_dependent_rows(report, n_tables=len(context.get("tables", [])))
    return render_page(request, "analysis/report.html", context)


def _top_up_context(request: HttpRequest, report: Report, result: dict[str, Any]) -> dict[str, Any]:
    """Return the template context of the report's top-up campaign. Its n is the number of pairs of
    a campaign that can be created, 0 if the campaign already exists or no pair is unjudged."""
    campaign, follower = top_ups.get_top_up(report), top_ups.get_follow_up_report(report)
    done, n_pairs = top_ups.count_finished_pairs(campaign) if campaign is not None else (0, 0)
    later, said = (
        ordered_result(follower) if follower is not None else None,
        KINDS[report.kind].topped_up,
    )
    return {
        "campaign": campaign,
        "done": done,
        "n_pairs": n_pairs,
        "before": visible_reports(request).filter(pk=report.parameters.get("follows")).first(),
        "follower": follower,
        "words": said(later) if later and said is not None and "before" in later else "",
        "closed": bool(later and later.get("closed")),
        "most": len(result["order"]),
        "n": result["settles"]["n"] if campaign is None and not result.get("closed") else 0,
        "may": can_create(request),
    }


@login_required
@require_POST
def top_up(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a draft campaign on the pairs that a report lists, in its order."""
    report = get_visible_report(request, pk)
    if not can_create(request):
        raise PermissionDenied(
            _("You can't create campaigns. Ask an administrator for permission.")
        )
    wanted = request.POST.get("n", "")
    try:
        if wanted and not parse_row_id(wanted):
            raise Refused(_("The number of pairs must be a whole number of at least 1."))
        campaign = top_ups.create_top_up(report, int(wanted) if wanted else None, user=request.user)
    except Refused as error:
        return _report_refused(request, error, "report", pk)
    messages.success(
        request,
        _(
            "Created %(name)s, a draft with %(n_pairs)s. Check its settings, invite people and "
            "open it."
        )
        % {"name": campaign.name, "n_pairs": format_count(campaign.n_pairs, "pair")},
    )
    return redirect("campaign-settings", campaign.slug)


def table_context(table: Table, *, folded: bool) -> dict[str, Any]:
    """Return the template context of a table, with rows of (cell, bold, marker). folded: long
    tables are collapsed."""
    return {
        "table": table,
        "rows": [
            [
                (cell, (r, c) in table.bold, table.marks.get((r, c), ""))
                for c, cell in enumerate(row)
            ]
            for r, row in enumerate(table.rows[:SHOWN_ROWS])
        ],
        "header": list(zip(table.columns, table.numeric, strict=True)),
        "more": len(table.rows) > SHOWN_ROWS,
        "folded": folded and len(table.rows) > UNFOLDED_ROWS,
    }


def list_figures(report: Report) -> list[tuple[str, list[str]]]:
    """Return the report's figures for print as (name without extension, available extensions)."""
    kinds_of_stem: dict[str, list[str]] = {}
    for name in report.files:
        stem, _, extension = name.rpartition(".")
        if extension in FIGURE_TYPES and "/" not in name:
            kinds_of_stem.setdefault(stem, []).append(extension)
    return sorted(
        (stem, sorted(extensions, reverse=True)) for stem, extensions in kinds_of_stem.items()
    )


@login_required
@require_safe
def table(request: HttpRequest, pk: int, key: str, extension: str) -> HttpResponse:
    report = get_visible_report(request, pk)
    tables = KINDS[report.kind].tables(ordered_result(report) or {}) if report.finished_at else []
    chosen = next((one for one in tables if one.key == key), None)
    if chosen is None or extension not in ("csv", "tex", "json"):
        raise Http404("Table not found.")
    return _attachment_response(
        *_render_table(chosen, extension), f"{report.kind}-{report.pk}-{key}.{extension}"
    )


def _render_table(chosen: Table, extension: str) -> tuple[str, str]:
    if extension == "csv":
        return to_csv(chosen), "text/csv; charset=utf-8"
    if extension == "tex":
        return to_latex(chosen), "application/x-tex; charset=utf-8"
    return json.dumps(chosen.to_json(), ensure_ascii=False, indent=1), "application/json"


def _attachment_response(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@login_required
@require_safe
def figure(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    report = get_visible_report(request, pk)
    extension = name.rpartition(".")[2]
    if name not in report.files or extension not in FIGURE_TYPES:
        raise Http404("Figure not found.")
    return _attachment_response(
        reports.read_file(report, name),
        FIGURE_TYPES[extension],
        f"{report.kind}-{report.pk}-{name}",
    )


@login_required
@require_safe
def result(request: HttpRequest, pk: int) -> HttpResponse:
    """Download the JSON object of the report's command."""
    report = get_visible_report(request, pk)
    whole = ordered_result(report)
    if whole is None:
        raise Http404("There is no result yet.")
    response = JsonResponse(whole, json_dumps_params={"ensure_ascii": False})
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{report.kind}-{report.pk}.json"'
    )
    return response


@login_required
@require_safe
def files(request: HttpRequest, pk: int) -> StreamingHttpResponse | HttpResponse:
    """Download the input files of the report's command: runs, qrels and tables."""
    report = get_visible_report(request, pk)
    if not report.input_digest:
        raise Http404("The input files are not available yet. Try again when the job has finished.")
    try:
        reports.check_inputs(report)
    except Refused as error:
        messages.error(request, _("The files can't be packed: %(error)s.") % {"error": error})
        return redirect("report", pk)
    response = StreamingHttpResponse(stream_archive(report), content_type="application/zip")
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{report.kind}-{report.pk}-files.zip"'
    )
    return response


@login_required
@require_POST
def compute_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Repeat a report on the data stored now."""
    report = get_visible_report(request, pk)
    try:
        fresh = reports.rerun_report(report, user=request.user)
    except Refused as error:
        return _report_refused(request, error, "report", pk)
    return _redirect_to_reports(fresh)


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    report = get_visible_report(request, pk)
    reports.delete_report(report)
    messages.success(request, _("Report deleted."))
    return (
        redirect("campaign-systems", report.campaign.slug)
        if report.campaign
        else redirect("collection-analyses", report.collection.slug)
    )
