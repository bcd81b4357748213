"""The page of inter-annotator agreement and judging times."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analysis.dashboard import agreement_metrics
from analysis.dashboard.agreement_metrics import overlap_plan
from analysis.dashboard.agreement_page import (
    MAX_ANNOTATORS_SHOWN,
    describe_agreement,
    list_agreement_rows,
    list_coefficients,
)
from analysis.dashboard.annotators import list_annotators
from analysis.dashboard.judging_times import describe_times
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign
from annotation.permissions import get_managed_campaign
from assay.charts.lines import Line, line_chart
from assay.charts.matrices import matrix_chart
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.labels.agreement.interpretation import CAVEAT
from assay.labels.agreement.raters import make_confusion_matrix
from assay.natural_order import natural_sort_key
from assay.pools.pool_kinds import PoolKind
from pooling.permissions import SignedInRequest
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page
from pooling.tasks import send


@login_required
@require_safe
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show agreement and judging times. Fast statistics are computed in the request. Alpha with its
    confidence interval, chance-level agreement and statistics by group come from a job and are
    shown with their age."""
    campaign = get_managed_campaign(request, slug)
    live = get_snapshot(campaign)
    heavy, job = agreement_metrics.agreement_with_refresh(campaign, live)
    if job is not None:
        send(job)
    working = agreement_metrics.is_running(campaign)
    if working and request.headers.get("HX-Request"):
        return HttpResponse(status=204)  # unchanged: keep the content that is being read
    overlap = overlap_plan(campaign, live)
    charts = agreement_charts(campaign, live, heavy)
    people = list_annotators(campaign, live=live)
    verdict = charts["verdict"]
    rows = list_agreement_rows(people, heavy, verdict.annotator if verdict else "")
    context = {
        "campaign": campaign,
        "tab": "agreement",
        "as_of": live.as_of,
        "heavy": heavy,
        "working": working,
        **charts,
        "annotators": rows[:MAX_ANNOTATORS_SHOWN],
        "n_more": len(rows) - len(rows[:MAX_ANNOTATORS_SHOWN]),
        "n_without_kappa": sum(person.n > 0 for person in people) - len(rows),
        "times": describe_times(live, campaign.grades.names),
        "overlap": overlap,
        "partners": ListPage(
            request,
            overlap.partners_of,
            search=lambda row: row[0],
            sort={"name": lambda row: natural_sort_key(row[0]), "others": lambda row: row[1]},
            prefix="overlap-",
            part="overlap",
        ),
    }
    return render_page(request, "analysis/agreement.html", context)


def agreement_charts(
    campaign: Campaign, live: CampaignSnapshot, heavy: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the template context of analysis/_verdict.html, _coefficients.html and the charts of
    agreement. heavy: the newest statistics computed by a job."""
    names = campaign.grades.names
    table = live.table(len(names))
    confusion = (
        make_confusion_matrix(table).counts.tolist()
        if table.n_annotators > 1 and (table.judgements_per_pair > 1).any()
        else []
    )
    met = matrix_chart(
        names,
        names,
        confusion,
        caption=("Confusion between annotators"),
        row_label="one grade",
        column_label="other annotator's grade",
        reason=_("No agreement yet. It appears once two annotators have judged the same pair."),
    )
    return {
        "verdict": describe_agreement(heavy, len(campaign.scale)) if heavy else None,
        "coefficients": list_coefficients(heavy) if heavy else [],
        "caveat": CAVEAT,
        "over_time": alpha_time_chart(heavy),
        "groups": [
            group_chart(heavy, key, title, what)
            for key, title, what in available_group_charts(heavy)
        ],
        "lowest_topic": next(
            (row for row in (heavy or {}).get("by_topic", []) if row["alpha"] is not None), None
        ),
        "nothing_yet": not confusion and not heavy,
        "ordered": campaign.pool is not None and campaign.pool.kind == PoolKind.ORDERED,
        "confusion": met,
    }


GROUP_CHARTS = [
    (
        "by_topic",
        "Alpha by topic",
        "topics",
    ),
    ("by_length", "Alpha by document length", "lengths"),
    (
        "by_guideline",
        "Alpha by guideline version",
        "versions",
    ),
]


BY_ENTRY_CHART = (
    "by_entry",
    "Alpha by selection",
    "kinds of pairs",
)
"""Chart that is shown for prioritised pools only."""


def available_group_charts(heavy: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    return ([BY_ENTRY_CHART] if (heavy or {}).get("by_entry") else []) + GROUP_CHARTS


def alpha_time_chart(heavy: dict[str, Any] | None) -> Picture:
    points = (heavy or {}).get("over_time", [])
    known = [p for p in points if p["alpha"] is not None]
    reason = _("No day has enough pairs with two judgements yet.") if heavy else _("Calculating…")
    if len(known) == 1:
        reason = _("Only one day so far, %(day)s, with an alpha of %(alpha)s.") % {
            "day": known[0]["day"],
            "alpha": f"{known[0]['alpha']:.2f}".replace("-", "−"),
        }
    return line_chart(
        [
            Line(
                "alpha",
                [(float(i), p["alpha"]) for i, p in enumerate(points)],
                low=[p["low"] for p in points],
                high=[p["high"] for p in points],
                marks=True,
            )
        ]
        if len(known) > 1
        else [],
        caption="Daily ordinal alpha",
        x_label="",
        y_label="alpha",
        y_low=min(
            [0.0, *(p[key] for p in points for key in ("alpha", "low") if p[key] is not None)]
        ),
        x_at=[float(i) for i in range(0, len(points), max(1, -(-len(points) // 8)))],
        x_form=lambda i: points[int(i)]["day"] if 0 <= int(i) < len(points) else "",
        reason=reason,
    )


def group_chart(heavy: dict[str, Any] | None, key: str, title: str, what: str) -> Picture:
    rows = (heavy or {}).get(key, [])
    shown = [
        DrawnInterval(
            f"{row['name']} (n = {row['pairs']})",
            row["alpha"],
            row["low"],
            row["high"],
            row.get("reason", ""),
        )
        for row in rows
    ]
    too_few = _("None of the %(what)s has ten pairs judged twice.") % {"what": what}
    reason = too_few if heavy else _("Calculating…")
    return interval_chart(
        shown,
        caption=title,
        x_label="ordinal alpha",
        what=what,
        reference=(0.0, "chance"),
        reason=reason,
    )


@login_required
@require_POST
def refresh(request: SignedInRequest, slug: str) -> HttpResponse:
    """Request a new computation of the agreement statistics."""
    campaign = get_managed_campaign(request, slug)
    live = get_snapshot(campaign)
    job = agreement_metrics.request_agreement_job(
        campaign, marks=[live.newest, live.audit], user=request.user
    )
    if job is not None:
        send(job)
    return redirect("campaign-agreement", slug)
