"""Assign pairs to an annotator's page: send active leases again, and claim new pairs up to the
requested number. Annotators can resume a skipped pair at any time."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.limits import MAX_VALUES
from annotation.core.scheduling import max_leases
from annotation.models import Judgement, Lease, Membership, Pair, Skip
from annotation.selectors import judging as selectors
from annotation.services.errors import AnswerRefused
from annotation.services.judging import leases, qualification, scheduling, slots
from annotation.services.judging.leases import lease_expiry


@dataclass(frozen=True)
class ServedPairs:
    situation: selectors.Situation
    leases: Sequence[selectors.ActiveLease] = field(default_factory=list)


def refill_leases(
    annotator: Membership,
    *,
    want: int,
    held: Iterable[uuid.UUID] = (),
    continue_after_target: bool = False,
    offline: bool = False,
    now: datetime | None = None,
) -> ServedPairs:
    """Claim pairs until the annotator holds `want` active leases, at most the campaign's window
    plus one, or the largest window of any campaign plus one to judge offline.

    held: tokens that the page has. Other active leases of the annotator are sent again, so a
    request can be repeated safely. Leases are renewed after an eighth of their duration. The target
    and the daily limit are never exceeded. `annotator` is used as loaded.

    The leases are read after the last claim, in the order of claims. A response therefore never
    contains a lease without the earlier ones that the page lacks, even if a concurrent request of
    the same page claims pairs and its response is lost or delayed.
    """
    now, known = now or timezone.now(), set(held)
    state = selectors.get_situation(annotator, now=now, continue_after_target=continue_after_target)
    if not state.may_claim:
        return ServedPairs(state)
    test, own = state.state == "qualification", state.progress
    past_target = own.target is None or own.judged >= own.target
    at_most = max_leases(
        want=min(
            want, (MAX_VALUES["lease_window"] if offline else annotator.campaign.lease_window) + 1
        ),
        judged=own.judged,
        target=None if past_target or test else own.target,
        today=own.today,
        daily_limit=None if test else own.daily_limit,
    )
    # Even a page that has enough leases must be checked, because they may have expired.
    if len(known) < at_most or selectors.count_live_leases(annotator, now) < at_most:
        if test:
            qualification.serve_qualification_pairs(annotator, at_most, now=now)
        else:
            scheduling.claim_pairs(annotator, at_most, now=now)
    live = selectors.get_active_leases(annotator)
    if not live and at_most:
        name, message, details = selectors.state_without_pairs(annotator, now)
        return ServedPairs(selectors.Situation(name, message, own, details))
    until = leases.lease_expiry(annotator, now)
    older = {lease.token for lease in live if until - lease.expires_at > (until - now) / 8}
    if older:  # renewed with every answer, so that a page in use needs no separate renewals
        leases.renew_leases(annotator, older, now=now)
    unknown = [lease for lease in live if lease.token not in known]
    return ServedPairs(
        state,
        [lease._replace(expires_at=until) if lease.token in older else lease for lease in unknown],
    )


def resume_skipped_pair(
    annotator: Membership, pair_id: int, *, now: datetime | None = None
) -> Lease:
    """Return a lease for a pair that the annotator skipped, or the active one if it exists. The
    pair is no longer skipped.

    Raises Refused: 404 for a pair that was not skipped, 409 if it is already judged or its slots
    are taken by others.
    """
    now = now or timezone.now()

    def work() -> Lease:
        locked = (
            Membership.objects.select_for_update(of=("self",))
            .select_related("campaign")
            .get(pk=annotator.pk)
        )
        live = (
            Lease.objects.select_for_update()
            .filter(membership=locked, pair_id=pair_id, state=Lease.State.LIVE)
            .first()
        )
        if live is not None:
            return live
        if Judgement.objects.filter(membership=locked, pair_id=pair_id, current=True).exists():
            raise AnswerRefused(
                "already_judged",
                _(
                    "You have already judged this document. You can change your judgement "
                    "under “My judgements”."
                ),
                409,
            )
        if not Skip.objects.filter(membership=locked, pair_id=pair_id).exists():
            raise AnswerRefused("not_aside", _("You have not skipped this document."), 404)
        pair = slots.lock_pairs([pair_id])[pair_id]
        takes_slot = pair.kind == Pair.Kind.NORMAL
        if pair.removed:
            raise AnswerRefused(
                "removed", _("The topic of this document has been removed from the campaign."), 409
            )
        n = slots.get_judgements_per_pair(pair.campaign_id)
        slots.balance_slots(pair, n)
        if takes_slot and (pair.open_slots <= 0 or pair.without_text):
            raise AnswerRefused(
                "taken",
                _(
                    "This document is now assigned to others. It comes back to you if they do not judge it."
                ),
                409,
            )
        lease = Lease.objects.create(
            pair=pair,
            membership=locked,
            takes_slot=takes_slot,
            served_at=now,
            expires_at=lease_expiry(locked, now),
            why={
                "rule": "skipped earlier, resumed by the annotator",
                "priority": pair.priority,
                "position": pair.position,
            },
        )
        pair.held += takes_slot
        slots.save_pair(pair, n)
        Skip.objects.filter(membership=locked, pair_id=pair_id).delete()
        return lease

    return slots.run_with_retries(work)
