"""The strip of live figures alone, for which the progress page asks every few seconds."""

from __future__ import annotations

import hashlib
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe

from analysis.dashboard.live_strip import MINUTE, strip_figures
from analysis.dashboard.views.progress import verdict
from analysis.judgements.live import REFRESH
from annotation.permissions import managed_campaign
from pooling.platform.page_files import render


@login_required
@require_safe
def live_figures(request: HttpRequest, slug: str) -> HttpResponse:
    """304 to a browser that has these figures: written anew only when one of them, the minute or
    the reader's time zone is another."""
    campaign = managed_campaign(request, slug)
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
            "verdict": verdict(campaign, figures.now),
            "refresh": REFRESH,
        }
        response = render(request, "analysis/_live.html", context)
    response["ETag"] = tag
    patch_cache_control(response, private=True, no_cache=True)
    return response
