"""The trail of who changed what: every service that decides something leaves a row."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign


def record_event(
    campaign: Campaign, actor: User | None, action: AuditAction, subject: str = "", **details: Any
) -> None:
    """actor None: the software itself, or a command run by the operator."""
    AuditEvent.objects.create(
        campaign=campaign, actor=actor, action=action, subject=subject[:200], details=details
    )
