"""The slots of pairs: `needed` judgements, of which some are `counted` and some `held` by a lease.

Every change of a judgement's standing or of a lease's state goes through here in the same
transaction, under the pair's row lock. Locks are taken in one order everywhere: membership, leases,
then pairs by id. Nobody holding a pair waits for a lease or membership."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import Count, Q, QuerySet

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from assay.labels.judges import JudgeKind
from pooling.platform.unavailable import is_retryable_conflict

COUNTERS = ["needed", "counted", "held", "open_slots", "started", "unjudgeable"]
# pairs changed in one transaction: SQLite has a single writer, and on PostgreSQL claims wait for
# locked pairs
BATCH = 500
PAIR_REASONS = (
    "query",
    "document",
)  # why nobody could judge it; the other reasons lie in the annotator
ATTEMPTS = 5
TAKES_SLOT = ~Q(membership__judge_kind=JudgeKind.MACHINE.value)
"""Of judgements: those that fill slots. A machine's are a layer of their own beside people's
(SAMPLING 5)."""
SAYS_CANNOT_JUDGE = Q(
    current=True, standing=Judgement.Standing.CANNOT, cannot_reason__in=PAIR_REASONS
)
CANNOT_JUDGE_JUDGEMENTS = Judgement.objects.filter(TAKES_SLOT, SAYS_CANNOT_JUDGE).exclude(
    membership__standing=Membership.Standing.EXCLUDED
)
"""That the pair cannot be judged, whoever judges it: what people say who are not excluded."""
Result = TypeVar("Result")


def run_with_retries(work: Callable[[], Result]) -> Result:
    """Run `work` in a transaction, again when the database chose it as the victim of a deadlock. A
    database that is away or busy is not asked again: the page does, when it has waited."""
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return work()
        except OperationalError as error:
            if (
                connection.in_atomic_block
                or attempt == ATTEMPTS - 1
                or not is_retryable_conflict(error)
            ):
                raise
            time.sleep(0.01 * 2**attempt)
    raise AssertionError("unreachable")


def takes_slots(member: Membership) -> bool:
    """Whether the member's judgements fill slots: a machine's never do."""
    return member.judge_kind != JudgeKind.MACHINE


def lock_pairs(pair_ids: Iterable[int]) -> dict[int, Pair]:
    """The pairs by id, locked in the order of their ids."""
    return {
        pair.pk: pair
        for pair in Pair.objects.select_for_update().filter(pk__in=set(pair_ids)).order_by("pk")
    }


def needed_judgements(pair: Pair, n: int) -> int:
    """How many judgements the ordinary pair is to have. n: the campaign's judgements per pair."""
    return n + pair.asked_more


def balance_slots(pair: Pair, n: int) -> None:
    """Make the pair's numbers agree with `counted` and `held`. n: the campaign's judgements per
    pair, read under the pair's lock.

    A judgement that was counted stays counted when n is lowered, so `needed` is at least `counted`.
    A pair that cannot be judged needs no more than it has and holds, nor does one whose topic is
    removed, or that lies beyond the depth and has no judgement."""
    pair.needed = (
        pair.counted + pair.held
        if pair.unjudgeable or pair.removed or pair.is_left
        else max(needed_judgements(pair, n), pair.counted)
    )
    if pair.kind == Pair.Kind.QUALIFICATION:
        pair.needed = pair.counted + pair.held
    elif pair.kind != Pair.Kind.NORMAL:
        pair.needed = n  # the least it should have; every annotator judges it
    pair.open_slots = pair.needed - pair.counted - pair.held
    pair.started = pair.counted > 0 or pair.held > 0


def get_judgements_per_pair(campaign_id: int) -> int:
    """The campaign's judgements per pair as the database has it now."""
    return Campaign.objects.values_list("judgements_per_pair", flat=True).get(pk=campaign_id)


def get_min_priority(campaign_id: int) -> int | None:
    """Below which pairs that nobody has judged wait, as the database has it now; None: nowhere."""
    return Campaign.objects.values_list("least_priority", flat=True).get(pk=campaign_id)


def is_beyond_depth(priority: int, least: int | None) -> bool:
    """Whether a pair of this priority lies beyond the depth to which is judged."""
    return least is not None and priority < least


def save_pair(pair: Pair, n: int | None = None) -> None:
    """Settle and store one locked pair. n: the judgements per pair, if the caller has read them
    under the lock."""
    balance_slots(pair, get_judgements_per_pair(pair.campaign_id) if n is None else n)
    pair.save(update_fields=COUNTERS)


def save_pairs(pairs: Iterable[Pair], campaign_id: int) -> None:
    """Settle and store locked pairs of one campaign."""
    pairs, n = list(pairs), get_judgements_per_pair(campaign_id)
    for pair in pairs:
        balance_slots(pair, n)
    Pair.objects.bulk_update(pairs, COUNTERS, batch_size=BATCH)


def recount_unjudgeable(pair: Pair, n: int, *, one_more: bool = False) -> None:
    """Whether nobody can judge the pair, under its lock. one_more: with a judgement that says so
    and is about to be stored."""
    pair.unjudgeable = is_unjudgeable(
        pair, n, CANNOT_JUDGE_JUDGEMENTS.filter(pair=pair).count() + one_more
    )


def is_unjudgeable(pair: Pair, n: int, said: int) -> bool:
    """Whether as many annotators as the pair is to have judgements said that its query or document
    cannot be judged."""
    return pair.kind == Pair.Kind.NORMAL and said >= needed_judgements(pair, n)


def update_unjudgeable(pairs: Iterable[Pair], n: int) -> list[Pair]:
    """After a change of what decides it: count anew which of these locked pairs nobody can judge.
    -> those that changed, to be saved"""
    of_id = {pair.pk: pair for pair in pairs}
    said = count_cannot_judge(CANNOT_JUDGE_JUDGEMENTS.filter(pair__in=list(of_id)))
    changed = [
        pair
        for pair in of_id.values()
        if pair.unjudgeable != is_unjudgeable(pair, n, said.get(pair.pk, 0))
    ]
    for pair in changed:
        pair.unjudgeable = not pair.unjudgeable
    return changed


def count_cannot_judge(rows: QuerySet[Judgement]) -> dict[int, int]:
    """Pair -> annotators. rows: of SAYING_SO"""
    return dict(rows.values_list("pair").annotate(n=Count("pk")).order_by())


def end_leases(leases: list[Lease], state: str, now: object) -> None:
    """End live leases, locked by the caller, and give their slots back."""
    ended = Lease.objects.filter(pk__in=[lease.pk for lease in leases], state=Lease.State.LIVE)
    if ended.update(state=state, ended_at=now) != len(leases):
        raise RuntimeError("a lease ended twice: its row was not locked")
    taking = [lease for lease in leases if lease.takes_slot]
    by_campaign: dict[int, list[Pair]] = {}
    pairs = lock_pairs(lease.pair_id for lease in taking)
    for lease in taking:
        pairs[lease.pair_id].held -= 1
    for pair in pairs.values():
        by_campaign.setdefault(pair.campaign_id, []).append(pair)
    for campaign_id, members in by_campaign.items():
        save_pairs(members, campaign_id)
