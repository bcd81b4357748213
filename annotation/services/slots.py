"""The slots of pairs: `needed` judgements, of which some are `counted` and some `held` by a lease.

Every change of a judgement's standing or of a lease's state goes through here in the same transaction, under the pair's row lock.
Locks are taken in one order everywhere: membership, leases, then pairs by id. Nobody holding a pair waits for a lease or membership.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import Q

from annotation.core.judges import JudgeKind
from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from pooling.unavailable import lost_a_race

COUNTERS = ["needed", "counted", "held", "open_slots", "started", "unjudgeable"]
BATCH = 500  # pairs changed in one transaction: SQLite has a single writer, and on PostgreSQL claims wait for locked pairs
REASONS_IN_THE_PAIR = ("query", "document")  # why nobody could judge it; the other reasons lie in the annotator
ATTEMPTS = 5
TAKING = ~Q(membership__judge_kind=JudgeKind.MACHINE.value)
"""Of judgements: those that fill slots. A machine's are a layer of their own beside people's (SAMPLING 5)."""
Result = TypeVar("Result")


def retrying(work: Callable[[], Result]) -> Result:
    """Run `work` in a transaction, again when the database chose it as the victim of a deadlock. A database that is away or busy
    is not asked again: the page does, when it has waited."""
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return work()
        except OperationalError as error:
            if connection.in_atomic_block or attempt == ATTEMPTS - 1 or not lost_a_race(error):
                raise
            time.sleep(0.01 * 2**attempt)
    raise AssertionError("unreachable")


def takes_slots(member: Membership) -> bool:
    """Whether the member's judgements fill slots: a machine's never do."""
    return member.judge_kind != JudgeKind.MACHINE


def locked(pair_ids: Iterable[int]) -> dict[int, Pair]:
    """The pairs by id, locked in the order of their ids."""
    return {pair.pk: pair for pair in Pair.objects.select_for_update().filter(pk__in=set(pair_ids)).order_by("pk")}


def wanted(pair: Pair, n: int) -> int:
    """How many judgements the ordinary pair is to have. n: the campaign's judgements per pair."""
    return n + pair.asked_more


def balance_slots(pair: Pair, n: int) -> None:
    """Make the pair's numbers agree with `counted` and `held`. n: the campaign's judgements per pair, read under the pair's lock.

    A judgement that was counted stays counted when n is lowered, so `needed` is at least `counted`. A pair that cannot be judged
    needs no more than it has and holds, nor does one whose topic is removed, or that lies beyond the depth and has no judgement.
    """
    pair.needed = pair.counted + pair.held if pair.unjudgeable or pair.removed or pair.is_left else max(wanted(pair, n), pair.counted)
    if pair.kind == Pair.Kind.QUALIFICATION:
        pair.needed = pair.counted + pair.held
    elif pair.kind != Pair.Kind.NORMAL:
        pair.needed = n  # the least it should have; every annotator judges it
    pair.open_slots = pair.needed - pair.counted - pair.held
    pair.started = pair.counted > 0 or pair.held > 0


def per_pair(campaign_id: int) -> int:
    """The campaign's judgements per pair as the database has it now."""
    return Campaign.objects.values_list("judgements_per_pair", flat=True).get(pk=campaign_id)


def least_priority(campaign_id: int) -> int | None:
    """Below which pairs that nobody has judged wait, as the database has it now; None: nowhere."""
    return Campaign.objects.values_list("least_priority", flat=True).get(pk=campaign_id)


def is_beyond(priority: int, least: int | None) -> bool:
    """Whether a pair of this priority lies beyond the depth to which is judged."""
    return least is not None and priority < least


def save(pair: Pair, n: int | None = None) -> None:
    """Settle and store one locked pair. n: the judgements per pair, if the caller has read them under the lock."""
    balance_slots(pair, per_pair(pair.campaign_id) if n is None else n)
    pair.save(update_fields=COUNTERS)


def save_all(pairs: Iterable[Pair], campaign_id: int) -> None:
    """Settle and store locked pairs of one campaign."""
    pairs, n = list(pairs), per_pair(campaign_id)
    for pair in pairs:
        balance_slots(pair, n)
    Pair.objects.bulk_update(pairs, COUNTERS, batch_size=BATCH)


def recount_unjudgeable(pair: Pair, n: int, *, one_more: bool = False) -> None:
    """Whether as many annotators as the pair needs said that its query or document cannot be judged. one_more: with one that is
    about to be stored."""
    said_so = Judgement.objects.filter(
        pair=pair, current=True, standing=Judgement.Standing.CANNOT, cannot_reason__in=REASONS_IN_THE_PAIR
    ).count()
    pair.unjudgeable = pair.kind == Pair.Kind.NORMAL and said_so + one_more >= wanted(pair, n)


def end_leases(leases: list[Lease], state: str, now: object) -> None:
    """End live leases, locked by the caller, and give their slots back."""
    ended = Lease.objects.filter(pk__in=[lease.pk for lease in leases], state=Lease.State.LIVE)
    if ended.update(state=state, ended_at=now) != len(leases):
        raise RuntimeError("a lease ended twice: its row was not locked")
    taking = [lease for lease in leases if lease.takes_slot]
    by_campaign: dict[int, list[Pair]] = {}
    pairs = locked(lease.pair_id for lease in taking)
    for lease in taking:
        pairs[lease.pair_id].held -= 1
    for pair in pairs.values():
        by_campaign.setdefault(pair.campaign_id, []).append(pair)
    for campaign_id, members in by_campaign.items():
        save_all(members, campaign_id)
