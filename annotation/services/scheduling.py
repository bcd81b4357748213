"""Which pair an annotator gets next (METHODS 3), and the one atomic claim that reserves it.

The rule: not judged or skipped by the annotator, with a free slot and a text to read, the highest priority first; within a priority
a started pair before an unopened one; then the current topic until its block is full; then the pool's order. Gold and everyone pairs come at
turns of the annotator's own sequence. Near the deadline pairs with judgements come first. What was skipped comes when nothing
else is left. With a planned overlap, among the candidates of one rank those already judged by a chosen partner come first.

The candidates are read in the order of a partial index over open pairs, so the cost does not grow with the pool. On PostgreSQL
the priority is that of the first free pair, locked by another claim or not, and a row of this priority is taken with FOR UPDATE
SKIP LOCKED; where none is left the claim starts again, so the order of priorities holds. SQLite has one writer at a time and
ignores row locks; there the immediate transaction protects. On both a guarded UPDATE that must hit one row takes the slot.
On PostgreSQL the ordinary claim is one statement (`claim_at_once`); what it leaves is decided here, statement by statement.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import OperationalError, connection, transaction
from django.utils import timezone

from annotation.core import scheduling as rule
from annotation.models import Campaign, Lease, Membership, Pair
from annotation.services import leases
from annotation.services.claim_at_once import claim_at_once, plan_of
from annotation.services.claim_sql import (
    BLOCK_FULL,
    COLUMNS,
    EXPIRED,
    FINISH,
    FREE,
    IN_ORDER,
    IN_POOLS_ORDER,
    LEASE_COLUMNS,
    N_LIVE,
    NOT_SKIPPED,
    OPEN,
    SLOT_TAKEN,
    STAY,
    Candidate,
    first_of,
    moment,
    row_locks,
    rows_of,
)

ATTEMPTS, PATIENCE = 12, 7  # after so many attempts that found everything locked, wait for the first
PARTNER_CANDIDATES = 20
SEAT = f"SELECT m.n_served, m.current_topic_id, m.block_served, m.topic_ids, m.seed, m.standing, {EXPIRED}, {N_LIVE}"
TAKE_SLOT = f"UPDATE annotation_pair AS p SET {SLOT_TAKEN} WHERE p.id = %(pair)s AND p.open_slots > 0"
GO_ON = """UPDATE annotation_membership SET n_served = n_served + 1, current_topic_id = %(topic)s, block_served = %(in_block)s,
  last_seen = %(now)s WHERE id = %(me)s"""
SHARED = """SELECT b.membership_id, COUNT(*) FROM annotation_judgement a JOIN annotation_judgement b
  ON b.pair_id = a.pair_id AND b.current AND b.standing = 'counted' AND b.membership_id <> a.membership_id
  WHERE a.membership_id = %(me)s AND a.current AND a.standing = 'counted' GROUP BY b.membership_id"""


class Contended(Exception):
    """Another claim holds what comes first; nothing was taken."""


class ExpiredLeases(Exception):
    """There are expired leases, whose slots have to be given back first; nothing was taken."""


class Seat(NamedTuple):
    """What a claim needs of the membership, read under its lock."""

    me: int
    campaign: Campaign
    topics: Sequence[int]
    seed: int
    target: int | None
    turn: int
    topic: int | None
    block_served: int


def claim(membership: Membership, *, at_most: int | None = None, now: datetime | None = None) -> Lease | None:
    """Reserve the next pair for the annotator, or None when there is none or the annotator holds `at_most` live leases already.

    `membership.campaign` is used as loaded: state, deadline and target are the caller's to ask (`selectors.judging.situation`).
    Slots of expired leases are given back first. Two claims of one annotator at the same time wait for each other; of different
    annotators they do not.
    """
    now, reap = now or timezone.now(), True
    for attempt in range(ATTEMPTS):
        try:
            if attempt == 0 and (lease := claim_at_once(membership, now, at_most=at_most)) is not None:
                return lease
            with transaction.atomic():
                return _claim(membership, now, at_most=at_most, reap=reap, wait=attempt >= PATIENCE)
        except ExpiredLeases:
            leases.reap_expired(now)
            reap = False  # what is left is being given back by another claim
        except Contended:
            time.sleep(0.0005 * 2 ** min(attempt, PATIENCE))
        except OperationalError:  # the victim of a deadlock: waiting locks pairs in their order of service, others by id
            if connection.in_atomic_block or attempt == ATTEMPTS - 1:
                raise
            time.sleep(0.01 * (attempt + 1))
    return None


def _claim(membership: Membership, now: datetime, *, at_most: int | None, reap: bool, wait: bool) -> Lease | None:
    (turn, topic, block_served, topics, seed, standing, expired, n_live), top = _seated(membership, now)
    if standing != Membership.Standing.ACTIVE or (at_most is not None and n_live >= at_most):
        return None
    if expired and reap:
        raise ExpiredLeases
    campaign = membership.campaign
    topics = json.loads(topics) if isinstance(topics, str) else topics
    seat = Seat(membership.pk, campaign, topics, seed, membership.goal, turn, topic, block_served)
    if topics != membership.topic_ids:  # changed since the caller read it
        top = _top(seat)
    taken = _special(seat, due=True) or _normal(seat, now, wait, top) or _skipped(seat, wait) or _special(seat, due=False)
    if taken is None:
        return None
    pair, takes_slot, why = taken
    in_block = block_served + 1 if pair.topic_row == topic else 1
    lease = Lease(
        token=uuid.uuid4(),
        pair_id=pair.id,
        membership=membership,
        takes_slot=takes_slot,
        served_at=now,
        expires_at=leases.expiry(membership, now),
        why={
            **why,
            "turn": turn,
            "priority": pair.priority,
            "position": pair.position,
            "started": bool(pair.started),
            "needed": pair.needed,
            "counted": pair.counted,
            "held_by_others": pair.held,
            "topic_in_a_row": in_block,
            "block_length": campaign.block_length,
        },
    )
    _store(lease, topic=pair.topic_row, in_block=in_block)
    membership.n_served, membership.current_topic_id, membership.block_served = turn + 1, pair.topic_row, in_block
    return lease


def _seated(membership: Membership, now: datetime) -> tuple[Sequence[Any], Candidate | None]:
    """The columns of SEAT, under the membership's lock, and what `_top` would find: one statement on PostgreSQL."""
    values = {"me": membership.pk, "campaign": membership.campaign_id, "now": moment(now)}
    topics = membership.topic_ids
    if not row_locks():
        [row] = rows_of(f"{SEAT} FROM annotation_membership m WHERE m.id = %(me)s", values)
        found = rows_of(f"SELECT {COLUMNS} {_in_order(topics)}", values)
        return row, Candidate(*found[0]) if found else None
    first = f"LEFT JOIN LATERAL (SELECT {COLUMNS} {_in_order(topics)}) f ON TRUE"
    statement = f"{SEAT}, f.* FROM annotation_membership m {first} WHERE m.id = %(me)s FOR UPDATE OF m"
    [row] = rows_of(statement, values, prepare=not topics)
    n = len(Candidate._fields)
    return row[:-n], None if row[-n] is None else Candidate(*row[-n:])


def _top(seat: Seat) -> Candidate | None:
    """The first free pair in the order of service, of which only the priority and the rest of its rank are asked: it is not locked."""
    rows = rows_of(f"SELECT {COLUMNS} {_in_order(seat.topics)}", {"me": seat.me, "campaign": seat.campaign.pk}, prepare=not seat.topics)
    return Candidate(*rows[0]) if rows else None


def _in_order(topics: Sequence[int]) -> str:
    return f"FROM annotation_pair p WHERE {FREE} {NOT_SKIPPED} {_restricted(topics, NOT_SKIPPED, IN_ORDER)} ORDER BY {IN_ORDER} LIMIT 1"


def _store(lease: Lease, *, topic: int, in_block: int) -> None:
    """Take the slot by a guarded update that must hit one row, insert the lease, and move the annotator on: one statement on PostgreSQL."""
    values = {
        "pair": lease.pair_id,
        "me": lease.membership_id,
        "topic": topic,
        "in_block": in_block,
        "now": moment(lease.served_at),
        "token": lease.token if connection.features.has_native_uuid_field else lease.token.hex,
        "takes_slot": lease.takes_slot,
        "expires_at": moment(lease.expires_at),
        "why": json.dumps(lease.why),
    }
    new = "%(token)s, %(pair)s, %(me)s, 'live', %(takes_slot)s, %(now)s, %(expires_at)s, "
    if row_locks():
        guard = f"{TAKE_SLOT} RETURNING 1" if lease.takes_slot else "SELECT 1"
        rows = rows_of(
            f"WITH taken AS ({guard}), moved AS ({GO_ON}) INSERT INTO annotation_lease {LEASE_COLUMNS} "
            f"SELECT {new} CAST(%(why)s AS jsonb) FROM taken RETURNING id",
            values,
        )
    else:
        rows = []
        with connection.cursor() as cursor:
            if lease.takes_slot:
                cursor.execute(TAKE_SLOT, values)
            if not lease.takes_slot or cursor.rowcount == 1:
                cursor.execute(GO_ON, values)
                cursor.execute(f"INSERT INTO annotation_lease {LEASE_COLUMNS} VALUES ({new} %(why)s)", values)
                rows = [(cursor.lastrowid,)]
    if not rows:
        raise Contended
    lease.pk = rows[0][0]
    lease._state.adding, lease._state.db = False, connection.alias


Taken = tuple[Candidate, bool, dict[str, Any]]


def _special(seat: Seat, *, due: bool) -> Taken | None:
    """The annotator's next gold or everyone pair: if this turn is one for it (`due`), or because nothing else is left."""
    campaign = seat.campaign
    if not campaign.n_everyone and not campaign.n_gold:
        return None
    plan = plan_of(campaign, seat.target)
    if due and (plan is None or not rule.is_special_turn(seat.turn, every=plan.every, seed=seat.seed)):
        return None
    specials = Pair.objects.filter(campaign=campaign, kind__in=[Pair.Kind.GOLD, Pair.Kind.EVERYONE], without_text=False)
    if seat.topics:
        specials = specials.filter(topic_row__in=seat.topics)
    kinds = dict(specials.values_list("pk", "kind"))
    done = set(specials.filter(judgements__membership=seat.me, judgements__current=True).values_list("pk", flat=True))
    done |= set(specials.filter(leases__membership=seat.me, leases__state=Lease.State.LIVE).values_list("pk", flat=True))
    order = rule.special_order(
        everyone=[pk for pk, kind in kinds.items() if kind == Pair.Kind.EVERYONE],
        gold=[pk for pk, kind in kinds.items() if kind == Pair.Kind.GOLD],
        n_gold=plan.n_gold if plan else 0,
        seed=seat.seed,
    )
    for place, pk in enumerate(order):
        if pk not in done:
            found = Pair.objects.values_list("pk", "topic_row", "priority", "started", "position", "needed", "counted", "held").get(pk=pk)
            why = {"rule": f"{kinds[pk]} pair at its turn" if due else f"only {kinds[pk]} pairs are left"}
            return Candidate(*found), False, {**why, "place_in_own_order": place + 1, "one_in": plan.every if plan else None}
    return None


def _normal(seat: Seat, now: datetime, wait: bool, top: Candidate | None) -> Taken | None:
    """top: the first free pair in the order of service; a pair of its priority is taken, whoever else may be at it."""
    campaign = seat.campaign
    if rule.is_closing(now, deadline=campaign.deadline, hours=campaign.closing_hours):
        found = _first(seat, f"{NOT_SKIPPED} AND p.started AND p.counted > 0", "p.priority DESC, p.position", wait=wait)
        if found is not None:
            return found, True, {"rule": "the deadline is near: finish what has judgements"}
    if top is None:
        return None
    of_priority = f"{NOT_SKIPPED} AND p.priority = %(priority)s"
    rank = f"{of_priority} AND {'p.started' if top.started else 'NOT p.started'}"
    values = {"priority": top.priority, "topic": seat.topic}
    if campaign.min_common and campaign.min_partners:
        shared = _shared_with_partner(seat, rank, values)
        if shared is not None:
            return shared, True, {"rule": "highest priority, planned overlap with a partner"}
    stays = rule.stays_in_block(served=seat.block_served, length=campaign.block_length)
    choices = [(of_priority, "p.started DESC, p.position", IN_POOLS_ORDER)]
    if seat.topic is not None and seat.topic != top.topic_row and stays and (not seat.topics or seat.topic in seat.topics):
        choices.insert(0, (f"{rank} AND p.topic_row = %(topic)s", "p.position", STAY))
    elif seat.topic == top.topic_row and not stays:
        choices.insert(0, (f"{rank} AND p.topic_row <> %(topic)s", "p.position", BLOCK_FULL))
    chosen = _first_of(seat, [choice[:2] for choice in choices], wait=wait, values=values)
    if chosen is None:
        raise Contended  # taken meanwhile: look again
    place, pair = chosen
    return pair, True, {"rule": f"{FINISH if pair.started else OPEN}, {choices[place][2]}"}


def _skipped(seat: Seat, wait: bool) -> Taken | None:
    """Nothing else is left: what the annotator put aside, the longest ago first."""
    mine = "AND EXISTS (SELECT 1 FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s)"
    oldest = "(SELECT s.created_at FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s), p.id"
    found = _first(seat, mine, oldest, wait=wait)
    return None if found is None else (found, True, {"rule": "put aside earlier, nothing else is left"})


def _first(
    seat: Seat, condition: str, order: str, *, wait: bool, needed: bool = True, values: Mapping[str, Any] | None = None
) -> Candidate | None:
    """The first free pair under `condition` in `order`, its row locked.

    Raises Contended where every such pair is locked by other claims (unless `wait`: then the first is waited for; or not `needed`:
    then None).
    """
    only = [(condition, order)]
    found = _first_of(seat, only, wait=wait, values=values or {})
    if found is None and needed and not wait and row_locks() and _first_of(seat, only, lock=False, values=values or {}):
        raise Contended
    return found and found[1]


def _first_of(
    seat: Seat, choices: Sequence[tuple[str, str]], *, wait: bool = False, lock: bool = True, values: Mapping[str, Any]
) -> tuple[int, Candidate] | None:
    """The first free pair under the first of the (condition, order) that has one, and which of them that was; with `lock` its row
    locked. Pairs that other claims have locked are passed over then, unless `wait`. One statement for all."""
    locking = "" if not (lock and row_locks()) else "FOR UPDATE OF p" if wait else "FOR UPDATE OF p SKIP LOCKED"
    within = [(f"{condition} {_restricted(seat.topics, condition, order)}", order) for condition, order in choices]
    rows = rows_of(
        f"WITH {first_of(within, locking=locking)} SELECT * FROM chosen",
        {"me": seat.me, "campaign": seat.campaign.pk, **values},
        prepare=not seat.topics,
    )
    return (rows[0][0], Candidate(*rows[0][1:])) if rows else None


def _restricted(topics: Sequence[int], condition: str, order: str) -> str:
    """A further condition for an annotator restricted to topics: the first free pair of each, each found by index."""
    if not topics:
        return ""
    each = ", ".join(f"({int(topic)})" for topic in topics)
    first_of_topic = (
        f"SELECT (SELECT p.id FROM annotation_pair p WHERE p.topic_row = t.topic AND {FREE} {condition} ORDER BY {order} LIMIT 1) "
        f"FROM (SELECT 0 AS topic WHERE 1 = 0 UNION ALL VALUES {each}) t"
    )
    return f"AND p.id IN ({first_of_topic})"


def _shared_with_partner(seat: Seat, rank: str, values: Mapping[str, Any]) -> Candidate | None:
    """Of the first candidates of one rank, one that the chosen partner has judged (planned overlap, ours).

    The partner is the annotator with whom most pairs are shared, yet fewer than `min_common`, until there are `min_partners` with
    enough. None where the plan is fulfilled or the rule has nothing to choose.
    """
    counts = [(int(annotator), int(n)) for annotator, n in rows_of(SHARED, {"me": seat.me})]
    if sum(n >= seat.campaign.min_common for _, n in counts) >= seat.campaign.min_partners:
        return None
    partner = rule.preferred_partner(counts, common=seat.campaign.min_common)
    if partner is None:
        return None
    first = f"SELECT p.id FROM annotation_pair p WHERE {FREE} {rank} ORDER BY p.position LIMIT {PARTNER_CANDIDATES}"
    near = f"p.id IN (SELECT c.id FROM ({first}) c)"
    judged = "EXISTS (SELECT 1 FROM annotation_judgement k WHERE k.pair_id = p.id AND k.membership_id = %(partner)s AND k.current)"
    return _first(seat, f"{rank} AND {near} AND {judged}", "p.position", wait=False, needed=False, values={**values, "partner": partner})
