"""The optional test before judging: pairs with known grades, explained after each answer."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils import timezone

from annotation.core.audit_actions import AuditAction
from annotation.models import Judgement, Lease, Membership, Pair
from annotation.selectors.pairs import kept_pairs
from annotation.selectors.qualification import FAILED, THIS_TRY, passed, score, waiting
from annotation.services.audit import record
from annotation.services.errors import CampaignError
from annotation.services.leases import expiry


def serve(membership: Membership, *, now: datetime) -> Lease | None:
    """A lease for the next qualification pair in the pool's order, or None when all are judged or served. Takes no slot."""
    own_judged = Judgement.objects.filter(THIS_TRY, membership=membership, current=True).values("pair_id")
    own_live = Lease.objects.filter(membership=membership, state=Lease.State.LIVE).values("pair_id")
    pairs = kept_pairs(membership.campaign).filter(kind=Pair.Kind.QUALIFICATION, without_text=False)
    pair = pairs.exclude(pk__in=own_judged).exclude(pk__in=own_live).order_by("position").first()
    if pair is None:
        return None
    return Lease.objects.create(
        pair=pair,
        membership=membership,
        takes_slot=False,
        served_at=now,
        expires_at=expiry(membership, now),
        why={"rule": "qualification", "position": pair.position},
    )


def serve_up_to(membership: Membership, at_most: int, *, now: datetime) -> None:
    """Serve until the annotator holds `at_most` live leases or all qualification pairs."""
    for _ in range(at_most - Lease.objects.filter(membership=membership, state=Lease.State.LIVE).count()):
        if serve(membership, now=now) is None:
            return


def settle(membership: Membership, now: datetime) -> bool | None:
    """After an answer: True when the annotator has passed, False when failed (and is paused), None while pairs are left. The membership
    is brought up to date in place."""
    campaign, result = membership.campaign, score(membership)
    has_passed = passed(campaign, result)
    if has_passed is None:
        return None
    if has_passed:
        membership.qualified_at = now
    else:
        membership.standing, membership.standing_reason = Membership.Standing.PAUSED, FAILED
    membership.save(update_fields=["qualified_at", "standing", "standing_reason"])
    outcome = AuditAction.PASSED_THE_QUALIFICATION if has_passed else AuditAction.FAILED_THE_QUALIFICATION
    record(campaign, membership.user, outcome, membership.pseudonym, right=result.right, total=result.total)
    return has_passed


def let_in(membership: Membership, *, actor: User | None, now: datetime | None = None) -> None:
    """The manager lets an annotator judge whatever the qualification said."""
    membership.qualified_at = now or timezone.now()
    membership.standing, membership.standing_reason = Membership.Standing.ACTIVE, ""
    membership.save(update_fields=["qualified_at", "standing", "standing_reason"])
    record(membership.campaign, actor, AuditAction.LET_IN_WITHOUT_QUALIFICATION, membership.pseudonym)


def let_try_again(membership: Membership, *, actor: User | None) -> None:
    """The annotator is asked all qualification pairs once more; the answers until now stay in the record and decide nothing.

    Raises CampaignError unless the annotator failed and waits.
    """
    if not waiting().filter(pk=membership.pk).exists():
        raise CampaignError(f"{membership.pseudonym} does not wait after a failed qualification.")
    membership.qualification_after = Judgement.objects.filter(membership=membership).aggregate(last=Max("pk"))["last"] or 0
    membership.standing, membership.standing_reason = Membership.Standing.ACTIVE, ""
    membership.save(update_fields=["qualification_after", "standing", "standing_reason"])
    record(membership.campaign, actor, AuditAction.LET_TRY_THE_QUALIFICATION_AGAIN, membership.pseudonym)


def is_of_an_earlier_try(membership: Membership, pair: Pair, judged: int) -> bool:
    """judged: row id of the annotator's current judgement of the pair."""
    return pair.kind == Pair.Kind.QUALIFICATION and judged <= membership.qualification_after
