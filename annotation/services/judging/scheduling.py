"""Selection of an annotator's next pair, and the atomic claim that reserves it
(docs/reference/methods/judging.md).

The pair must be free for the annotator: neither judged nor skipped by them, with a free slot and a
text, in the highest rank window that has such a pair. The order of preference is:

- the current topic until its block is full, partly judged pairs first, then the pool's order
- a topic with partly judged pairs
- the pool's next topic

Gold and calibration pairs are assigned at turns of the annotator's own sequence and do not
interrupt the block. Near the deadline, partly judged pairs come first. Skipped pairs come when no
other pair is left. With a planned overlap, the first candidates of the rank window that a selected
partner has judged come first.

A claim is two statements in one transaction: find (lock the annotator, find and lock the pair) and
take (update the slot, the lease and the annotator's turn). All claims of a request share one
transaction unless they conflict with others. Partial indexes over open pairs give the order, so the
cost does not grow with the pool. On PostgreSQL the window is that of the first free pair, locked or
not, and a row of this window is taken with FOR UPDATE SKIP LOCKED. If none is left, the claim
starts again, so the order of windows is kept. SQLite has a single writer and ignores row locks, so
an immediate transaction protects the claim. On both, a guarded UPDATE that must match one row takes
the slot.
"""

from __future__ import annotations

import json
import time
import uuid
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core import scheduling as rule
from annotation.models import Campaign, Lease, Membership, Pair
from annotation.selectors.pairs import get_special_pairs
from annotation.services.errors import AnswerRefused
from annotation.services.judging import leases
from annotation.services.judging.claim_sql import (
    ADVANCE_MEMBER_SQL,
    CLAIM_STATE_SQL,
    FREE_SQL,
    NOT_SKIPPED_SQL,
    PAIR_COLUMNS_SQL,
    POOL_ORDER_SQL,
    SERVICE_ORDER_SQL,
    SHARED_PAIRS_SQL,
    TAKE_CHOSEN_SQL,
    TAKE_SLOT_SQL,
    Candidate,
    PairSource,
    first_choice_sql,
    restrict_to_topics,
)
from annotation.services.judging.statements import (
    defer_disk_sync,
    execute_pipeline,
    fetch_rows,
    has_row_locks,
    make_insert,
    mark_stored,
    mark_synced,
    to_database_time,
    to_database_value,
)
from assay.labels.annotator_types import AnnotatorType
from pooling.platform.unavailable import is_retryable_conflict

ATTEMPTS, PATIENCE = (
    12,
    7,
)  # after this many attempts that found all pairs locked, wait for the first
PARTNER_CANDIDATES = 20
UNLIMITED = 1_000_000

MAY_CLAIM_SQL = (
    "AND EXISTS (SELECT 1 FROM seat WHERE n_served = %(turn)s AND n_live < %(at_most)s AND (NOT "
    "expired OR %(reaped)s))"
)
UNCHANGED_SQL = f"""{MAY_CLAIM_SQL[:-1]} AND current_topic_row IS %(topic)s AND block_served = %(in_block)s AND topic_rows = %(own_topics)s
  AND status = 'active')"""
IN_BAND_SQL = f"{NOT_SKIPPED_SQL} AND p.priority >= (SELECT lowest FROM top)"
# The lowest priority of the rank window of the first free pair. Windows are counted down from the
# campaign's highest priority.
LOWEST_PRIORITY_SQL = (
    "%(highest)s - ((%(highest)s - f.priority) / %(band)s + 1) * %(band)s + 1 AS lowest"
)
SAME_TOPIC = PairSource(
    f"{IN_BAND_SQL} AND p.topic_row = %(topic)s",
    "p.started DESC, p.position",
    "stay with the topic",
    True,
)
NEXT_IN_POOL = (
    PairSource(f"{IN_BAND_SQL} AND p.started", POOL_ORDER_SQL, "then the pool's order"),
    PairSource(IN_BAND_SQL, SERVICE_ORDER_SQL, "then the pool's order"),
)
BLOCK_FULL = (
    PairSource(
        f"{IN_BAND_SQL} AND p.started AND p.topic_row <> %(topic)s",
        POOL_ORDER_SQL,
        "the topic's block is full",
        False,
    ),
    PairSource(
        f"{IN_BAND_SQL} AND p.topic_row <> %(topic)s",
        SERVICE_ORDER_SQL,
        "the topic's block is full",
        False,
    ),
    PairSource(
        f"{IN_BAND_SQL} AND p.topic_row = %(topic)s",
        "p.started DESC, p.position",
        "the topic's block is full, there is no other topic",
        True,
    ),
)
NEAR_DEADLINE = PairSource(
    f"{NOT_SKIPPED_SQL} AND p.started AND p.counted > 0",
    POOL_ORDER_SQL,
    "the deadline is near: finish what has judgements",
)
NEARBY_SQL = f"""p.id IN (SELECT n.id FROM (SELECT p.id FROM annotation_pair p WHERE {FREE_SQL} {IN_BAND_SQL} AND p.started = (SELECT started FROM top)
  ORDER BY {POOL_ORDER_SQL} LIMIT {PARTNER_CANDIDATES}) n)"""
PARTNERS_SQL = (
    "EXISTS (SELECT 1 FROM annotation_judgement k WHERE k.pair_id = p.id AND k.membership_id = "
    "%(partner)s AND k.current)"
)
OVERLAP = PairSource(
    f"{IN_BAND_SQL} AND {NEARBY_SQL} AND {PARTNERS_SQL}",
    "p.position",
    "highest band, planned overlap with a partner",
)


class ClaimContended(Exception):
    """Raised if another claim holds the next pairs. Nothing was taken."""


class ExpiredLeases(Exception):
    """Raised if expired leases must be released before a claim. Nothing was taken."""


class ClaimState(NamedTuple):
    """The columns of the membership that a claim needs, read under its lock."""

    turn: int
    topic: int | None
    block_served: int
    topics: list[int]
    status: str
    expired: bool
    n_live: int


TakenPair = tuple[Candidate, bool, dict[str, Any]]


def claim_pair(
    annotator: Membership, *, at_most: int | None = None, now: datetime | None = None
) -> Lease | None:
    """Reserve the next pair for the annotator. Returns None if there is none or if the annotator
    holds `at_most` active leases.

    `annotator.campaign` is used as loaded: the caller must check state, deadline and target
    (`selectors.judging.get_situation`). Slots of expired leases are freed first. Concurrent claims
    of one annotator wait for each other, and those of different annotators do not.
    """
    return _claim_with_retries(
        annotator, UNLIMITED if at_most is None else at_most, now or timezone.now()
    )[0]


def claim_pairs(annotator: Membership, at_most: int, *, now: datetime) -> None:
    """Claim pairs until the annotator holds `at_most` active leases or no pair is free."""
    n_live = 0
    with defer_disk_sync():
        while n_live < at_most:
            lease, n_live = _claim_with_retries(annotator, at_most, now, up_to_all=True)
            if lease is None:
                return


def _claim_with_retries(
    annotator: Membership, at_most: int, now: datetime, *, up_to_all: bool = False
) -> tuple[Lease | None, int]:
    """Return (the lease of the next pair or None, number of active leases of the annotator).

    up_to_all: claim further pairs in the same transaction. After a conflict with another claim only
    one is claimed, to release the locks sooner.
    """
    if annotator.annotator_type == AnnotatorType.LLM:
        raise AnswerRefused(
            "llm_judge",
            _("LLM judges can't be assigned pairs. Their labels are stored separately."),
            403,
        )
    reaped = met = False
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                lease, n_live = _try_claim(
                    annotator, at_most, now, reaped=reaped, wait=attempt >= PATIENCE
                )
                wrote = lease is not None
                while up_to_all and not met and lease is not None and n_live < at_most:
                    lease, n_live = _try_claim(annotator, at_most, now, reaped=reaped, wait=False)
            if wrote:
                mark_synced()
            return lease, n_live
        except ExpiredLeases:
            leases.end_expired_leases(now)
            reaped = True  # another claim is releasing the remaining leases
        except ClaimContended:
            met = True
            time.sleep(0.0005 * 2 ** min(attempt, PATIENCE))
        except OperationalError as error:
            # Aborted because of a deadlock: waiting claims lock pairs in order of assignment, others
            # by id.
            if (
                connection.in_atomic_block
                or attempt == ATTEMPTS - 1
                or not is_retryable_conflict(error)
            ):
                raise
            met = True
            time.sleep(0.01 * (attempt + 1))
    return None, 0


def _try_claim(
    annotator: Membership, at_most: int, now: datetime, *, reaped: bool, wait: bool
) -> tuple[Lease | None, int]:
    def look(*, choose: bool) -> tuple[ClaimState, bool, tuple[PairSource, Candidate] | None]:
        return _find_pair(
            annotator,
            _pair_sources(annotator, now) if choose else (),
            at_most,
            now,
            reaped=reaped,
            wait=wait,
        )

    due = _is_special_pair_due(annotator)
    # SQLite has a single writer, so one statement can find and take the pair.
    at_once = (
        None if due or has_row_locks() else _find_and_take(annotator, at_most, now, reaped=reaped)
    )
    if at_once is not None:
        pair, why, n_live = at_once
        return _take_pair(annotator, pair, True, why, now, has_slot=True), n_live + 1
    seat, is_free, choice_and_pair = look(choose=not due)
    # Another claim of this annotator came between loading and locking the membership.
    if seat[:4] != (
        annotator.n_served,
        annotator.current_topic_row,
        annotator.block_served,
        annotator.topic_rows,
    ):
        (
            annotator.n_served,
            annotator.current_topic_row,
            annotator.block_served,
            annotator.topic_rows,
        ) = seat[:4]
        due = _is_special_pair_due(annotator)
        seat, is_free, choice_and_pair = look(choose=not due)  # now under the annotator's lock
    if seat.status != Membership.Status.ACTIVE or seat.n_live >= at_most:
        return None, at_most
    if seat.expired and not reaped:
        raise ExpiredLeases  # expired leases may hold the slots that this annotator needs
    taken = _find_special_pair(annotator, due=True) if due else None
    if due and taken is None:  # no special pair is left, so an ordinary one takes its turn
        seat, is_free, choice_and_pair = look(choose=True)
    if taken is None and is_free:
        if choice_and_pair is None:  # other claims have locked all free pairs: try again
            raise ClaimContended
        choice, pair = choice_and_pair
        taken = pair, True, _claim_reason(choice, pair)
    # Skipped pairs, and special pairs before their turn, are used only if no other pair is free.
    taken = taken or _find_skipped_pair(annotator, wait) or _find_special_pair(annotator, due=False)
    if taken is None:
        return None, seat.n_live
    return _take_pair(annotator, *taken, now), seat.n_live + 1


def _claim_reason(choice: PairSource, pair: Candidate) -> dict[str, Any]:
    alone = choice in (NEAR_DEADLINE, OVERLAP)
    how = (
        ""
        if alone
        else "highest band, finish started pairs, "
        if pair.started
        else "highest band, open a new pair, "
    )
    return {"rule": f"{how}{choice.reason}"}


def _pair_sources(annotator: Membership, now: datetime) -> tuple[PairSource, ...]:
    """Return the sources of the annotator's next pair in order of preference, for the membership as
    loaded."""
    campaign, topic = annotator.campaign, annotator.current_topic_row
    if topic is None:
        choices: tuple[PairSource, ...] = NEXT_IN_POOL
    elif rule.stays_in_block(served=annotator.block_served, length=campaign.block_length):
        choices = (SAME_TOPIC, *NEXT_IN_POOL)
    else:
        choices = BLOCK_FULL
    if campaign.min_common and campaign.min_partners and _find_partner(annotator) is not None:
        choices = (OVERLAP, *choices)
    if rule.is_near_deadline(now, deadline=campaign.deadline, hours=campaign.closing_hours):
        choices = (NEAR_DEADLINE, *choices)
    return choices


def _find_pair(
    annotator: Membership,
    choices: tuple[PairSource, ...],
    at_most: int,
    now: datetime,
    *,
    reaped: bool,
    wait: bool,
) -> tuple[ClaimState, bool, tuple[PairSource, Candidate] | None]:
    """Lock the annotator, then the first free pair of the first source that has one.

    Returns (current columns of the membership, whether any pair is free, the pair with its source
    or None). Pairs locked by other claims are skipped, unless `wait` is set. If the membership has
    changed since it was loaded, no pair is selected.
    """
    topics = annotator.topic_rows
    values = {
        **_query_values(annotator, at_most, now, reaped=reaped),
        "partner": _find_partner(annotator) if OVERLAP in choices else None,
    }
    [row] = fetch_rows(
        _claim_statement(choices, tuple(topics), wait, has_row_locks()), values, prepare=not topics
    )
    turn, topic, in_block, own_topics, status, expired, n_live, free, place, *pair = row
    own_topics = json.loads(own_topics) if isinstance(own_topics, str) else own_topics
    seat = ClaimState(turn, topic, in_block, own_topics, status, bool(expired), n_live)
    return seat, free is not None, None if place is None else (choices[place], Candidate(*pair))


def _query_values(
    annotator: Membership, at_most: int, now: datetime, *, reaped: bool
) -> dict[str, Any]:
    campaign = annotator.campaign
    return {
        "me": annotator.pk,
        "campaign": campaign.pk,
        "now": to_database_time(now),
        "turn": annotator.n_served,
        "topic": annotator.current_topic_row,
        "at_most": at_most,
        "reaped": reaped,
        "highest": campaign.top_priority,
        "band": campaign.band,
    }


def _find_and_take(
    annotator: Membership, at_most: int, now: datetime, *, reaped: bool
) -> tuple[Candidate, dict[str, Any], int] | None:
    """Find the next pair and take its slot in one statement, on databases without concurrent
    writers. Returns None if nothing was taken, and the two separate statements then give the
    reason.

    Returns (the pair, the reason for its selection, number of leases held before). The statement
    does not return the source, which follows from the topic.
    """
    choices, topics = _pair_sources(annotator, now), tuple(annotator.topic_rows)
    if NEAR_DEADLINE in choices or OVERLAP in choices:
        return None
    values = _query_values(annotator, at_most, now, reaped=reaped)
    values |= {
        "in_block": annotator.block_served,
        "own_topics": to_database_value(Membership, "topic_rows", annotator.topic_rows),
    }
    rows = fetch_rows(
        f"{_claim_tables_sql(choices, topics, False, False, UNCHANGED_SQL)} {TAKE_CHOSEN_SQL}",
        values,
    )
    if not rows:
        return None
    *columns, n_live = rows[0]
    pair = Candidate(*columns)
    choice = next(
        one
        for one in choices
        if one.of_topic in (None, pair.topic_row == annotator.current_topic_row)
    )
    return pair, _claim_reason(choice, pair), n_live


@lru_cache(maxsize=256)
def _claim_statement(
    choices: tuple[PairSource, ...], topics: tuple[int, ...], wait: bool, locks: bool
) -> str:
    if not choices:
        nothing = ", ".join(["NULL"] * (2 + len(Candidate._fields)))
        return f"{_claim_state_sql(locks)} SELECT s.*, {nothing} FROM seat s"
    return (
        f"{_claim_tables_sql(choices, topics, wait, locks, MAY_CLAIM_SQL)} SELECT s.*, t.id, c.* FROM seat s LEFT "
        f"JOIN top t ON TRUE LEFT JOIN chosen c ON TRUE"
    )


def _claim_state_sql(locks: bool) -> str:
    return (
        f"WITH seat AS MATERIALIZED (SELECT {CLAIM_STATE_SQL} FROM annotation_membership m WHERE m.id = "
        f"%(me)s {'FOR UPDATE OF m' if locks else ''})"
    )


@lru_cache(maxsize=256)
def _claim_tables_sql(
    choices: tuple[PairSource, ...], topics: tuple[int, ...], wait: bool, locks: bool, gate: str
) -> str:
    """Return SQL `WITH seat AS (…), top AS (…), …, chosen AS (…)` that finds the pair of a claim.
    `top` is the first free pair."""
    locking = ("FOR UPDATE OF p" if wait else "FOR UPDATE OF p SKIP LOCKED") if locks else ""
    first = f"""SELECT {PAIR_COLUMNS_SQL} FROM annotation_pair p
      WHERE {FREE_SQL} {NOT_SKIPPED_SQL} {restrict_to_topics(topics, NOT_SKIPPED_SQL, SERVICE_ORDER_SQL)} ORDER BY {SERVICE_ORDER_SQL} LIMIT 1"""
    return f"""{_claim_state_sql(locks)}, top AS MATERIALIZED (SELECT f.id, f.started, {LOWEST_PRIORITY_SQL} FROM ({first}) f),
      {first_choice_sql(choices, topics, gate=gate, locks=locks, locking=locking)}"""


def _take_pair(
    annotator: Membership,
    pair: Candidate,
    takes_slot: bool,
    why: dict[str, Any],
    now: datetime,
    *,
    has_slot: bool = False,
) -> Lease:
    """Take the slot by a guarded update that must match one row (unless `has_slot`), insert the
    lease and update the annotator, in one round trip to the database."""
    campaign, turn = annotator.campaign, annotator.n_served
    topic, in_block = annotator.current_topic_row, annotator.block_served
    if takes_slot:  # gold and calibration pairs do not change the block
        stays = rule.stays_in_block(served=in_block, length=campaign.block_length)
        topic, in_block = pair.topic_row, in_block + 1 if pair.topic_row == topic and stays else 1
    lease = Lease(
        token=uuid.uuid4(),
        pair_id=pair.id,
        membership=annotator,
        takes_slot=takes_slot,
        served_at=now,
        expires_at=leases.lease_expiry(annotator, now),
        why={
            **why,
            "turn": turn,
            "priority": pair.priority,
            "band": rule.compute_rank_window(
                pair.priority, highest=campaign.top_priority, width=campaign.band
            ),
            "position": pair.position,
            "started": bool(pair.started),
            "needed": pair.needed,
            "counted": pair.counted,
            "held_by_others": pair.held,
            "topic_in_a_row": in_block,
            "block_length": campaign.block_length,
        },
    )
    insert, values = make_insert(lease)
    values |= {
        "pair": pair.id,
        "me": annotator.pk,
        "topic": topic,
        "in_block": in_block,
        "now": to_database_time(now),
    }
    *guard, _, pk = execute_pipeline(
        [*([TAKE_SLOT_SQL] if takes_slot and not has_slot else []), ADVANCE_MEMBER_SQL, insert],
        values,
    )
    if guard == [None]:
        raise ClaimContended
    mark_stored(lease, pk)
    annotator.n_served, annotator.current_topic_row, annotator.block_served = (
        turn + 1,
        topic,
        in_block,
    )
    return lease


def get_special_pair_spacing(annotator: Membership) -> rule.SpecialPairSpacing | None:
    campaign = annotator.campaign
    return rule.make_special_pair_spacing(
        target=annotator.goal,
        n_everyone=campaign.n_everyone,
        n_gold=campaign.n_gold,
        gold_every=campaign.gold_every,
    )


def _is_special_pair_due(annotator: Membership) -> bool:
    plan = get_special_pair_spacing(annotator)
    return plan is not None and rule.is_special_turn(
        annotator.n_served, every=plan.every, seed=annotator.seed
    )


def _find_special_pair(annotator: Membership, *, due: bool) -> TakenPair | None:
    """Return the annotator's next gold or calibration pair, if this is its turn (`due`) or if no
    other pair is left."""
    campaign = annotator.campaign
    if not campaign.n_everyone and not campaign.n_gold:
        return None
    plan = get_special_pair_spacing(annotator)
    specials = get_special_pairs(campaign, Pair.Kind.GOLD, Pair.Kind.EVERYONE).filter(
        without_text=False
    )
    if annotator.topic_rows:
        specials = specials.filter(topic_row__in=annotator.topic_rows)
    kinds = dict(specials.values_list("pk", "kind"))
    done = set(
        specials.filter(judgements__membership=annotator, judgements__current=True).values_list(
            "pk", flat=True
        )
    )
    done |= set(
        specials.filter(leases__membership=annotator, leases__state=Lease.State.LIVE).values_list(
            "pk", flat=True
        )
    )
    order = rule.order_special_pairs(
        everyone=[pk for pk, kind in kinds.items() if kind == Pair.Kind.EVERYONE],
        gold=[pk for pk, kind in kinds.items() if kind == Pair.Kind.GOLD],
        n_gold=plan.n_gold if plan else 0,
        seed=annotator.seed,
    )
    for place, pk in enumerate(order):
        if pk not in done:
            columns = Pair.objects.values_list(
                "pk", "topic_row", "priority", "started", "position", "needed", "counted", "held"
            ).get(pk=pk)
            why = {
                "rule": f"{kinds[pk]} pair at its turn"
                if due
                else f"only {kinds[pk]} pairs are left"
            }
            return (
                Candidate(*columns),
                False,
                {**why, "place_in_own_order": place + 1, "one_in": plan.every if plan else None},
            )
    return None


def _find_skipped_pair(annotator: Membership, wait: bool) -> TakenPair | None:
    """Return the pair that the annotator skipped longest ago, with its row locked. Used if no other
    pair is left.

    Raises ClaimContended if other claims have locked all such pairs (with `wait`, it waits for the
    first).
    """
    mine = "AND EXISTS (SELECT 1 FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s)"
    oldest = "(SELECT s.created_at FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s), p.id"
    topics, values = annotator.topic_rows, {"me": annotator.pk, "campaign": annotator.campaign_id}
    plain = (
        f"SELECT {PAIR_COLUMNS_SQL} FROM annotation_pair p WHERE {FREE_SQL} {mine} "
        f"{restrict_to_topics(topics, mine, oldest)} ORDER BY {oldest} LIMIT 1"
    )
    locking = (
        "" if not has_row_locks() else "FOR UPDATE OF p" if wait else "FOR UPDATE OF p SKIP LOCKED"
    )
    rows = fetch_rows(f"{plain} {locking}", values, prepare=not topics)
    if not rows and locking and fetch_rows(plain, values, prepare=not topics):
        raise ClaimContended
    return (
        (Candidate(*rows[0]), True, {"rule": "skipped earlier; nothing else is left"})
        if rows
        else None
    )


def _find_partner(annotator: Membership) -> int | None:
    """Return the annotator with whom to share further pairs (planned overlap).

    It is the one with the most shared pairs below `min_common`, until `min_partners` annotators
    have enough. None if the plan is complete or there is no candidate.
    """
    campaign: Campaign = annotator.campaign
    counts = [
        (int(partner), int(n)) for partner, n in fetch_rows(SHARED_PAIRS_SQL, {"me": annotator.pk})
    ]
    if sum(n >= campaign.min_common for _, n in counts) >= campaign.min_partners:
        return None
    return rule.choose_partner(counts, common=campaign.min_common)
