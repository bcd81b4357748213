"""The strip of live statistics, which the overview page polls every few seconds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe

from analysis.dashboard import agreement_metrics
from analysis.dashboard.progress import (
    AnnotatorActivity,
    CampaignProgress,
    compute_activity,
    compute_progress,
)
from analysis.dashboard.views.progress import state_context
from analysis.judgements.live import REFRESH, CampaignSnapshot, get_snapshot
from annotation.models import Campaign
from annotation.permissions import get_managed_campaign
from pooling.platform.page_files import render_page


@login_required
@require_safe
def live_figures(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the strip of live statistics, or 304 if the browser already has it. It changes with
    its statistics, the minute and the reader's time zone."""
    campaign = get_managed_campaign(request, slug)
    figures = strip_figures(campaign)
    parts = (
        campaign.pk,
        replace(figures.now, moment=NO_MOMENT),
        figures.activity,
        figures.alpha,
        timezone.now().timestamp() // MINUTE,
        timezone.get_current_timezone_name(),
        campaign.deadline,
        campaign.state,
    )
    tag = f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'
    # get_conditional_response needs no content if the browser has it already
    response = cast("HttpResponse | None", get_conditional_response(request, etag=tag))
    if response is None:
        context = {
            **state_context(campaign, figures.now, figures.activity),
            "alpha": figures.alpha,
            "refresh": REFRESH,
        }
        response = render_page(request, "analysis/_live.html", context)
    response["ETag"] = tag
    patch_cache_control(response, private=True, no_cache=True)
    return response


MINUTE = 60.0
NO_MOMENT = datetime.fromtimestamp(0, UTC)
"""Replaces the time of computation, because a new time alone is not a change."""


@dataclass(frozen=True)
class Strip:
    """The statistics in the live strip of a campaign's overview.

    now: progress with `depths` empty and the forecast rounded to minutes. alpha: as from
    `agreement_metrics.latest_alpha`.
    """

    now: CampaignProgress
    activity: AnnotatorActivity
    alpha: dict[str, Any]


def strip_figures(campaign: Campaign) -> Strip:
    """Compute the strip of live statistics once for all readers, until judgements are read
    again."""
    live = get_snapshot(campaign)
    return live.derived(
        "strip", lambda: _compute_strip(campaign, live), depends_on=(live.rows, live.read_at)
    )


def _compute_strip(campaign: Campaign, live: CampaignSnapshot) -> Strip:
    now = compute_progress(campaign, live=live)
    forecast = replace(
        now.forecast,
        expected=_minute(now.forecast.expected),
        early=_minute(now.forecast.early),
        late=_minute(now.forecast.late),
    )
    alpha = agreement_metrics.latest_alpha(campaign, live)
    activity = compute_activity(campaign, live, now)
    return Strip(replace(now, depths=[], forecast=forecast), activity, alpha)


def _minute(seconds: float | None) -> float | None:
    """Round a time to the minute, because pages do not show smaller differences."""
    return None if seconds is None else seconds - seconds % MINUTE
