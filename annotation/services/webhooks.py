"""Webhooks of a campaign: creation, messages, and their delivery.

    webhook = create_webhook(campaign, NewWebhook(...), actor=user)
    message = queue_test(webhook)

Messages are added by annotation.services.webhook_events. A job sends them: the worker requests it
every few seconds if messages are due. Receivers may get a message twice, with the same ID.
"""

from __future__ import annotations

import http.client
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import IntegrityError, transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.core.webhook_messages import MessageForm, WebhookEvent, make_secret, sign
from annotation.models import Campaign, Webhook, WebhookMessage
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError, ContradictionError
from annotation.services.webhook_events import make_message
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob
from pooling.platform.outgoing import (
    AddressRefused,
    OutgoingRequest,
    PublicOnly,
    make_printable,
)

State = WebhookMessage.State
MESSAGES_JOB = "webhook messages"
MAX_WEBHOOKS = 20
"""Maximum number of webhooks per campaign."""
TIMEOUT_SECONDS = 10.0
RETRY_DELAYS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
)
"""Time from each failed attempt to the next one. After the last attempt, a message has failed."""
ANSWER_CHARACTERS = 200


@dataclass(frozen=True)
class NewWebhook:
    """Settings of a new webhook. site: absolute address of this installation, for links."""

    name: str
    url: str
    form: MessageForm
    events: list[WebhookEvent]
    site: str


def find_address_problem(url: str) -> str:
    """Return why no message would be sent to an address, or an empty text. The IP address is checked
    with each message."""
    try:
        URLValidator(schemes=["http", "https"])(url)
    except ValidationError as error:
        return " ".join(error.messages)
    parts = urlsplit(url)
    if parts.scheme != "https" and not settings.WEBHOOK_NETWORKS:
        return _("The address must begin with https://.")
    if parts.username is not None or parts.fragment:
        return _("Remove the username or the part after # from the address.")
    return ""


def create_webhook(campaign: Campaign, new_webhook: NewWebhook, *, actor: User | None) -> Webhook:
    """Create a webhook with a new secret. Raises CampaignError if there are too many, or if the
    name is taken."""
    if campaign.webhooks.count() >= MAX_WEBHOOKS:
        raise CampaignError(
            _("The campaign has the maximum of %(most)s webhooks. Delete one first.")
            % {"most": MAX_WEBHOOKS}
        )
    webhook = Webhook(campaign=campaign, created_by=actor)
    return _store_webhook(webhook, asdict(new_webhook), actor, AuditAction.CREATED_A_WEBHOOK)


def update_webhook(webhook: Webhook, changes: Mapping[str, Any], *, actor: User | None) -> Webhook:
    """Change fields of NewWebhook. Waiting messages are sent to a new address."""
    return _store_webhook(webhook, changes, actor, AuditAction.CHANGED_A_WEBHOOK)


def renew_secret(webhook: Webhook, *, actor: User | None) -> Webhook:
    """Replace the secret, which signs all messages from now on."""
    return _store_webhook(webhook, {"secret": make_secret()}, actor, AuditAction.CHANGED_A_WEBHOOK)


def _store_webhook(
    webhook: Webhook, values: Mapping[str, Any], actor: User | None, action: AuditAction
) -> Webhook:
    for name, value in values.items():
        setattr(webhook, name, value)
    if "url" in values and (problem := find_address_problem(webhook.url)):
        raise ContradictionError(problem)
    webhook.events = [str(event) for event in webhook.events]
    webhook.site = webhook.site.rstrip("/")
    try:
        with transaction.atomic():
            webhook.save()
            _record(webhook, actor, action)
    except IntegrityError:
        raise CampaignError(
            _("The campaign already has a webhook with the name %(name)s. Choose another name.")
            % {"name": webhook.name}
        ) from None
    return webhook


def delete_webhook(webhook: Webhook, *, actor: User | None) -> None:
    """Delete a webhook with its messages. Messages that wait are not sent."""
    with transaction.atomic():
        _record(webhook, actor, AuditAction.DELETED_A_WEBHOOK)
        webhook.delete()


def _record(webhook: Webhook, actor: User | None, action: AuditAction) -> None:
    record_event(
        webhook.campaign,
        actor,
        action,
        webhook.name,
        address=webhook.shown_address,
        events=webhook.events,
    )


def queue_test(webhook: Webhook) -> WebhookMessage:
    """Add a test message to the webhook's queue and return it."""
    page = reverse("campaign-webhooks", args=[webhook.campaign.slug])
    key = f"test/{uuid.uuid4()}"
    message = make_message(webhook, WebhookEvent.TEST, key=key, data={}, path=page)
    message.save(force_insert=True)
    return message


def mark_checked(campaign: Campaign, now: datetime) -> set[str]:
    """Record that the campaign was checked for events, and return the names of all events to which
    its webhooks subscribe."""
    campaign.webhooks.update(checked_at=now)
    return {
        name for events in campaign.webhooks.values_list("events", flat=True) for name in events
    }


def request_due_messages() -> list[Job]:
    """Create a job that sends the messages that are due, unless such a job is queued or running.
    Returns the new jobs."""
    due = WebhookMessage.objects.filter(state=State.PENDING, due_at__lte=timezone.now())
    if not due.exists() or Job.objects.filter(kind=MESSAGES_JOB, state__in=Job.ACTIVE).exists():
        return []
    return [request_messages_job()]


def request_messages_job() -> Job:
    return jobs.enqueue(MESSAGES_JOB, {}, label="Send webhook messages", user=None)


@jobs.register_job_kind(MESSAGES_JOB, unit="messages", figures=True, resumes=True, urgent=True)
def send_due_messages(work: ClaimedJob) -> dict[str, Any]:
    """Send the messages that are due, oldest first. Returns how many were accepted and refused."""
    n_sent = n_refused = 0
    while message := _next_due_message():
        if not _claim_message(message):
            continue
        is_sent = attempt_message(message)
        n_sent += is_sent
        n_refused += not is_sent
        work.progress(n_sent + n_refused)
    return {"sent": n_sent, "refused": n_refused}


def _next_due_message() -> WebhookMessage | None:
    due = WebhookMessage.objects.filter(state=State.PENDING, due_at__lte=timezone.now())
    return due.select_related("webhook").order_by("due_at", "pk").first()


def _claim_message(message: WebhookMessage) -> bool:
    """Count the attempt and set the time of the next one, before the message is sent, so that an
    interrupted job is followed by another attempt. Returns False if another job has claimed it."""
    last = min(message.n_attempts, len(RETRY_DELAYS) - 1)
    due_at = timezone.now() + RETRY_DELAYS[last]
    claimed = WebhookMessage.objects.filter(
        pk=message.pk, state=State.PENDING, n_attempts=message.n_attempts
    ).update(n_attempts=F("n_attempts") + 1, due_at=due_at)
    message.n_attempts, message.due_at = message.n_attempts + 1, due_at
    return bool(claimed)


def attempt_message(message: WebhookMessage) -> bool:
    """Send a claimed message once and store the answer. Returns whether it was accepted.

    After a refusal, the webhook's other waiting messages wait as long. After an accepted message,
    they are due at once.
    """
    try:
        answer = _make_request(message).send()
    except AddressRefused as error:
        _store_answer(message, State.FAILED, None, f"Not sent: {error}.")
        return False
    except TimeoutError:
        status, says = None, f"No answer within {TIMEOUT_SECONDS:.0f} seconds."
    except (OSError, http.client.HTTPException) as error:
        status, says = None, f"No answer: {error or type(error).__name__}."
    else:
        status = answer.status
        says = answer.describe_body(ANSWER_CHARACTERS)
        if answer.is_success:
            _store_answer(message, State.SENT, status, says)
            return True
    is_last = message.n_attempts > len(RETRY_DELAYS)
    _store_answer(message, State.FAILED if is_last else State.PENDING, status, says)
    return False


def _make_request(message: WebhookMessage) -> OutgoingRequest:
    body, seconds = message.body.encode("utf-8"), int(time.time())
    signature = sign(
        message.webhook.secret, message_id=message.message_id, seconds=seconds, body=body
    )
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Assay",
        "webhook-id": message.message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature,
    }
    return OutgoingRequest(
        message.webhook.url,
        body,
        headers,
        timeout=TIMEOUT_SECONDS,
        restriction=PublicOnly(settings.WEBHOOK_NETWORKS, "ASSAY_WEBHOOK_NETWORKS"),
    )


def _store_answer(message: WebhookMessage, state: str, status: int | None, says: str) -> None:
    printable = make_printable(says, ANSWER_CHARACTERS)
    now = timezone.now()
    WebhookMessage.objects.filter(pk=message.pk).update(
        state=state, status=status, answer=printable, answered_at=now
    )
    waiting = WebhookMessage.objects.filter(webhook=message.webhook_id, state=State.PENDING)
    if state == State.SENT:
        waiting.filter(due_at__gt=now).update(due_at=now)
    else:
        waiting.filter(due_at__lt=message.due_at).update(due_at=message.due_at)
