"""Events of webhooks, their messages, and signatures as defined by Standard Webhooks 1.0.

Messages name annotators by pseudonym only. They contain neither texts of documents and topics nor
texts that annotators wrote.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from annotation.core.audit_actions import AuditAction
from assay.number_words import format_count

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32


class WebhookEvent(StrEnum):
    CAMPAIGN_OPENED = "campaign.opened"
    CAMPAIGN_CLOSED = "campaign.closed"
    DEADLINE_AT_RISK = "campaign.deadline_at_risk"
    DEPTH_COMPLETE = "campaign.depth_complete"
    ALL_JUDGED = "campaign.all_judged"
    ANNOTATOR_FLAGGED = "annotator.flagged"
    QUESTION_ASKED = "question.asked"
    RELEASE_BUILT = "release.built"
    TEST = "webhook.test"


SUBSCRIBED_EVENTS = [event for event in WebhookEvent if event != WebhookEvent.TEST]
"""Events that a webhook can choose. Tests are sent to every webhook."""
EVENT_OF_ACTION = {
    AuditAction.OPENED: WebhookEvent.CAMPAIGN_OPENED,
    AuditAction.CLOSED: WebhookEvent.CAMPAIGN_CLOSED,
    AuditAction.BUILT_A_RELEASE: WebhookEvent.RELEASE_BUILT,
}
"""Actions of the audit log that are events."""
CHECKED_EVENTS = frozenset(
    {
        WebhookEvent.DEADLINE_AT_RISK,
        WebhookEvent.DEPTH_COMPLETE,
        WebhookEvent.ALL_JUDGED,
        WebhookEvent.ANNOTATOR_FLAGGED,
    }
)
"""Events that have no moment of their own and are found by a periodic check."""


class MessageForm(StrEnum):
    """The body of a message: `standard` is an object with type, timestamp and data, `text` an object
    with one sentence for chats such as Slack and Teams."""

    STANDARD = "standard"
    TEXT = "text"


def make_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def sign(secret: str, *, message_id: str, seconds: int, body: bytes) -> str:
    """Sign a message: return the value of the header `webhook-signature`. seconds: since 1970, as
    in the header `webhook-timestamp`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((message_id.encode("ascii"), str(seconds).encode("ascii"), body))
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode('ascii')}"


def make_body(
    form: MessageForm, event: WebhookEvent, *, campaign: str, data: Mapping[str, Any], at: datetime
) -> str:
    """Return the body of a message as JSON. campaign: its name. data: with `url`, the page about
    the event, and the keys that the event's sentence needs."""
    if form == MessageForm.TEXT:
        content: dict[str, Any] = {
            "text": f"{campaign}: {format_sentence(event, data)} {data['url']}"
        }
    else:
        content = {"type": event.value, "timestamp": at.isoformat(), "data": dict(data)}
    return json.dumps(content, ensure_ascii=False)


def format_sentence(event: WebhookEvent, data: Mapping[str, Any]) -> str:
    """Describe a webhook's event as an English sentence."""
    match event:
        case WebhookEvent.CAMPAIGN_OPENED:
            return "The campaign was opened."
        case WebhookEvent.CAMPAIGN_CLOSED:
            return "The campaign was closed."
        case WebhookEvent.DEADLINE_AT_RISK:
            return _format_risk(data)
        case WebhookEvent.DEPTH_COMPLETE:
            return f"All pairs down to {data['level']} {data['depth']:,} are judged."
        case WebhookEvent.ALL_JUDGED:
            return "All required judgements have been made."
        case WebhookEvent.ANNOTATOR_FLAGGED:
            return f"{data['annotator']} was flagged: {data['reason']}."
        case WebhookEvent.QUESTION_ASKED:
            return f"{data['annotator']} asked a question."
        case WebhookEvent.RELEASE_BUILT:
            return f"The release “{data['name']}” was built."
        case WebhookEvent.TEST:
            return "This is a test message."


def _format_risk(data: Mapping[str, Any]) -> str:
    deadline = data["deadline"][:10]
    missing = format_count(data["missing"], "judgement", "is", "are")
    if data["is_over"]:
        return f"The deadline of {deadline} has passed and {missing} missing."
    return (
        f"Expected to finish on {data['expected_end'][:10]}, after the deadline of {deadline}: "
        f"{missing} missing."
    )
