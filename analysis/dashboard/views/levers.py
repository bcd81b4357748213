"""Ways to finish on time: levers with the outlook after each, and pulling one after its preview."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from analysis.dashboard import levers as service
from analysis.judgements.live import live_rows
from annotation.models import Campaign
from annotation.permissions import managed_campaign
from annotation.services.campaigns.depth import why_whole
from annotation.services.errors import CampaignError
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render
from pooling.platform.requests import row_number


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    """A POST of key and value shows what the lever changes; with `confirm` it is pulled."""
    campaign = managed_campaign(request, slug)
    if campaign.state == Campaign.State.DRAFT:
        return redirect("campaign-settings", slug)
    context = {
        "campaign": campaign,
        "tab": "progress",
        "word": campaign.level_word,
        "why_whole": why_whole(campaign),
    }
    if request.method == "POST":
        key = request.POST.get("key", "")
        try:
            now, lever = service.lever_of(campaign, key, row_number(request.POST.get("value")))
            if "confirm" in request.POST:
                messages.success(request, service.pull(campaign, lever, actor=request.user))
                return (
                    redirect("campaign-step", slug, "people")
                    if key == "invite"
                    else redirect("campaign-levers", slug)
                )
        except CampaignError as error:
            messages.error(request, str(error))
            return redirect("campaign-levers", slug)
        return render(request, "analysis/levers.html", {**context, "now": now, "lever": lever})
    live = live_rows(campaign, fresh=0.0)
    now, offered, why_none = service.levers(campaign, live=live)
    helpful = service.helpful(now, offered)
    shown = service.depths(campaign, offered, live=live) if offered else []
    context |= {
        "now": now,
        "levers": helpful,
        "recommended": helpful[0] if helpful and now.is_late else None,
    }
    return render(
        request, "analysis/levers.html", {**context, "why_none": why_none, "depths": shown}
    )
