"""The optional qualification test before judging: pairs with known grades that are explained after
each answer."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Judgement, Lease, Membership, Pair
from annotation.selectors.pairs import get_special_pairs
from annotation.selectors.paused_annotators import FAILED_QUALIFICATION
from annotation.selectors.qualification import (
    CURRENT_ATTEMPT,
    get_failed_annotators,
    get_score,
    qualification_result,
)
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.judging.leases import lease_expiry


def serve_qualification_pair(annotator: Membership, *, now: datetime) -> Lease | None:
    """Assign the next qualification pair in the pool's order. Returns its lease, or None if all are
    judged or assigned. The lease takes no slot."""
    own_judged = Judgement.objects.filter(
        CURRENT_ATTEMPT, membership=annotator, current=True
    ).values("pair_id")
    own_live = Lease.objects.filter(membership=annotator, state=Lease.State.LIVE).values("pair_id")
    pairs = get_special_pairs(annotator.campaign, Pair.Kind.QUALIFICATION).filter(
        without_text=False
    )
    pair = pairs.exclude(pk__in=own_judged).exclude(pk__in=own_live).order_by("position").first()
    if pair is None:
        return None
    return Lease.objects.create(
        pair=pair,
        membership=annotator,
        takes_slot=False,
        served_at=now,
        expires_at=lease_expiry(annotator, now),
        why={"rule": "qualification", "position": pair.position},
    )


def serve_qualification_pairs(annotator: Membership, at_most: int, *, now: datetime) -> None:
    """Assign qualification pairs until the annotator holds `at_most` active leases or none are
    left."""
    for _more in range(
        at_most - Lease.objects.filter(membership=annotator, state=Lease.State.LIVE).count()
    ):
        if serve_qualification_pair(annotator, now=now) is None:
            return


def decide_qualification(annotator: Membership, now: datetime) -> bool | None:
    """Decide the test after an answer: True if the annotator has passed, False if the annotator has
    failed (and is paused), None while pairs are left. Refreshes the membership in place."""
    campaign, result = annotator.campaign, get_score(annotator)
    has_passed = qualification_result(campaign, result)
    if has_passed is None:
        return None
    if has_passed:
        annotator.qualified_at = now
    else:
        annotator.status, annotator.status_reason = Membership.Status.PAUSED, FAILED_QUALIFICATION
    annotator.save(update_fields=["qualified_at", "status", "status_reason"])
    outcome = (
        AuditAction.PASSED_THE_QUALIFICATION if has_passed else AuditAction.FAILED_THE_QUALIFICATION
    )
    record_event(
        campaign,
        annotator.user,
        outcome,
        annotator.pseudonym,
        right=result.right,
        total=result.total,
    )
    return has_passed


def admit_annotator(
    annotator: Membership, *, actor: User | None, now: datetime | None = None
) -> None:
    """Let an annotator judge regardless of the result of the test."""
    annotator.qualified_at = now or timezone.now()
    annotator.status, annotator.status_reason = Membership.Status.ACTIVE, ""
    annotator.save(update_fields=["qualified_at", "status", "status_reason"])
    record_event(annotator.campaign, actor, AuditAction.ADMITTED_AN_ANNOTATOR, annotator.pseudonym)


def restart_qualification(annotator: Membership, *, actor: User | None) -> None:
    """Let the annotator repeat the test. Earlier answers are kept but do not count.

    Raises CampaignError unless the annotator has failed and waits for a manager.
    """
    if not get_failed_annotators().filter(pk=annotator.pk).exists():
        raise CampaignError(
            _("%(pseudonym)s is not waiting for a decision about a failed qualification test.")
            % {"pseudonym": annotator.pseudonym}
        )
    annotator.qualification_after = (
        Judgement.objects.filter(membership=annotator).aggregate(last=Max("pk"))["last"] or 0
    )
    annotator.status, annotator.status_reason = Membership.Status.ACTIVE, ""
    annotator.save(update_fields=["qualification_after", "status", "status_reason"])
    record_event(
        annotator.campaign, actor, AuditAction.ALLOWED_ANOTHER_ATTEMPT, annotator.pseudonym
    )


def is_from_earlier_attempt(annotator: Membership, pair: Pair, judged: int) -> bool:
    """Return whether the annotator's judgement of the pair is from an earlier attempt. judged: id
    of the current judgement."""
    return pair.kind == Pair.Kind.QUALIFICATION and judged <= annotator.qualification_after
