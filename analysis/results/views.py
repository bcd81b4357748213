"""The results of a campaign for who changes nothing: viewers and managers by their account, anybody
by a link.

No page here starts a job, changes anything, or names an annotator: figures are those that were
computed last."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from analysis.dashboard import agreement_figures
from analysis.dashboard import progress as figures
from analysis.dashboard.views.agreement import pictures_of_agreement
from analysis.dashboard.views.labels import pictures_of_labels
from analysis.dashboard.views.progress import pictures_of_progress, verdict
from analysis.judgements.page_rows import as_of, page_rows
from analysis.models import Report
from analysis.systems.answer_page import context_for_readers
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import kin_of, renamed_since, result_of, without_studies
from analysis.systems.views import shown_table
from annotation.models import Campaign, ResultsLink
from annotation.permissions import results_campaign
from annotation.services.people import attempts
from annotation.services.people.results_links import good_results_link
from assay.results import undefined_reasons
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render
from pooling.platform.requests import address_of

SECRET = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}
"""Of pages whose address is a secret: nothing that they lead to is told of it, and no search engine
keeps it."""

Address = Callable[..., str]
"""(name of the part, or report=row) -> where this reader finds it"""


def _progress(campaign: Campaign) -> dict[str, Any]:
    live = page_rows(campaign)
    now = figures.progress(campaign, live=live)
    alpha = agreement_figures.latest_alpha(campaign, live)
    if alpha["at"] is None:
        alpha["reason"] = _("not computed yet")
    return {
        "as_of": as_of(live),
        "now": now,
        "alpha": alpha,
        "verdict": verdict(campaign, now),
        **pictures_of_progress(campaign, live, now),
    }


def _agreement(campaign: Campaign) -> dict[str, Any]:
    live = page_rows(campaign)
    heavy = agreement_figures.newest_agreement(campaign, live)
    return {"as_of": as_of(live), "heavy": heavy, **pictures_of_agreement(campaign, live, heavy)}


def _labels(campaign: Campaign) -> dict[str, Any]:
    live = page_rows(campaign)
    return {"as_of": as_of(live), **pictures_of_labels(campaign, live)}


def _systems(campaign: Campaign, request: HttpRequest, address: Address) -> dict[str, Any]:
    leads = context_for_readers(campaign, request.GET.get("measure", ""))
    if "answer" in leads:
        leads["tables"] = [shown_table(one, folded=False) for one in leads["tables"]]
    sort = {"title": "title", "finished": "finished_at"}
    reports = ListPage(
        request, _reports(campaign).defer("result"), search=("title",), sort=sort, wide=True
    )
    reports.show([(report, address(report=report.pk)) for report in reports])
    return {"leads": leads, "reports": reports}


PARTS: dict[str, tuple[str, Callable[[Campaign], dict[str, Any]] | None]] = {
    "progress": ("Progress", _progress),
    "agreement": ("Agreement", _agreement),
    "labels": ("Labels", _labels),
    "systems": ("Systems", None),
}
"""Title, and what the page shows of a campaign; that of Systems depends on what the address asks
for."""


def _reports(campaign: Campaign) -> Any:
    """Finished ones, the newest first."""
    return (
        without_studies(Report.objects.filter(campaign=campaign, finished_at__isnull=False))
        .select_related("job")
        .order_by("-pk")
    )


def _page(
    request: HttpRequest, campaign: Campaign, part: str, address: Address, **more: Any
) -> HttpResponse:
    if part not in PARTS:
        raise Http404("No such page of results.")
    title, content = PARTS[part]
    context = _frame(campaign, part, address) | {"title": title} | more
    if campaign.state != Campaign.State.DRAFT:
        context |= (
            content(campaign) if content is not None else _systems(campaign, request, address)
        )
    return render(request, f"analysis/results_{part}.html", context)


def _report(
    request: HttpRequest, campaign: Campaign, pk: int, address: Address, **more: Any
) -> HttpResponse:
    report = get_object_or_404(_reports(campaign), pk=pk)
    kind, result = KINDS[report.kind], result_of(report) or {}
    pictures = (
        kind.pictures(result, kin_of(report)) if kind.beside_others else kind.pictures(result)
    )
    context = _frame(campaign, "systems", address) | more
    context |= {
        "report": report,
        "kind": kind,
        "title": report.title,
        "tables": [
            shown_table(table, folded=number >= 2)
            for number, table in enumerate(kind.tables(result))
        ],
        "pictures": pictures,
        "undefined": undefined_reasons(result),
        "renamed": renamed_since(report),
    }
    return render(request, "analysis/results_report.html", context)


def _frame(campaign: Campaign, part: str, address: Address) -> dict[str, Any]:
    tabs = [(title, address(name), name == part) for name, (title, _) in PARTS.items()]
    return {"campaign": campaign, "tabs": tabs, "all_reports": address("systems")}


def _for_members(campaign: Campaign) -> Address:
    def address(part: str = "", *, report: int | None = None) -> str:
        if report is not None:
            return reverse("campaign-results-report", args=[campaign.slug, report])
        return reverse("campaign-results-part", args=[campaign.slug, part])

    return address


@login_required
@never_cache
@require_safe
def of_campaign(request: HttpRequest, slug: str, part: str = "progress") -> HttpResponse:
    campaign = results_campaign(request, slug)
    return _page(request, campaign, part, _for_members(campaign))


@login_required
@never_cache
@require_safe
def report_of_campaign(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    campaign = results_campaign(request, slug)
    return _report(request, campaign, pk, _for_members(campaign))


def by_link(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view with the link in place of its token: 410 where it is over or was never one, 429
    where it is asked for too often."""

    @wraps(view)
    def guarded(request: HttpRequest, token: str, **named: Any) -> HttpResponse:
        link = good_results_link(token)
        if link is None:
            reason = _(
                "This link has ended, was withdrawn, or is not whole. Ask the person who sent it for a new one."
            )
            response = render(
                request, "analysis/results_refused.html", {"reason": reason}, status=410
            )
        elif not attempts.may_look(link.digest, address=address_of(request)):
            reason = _(
                "These pages were opened too often from here. Wait five minutes and try again."
            )
            response = render(
                request, "analysis/results_refused.html", {"reason": reason}, status=429
            )
            response.headers["Retry-After"] = str(int(attempts.SPAN.total_seconds()))
        else:
            response = view(request, link, token, **named)
        for name, value in SECRET.items():
            response.headers[name] = value
        return response

    return guarded


def _for_readers(token: str) -> Address:
    def address(part: str = "", *, report: int | None = None) -> str:
        return (
            reverse("results-link-report", args=[token, report])
            if report is not None
            else reverse("results-link-part", args=[token, part])
        )

    return address


@never_cache
@require_safe
@by_link
def of_link(
    request: HttpRequest, link: ResultsLink, token: str, part: str = "progress"
) -> HttpResponse:
    return _page(request, link.campaign, part, _for_readers(token), link=link)


@never_cache
@require_safe
@by_link
def report_of_link(request: HttpRequest, link: ResultsLink, token: str, pk: int) -> HttpResponse:
    return _report(request, link.campaign, pk, _for_readers(token), link=link)
