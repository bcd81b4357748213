"""Which pair an annotator gets next (METHODS 3), and the one atomic claim that reserves it.

The rule: not judged or skipped by the annotator, with a free slot and a text to read, in the
highest band of priorities that has one:
the current topic until its block is full, its started pairs first, then the pool's order; else the
topic with started pairs; else the pool's next topic. Gold and everyone pairs come at turns of the
annotator's own sequence and leave the block as it is. Near the deadline pairs with judgements come
first. What was skipped comes when nothing else is left. With a planned overlap, among the first
candidates of the band those already judged by a chosen partner come first.

A claim is two statements in a transaction: look (lock the annotator, find and lock the pair) and
take (its slot, the lease, the annotator's turn); all claims of a request are one transaction unless
they meet those of others. Pairs are looked at in the order of partial indexes over open pairs, so
the cost does not grow with the pool. On PostgreSQL the band is that of the first free pair, locked
by another claim or not, and a row of this band is taken with FOR UPDATE SKIP LOCKED; where none is
left the claim starts again, so the order of bands holds. SQLite has one writer at a time and
ignores row locks; there the immediate transaction protects. On both a guarded UPDATE that must hit
one row takes the slot."""

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
from annotation.selectors.pairs import special_pairs
from annotation.services.errors import AnswerRefused
from annotation.services.judging import leases
from annotation.services.judging.claim_sql import (
    COLUMNS,
    FREE,
    GO_ON,
    IN_ORDER,
    NOT_SKIPPED,
    POOLS_ORDER,
    SEAT,
    SHARED,
    TAKE_CHOSEN,
    TAKE_SLOT,
    Candidate,
    Choice,
    first_of,
    restricted,
)
from annotation.services.judging.statements import (
    in_one_trip,
    insertion,
    row_locks,
    rows_of,
    stored,
    stored_time,
    stored_value,
    waited_for_disk,
    written_at_once,
)
from assay.labels.judges import JudgeKind
from pooling.platform.unavailable import lost_a_race

ATTEMPTS, PATIENCE = (
    12,
    7,
)  # after so many attempts that found everything locked, wait for the first
PARTNER_CANDIDATES = 20
ANY_NUMBER = 1_000_000

MAY = (
    "AND EXISTS (SELECT 1 FROM seat WHERE n_served = %(turn)s AND n_live < %(at_most)s AND (NOT "
    "expired OR %(reaped)s))"
)
AS_LOADED = f"""{MAY[:-1]} AND current_topic_row IS %(topic)s AND block_served = %(in_block)s AND topic_rows = %(own_topics)s
  AND standing = 'active')"""
IN_BAND = f"{NOT_SKIPPED} AND p.priority >= (SELECT lowest FROM top)"
# The lowest priority of the band of the first free pair; bands are counted from the campaign's
# highest priority down.
LOWEST = "%(highest)s - ((%(highest)s - f.priority) / %(band)s + 1) * %(band)s + 1 AS lowest"
STAY = Choice(
    f"{IN_BAND} AND p.topic_row = %(topic)s",
    "p.started DESC, p.position",
    "stay with the topic",
    True,
)
POOLS_NEXT = (
    Choice(f"{IN_BAND} AND p.started", POOLS_ORDER, "then the pool's order"),
    Choice(IN_BAND, IN_ORDER, "then the pool's order"),
)
BLOCK_FULL = (
    Choice(
        f"{IN_BAND} AND p.started AND p.topic_row <> %(topic)s",
        POOLS_ORDER,
        "the topic's block is full",
        False,
    ),
    Choice(f"{IN_BAND} AND p.topic_row <> %(topic)s", IN_ORDER, "the topic's block is full", False),
    Choice(
        f"{IN_BAND} AND p.topic_row = %(topic)s",
        "p.started DESC, p.position",
        "the topic's block is full, there is no other topic",
        True,
    ),
)
CLOSING = Choice(
    f"{NOT_SKIPPED} AND p.started AND p.counted > 0",
    POOLS_ORDER,
    "the deadline is near: finish what has judgements",
)
NEAR = f"""p.id IN (SELECT n.id FROM (SELECT p.id FROM annotation_pair p WHERE {FREE} {IN_BAND} AND p.started = (SELECT started FROM top)
  ORDER BY {POOLS_ORDER} LIMIT {PARTNER_CANDIDATES}) n)"""
PARTNERS = (
    "EXISTS (SELECT 1 FROM annotation_judgement k WHERE k.pair_id = p.id AND k.membership_id = "
    "%(partner)s AND k.current)"
)
OVERLAP = Choice(
    f"{IN_BAND} AND {NEAR} AND {PARTNERS}",
    "p.position",
    "highest band, planned overlap with a partner",
)


class Contended(Exception):
    """Another claim holds what comes first; nothing was taken."""


class ExpiredLeases(Exception):
    """There are expired leases, whose slots have to be given back first; nothing was taken."""


class Seat(NamedTuple):
    """The columns of SEAT: what a claim needs of the membership, read under its lock."""

    turn: int
    topic: int | None
    block_served: int
    topics: list[int]
    standing: str
    expired: bool
    n_live: int


Taken = tuple[Candidate, bool, dict[str, Any]]


def claim(
    annotator: Membership, *, at_most: int | None = None, now: datetime | None = None
) -> Lease | None:
    """Reserve the next pair for the annotator, or None when there is none or the annotator holds
    `at_most` live leases already.

    `annotator.campaign` is used as loaded: state, deadline and target are the caller's to ask
    (`selectors.judging.situation`). Slots of expired leases are given back first. Two claims of one
    annotator at the same time wait for each other; of different annotators they do not."""
    return _claimed(annotator, ANY_NUMBER if at_most is None else at_most, now or timezone.now())[0]


def claim_up_to(annotator: Membership, at_most: int, *, now: datetime) -> None:
    """Claim until the annotator holds `at_most` live leases or nothing is free."""
    n_live = 0
    with written_at_once():
        while n_live < at_most:
            lease, n_live = _claimed(annotator, at_most, now, up_to_all=True)
            if lease is None:
                return


def _claimed(
    annotator: Membership, at_most: int, now: datetime, *, up_to_all: bool = False
) -> tuple[Lease | None, int]:
    """(the lease of the next pair or None, how many live leases the annotator holds then).

    up_to_all: go on in the same transaction while there are pairs; one alone where that has met
    another claim: its locks end sooner."""
    if annotator.judge_kind == JudgeKind.MACHINE:
        raise AnswerRefused(
            "machine",
            _("A machine takes nobody's place: its labels are a layer of their own."),
            403,
        )
    reaped = met = False
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                lease, n_live = _claim(
                    annotator, at_most, now, reaped=reaped, wait=attempt >= PATIENCE
                )
                wrote = lease is not None
                while up_to_all and not met and lease is not None and n_live < at_most:
                    lease, n_live = _claim(annotator, at_most, now, reaped=reaped, wait=False)
            if wrote:
                waited_for_disk()
            return lease, n_live
        except ExpiredLeases:
            leases.reap_expired(now)
            reaped = True  # what is left is being given back by another claim
        except Contended:
            met = True
            time.sleep(0.0005 * 2 ** min(attempt, PATIENCE))
        except OperationalError as error:  # the victim of a deadlock: waiting locks pairs in their order of service, others by id
            if connection.in_atomic_block or attempt == ATTEMPTS - 1 or not lost_a_race(error):
                raise
            met = True
            time.sleep(0.01 * (attempt + 1))
    return None, 0


def _claim(
    annotator: Membership, at_most: int, now: datetime, *, reaped: bool, wait: bool
) -> tuple[Lease | None, int]:
    def look(*, choose: bool) -> tuple[Seat, bool, tuple[Choice, Candidate] | None]:
        return _look(
            annotator,
            _choices(annotator, now) if choose else (),
            at_most,
            now,
            reaped=reaped,
            wait=wait,
        )

    due = _special_is_due(annotator)
    at_once = None if due or row_locks() else _look_and_take(annotator, at_most, now, reaped=reaped)
    if at_once is not None:
        pair, why, n_live = at_once
        return _take(annotator, pair, True, why, now, has_slot=True), n_live + 1
    seat, is_free, choice_and_pair = look(choose=not due)
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
        due = _special_is_due(annotator)
        seat, is_free, choice_and_pair = look(choose=not due)  # under the annotator's lock now
    if seat.standing != Membership.Standing.ACTIVE or seat.n_live >= at_most:
        return None, at_most
    if seat.expired and not reaped:
        raise ExpiredLeases
    taken = _special(annotator, due=True) if due else None
    if due and taken is None:
        seat, is_free, choice_and_pair = look(choose=True)
    if taken is None and is_free:
        if choice_and_pair is None:
            raise Contended
        choice, pair = choice_and_pair
        taken = pair, True, _reason(choice, pair)
    taken = taken or _skipped(annotator, wait) or _special(annotator, due=False)
    if taken is None:
        return None, seat.n_live
    return _take(annotator, *taken, now), seat.n_live + 1


def _reason(choice: Choice, pair: Candidate) -> dict[str, Any]:
    alone = choice in (CLOSING, OVERLAP)
    how = (
        ""
        if alone
        else "highest band, finish started pairs, "
        if pair.started
        else "highest band, open a new pair, "
    )
    return {"rule": f"{how}{choice.reason}"}


def _choices(annotator: Membership, now: datetime) -> tuple[Choice, ...]:
    """Where this annotator's next pair is looked for, by the membership as loaded: the order of
    service (METHODS 3)."""
    campaign, topic = annotator.campaign, annotator.current_topic_row
    if topic is None:
        choices: tuple[Choice, ...] = POOLS_NEXT
    elif rule.stays_in_block(served=annotator.block_served, length=campaign.block_length):
        choices = (STAY, *POOLS_NEXT)
    else:
        choices = BLOCK_FULL
    if campaign.min_common and campaign.min_partners and _partner(annotator) is not None:
        choices = (OVERLAP, *choices)
    if rule.is_closing(now, deadline=campaign.deadline, hours=campaign.closing_hours):
        choices = (CLOSING, *choices)
    return choices


def _look(
    annotator: Membership,
    choices: tuple[Choice, ...],
    at_most: int,
    now: datetime,
    *,
    reaped: bool,
    wait: bool,
) -> tuple[Seat, bool, tuple[Choice, Candidate] | None]:
    """Lock the annotator, then the first free pair under the first of the choices that has one.

    -> (the membership's columns as they are now, whether there is any free pair, what was found and by which choice). Pairs that other
    claims have locked are passed over, unless `wait`. Where the membership is not as it was loaded nothing is looked for.
    """
    topics = annotator.topic_rows
    values = {
        **_values(annotator, at_most, now, reaped=reaped),
        "partner": _partner(annotator) if OVERLAP in choices else None,
    }
    [row] = rows_of(
        _statement(choices, tuple(topics), wait, row_locks()), values, prepare=not topics
    )
    turn, topic, in_block, own_topics, standing, expired, n_live, free, place, *pair = row
    own_topics = json.loads(own_topics) if isinstance(own_topics, str) else own_topics
    seat = Seat(turn, topic, in_block, own_topics, standing, bool(expired), n_live)
    return seat, free is not None, None if place is None else (choices[place], Candidate(*pair))


def _values(annotator: Membership, at_most: int, now: datetime, *, reaped: bool) -> dict[str, Any]:
    campaign = annotator.campaign
    return {
        "me": annotator.pk,
        "campaign": campaign.pk,
        "now": stored_time(now),
        "turn": annotator.n_served,
        "topic": annotator.current_topic_row,
        "at_most": at_most,
        "reaped": reaped,
        "highest": campaign.top_priority,
        "band": campaign.band,
    }


def _look_and_take(
    annotator: Membership, at_most: int, now: datetime, *, reaped: bool
) -> tuple[Candidate, dict[str, Any], int] | None:
    """Where a transaction that writes is alone: find the pair and take its slot by one statement.
    None where nothing was taken: whatever is the reason, the two statements tell.

    -> (the pair, why, how many leases the annotator held before). The statement does not say by which choice; it follows from the topic.
    """
    choices, topics = _choices(annotator, now), tuple(annotator.topic_rows)
    if CLOSING in choices or OVERLAP in choices:
        return None
    values = _values(annotator, at_most, now, reaped=reaped)
    values |= {
        "in_block": annotator.block_served,
        "own_topics": stored_value(Membership, "topic_rows", annotator.topic_rows),
    }
    rows = rows_of(f"{_tables(choices, topics, False, False, AS_LOADED)} {TAKE_CHOSEN}", values)
    if not rows:
        return None
    *columns, n_live = rows[0]
    pair = Candidate(*columns)
    choice = next(
        one
        for one in choices
        if one.of_topic in (None, pair.topic_row == annotator.current_topic_row)
    )
    return pair, _reason(choice, pair), n_live


@lru_cache(maxsize=256)
def _statement(
    choices: tuple[Choice, ...], topics: tuple[int, ...], wait: bool, locks: bool
) -> str:
    if not choices:
        nothing = ", ".join(["NULL"] * (2 + len(Candidate._fields)))
        return f"{_seat(locks)} SELECT s.*, {nothing} FROM seat s"
    return (
        f"{_tables(choices, topics, wait, locks, MAY)} SELECT s.*, t.id, c.* FROM seat s LEFT "
        f"JOIN top t ON TRUE LEFT JOIN chosen c ON TRUE"
    )


def _seat(locks: bool) -> str:
    return (
        f"WITH seat AS MATERIALIZED (SELECT {SEAT} FROM annotation_membership m WHERE m.id = "
        f"%(me)s {'FOR UPDATE OF m' if locks else ''})"
    )


@lru_cache(maxsize=256)
def _tables(
    choices: tuple[Choice, ...], topics: tuple[int, ...], wait: bool, locks: bool, gate: str
) -> str:
    """`WITH seat AS (…), top AS (…), …, chosen AS (…)`: what a claim finds, of which `top` is the
    first free pair."""
    locking = ("FOR UPDATE OF p" if wait else "FOR UPDATE OF p SKIP LOCKED") if locks else ""
    first = f"""SELECT {COLUMNS} FROM annotation_pair p
      WHERE {FREE} {NOT_SKIPPED} {restricted(topics, NOT_SKIPPED, IN_ORDER)} ORDER BY {IN_ORDER} LIMIT 1"""
    return f"""{_seat(locks)}, top AS MATERIALIZED (SELECT f.id, f.started, {LOWEST} FROM ({first}) f),
      {first_of(choices, topics, gate=gate, locks=locks, locking=locking)}"""


def _take(
    annotator: Membership,
    pair: Candidate,
    takes_slot: bool,
    why: dict[str, Any],
    now: datetime,
    *,
    has_slot: bool = False,
) -> Lease:
    """Take the slot by a guarded update that must hit one row (unless `has_slot`: it is taken),
    insert the lease, and move the annotator on: one trip to the database."""
    campaign, turn = annotator.campaign, annotator.n_served
    topic, in_block = annotator.current_topic_row, annotator.block_served
    if takes_slot:  # gold and everyone pairs leave the block as it is
        stays = rule.stays_in_block(served=in_block, length=campaign.block_length)
        topic, in_block = pair.topic_row, in_block + 1 if pair.topic_row == topic and stays else 1
    lease = Lease(
        token=uuid.uuid4(),
        pair_id=pair.id,
        membership=annotator,
        takes_slot=takes_slot,
        served_at=now,
        expires_at=leases.expiry(annotator, now),
        why={
            **why,
            "turn": turn,
            "priority": pair.priority,
            "band": rule.band_of(pair.priority, highest=campaign.top_priority, width=campaign.band),
            "position": pair.position,
            "started": bool(pair.started),
            "needed": pair.needed,
            "counted": pair.counted,
            "held_by_others": pair.held,
            "topic_in_a_row": in_block,
            "block_length": campaign.block_length,
        },
    )
    insert, values = insertion(lease)
    values |= {
        "pair": pair.id,
        "me": annotator.pk,
        "topic": topic,
        "in_block": in_block,
        "now": stored_time(now),
    }
    *guard, _, pk = in_one_trip(
        [*([TAKE_SLOT] if takes_slot and not has_slot else []), GO_ON, insert], values
    )
    if guard == [None]:
        raise Contended
    stored(lease, pk)
    annotator.n_served, annotator.current_topic_row, annotator.block_served = (
        turn + 1,
        topic,
        in_block,
    )
    return lease


def plan_of(annotator: Membership) -> rule.SpecialPairSpacing | None:
    campaign = annotator.campaign
    return rule.special_pair_spacing(
        target=annotator.goal,
        n_everyone=campaign.n_everyone,
        n_gold=campaign.n_gold,
        gold_every=campaign.gold_every,
    )


def _special_is_due(annotator: Membership) -> bool:
    plan = plan_of(annotator)
    return plan is not None and rule.is_special_turn(
        annotator.n_served, every=plan.every, seed=annotator.seed
    )


def _special(annotator: Membership, *, due: bool) -> Taken | None:
    """The annotator's next gold or everyone pair: because this turn is one for it (`due`), or
    because nothing else is left."""
    campaign = annotator.campaign
    if not campaign.n_everyone and not campaign.n_gold:
        return None
    plan = plan_of(annotator)
    specials = special_pairs(campaign, Pair.Kind.GOLD, Pair.Kind.EVERYONE).filter(
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
    order = rule.special_order(
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


def _skipped(annotator: Membership, wait: bool) -> Taken | None:
    """Nothing else is left: what the annotator put aside, the longest ago first; its row locked.

    Raises Contended where every such pair is locked by other claims (unless `wait`: then the first
    is waited for)."""
    mine = "AND EXISTS (SELECT 1 FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s)"
    oldest = "(SELECT s.created_at FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s), p.id"
    topics, values = annotator.topic_rows, {"me": annotator.pk, "campaign": annotator.campaign_id}
    plain = (
        f"SELECT {COLUMNS} FROM annotation_pair p WHERE {FREE} {mine} "
        f"{restricted(topics, mine, oldest)} ORDER BY {oldest} LIMIT 1"
    )
    locking = (
        "" if not row_locks() else "FOR UPDATE OF p" if wait else "FOR UPDATE OF p SKIP LOCKED"
    )
    rows = rows_of(f"{plain} {locking}", values, prepare=not topics)
    if not rows and locking and rows_of(plain, values, prepare=not topics):
        raise Contended
    return (
        (Candidate(*rows[0]), True, {"rule": "put aside earlier, nothing else is left"})
        if rows
        else None
    )


def _partner(annotator: Membership) -> int | None:
    """The annotator with whom to share more pairs (planned overlap, ours): the one with whom most
    are shared, yet fewer than `min_common`, until there are `min_partners` with enough. None where
    the plan is fulfilled or the rule has nothing to choose."""
    campaign: Campaign = annotator.campaign
    counts = [(int(partner), int(n)) for partner, n in rows_of(SHARED, {"me": annotator.pk})]
    if sum(n >= campaign.min_common for _, n in counts) >= campaign.min_partners:
        return None
    return rule.preferred_partner(counts, common=campaign.min_common)
