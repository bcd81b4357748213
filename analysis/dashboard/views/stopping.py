"""A manager asks whether judging may stop."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from analysis.judgements import stopping_looks
from annotation.permissions import managed_campaign
from pooling.platform.jobs import Refused
from pooling.tasks import send

PAGES = ("campaign", "campaign-systems")
"""Those that show the advice, by the names of their addresses."""


@login_required
@require_POST
def look(request: HttpRequest, slug: str) -> HttpResponse:
    """back: the page from which it was asked."""
    campaign = managed_campaign(request, slug)
    try:
        send(stopping_looks.ask(campaign, user=request.user))
    except Refused as error:
        messages.error(request, _("No look now: %(error)s.") % {"error": error})
    back = request.POST.get("back")
    return redirect(back if back in PAGES else PAGES[0], slug)
