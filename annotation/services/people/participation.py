"""Actions of annotators other than judging: consent, reading guidelines and messages, settings and
feedback."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Feedback, GuidelineVersion, Membership, Message, Profile
from annotation.services.audit import record_event
from annotation.services.errors import AnswerRefused

MAX_CHOICES = 20_000  # characters of JSON


def acknowledge_guideline(annotator: Membership, number: int) -> None:
    """Record that the annotator has read this version of the guidelines."""
    if not GuidelineVersion.objects.filter(campaign=annotator.campaign_id, number=number).exists():
        raise AnswerRefused(
            "guideline_unknown",
            _("Version %(number)s of the guidelines not found.") % {"number": number},
            404,
        )
    Membership.objects.filter(pk=annotator.pk).update(
        guideline_read=Greatest(F("guideline_read"), number)
    )
    annotator.refresh_from_db(fields=["guideline_read"])


def record_consent(annotator: Membership) -> None:
    """Record the agreement to the campaign's terms, once, with a row in the audit log."""
    if Membership.objects.filter(pk=annotator.pk, consented_at=None).update(
        consented_at=timezone.now()
    ):
        annotator.refresh_from_db(fields=["consented_at"])
        record_event(annotator.campaign, annotator.user, AuditAction.CONSENTED, annotator.pseudonym)


def save_display_settings(annotator: Membership, choices: dict[str, Any]) -> dict[str, Any]:
    """Save the user's settings of the judging page: one JSON object of limited size, which may have
    unknown keys."""
    if len(json.dumps(choices)) > MAX_CHOICES:
        says = _("The settings exceed the maximum size of %(most)s characters.")
        raise AnswerRefused("too_large", says % {"most": f"{MAX_CHOICES:,}"})
    profile = Profile.objects.get_or_create(user_id=annotator.user_id)[0]
    profile.choices = choices
    profile.save(update_fields=["choices"])
    return choices


def mark_message_read(annotator: Membership, message_id: int) -> None:
    Message.objects.filter(pk=message_id, membership=annotator, read_at=None).update(
        read_at=timezone.now()
    )


def save_feedback(annotator: Membership, *, score: str, text: str) -> None:
    Feedback.objects.update_or_create(membership=annotator, defaults={"score": score, "text": text})
