"""Pages of annotators' closing feedback and of the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.models import Feedback
from annotation.permissions import get_managed_campaign
from assay.charts.bars import bar_chart
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page

PER_PAGE = 100


@login_required
@require_safe
def feedback(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    given = Feedback.objects.filter(membership__campaign=campaign)
    counts = dict(given.values_list("score").annotate(n=Count("pk")))
    total = sum(counts.values())
    picture = bar_chart(
        [label for _, label in Feedback.Score.choices],
        [
            100 * counts.get(score, 0) / total if total else None
            for score, _ in Feedback.Score.choices
        ],
        caption=f"Survey answers (n = {total})",
        unit="% of answers",
        what="answer",
        reason=_("No survey answers yet. Annotators see the survey when they reach their target."),
    )
    texts = given.exclude(text="").select_related("membership").order_by("-created_at")[:500]
    return render_page(
        request,
        "analysis/feedback.html",
        {"campaign": campaign, "tab": "feedback", "picture": picture, "texts": texts},
    )


@login_required
@require_safe
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    actions = campaign.audit.order_by("action").values_list("action", flat=True).distinct()
    what = RowFilter(
        "action",
        _("Action"),
        [(name, name) for name in actions],
        lambda rows, value: rows.filter(action=value),
    )
    page = ListPage(
        request,
        campaign.audit.select_related("actor"),
        search=("subject", "actor__username", "action", "details"),
        sort={"when": "at", "who": "actor__username", "what": "action", "subject": "subject"},
        choices=[what],
        per_page=PER_PAGE,
    )
    event: Any
    for event in page:
        event.lines = [
            (key.replace("_", " "), _format_detail(value))
            for key, value in event.details.items()
            if value not in ("", None, [], {})
        ]
    return render_page(
        request, "analysis/audit.html", {"campaign": campaign, "tab": "audit", "page": page}
    )


def _format_detail(value: object) -> str:
    """Format a detail of the audit log for reading: grades with number and name, booleans as yes or
    no, times in the reader's time zone, changes as before and after."""
    if isinstance(value, dict):
        if {"value", "name"} <= set(value):
            return f"{value['value']} {value['name']}"
        return "; ".join(
            f"{str(key).replace('_', ' ')}: {_format_change(change)}"
            for key, change in value.items()
        )
    if isinstance(value, list):
        return ", ".join(_format_detail(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if (moment := parse_datetime(str(value))) is not None and is_aware(moment):
        return date_format(localtime(moment), "j M Y, H:i")
    return str(value)


def _format_change(change: object) -> str:
    """Format a changed value as before and after."""
    if isinstance(change, list) and len(change) == 2:
        before, after = (
            _format_detail(side)[:200] if side not in ("", None) else "empty" for side in change
        )
        return f"{before} → {after}" if before != after else f"{after} (in its explanations)"
    return _format_detail(change)
