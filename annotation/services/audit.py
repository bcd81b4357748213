"""The audit log. Every service that changes something adds a row. Some actions are also events of
webhooks."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.core.audit_actions import AuditAction
from annotation.core.webhook_messages import EVENT_OF_ACTION
from annotation.models import AuditEvent, Campaign
from annotation.services.webhook_events import queue_event


def record_event(
    campaign: Campaign, actor: User | None, action: AuditAction, subject: str = "", **details: Any
) -> None:
    """Add a row to the audit log. actor: None for the software itself or a command of the
    operator."""
    entry = AuditEvent.objects.create(
        campaign=campaign, actor=actor, action=action, subject=subject[:200], details=details
    )
    if (event := EVENT_OF_ACTION.get(action)) is not None:
        queue_event(campaign, event, key=f"audit/{entry.pk}", data=_event_data(entry))


def _event_data(entry: AuditEvent) -> dict[str, Any]:
    """Return the data of an audit log entry that webhooks send."""
    if entry.action != AuditAction.BUILT_A_RELEASE:
        return {}
    return {
        "name": entry.subject,
        "sha256": entry.details["digest"],
        "same_as_before": entry.details["same_as_before"],
    }
