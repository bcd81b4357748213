"""The audit log. Every service that changes something adds a row."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign


def record_event(
    campaign: Campaign, actor: User | None, action: AuditAction, subject: str = "", **details: Any
) -> None:
    """Add a row to the audit log. actor: None for the software itself or a command of the
    operator."""
    AuditEvent.objects.create(
        campaign=campaign, actor=actor, action=action, subject=subject[:200], details=details
    )
