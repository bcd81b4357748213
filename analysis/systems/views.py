"""Systems: the analyses of runs and qrels as stored reports, of a campaign, of a collection, and of
everything one may see."""

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

from analysis.judgements import stopping_looks
from analysis.judgements.campaign_sample import is_sampled, order_said, stages_said
from analysis.models import Report
from analysis.systems import reports, top_ups
from analysis.systems.answer_page import context_of
from analysis.systems.files_zip import archive
from analysis.systems.forms import ReportForm
from analysis.systems.kinds import KINDS
from analysis.systems.removal import goes_with_report
from analysis.systems.report_list import reports_page
from analysis.systems.selectors import (
    kin_of,
    my_reports,
    my_rows,
    renamed_since,
    result_of,
    visible_report,
    without_studies,
)
from annotation.models import Campaign
from annotation.permissions import managed_campaign, may_create
from assay.counts import counted
from assay.results import undefined_reasons
from assay.tabular import Table, to_csv, to_latex
from pooling.models import Collection
from pooling.permissions import managed_collection
from pooling.platform.jobs import Refused
from pooling.platform.page_files import render
from pooling.platform.requests import row_number
from pooling.selectors.jobs import shown
from pooling.tasks import send

FIGURE_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
TITLES = [(kind.name, kind.title) for kind in KINDS.values()]
SHOWN_ROWS = 500
"""Rows of a table on the page; the downloads have all."""


def of_both(
    page: Callable[..., HttpResponse], *methods: str
) -> tuple[Callable[..., HttpResponse], Callable[..., HttpResponse]]:
    """The page's two views, of a campaign and of a collection that the person manages. page: takes
    request, collection, campaign or None, and what else stands in the address."""

    @login_required
    @require_http_methods(["GET", "HEAD", *methods])
    def of_campaign(request: HttpRequest, slug: str, **named: str) -> HttpResponse:
        campaign = managed_campaign(request, slug)
        return page(request, campaign.collection, campaign, **named)

    @login_required
    @require_http_methods(["GET", "HEAD", *methods])
    def of_collection(request: HttpRequest, slug: str, **named: str) -> HttpResponse:
        return page(request, managed_collection(request, slug), None, **named)

    return of_campaign, of_collection


def _index(request: HttpRequest, collection: Collection, campaign: Campaign | None) -> HttpResponse:
    mine = without_studies(
        Report.objects.filter(campaign=campaign)
        if campaign
        else Report.objects.filter(collection=collection, campaign=None)
    )
    leads, job = (
        context_of(campaign, request.GET.get("measure", ""))
        if campaign is not None
        else (None, None)
    )
    if job is not None:
        send(job)
    if leads is not None and request.headers.get("HX-Request") and leads.get("working"):
        return HttpResponse(status=204)  # nothing new yet: what somebody reads stays as it is
    if leads is not None and "answer" in leads:
        leads["tables"] = [shown_table(one, folded=False) for one in leads["tables"]]
    context = frame(collection, campaign) | {
        "leads": leads,
        "kinds": KINDS.values(),
        "reports": reports_page(request, mine, TITLES),
        "sampled": stages_said(campaign) if campaign is not None and is_sampled(campaign) else "",
        "ordered": order_said(campaign) if campaign is not None else "",
        "advice": stopping_looks.advice_on(campaign) if campaign is not None else None,
        "n_runs": collection.runs.count(),
        "n_qrels": collection.qrels.count(),
        "n_clicks": collection.qrels.filter(kind="clicks").count(),
    }
    return render(request, "analysis/systems.html", context)


campaign_page, collection_page = of_both(_index)


def frame(collection: Collection, campaign: Campaign | None) -> dict[str, Any]:
    """What every page of reports and studies gets: whose it is, and the template around it."""
    base = "analysis/dashboard.html" if campaign else "analysis/systems_collection.html"
    return {"collection": collection, "campaign": campaign, "tab": "systems", "base": base}


def _new(
    request: HttpRequest, collection: Collection, campaign: Campaign | None, kind: str
) -> HttpResponse:
    if kind not in KINDS:
        raise Http404("No such kind of report.")
    form = ReportForm(
        request.POST or None,
        request.FILES or None,
        kind=KINDS[kind],
        collection=collection,
        campaign=campaign,
    )
    if form.is_valid():
        try:
            report = reports.ask_for_report(
                KINDS[kind],
                collection=collection,
                campaign=campaign,
                parameters=form.parameters(),
                seed=form.seed,
                user=request.user,
                lists=form.lists(),
            )
        except Refused as error:
            form.add_error(None, f"{str(error)[:1].upper()}{str(error)[1:]}.")
        else:
            return _started(report)
    context = frame(collection, campaign) | {"asked": KINDS[kind], "form": form}
    return render(request, "analysis/report_new.html", context, status=400 if form.errors else 200)


campaign_new, collection_new = of_both(_new, "POST")


def _started(*made: Report) -> HttpResponse:
    """To the page of the one report, or of all of the campaign."""
    for report in made:
        if report.job is not None:
            send(report.job)
    campaign = made[0].campaign
    return (
        redirect("report", made[0].pk)
        if len(made) == 1 or campaign is None
        else redirect("campaign-systems", campaign.slug)
    )


def _not_started(request: HttpRequest, why: Refused, page: str, key: str | int) -> HttpResponse:
    messages.error(request, _("Not started: %(why)s.") % {"why": why})
    return redirect(page, key)


@login_required
@require_POST
def against_clicks(request: HttpRequest, slug: str) -> HttpResponse:
    """One click: rankings and labels of the campaign's judgements against those of all click qrels
    of the collection."""
    campaign = managed_campaign(request, slug)
    try:
        made = reports.ask_against_clicks(campaign, user=request.user)
    except Refused as error:
        return _not_started(request, error, "campaign-systems", slug)
    if len(made) > 1:
        messages.success(request, _("Started: both are in the list below."))
    return _started(*made)


@login_required
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Everything that the person may see."""
    shown = reports_page(
        request, my_rows(request), [*TITLES, (Report.STUDY, _("Studies"))], everywhere=True
    )
    return render(request, "analysis/reports.html", {"reports": shown, "everywhere": True})


@login_required
@require_safe
def report(request: HttpRequest, pk: int) -> HttpResponse:
    report = visible_report(request, pk)
    result = result_of(report)
    kind = KINDS[report.kind]
    context = frame(report.collection, report.campaign) | {
        "report": report,
        "kind": kind,
        "job": report.job,
        "full": False,
    }
    context["work"] = shown(report.job) if report.job is not None else None
    if result is not None:
        pictures = (
            kind.pictures(result, kin_of(report)) if kind.beside_others else kind.pictures(result)
        )
        context |= {
            "tables": [
                shown_table(table, folded=number >= 2)
                for number, table in enumerate(kind.tables(result))
            ],
            "pictures": pictures,
            "figures": figure_names(report),
            "undefined": undefined_reasons(result),
            "renamed": renamed_since(report),
            "top_up": _top_up(request, report, result) if kind.topped_up else None,
        }
    context["goes"] = goes_with_report(report, n_tables=len(context.get("tables", [])))
    return render(request, "analysis/report.html", context)


def _top_up(request: HttpRequest, report: Report, result: dict[str, Any]) -> dict[str, Any]:
    """How far the judging of what the report left open is. n: pairs that a campaign would have,
    none where one is there or nothing is open."""
    campaign, follower = top_ups.top_up_of(report), top_ups.follower_of(report)
    done, n_pairs = top_ups.progress_of(campaign) if campaign is not None else (0, 0)
    later, said = (
        result_of(follower) if follower is not None else None,
        KINDS[report.kind].topped_up,
    )
    return {
        "campaign": campaign,
        "done": done,
        "n_pairs": n_pairs,
        "before": my_reports(request).filter(pk=report.parameters.get("follows")).first(),
        "follower": follower,
        "words": said(later) if later and said is not None and "before" in later else "",
        "closed": bool(later and later.get("closed")),
        "most": len(result["order"]),
        "n": result["settles"]["n"] if campaign is None and not result.get("closed") else 0,
        "may": may_create(request),
    }


@login_required
@require_POST
def top_up(request: HttpRequest, pk: int) -> HttpResponse:
    """One click: a draft campaign on the pairs that the report names, in its order."""
    report = visible_report(request, pk)
    if not may_create(request):
        raise PermissionDenied(_("Ask an administrator for the right to make campaigns."))
    wanted = request.POST.get("n", "")
    try:
        if wanted and not row_number(wanted):
            raise Refused(_("how many pairs is a whole number, at least 1"))
        campaign = top_ups.make_top_up(report, int(wanted) if wanted else None, user=request.user)
    except Refused as error:
        return _not_started(request, error, "report", pk)
    messages.success(
        request,
        _(
            "%(name)s is made, a draft with %(n_pairs)s. Look at its rules, invite people and open it."
        )
        % {"name": campaign.name, "n_pairs": counted(campaign.n_pairs, "pair")},
    )
    return redirect("campaign-settings", campaign.slug)


def shown_table(table: Table, *, folded: bool) -> dict[str, Any]:
    """What the page needs of a table: rows of (cell, bold, sign behind it). folded: a long one is
    opened on request."""
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
        "folded": folded and len(table.rows) > 25,
    }


def figure_names(report: Report) -> list[tuple[str, list[str]]]:
    """(name without extension, extensions there are) of the figures for print."""
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
    report = visible_report(request, pk)
    tables = KINDS[report.kind].tables(result_of(report) or {}) if report.finished_at else []
    chosen = next((one for one in tables if one.key == key), None)
    if chosen is None or extension not in ("csv", "tex", "json"):
        raise Http404("No such table.")
    return _attached(
        *_table_content(chosen, extension), f"{report.kind}-{report.pk}-{key}.{extension}"
    )


def _table_content(chosen: Table, extension: str) -> tuple[str, str]:
    if extension == "csv":
        return to_csv(chosen), "text/csv; charset=utf-8"
    if extension == "tex":
        return to_latex(chosen), "application/x-tex; charset=utf-8"
    return json.dumps(chosen.as_json(), ensure_ascii=False, indent=1), "application/json"


def _attached(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@login_required
@require_safe
def figure(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    report = visible_report(request, pk)
    extension = name.rpartition(".")[2]
    if name not in report.files or extension not in FIGURE_TYPES:
        raise Http404("No such figure.")
    return _attached(
        reports.content(report, name), FIGURE_TYPES[extension], f"{report.kind}-{report.pk}-{name}"
    )


@login_required
@require_safe
def result(request: HttpRequest, pk: int) -> HttpResponse:
    """The command's JSON object."""
    report = visible_report(request, pk)
    whole = result_of(report)
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
    """Runs, qrels and tables as the command reads them."""
    report = visible_report(request, pk)
    if not report.input_digest:
        raise Http404("The input is not collected yet.")
    try:
        reports.check_inputs(report)
    except Refused as error:
        messages.error(request, _("The files cannot be packed: %(error)s.") % {"error": error})
        return redirect("report", pk)
    response = StreamingHttpResponse(archive(report), content_type="application/zip")
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{report.kind}-{report.pk}-files.zip"'
    )
    return response


@login_required
@require_POST
def compute_again(request: HttpRequest, pk: int) -> HttpResponse:
    """The same question once more, on what is stored now."""
    report = visible_report(request, pk)
    try:
        fresh = reports.ask_again(report, user=request.user)
    except Refused as error:
        return _not_started(request, error, "report", pk)
    return _started(fresh)


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    report = visible_report(request, pk)
    reports.delete_report(report)
    messages.success(request, _("The report is deleted."))
    return (
        redirect("campaign-systems", report.campaign.slug)
        if report.campaign
        else redirect("collection-analyses", report.collection.slug)
    )
