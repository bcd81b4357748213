"""Pages for participants of a panel such as Prolific, and the address to which the panel sends
events."""

from __future__ import annotations

import time

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.panel_events import MAX_ID_LENGTH, is_signed, parse_event
from annotation.markup import markdown
from annotation.models import Campaign, Guest, GuestOutcome, GuestPanel
from annotation.selectors.guests import can_admit_guest
from annotation.selectors.judging import get_situation
from annotation.services.people import attempts, guests
from annotation.services.people.accounts import PeopleError
from annotation.views import people
from pooling.platform.page_files import render_page
from pooling.platform.requests import client_address

MAX_EVENT_BYTES = 64 * 1024


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Let a visitor join a campaign by the link of its panel or by an invitation."""
    panel = guests.find_panel(token)
    return people.join(request, token) if panel is None else _join_by_panel(request, panel)


def _join_by_panel(request: HttpRequest, panel: GuestPanel) -> HttpResponse:
    """Ask a participant for consent and let them judge. A known participant continues, or sees the
    completion code again. A GET changes nothing but the count of requests."""
    if not attempts.can_open_link(f"panel {panel.pk}", address=client_address(request)):
        reason = _("Too many requests from your address. Wait five minutes and try again.")
        response = _refuse(request, panel, reason, status=429)
        response.headers["Retry-After"] = str(int(attempts.ATTEMPT_PERIOD.total_seconds()))
        return response
    given = request.POST if request.method == "POST" else request.GET
    try:
        participant = guests.read_participant(panel, given)
    except PeopleError as error:
        return _refuse(request, panel, str(error), status=400)
    if panel.campaign.state == Campaign.State.DRAFT:
        return _refuse(request, panel, _("This campaign is not open yet."), status=409)
    if request.POST.get("action") == "decline":
        return _show_end(request, panel, GuestOutcome.DECLINED)
    guest = guests.find_guest(panel, participant)
    if guest is not None and guests.is_new_submission(guest, participant):
        guest = None
    if guest is not None:
        return _welcome_back(request, panel, guest)
    if not can_admit_guest(panel):
        return _show_end(request, panel, GuestOutcome.FULL)
    if request.method != "POST":
        return _ask(request, panel)
    try:
        guest = guests.admit_guest(panel, participant)
    except guests.PanelFull:
        return _show_end(request, panel, GuestOutcome.FULL)
    return _start(request, guest)


def _welcome_back(request: HttpRequest, panel: GuestPanel, guest: Guest) -> HttpResponse:
    situation = get_situation(guest.membership, now=timezone.now())
    details = situation.details
    if "outcome" in details:
        outcome, thanks = GuestOutcome(details["outcome"]), details.get("thanks_html", "")
        return _show_end(request, panel, outcome, message=situation.message, thanks=thanks)
    if request.user == guest.membership.user:
        return redirect("judge", panel.campaign.slug)
    return _start(request, guest) if request.method == "POST" else _ask(request, panel, guest=guest)


def _start(request: HttpRequest, guest: Guest) -> HttpResponse:
    people.start_session(request, guest.membership.user)
    request.session["guest"] = True  # hides the account settings in the menu
    return redirect("judge", guest.panel.campaign.slug)


def _ask(request: HttpRequest, panel: GuestPanel, *, guest: Guest | None = None) -> HttpResponse:
    campaign = panel.campaign
    names = (panel.participant_parameter, panel.submission_parameter)
    context = {
        "panel": panel,
        "campaign": campaign,
        "guest": guest,
        "consent": markdown(campaign.consent_text) if campaign.consent_text else "",
        "parameters": [(name, request.GET[name]) for name in names if request.GET.get(name)],
    }
    return render_page(request, "annotation/guest_join.html", context)


def _show_end(
    request: HttpRequest,
    panel: GuestPanel,
    outcome: GuestOutcome,
    *,
    message: str = "",
    thanks: str = "",
) -> HttpResponse:
    context = {
        "panel": panel,
        "campaign": panel.campaign,
        "outcome": outcome.value,
        "message": message,
        "thanks": thanks,
        "code": panel.code(outcome),
        "url": panel.return_url(outcome),
    }
    return render_page(request, "annotation/guest_end.html", context)


def _refuse(request: HttpRequest, panel: GuestPanel, reason: str, *, status: int) -> HttpResponse:
    context = {"panel": panel, "reason": reason}
    return render_page(request, "annotation/guest_refused.html", context, status=status)


@csrf_exempt
@never_cache
@require_POST
def receive_event(request: HttpRequest, token: str) -> HttpResponseBase:
    """Receive an event of the panel. Answers 403 without a valid signature and 204 otherwise, also
    for unknown submissions."""
    panel = get_object_or_404(GuestPanel.objects.select_related("campaign"), token=token)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or int(length) > MAX_EVENT_BYTES:
        return HttpResponse("The event is too large.", status=413, content_type="text/plain")
    headers = request.headers
    if not panel.secret or not is_signed(
        request.body,
        signature=headers.get("X-Prolific-Request-Signature", ""),
        timestamp=headers.get("X-Prolific-Request-Timestamp", ""),
        secret=panel.secret,
        now=time.time(),
    ):
        return HttpResponse("The signature is not valid.", status=403, content_type="text/plain")
    event_id = headers.get("X-Event-ID", "")
    try:
        if not 0 < len(event_id) <= MAX_ID_LENGTH:
            raise ValueError("X-Event-ID must have 1 to 100 characters")
        event = parse_event(request.body)
    except ValueError:
        return HttpResponse("The event is malformed.", status=400, content_type="text/plain")
    if event is not None:
        guests.receive_event(panel, event_id, event)
    return HttpResponse(status=204)
