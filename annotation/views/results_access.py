"""Read-only access to the results of a campaign: its viewers, and links that need no account."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.forms_campaign import ResultsLinkForm
from annotation.models import Membership
from annotation.permissions import get_managed_campaign
from annotation.services.errors import CampaignError
from annotation.services.people import accounts, results_links
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id

MAX_SHOWN = 200


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    action = request.POST.get("action", "")
    form = ResultsLinkForm(request.POST if action == "link" else None)
    viewers = campaign.memberships.filter(role=Membership.Role.VIEWER)
    made = ""
    if action == "link" and form.is_valid():
        try:
            token = results_links.create_results_link(
                campaign,
                name=form.cleaned_data["name"],
                days=int(form.cleaned_data["days"]),
                actor=request.user,
            )
        except CampaignError as error:
            form.add_error(None, str(error))
        else:
            made = request.build_absolute_uri(reverse("results-link", args=[token]))
            form = ResultsLinkForm()
    elif action == "revoke":
        link = get_object_or_404(
            campaign.results_links.filter(revoked_at=None),
            pk=parse_row_id(request.POST.get("link")),
        )
        results_links.revoke_results_link(link, actor=request.user)
        messages.success(request, _("Link revoked. It no longer gives access to the results."))
        return redirect("campaign-readers", slug)
    elif action == "remove":
        accounts.remove_member(
            get_object_or_404(viewers, pk=parse_row_id(request.POST.get("viewer"))),
            actor=request.user,
        )
        messages.success(request, _("Removed the viewer from this campaign."))
        return redirect("campaign-readers", slug)
    context = {
        "campaign": campaign,
        "tab": "settings",
        "form": form,
        "made": made,
        "links": campaign.results_links.select_related("created_by").order_by("-created_at")[
            :MAX_SHOWN
        ],
        "viewers": viewers.select_related("user").order_by("pseudonym")[:MAX_SHOWN],
    }
    return render_page(
        request, "annotation/readers.html", context, status=400 if form.errors else 200
    )
