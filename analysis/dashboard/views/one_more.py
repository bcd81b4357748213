"""One more judgement for chosen pairs, or one taken back: what it costs first, then the deed."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from analysis.dashboard import one_more as previews
from annotation.models import Campaign
from annotation.permissions import managed_campaign
from annotation.services.errors import CampaignError
from annotation.services.judging import one_more
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render
from pooling.platform.requests import row_number


@login_required
@require_POST
def ask(request: SignedInRequest, slug: str) -> HttpResponse:
    """pair (several), action `more` or `back`, back: where one came from. With `confirm` it is
    done, else shown."""
    campaign = managed_campaign(request, slug)
    ids = {number for written in request.POST.getlist("pair") if (number := row_number(written))}
    taking_back, way_back = request.POST.get("action") == "back", _way_back(request, campaign)
    try:
        if "confirm" in request.POST:
            deed = one_more.take_one_more_back if taking_back else one_more.ask_for_one_more
            done = deed(campaign, ids, actor=request.user)
            n = len(done.ids)
            if taking_back:
                said = ngettext(
                    "%(n)s judgement is no longer asked for.",
                    "%(n)s judgements are no longer asked for.",
                    n,
                )
            else:
                said = ngettext(
                    "%(n)s judgement is asked for.", "%(n)s judgements are asked for.", n
                )
            messages.success(request, " ".join([said % {"n": f"{n:,}"}, *done.reasons]))
            return redirect(way_back)
        shown = previews.preview(campaign, ids, back=taking_back)
    except CampaignError as error:
        messages.error(request, str(error))
        return redirect(way_back)
    context: dict[str, object] = {
        "campaign": campaign,
        "tab": "labels",
        "shown": shown,
        "taking_back": taking_back,
        "way_back": way_back,
    }
    context["word"] = campaign.level_word
    return render(request, "analysis/one_more.html", context)


def _way_back(request: SignedInRequest, campaign: Campaign) -> str:
    """The list or the pair as it was."""
    asked, home = request.POST.get("back", ""), reverse("campaign", args=[campaign.slug])
    fits = asked.startswith(home) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if fits else reverse("campaign-label-list", args=[campaign.slug])
