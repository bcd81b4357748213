"""Leases: renewing, releasing, and giving back the slots of those that have expired."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.models import Lease, Membership
from annotation.services.judging import clock, slots

REAPED_AT_ONCE = 50


def reap_expired(now: datetime | None = None, *, at_most: int = REAPED_AT_ONCE) -> int:
    """Give back the slots of expired leases; returns how many ended. Cheap when there are none: one
    look at a partial index.

    Every claim calls this first, so no slot stays lost while anybody judges.
    """
    clock.heed_steps()
    now = now or timezone.now()
    expired = Lease.objects.filter(state=Lease.State.LIVE, expires_at__lte=now)
    if not expired.exists():
        return 0

    def reap() -> int:
        rows = list(expired.select_for_update(skip_locked=True).order_by("expires_at")[:at_most])
        if rows:
            slots.end_leases(rows, Lease.State.EXPIRED, now)
        return len(rows)

    return slots.retrying(reap)


def expiry(annotator: Membership, now: datetime) -> datetime:
    return now + timedelta(minutes=annotator.campaign.lease_minutes)


def renew(
    annotator: Membership, tokens: Iterable[uuid.UUID], *, now: datetime | None = None
) -> dict[str, Lease]:
    """Push out the end of the annotator's live leases. Also of one whose time is over while nobody
    has taken its slot yet.

    Returns every known lease of `tokens` by token, live or not; unknown ones are left out. An
    annotator who is not active or a campaign that is not open renews nothing."""
    now, tokens = now or timezone.now(), list(tokens)
    own = Lease.objects.filter(membership=annotator, token__in=tokens)
    if annotator.standing == Membership.Standing.ACTIVE and annotator.campaign.state == "open":
        own.filter(state=Lease.State.LIVE).update(expires_at=expiry(annotator, now))
    return {str(lease.token): lease for lease in own}


def release(
    annotator: Membership, tokens: Iterable[uuid.UUID] | None = None, *, now: datetime | None = None
) -> int:
    """Give back live leases of the annotator (all of them without `tokens`); returns how many
    ended."""
    now = now or timezone.now()
    tokens = None if tokens is None else list(tokens)

    def give_back() -> int:
        own = Lease.objects.select_for_update().filter(membership=annotator, state=Lease.State.LIVE)
        rows = list((own if tokens is None else own.filter(token__in=tokens)).order_by("pk"))
        if rows:
            slots.end_leases(rows, Lease.State.RELEASED, now)
        return len(rows)

    return slots.retrying(give_back)
