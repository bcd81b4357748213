"""Reminders to selected annotators: select, write, preview and send."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.permissions import get_managed_campaign
from annotation.selectors.annotator_quotas import annotator_quotas
from annotation.services.errors import CampaignError
from annotation.services.people import messages as service
from pooling.permissions import SignedInRequest
from pooling.tasks import send


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remind(request: SignedInRequest, slug: str) -> HttpResponse:
    """Preview or send reminders. annotator: pseudonyms. A POST shows the emails, with action=send
    it requests them to be sent, and with action=choose it only stores the selection."""
    campaign = get_managed_campaign(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    chosen, text = set(given.getlist("annotator")), given.get("text", "")
    everybody = list(service.get_annotators(campaign))
    members = [member for member in everybody if member.pseudonym in chosen]
    mails, problem = None, ""
    choosing = request.method != "POST" or request.POST.get("action") == "choose"
    if not choosing:
        address = request.build_absolute_uri("/")
        try:
            if not members:
                raise CampaignError(_("Select at least one annotator."))
            mails = service.preview_reminders(campaign, members, text, address=address)
            if request.POST.get("action") == "send":
                job = service.request_reminders(
                    campaign, members, text, address=address, actor=request.user
                )
                send(job)
                if service.is_console_backend():
                    messages.warning(
                        request,
                        _(
                            "The reminders were not sent because no mail server is "
                            "configured. They were printed to the worker's console. Ask an "
                            "administrator to set up email."
                        ),
                    )
                else:
                    messages.success(
                        request,
                        _("Sending the reminders. This page shows who received one."),
                    )
                return redirect("job", job.pk)
        except CampaignError as error:
            problem = str(error)
    context = {
        "campaign": campaign,
        "tab": "people",
        "everybody": zip(everybody, annotator_quotas(everybody), strict=True),
        "chosen": chosen,
        "text": text or (service.STARTING_TEXT if choosing else ""),
        "mails": mails,
        "problem": problem,
        "longest": service.MAX_TEXT,
        "printed": service.is_console_backend(),
    }
    return render(request, "annotation/remind.html", context, status=400 if problem else 200)
