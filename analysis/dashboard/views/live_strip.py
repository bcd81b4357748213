"""The strip of live figures alone, for which the progress page asks every few seconds."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe

from analysis.dashboard import agreement_metrics
from analysis.dashboard.progress import CampaignProgress, compute_progress
from analysis.dashboard.views.progress import forecast_verdict
from analysis.judgements import live as rows
from analysis.judgements.live import REFRESH
from analysis.judgements.shared_answer import get_or_compute
from annotation.models import Campaign
from annotation.permissions import get_managed_campaign
from assay.campaigns.forecast import Forecast
from pooling.platform.page_files import render_page


@login_required
@require_safe
def live_figures(request: HttpRequest, slug: str) -> HttpResponse:
    """304 to a browser that has these figures: written anew only when one of them, the minute or
    the reader's time zone is another."""
    campaign = get_managed_campaign(request, slug)
    figures = strip_figures(campaign)
    parts = (
        campaign.pk,
        figures.changed_at,
        timezone.now().timestamp() // MINUTE,
        timezone.get_current_timezone_name(),
        campaign.deadline,
        campaign.state,
    )
    tag = f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'
    # get_conditional_response needs no page where the browser already has it
    response = cast("HttpResponse | None", get_conditional_response(request, etag=tag))
    if response is None:
        context = {
            "campaign": campaign,
            "now": figures.now,
            "alpha": figures.alpha,
            "verdict": forecast_verdict(campaign, figures.now),
            "refresh": REFRESH,
        }
        response = render_page(request, "analysis/_live.html", context)
    response["ETag"] = tag
    patch_cache_control(response, private=True, no_cache=True)
    return response


MINUTE = 60.0


@dataclass(frozen=True)
class Strip:
    """now: without its depths, and its forecast to the minute. alpha: as of `figures.latest_alpha`.
    changed_at: since when both are so."""

    now: CampaignProgress
    alpha: dict[str, Any]
    changed_at: float


def strip_figures(campaign: Campaign) -> Strip:
    """Read from the database at most `rows.WAITING` seconds ago."""
    answer = get_or_compute(
        "strip",
        campaign,
        lambda: _computed(campaign),
        fresh=rows.FRESH_SECONDS,
        waiting=rows.WAIT_SECONDS,
    )
    progress, alpha = dict(answer.value["now"]), dict(answer.value["alpha"])
    forecast = Forecast(**progress.pop("forecast"))
    moment = datetime.fromtimestamp(answer.changed_at, UTC)
    alpha["at"] = datetime.fromisoformat(alpha["at"]) if alpha["at"] else None
    return Strip(
        CampaignProgress(**progress, depths=[], forecast=forecast, moment=moment),
        alpha,
        answer.changed_at,
    )


def _computed(campaign: Campaign) -> dict[str, Any]:
    live = rows.get_snapshot(campaign, fresh=0.0)
    now = compute_progress(campaign, live=live)
    ahead = now.forecast
    ahead = replace(
        ahead,
        expected=_minute(ahead.expected),
        early=_minute(ahead.early),
        late=_minute(ahead.late),
    )
    figures = {
        name: value
        for name, value in vars(now).items()
        if name not in ("depths", "forecast", "moment")
    }
    alpha = agreement_metrics.latest_alpha(campaign, live)
    return {
        "now": {**figures, "forecast": asdict(ahead)},
        "alpha": {**alpha, "at": alpha["at"].isoformat() if alpha["at"] else None},
    }


def _minute(seconds: float | None) -> float | None:
    """Pages write minutes; what a page does not show is no change."""
    return None if seconds is None else seconds - seconds % MINUTE
