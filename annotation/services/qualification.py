"""The optional test before judging: pairs with known grades, explained after each answer."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Judgement, Lease, Membership, Pair
from annotation.selectors.qualification import score
from annotation.services.audit import record
from annotation.services.leases import expiry

FAILED = "The qualification was not passed. The campaign's manager can let you try again or let you in."


def serve(membership: Membership, *, now: datetime) -> Lease | None:
    """A lease for the next qualification pair in the pool's order, or None when all are judged or served. Takes no slot."""
    own_judged = Judgement.objects.filter(membership=membership, current=True).values("pair_id")
    own_live = Lease.objects.filter(membership=membership, state=Lease.State.LIVE).values("pair_id")
    pairs = Pair.objects.filter(campaign=membership.campaign_id, kind=Pair.Kind.QUALIFICATION, without_text=False)
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


def settle(membership: Membership, now: datetime) -> bool | None:
    """After an answer: True when the annotator has passed, False when failed (and is paused), None while pairs are left."""
    result = score(membership)
    if result.judged < result.total:
        return None
    campaign = membership.campaign
    passed = result.right >= campaign.qualification_pass * result.total - 1e-9
    if passed:
        Membership.objects.filter(pk=membership.pk).update(qualified_at=now)
    else:
        Membership.objects.filter(pk=membership.pk).update(standing=Membership.Standing.PAUSED, standing_reason=FAILED)
    outcome = "passed the qualification" if passed else "failed the qualification"
    record(campaign, membership.user, outcome, membership.pseudonym, right=result.right, total=result.total)
    return passed


def let_in(membership: Membership, *, actor: User | None, now: datetime | None = None) -> None:
    """The manager lets an annotator judge whatever the qualification said."""
    Membership.objects.filter(pk=membership.pk).update(
        qualified_at=now or timezone.now(), standing=Membership.Standing.ACTIVE, standing_reason=""
    )
    record(membership.campaign, actor, "let in without qualification", membership.pseudonym)
