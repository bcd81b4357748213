"""Keeping an annotator's page supplied: the leases in hand are sent again, and as many more are claimed as are wanted."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotation.core.scheduling import allowance
from annotation.models import Lease, Membership
from annotation.selectors import judging as selectors
from annotation.services import leases, qualification, scheduling


@dataclass(frozen=True)
class Served:
    situation: selectors.Situation
    leases: list[Lease]


def top_up(
    membership: Membership, *, want: int, held: Iterable[uuid.UUID] = (), continue_after_target: bool = False, now: datetime | None = None
) -> Served:
    """Let the annotator hold up to `want` live leases, never more than the campaign's window and one.

    held: tokens that the page has; other live leases of the annotator are sent again, with their time renewed, so repeating a
    request loses and adds nothing. Never leases past the target or the day's limit.
    """
    now, known = now or timezone.now(), {str(token) for token in held}
    membership = Membership.objects.select_related("campaign", "user__profile").get(pk=membership.pk)
    leases.reap_expired(now)
    state = selectors.situation(membership, now=now, continue_after_target=continue_after_target)
    if not state.may_claim:
        return Served(state, [])
    live = selectors.live_leases(membership)
    again = [lease for lease in live if str(lease.token) not in known]
    if again:
        leases.renew(membership, [lease.token for lease in again], now=now)
        for lease in again:
            lease.expires_at = leases.expiry(membership, now)
    test, own = state.state == "qualification", state.progress
    past_target = own.target is None or own.judged >= own.target
    room = allowance(
        want=min(want, membership.campaign.lease_window + 1),
        held=len(live),
        judged=own.judged,
        target=None if past_target or test else own.target,
        today=own.today,
        daily_limit=None if test else own.daily_limit,
    )
    new: list[int] = []
    while len(new) < room:
        found = qualification.serve(membership, now=now) if test else scheduling.claim(membership, at_most=len(live) + room, now=now)
        if found is None:
            break
        new.append(found.pk)
    if not live and not new and room:
        elsewhere = selectors.live_leases(membership)  # claimed meanwhile by another request of the same annotator
        if elsewhere:
            return Served(state, elsewhere)
        name, message, details = selectors.when_nothing_is_free(membership, now)
        state = selectors.Situation(name, message, own, details)
    return Served(state, again + selectors.with_texts(new))
