"""Read-only results of a campaign for viewers and managers with an account, and for anyone with a
results link.

These pages start no jobs, change nothing and name no annotators. They show the statistics computed
last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from analysis.dashboard import agreement_metrics
from analysis.dashboard import progress as figures
from analysis.dashboard.views.agreement import agreement_charts
from analysis.dashboard.views.labels import label_charts
from analysis.dashboard.views.progress import progress_charts, state_context
from analysis.judgements.battles import iterate_battle_lines, list_judged_battles
from analysis.judgements.live import get_snapshot
from analysis.models import Report
from analysis.results.battles import describe_battles
from analysis.systems.answer_page import reader_context
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import (
    exclude_studies,
    list_related_reports,
    list_renamed_runs,
    ordered_result,
)
from analysis.systems.views import table_context
from annotation.models import Campaign, ResultsLink
from annotation.permissions import (
    NotForPreferences,
    get_managed_campaign,
    get_results_campaign,
)
from annotation.services.people import attempts
from annotation.services.people.results_links import get_valid_results_link
from assay.results import undefined_reasons
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page
from pooling.platform.requests import client_address
from pooling.platform.snapshot import snapshot

SECRET_HEADERS = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}
"""Headers of pages with a secret address. They hide it from linked sites and from search engines.
"""

UrlBuilder = Callable[..., str]
"""A function that returns the reader's address of a named part or, with report=ID, of a report."""


def _progress_context(campaign: Campaign) -> dict[str, Any]:
    live = get_snapshot(campaign)
    now = figures.compute_progress(campaign, live=live)
    alpha = agreement_metrics.latest_alpha(campaign, live)
    if alpha["at"] is None:
        alpha["reason"] = _("not available yet")
    return {
        **state_context(campaign, now, figures.compute_activity(campaign, live, now)),
        "as_of": live.as_of,
        "alpha": alpha,
        **progress_charts(campaign, live, now),
    }


def _agreement_context(campaign: Campaign) -> dict[str, Any]:
    live = get_snapshot(campaign)
    heavy = agreement_metrics.newest_agreement(campaign, live)
    return {"as_of": live.as_of, "heavy": heavy, **agreement_charts(campaign, live, heavy)}


def _labels_context(campaign: Campaign) -> dict[str, Any]:
    live = get_snapshot(campaign)
    return {"as_of": live.as_of, **label_charts(campaign, live)}


def _systems_context(
    campaign: Campaign, request: HttpRequest, address: UrlBuilder
) -> dict[str, Any]:
    leads = reader_context(campaign, request.GET.get("measure", ""))
    if "answer" in leads:
        leads["tables"] = [table_context(one, folded=False) for one in leads["tables"]]
    sort = {"title": "title", "finished": "finished_at"}
    reports = ListPage(
        request,
        _finished_reports(campaign).defer("result"),
        search=("title",),
        sort=sort,
        wide=True,
    )
    reports.show([(report, address(report=report.pk)) for report in reports])
    return {"leads": leads, "reports": reports}


RESULT_PARTS: dict[str, tuple[str, Callable[[Campaign], dict[str, Any]] | None]] = {
    "progress": ("Progress", _progress_context),
    "agreement": ("Agreement", _agreement_context),
    "labels": ("Labels", _labels_context),
    "systems": ("Systems", None),
}
"""Title and context function of each part. The context of Systems also depends on the request."""


def _finished_reports(campaign: Campaign) -> Any:
    """Return the campaign's finished reports, newest first."""
    return (
        exclude_studies(Report.objects.filter(campaign=campaign, finished_at__isnull=False))
        .select_related("job")
        .order_by("-pk")
    )


def _render_part(
    request: HttpRequest, campaign: Campaign, part: str, address: UrlBuilder, **more: Any
) -> HttpResponse:
    if campaign.is_preferences:
        raise NotForPreferences(campaign)
    if part not in RESULT_PARTS:
        raise Http404("Results page not found.")
    title, content = RESULT_PARTS[part]
    context = _frame_context(campaign, part, address) | {"title": title} | more
    if campaign.state != Campaign.State.DRAFT:
        context |= (
            content(campaign)
            if content is not None
            else _systems_context(campaign, request, address)
        )
    return render_page(request, f"analysis/results_{part}.html", context)


def _render_report(
    request: HttpRequest, campaign: Campaign, pk: int, address: UrlBuilder, **more: Any
) -> HttpResponse:
    report = get_object_or_404(_finished_reports(campaign), pk=pk)
    kind, result = KINDS[report.kind], ordered_result(report) or {}
    pictures = (
        kind.pictures(result, list_related_reports(report))
        if kind.beside_others
        else kind.pictures(result)
    )
    context = _frame_context(campaign, "systems", address) | more
    context |= {
        "report": report,
        "kind": kind,
        "title": report.title,
        "tables": [
            table_context(table, folded=number >= 1)
            for number, table in enumerate(kind.tables_below_verdicts(result))
        ],
        "pictures": pictures,
        "verdicts": kind.verdicts(result),
        "undefined": undefined_reasons(result),
        "renamed": list_renamed_runs(report),
    }
    return render_page(request, "analysis/results_report.html", context)


def _frame_context(campaign: Campaign, part: str, address: UrlBuilder) -> dict[str, Any]:
    tabs = [(title, address(name), name == part) for name, (title, _) in RESULT_PARTS.items()]
    return {"campaign": campaign, "tabs": tabs, "all_reports": address("systems")}


def _member_urls(campaign: Campaign) -> UrlBuilder:
    def address(part: str = "", *, report: int | None = None) -> str:
        if report is not None:
            return reverse("campaign-results-report", args=[campaign.slug, report])
        return reverse("campaign-results-part", args=[campaign.slug, part])

    return address


@login_required
@never_cache
@require_safe
def campaign_results(request: HttpRequest, slug: str, part: str = "progress") -> HttpResponse:
    campaign = get_results_campaign(request, slug)
    return _render_part(request, campaign, part, _member_urls(campaign))


@login_required
@never_cache
@require_safe
def campaign_report(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    campaign = get_results_campaign(request, slug)
    return _render_report(request, campaign, pk, _member_urls(campaign))


def requires_results_link(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Wrap a view so that it receives the results link instead of its token. The wrapped view
    responds with 410 to an expired or unknown link, and with 429 to too many requests."""

    @wraps(view)
    def guarded(request: HttpRequest, token: str, **named: Any) -> HttpResponse:
        link = get_valid_results_link(token)
        if link is None:
            reason = _(
                "This link has expired, was revoked, or is incomplete. Ask the person who sent it for a new one."
            )
            response = render_page(
                request, "analysis/results_refused.html", {"reason": reason}, status=410
            )
        elif not attempts.can_open_link(link.digest, address=client_address(request)):
            reason = _("Too many requests from your address. Wait five minutes and try again.")
            response = render_page(
                request, "analysis/results_refused.html", {"reason": reason}, status=429
            )
            response.headers["Retry-After"] = str(int(attempts.ATTEMPT_PERIOD.total_seconds()))
        else:
            response = view(request, link, token, **named)
        for name, value in SECRET_HEADERS.items():
            response.headers[name] = value
        return response

    return guarded


def _link_urls(token: str) -> UrlBuilder:
    def address(part: str = "", *, report: int | None = None) -> str:
        return (
            reverse("results-link-report", args=[token, report])
            if report is not None
            else reverse("results-link-part", args=[token, part])
        )

    return address


@never_cache
@require_safe
@requires_results_link
def link_results(
    request: HttpRequest, link: ResultsLink, token: str, part: str = "progress"
) -> HttpResponse:
    return _render_part(request, link.campaign, part, _link_urls(token), link=link)


@never_cache
@require_safe
@requires_results_link
def link_report(request: HttpRequest, link: ResultsLink, token: str, pk: int) -> HttpResponse:
    return _render_report(request, link.campaign, pk, _link_urls(token), link=link)


@login_required
@require_safe
def battles(request: HttpRequest, slug: str) -> HttpResponse:
    """Show managers the result of a campaign of preferences."""
    campaign = get_managed_campaign(request, slug)
    if not campaign.is_preferences or campaign.state == Campaign.State.DRAFT:
        return redirect("campaign", slug)
    with snapshot():
        context = describe_battles(campaign)
    tables = [table_context(one, folded=i > 0) for i, one in enumerate(context.get("tables", ()))]
    context |= {"campaign": campaign, "tab": "progress", "may_invite": True, "tables": tables}
    return render_page(request, "analysis/battles.html", context)


@login_required
@require_safe
def battles_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download the counted preferences, with one row per pair of systems."""
    campaign = get_managed_campaign(request, slug)
    if not campaign.is_preferences:
        return redirect("campaign", slug)
    return StreamingHttpResponse(
        iterate_battle_lines(list_judged_battles(campaign)),
        content_type="text/tab-separated-values; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{campaign.slug}-battles.tsv"'},
    )
