"""What an annotator does beside judging: agreeing, reading guidelines and messages, own settings, feedback."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.core.audit_actions import AuditAction
from annotation.models import Feedback, GuidelineVersion, Membership, Message, Profile
from annotation.services.audit import record
from annotation.services.errors import AnswerRefused

MOST_CHOICES = 20_000  # characters of JSON


def acknowledge(membership: Membership, number: int) -> None:
    """The annotator has read this version of the guidelines."""
    if not GuidelineVersion.objects.filter(campaign=membership.campaign_id, number=number).exists():
        raise AnswerRefused("guideline_unknown", f"There is no version {number} of the guidelines.", 404)
    Membership.objects.filter(pk=membership.pk).update(guideline_read=Greatest(F("guideline_read"), number))
    membership.refresh_from_db(fields=["guideline_read"])


def consent(membership: Membership) -> None:
    """Agreement to the campaign's terms, once; with a row in the audit trail."""
    if Membership.objects.filter(pk=membership.pk, consented_at=None).update(consented_at=timezone.now()):
        membership.refresh_from_db(fields=["consented_at"])
        record(membership.campaign, membership.user, AuditAction.CONSENTED, membership.pseudonym)


def save_choices(membership: Membership, choices: dict[str, Any]) -> dict[str, Any]:
    """Store the person's own settings of the judging page: one JSON object, known keys or not, of bounded size."""
    if len(json.dumps(choices)) > MOST_CHOICES:
        raise AnswerRefused("too_large", "These settings are too large.")
    profile, _ = Profile.objects.get_or_create(user_id=membership.user_id)
    profile.choices = choices
    profile.save(update_fields=["choices"])
    return choices


def mark_read(membership: Membership, message_id: int) -> None:
    Message.objects.filter(pk=message_id, membership=membership, read_at=None).update(read_at=timezone.now())


def give_feedback(membership: Membership, *, score: str, text: str) -> None:
    Feedback.objects.update_or_create(membership=membership, defaults={"score": score, "text": text})
