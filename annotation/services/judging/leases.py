"""Leases: renew and release them, and free the slots of expired ones.

Leases end by the server's clock, which is sometimes set: by hand, by a time server, by a machine
that wakes up. A process compares it with a clock that only runs on; a difference since the last
comparison is a step. After a step no lease counts as expired, and live ones begin their time anew.
Every process that sees the step does the same, and doing it twice changes nothing."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.models import Campaign, Lease, Membership
from annotation.services.judging import slots

REAP_BATCH_SIZE = 50


def end_expired_leases(now: datetime | None = None, *, at_most: int = REAP_BATCH_SIZE) -> int:
    """Give back the slots of expired leases; returns how many ended. Cheap when there are none: one
    look at a partial index.

    Every claim calls this first, so no slot stays lost while anybody judges.
    """
    heed_steps()
    now = now or timezone.now()
    expired = Lease.objects.filter(state=Lease.State.LIVE, expires_at__lte=now)
    if not expired.exists():
        return 0

    def reap() -> int:
        rows = list(expired.select_for_update(skip_locked=True).order_by("expires_at")[:at_most])
        if rows:
            slots.end_leases(rows, Lease.State.EXPIRED, now)
        return len(rows)

    return slots.run_with_retries(reap)


def lease_expiry(annotator: Membership, now: datetime) -> datetime:
    return now + timedelta(minutes=annotator.campaign.lease_minutes)


def renew_leases(
    annotator: Membership, tokens: Iterable[uuid.UUID], *, now: datetime | None = None
) -> dict[str, Lease]:
    """Push out the end of the annotator's live leases. Also of one whose time is over while nobody
    has taken its slot yet.

    Returns every known lease of `tokens` by token, live or not; unknown ones are left out. An
    annotator who is not active or a campaign that is not open renews nothing."""
    now, tokens = now or timezone.now(), list(tokens)
    own = Lease.objects.filter(membership=annotator, token__in=tokens)
    if annotator.standing == Membership.Standing.ACTIVE and annotator.campaign.state == "open":
        own.filter(state=Lease.State.LIVE).update(expires_at=lease_expiry(annotator, now))
    return {str(lease.token): lease for lease in own}


def release_leases(
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

    return slots.run_with_retries(give_back)


log = logging.getLogger(__name__)
STEP_S = 20.0
"""Smaller steps matter to no lease: the page renews at a quarter of its time, and a lease lasts
minutes."""


class Watch:
    """Compares the clock that is set with the one that runs on. One a process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.difference = time.time() - time.monotonic()

    def step(self) -> float:
        """Seconds by which the clock was set on (or back, below 0) since the last look; 0 where it
        was not."""
        difference = time.time() - time.monotonic()
        with self.lock:
            moved, self.difference = difference - self.difference, difference
        return moved if abs(moved) > STEP_S else 0.0


watch = Watch()


def begin_leases_anew(now: datetime) -> int:
    """Every live lease lasts its campaign's minutes from now. -> how many"""
    minutes = dict(
        Campaign.objects.filter(pairs__leases__state=Lease.State.LIVE)
        .values_list("pk", "lease_minutes")
        .distinct()
    )
    n = 0
    for campaign_id, lasting in sorted(minutes.items()):
        live = Lease.objects.filter(state=Lease.State.LIVE, membership__campaign=campaign_id)
        n += live.update(expires_at=now + timedelta(minutes=lasting))
    return n


def heed_steps() -> None:
    """Called before leases expire."""
    step = watch.step()
    if step:
        n = begin_leases_anew(timezone.now())
        log.warning(
            "the clock was set %s by %.0f s: %s live leases begin their time anew",
            "on" if step > 0 else "back",
            abs(step),
            n,
        )
