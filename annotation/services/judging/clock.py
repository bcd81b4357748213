"""The server's clock is set now and then: by hand, by a time server, by a machine that wakes up.
Leases end by it, so it is watched.

A process compares two clocks: the one that is set, and one that only runs on. What the first has
moved beyond the second since the last look is a step. After a step no lease is taken for expired:
those that live begin their time anew, which also shortens the ones that a clock set back would keep
alive for hours. Every process that sees the step does the same, and twice does no more than once.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.models import Campaign, Lease

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
