"""Reminders to chosen annotators: choose, write, see the mail as it will be sent, send."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.permissions import managed_campaign
from annotation.services import messages as service
from annotation.services.errors import CampaignError
from pooling.permissions import SignedInRequest
from pooling.tasks import send


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remind(request: SignedInRequest, slug: str) -> HttpResponse:
    """who: pseudonyms. A POST shows the mails, and with action=send asks for them to be sent."""
    campaign = managed_campaign(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    chosen, text = set(given.getlist("who")), given.get("text", service.STARTING_TEXT)
    everybody = list(service.annotators(campaign))
    members = [member for member in everybody if member.pseudonym in chosen]
    mails, problem = None, ""
    if request.method == "POST":
        address = request.build_absolute_uri("/")
        try:
            if not members:
                raise CampaignError("Choose somebody.")
            mails = service.preview(campaign, members, text, address=address)
            if request.POST.get("action") == "send":
                job = service.ask_to_remind(campaign, members, text, address=address, actor=request.user)
                send(job)
                messages.success(request, "The reminders are on their way; this page says to whom they went.")
                return redirect("job", job.pk)
        except CampaignError as error:
            problem = str(error)
    context = {
        "campaign": campaign,
        "tab": "people",
        "everybody": everybody,
        "chosen": chosen,
        "text": text,
        "mails": mails,
        "problem": problem,
        "longest": service.LONGEST,
    }
    return render(request, "annotation/remind.html", context, status=400 if problem else 200)
