"""Slots of pairs: `needed` judgements, of which `counted` are made and `held` are reserved by
leases.

Every change of a judgement's status or a lease's state updates the slots in the same transaction,
under the pair's row lock. The order of locks is the same everywhere: membership, leases, then pairs
by id. A transaction that holds a pair never waits for a lease or membership.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import Count, Q, QuerySet

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from assay.labels.annotator_types import AnnotatorType
from pooling.platform.unavailable import is_retryable_conflict

COUNTERS = ["needed", "counted", "held", "open_slots", "started", "unjudgeable"]
# Pairs per transaction. SQLite has a single writer, and on PostgreSQL claims wait for locked
# pairs.
BATCH = 500
PAIR_REASONS = (
    "query",
    "document",
)  # reasons that concern the pair; the others concern the annotator
ATTEMPTS = 5
TAKES_SLOT = ~Q(membership__annotator_type=AnnotatorType.LLM.value)
"""Filter for judgements that fill slots. Those of LLM judges are stored separately and never mixed
with human ones."""
SAYS_CANNOT_JUDGE = Q(current=True, status=Judgement.Status.CANNOT, cannot_reason__in=PAIR_REASONS)
CANNOT_JUDGE_JUDGEMENTS = Judgement.objects.filter(TAKES_SLOT, SAYS_CANNOT_JUDGE).exclude(
    membership__status=Membership.Status.EXCLUDED
)
"""Answers that the pair cannot be judged, from people who are not excluded."""
Result = TypeVar("Result")


def run_with_retries(work: Callable[[], Result]) -> Result:
    """Run `work` in a transaction, and repeat it after a deadlock. It is not repeated if the
    database is unavailable or busy, because the page retries after a delay."""
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
    """Return whether the member's judgements fill slots. Those of LLM judges never do."""
    return member.annotator_type != AnnotatorType.LLM


def lock_pairs(pair_ids: Iterable[int]) -> dict[int, Pair]:
    """Return the pairs by id, locked in the order of their ids."""
    return {
        pair.pk: pair
        for pair in Pair.objects.select_for_update().filter(pk__in=set(pair_ids)).order_by("pk")
    }


def needed_judgements(pair: Pair, n: int) -> int:
    """Return the number of judgements that an ordinary pair needs. n: the campaign's judgements per
    pair."""
    return n + pair.asked_more


def balance_slots(pair: Pair, n: int) -> None:
    """Update the pair's slots from `counted` and `held`. n: the campaign's judgements per pair,
    read under the pair's lock.

    Counted judgements remain counted if n is reduced, so `needed` is at least `counted`. No further
    judgements are needed for pairs that cannot be judged, pairs of removed topics, and unjudged
    pairs beyond the judging depth.
    """
    pair.needed = (
        pair.counted + pair.held
        if pair.unjudgeable or pair.removed or pair.is_excluded_by_depth
        else max(needed_judgements(pair, n), pair.counted)
    )
    if pair.kind == Pair.Kind.QUALIFICATION:
        pair.needed = pair.counted + pair.held
    elif pair.kind != Pair.Kind.NORMAL:
        pair.needed = n  # the minimum, because every annotator judges it
    pair.open_slots = pair.needed - pair.counted - pair.held
    pair.started = pair.counted > 0 or pair.held > 0


def get_judgements_per_pair(campaign_id: int) -> int:
    """Read the campaign's current judgements per pair from the database."""
    return Campaign.objects.values_list("judgements_per_pair", flat=True).get(pk=campaign_id)


def get_min_priority(campaign_id: int) -> int | None:
    """Read the campaign's lowest priority of unjudged pairs that are assigned, None if there is no
    limit."""
    return Campaign.objects.values_list("least_priority", flat=True).get(pk=campaign_id)


def is_beyond_depth(priority: int, least: int | None) -> bool:
    """Return whether a pair of this priority is beyond the judging depth."""
    return least is not None and priority < least


def save_pair(pair: Pair, n: int | None = None) -> None:
    """Update the slots of a locked pair and save it. n: the judgements per pair, if the caller has
    read them under the lock."""
    balance_slots(pair, get_judgements_per_pair(pair.campaign_id) if n is None else n)
    pair.save(update_fields=COUNTERS)


def save_pairs(pairs: Iterable[Pair], campaign_id: int) -> None:
    """Update the slots of locked pairs of one campaign and save them."""
    pairs, n = list(pairs), get_judgements_per_pair(campaign_id)
    for pair in pairs:
        balance_slots(pair, n)
    Pair.objects.bulk_update(pairs, COUNTERS, batch_size=BATCH)


def recount_unjudgeable(pair: Pair, n: int, *, one_more: bool = False) -> None:
    """Recount under the pair's lock whether enough annotators answered that it cannot be judged.
    one_more: includes a "cannot judge" answer that is about to be stored."""
    pair.unjudgeable = is_unjudgeable(
        pair, n, CANNOT_JUDGE_JUDGEMENTS.filter(pair=pair).count() + one_more
    )


def is_unjudgeable(pair: Pair, n: int, n_reports: int) -> bool:
    """Return whether as many annotators as the pair needs judgements answered that its query or
    document cannot be judged."""
    return pair.kind == Pair.Kind.NORMAL and n_reports >= needed_judgements(pair, n)


def update_unjudgeable(pairs: Iterable[Pair], n: int) -> list[Pair]:
    """Recount which of these locked pairs cannot be judged. Returns the changed ones, to be
    saved."""
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
    """Return by pair how many annotators answered that it cannot be judged. rows: filtered by
    CANNOT_JUDGE_JUDGEMENTS."""
    return dict(rows.values_list("pair").annotate(n=Count("pk")).order_by())


def end_leases(leases: list[Lease], state: str, now: object) -> None:
    """End active leases that the caller has locked, and free their slots."""
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
