"""Webhooks of a campaign: list, creation, test and deletion."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.core.webhook_messages import MessageForm, WebhookEvent
from annotation.forms_webhooks import EVENT_LABELS, TEST_LABEL, WebhookForm
from annotation.models import Campaign, Webhook, WebhookMessage
from annotation.permissions import get_managed_campaign
from annotation.services import webhooks
from annotation.services.errors import CampaignError
from pooling import tasks
from pooling.permissions import SignedInRequest
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    """List webhooks and messages. A POST acts on a webhook (action: create, test, secret or
    delete)."""
    campaign = get_managed_campaign(request, slug)
    action = request.POST.get("action", "")
    form = WebhookForm(request.POST if action == "create" else None)
    made = None
    if action == "create" and form.is_valid():
        try:
            made = _create_webhook(request, campaign, form)
        except CampaignError as error:
            form.add_error(None, str(error))
        else:
            form = WebhookForm()
    elif action in ("test", "secret", "delete"):
        webhook = get_object_or_404(
            campaign.webhooks.select_related("campaign"),
            pk=parse_row_id(request.POST.get("webhook")),
        )
        if action == "secret":
            made = webhooks.renew_secret(webhook, actor=request.user)
    if action in ("test", "delete"):
        _act_on_webhook(request, webhook, action)
        return redirect("campaign-webhooks", slug)
    context = {
        "campaign": campaign,
        "tab": "webhooks",
        "form": form,
        "made": made,
        "webhooks": [
            {"webhook": one, "events": [_event_label(name) for name in one.events]}
            for one in campaign.webhooks.select_related("created_by").order_by("name", "pk")
        ],
        "deliveries": _list_messages(request, campaign),
    }
    return render_page(
        request, "annotation/webhooks.html", context, status=400 if form.errors else 200
    )


def _create_webhook(request: SignedInRequest, campaign: Campaign, form: WebhookForm) -> Webhook:
    data = form.cleaned_data
    wanted = webhooks.NewWebhook(
        name=data["name"],
        url=data["url"],
        form=MessageForm(data["form"]),
        events=form.get_events(),
        site=request.build_absolute_uri("/"),
    )
    return webhooks.create_webhook(campaign, wanted, actor=request.user)


def _act_on_webhook(request: SignedInRequest, webhook: Webhook, action: str) -> None:
    if action == "delete":
        webhooks.delete_webhook(webhook, actor=request.user)
        messages.success(request, _("Deleted the webhook %(name)s.") % {"name": webhook.name})
        return
    webhooks.queue_test(webhook)
    for job in webhooks.request_due_messages():
        tasks.send(job)
    messages.success(
        request,
        _("Sending a test to %(name)s. Reload this page to see the answer.")
        % {"name": webhook.name},
    )


def _list_messages(request: SignedInRequest, campaign: Campaign) -> ListPage:
    rows = WebhookMessage.objects.filter(webhook__campaign=campaign).select_related("webhook")
    listed = ListPage(
        request,
        rows,
        search=("webhook__name", "event"),
        sort={
            "created": "created_at",
            "webhook": "webhook__name",
            "event": "event",
            "attempts": "n_attempts",
            "status": "status",
            "answered": "answered_at",
        },
        default="-created",
        per_page=20,
        part="messages",
    )
    listed.show([{"message": one, "event": _event_label(one.event)} for one in listed])
    return listed


def _event_label(name: str) -> Any:
    return EVENT_LABELS.get(WebhookEvent(name), TEST_LABEL)
