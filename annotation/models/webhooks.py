"""Webhooks of a campaign and their messages."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.core.webhook_messages import MessageForm, make_secret
from annotation.models.campaigns import Campaign


def make_message_id() -> str:
    return f"msg_{secrets.token_hex(16)}"


class Webhook(models.Model):
    """An address that receives events of a campaign. The secret is stored because every message is
    signed with it. It is shown once, and is in no export."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=100)
    url = models.URLField(max_length=500)
    form = models.CharField(max_length=10, choices=[(one.value, one.value) for one in MessageForm])
    events = models.JSONField(default=list, help_text="names of the events to send")
    secret = models.CharField(max_length=100, default=make_secret)
    site = models.URLField(help_text="address of this installation, for links in messages")
    checked_at = models.DateTimeField(
        null=True, blank=True, help_text="last request for the check of events without a moment"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "name"], name="one_webhook_name_per_campaign"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_address(self) -> str:
        """The address without its path, which can be a secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}/…"


class WebhookMessage(models.Model):
    """A message of a webhook, with its last answer. Messages are kept, so that an event with the
    same key is sent once."""

    class State(models.TextChoices):
        PENDING = "pending", _("waiting")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="messages")
    message_id = models.CharField(max_length=40, unique=True, default=make_message_id)
    event = models.CharField(max_length=40)
    key = models.CharField(max_length=200, help_text="identifies the event within the webhook")
    body = models.TextField(help_text="JSON, sent as it is")
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="time of the next attempt")
    answered_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="HTTP status of the last answer; empty without an answer"
    )
    answer = models.CharField(
        max_length=200, blank=True, help_text="beginning of the last answer, or the error"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "key"], name="one_message_per_event")
        ]
        indexes = [
            models.Index(
                fields=["due_at"], condition=models.Q(state="pending"), name="pending_messages"
            )
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.message_id}"
