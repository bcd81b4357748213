"""Renewal, release and expiry of leases.

Leases expire by the server's clock, which can be adjusted manually, by a time server or after a
suspend. Each process compares it with a monotonic clock. A difference since the last comparison is
a step. After a step, no lease counts as expired, and active leases start again with their full
duration. Every process that detects the step does the same, and repeating it has no effect.
"""

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
    """Free the slots of expired leases and return their number. Without expired leases this costs
    one lookup in a partial index.

    Every claim calls this first, so slots are recovered while any annotator judges.
    """
    handle_clock_steps()
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
    """Extend the annotator's active leases, including expired ones whose slot is not taken yet.

    Returns every known lease in `tokens` by token, active or not. Nothing is renewed for an
    inactive annotator or a campaign that is not open.
    """
    now, tokens = now or timezone.now(), list(tokens)
    own = Lease.objects.filter(membership=annotator, token__in=tokens)
    if annotator.status == Membership.Status.ACTIVE and annotator.campaign.state == "open":
        own.filter(state=Lease.State.LIVE).update(expires_at=lease_expiry(annotator, now))
    return {str(lease.token): lease for lease in own}


def release_leases(
    annotator: Membership, tokens: Iterable[uuid.UUID] | None = None, *, now: datetime | None = None
) -> int:
    """Release the annotator's active leases (without `tokens` all of them) and return their
    number."""
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
"""Smaller steps do not affect leases: a lease lasts minutes, and the page renews it after a quarter
of its duration."""


class Watch:
    """Comparison of the system clock with a monotonic clock, one per process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.difference = time.time() - time.monotonic()

    def step(self) -> float:
        """Return by how many seconds the system clock was advanced (negative: set back) since the
        last call, 0 if it was not adjusted."""
        difference = time.time() - time.monotonic()
        with self.lock:
            moved, self.difference = difference - self.difference, difference
        return moved if abs(moved) > STEP_S else 0.0


watch = Watch()


def restart_leases(now: datetime) -> int:
    """Restart the full duration of every active lease and return their number."""
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


def handle_clock_steps() -> None:
    """Restart all active leases if the system clock was adjusted. Called before leases expire."""
    step = watch.step()
    if step:
        n = restart_leases(timezone.now())
        log.warning(
            "the clock was set %s by %.0f s: %s live leases restarted",
            "on" if step > 0 else "back",
            abs(step),
            n,
        )
