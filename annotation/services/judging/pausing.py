"""The rule that pauses an annotator after so many too fast judgements, if the campaign has one."""

from __future__ import annotations

from datetime import datetime

from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Judgement, Membership
from annotation.selectors.pausing import reason_for
from annotation.services.people import exclusion


def pause_when_too_many(annotator: Membership, now: datetime) -> bool:
    """Whether the annotator is paused now. Counted are too fast judgements since a manager last let
    the annotator go on."""
    most = annotator.campaign.pause_after_fast
    if not most or annotator.standing != Membership.Standing.ACTIVE:
        return False
    resumed = AuditEvent.objects.filter(
        campaign_id=annotator.campaign_id,
        action=AuditAction.RESUMED_AN_ANNOTATOR,
        subject=annotator.pseudonym,
    )
    last = resumed.order_by("-at").values_list("at", flat=True).first()
    fast = Judgement.objects.filter(
        membership=annotator, current=True, standing=Judgement.Standing.TOO_FAST
    )
    n = (fast.filter(received_at__gt=last) if last else fast).count()
    if n < most:
        return False
    exclusion.pause_annotator(annotator, reason=reason_for(n), actor=None, now=now)
    return True
