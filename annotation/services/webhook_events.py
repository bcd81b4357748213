"""Events of a campaign, added as messages to its webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotation.core.webhook_messages import MessageForm, WebhookEvent, make_body
from annotation.models import Campaign, Webhook, WebhookMessage


def queue_event(
    campaign: Campaign,
    event: WebhookEvent,
    *,
    key: str,
    data: Mapping[str, Any] | None = None,
    page: str = "campaign",
    page_args: tuple[str | int, ...] = (),
) -> None:
    """Add a message to each webhook that is subscribed to the event, in the current transaction.

    key: identifies the event, which is sent once per webhook. data: values for receivers, without
    names of annotators and without texts. page: name of the URL about the event. page_args: its
    arguments after the campaign's slug.
    """
    subscribed = [
        one
        for one in Webhook.objects.filter(campaign=campaign).select_related("campaign")
        if event.value in one.events
    ]
    if not subscribed:
        return
    path = reverse(page, args=[campaign.slug, *page_args])
    made = [make_message(one, event, key=key, data=data or {}, path=path) for one in subscribed]
    WebhookMessage.objects.bulk_create(made, ignore_conflicts=True)


def make_message(
    webhook: Webhook, event: WebhookEvent, *, key: str, data: Mapping[str, Any], path: str
) -> WebhookMessage:
    """Return an unsaved webhook message that is due now. path: of the page about the event."""
    campaign, now = webhook.campaign, timezone.now()
    values = {
        "campaign": {"slug": campaign.slug, "name": campaign.name},
        **data,
        "url": f"{webhook.site}{path}",
    }
    body = make_body(MessageForm(webhook.form), event, campaign=campaign.name, data=values, at=now)
    return WebhookMessage(webhook=webhook, event=event.value, key=key[:200], body=body, due_at=now)
