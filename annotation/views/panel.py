"""The page of a campaign's panel, for managers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.forms_panel import PanelForm
from annotation.models import GuestPanel
from annotation.permissions import get_managed_campaign
from annotation.selectors.guests import count_places_taken
from annotation.services.campaigns.lifecycle import update_campaign
from annotation.services.errors import CampaignError
from annotation.services.people import guests
from annotation.services.people.accounts import PeopleError
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render_page


@sensitive_post_parameters("secret", "participant")
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show and change the panel of a campaign."""
    campaign = get_managed_campaign(request, slug)
    panel = GuestPanel.objects.filter(campaign=campaign).first()
    if panel is not None and request.POST.get("action") == "find":
        return _find_participant(request, panel)
    form = PanelForm(campaign, panel, request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = {**form.cleaned_data}
        try:
            update_campaign(campaign, actor=request.user, consent_text=values.pop("consent_text"))
        except CampaignError as error:
            form.add_error("consent_text", str(error))
        else:
            guests.save_panel(campaign, values, actor=request.user)
            messages.success(request, _("Saved."))
            return redirect("campaign-panel", slug)
    context: dict[str, Any] = {
        "campaign": campaign,
        "tab": "invitations",
        "form": form,
        "panel": panel,
    }
    if panel is not None:
        context |= {
            "n_guests": panel.guests.count(),
            "n_places": count_places_taken(panel),
            "link": _guest_link(request, panel),
            "events_link": request.build_absolute_uri(reverse("panel-events", args=[panel.token])),
        }
    return render_page(
        request, "annotation/campaign_panel.html", context, status=400 if form.errors else 200
    )


def _find_participant(request: SignedInRequest, panel: GuestPanel) -> HttpResponse:
    """Redirect to the guest with this participant ID of the panel."""
    given = {panel.participant_parameter: request.POST.get("participant", "").strip()}
    try:
        guest = guests.find_guest(panel, guests.read_participant(panel, given))
    except PeopleError:
        guest = None
    if guest is None:
        messages.error(request, _("No guest has this ID."))
        return redirect("campaign-panel", panel.campaign.slug)
    return redirect("campaign-person", panel.campaign.slug, guest.membership.pseudonym)


def _guest_link(request: HttpRequest, panel: GuestPanel) -> str:
    """Return the link for the panel. Prolific replaces {{%NAME%}} by a value."""
    names = [name for name in (panel.participant_parameter, panel.submission_parameter) if name]
    parameters = "&".join(f"{name}={{{{%{name}%}}}}" for name in names)
    address = request.build_absolute_uri(reverse("join", args=[panel.token]))
    return f"{address}?{parameters}"
