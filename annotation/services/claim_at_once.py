"""The ordinary claim in one statement, on PostgreSQL: one trip to the database instead of five, and locks held no longer than it.

Ordinary is: an annotator who may judge every topic, at a turn for a normal pair, far from the deadline and without planned overlap;
nothing expired, and a pair that no other claim holds. What may have changed since the membership was loaded the statement asks
again, under the membership's lock, and takes nothing where it has; then `scheduling` decides, statement by statement. Both follow
the one rule told there and say the same to the manager: the tests compare them claim by claim.
"""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from functools import cache

from django.db import connection

from annotation.core import scheduling as rule
from annotation.models import Campaign, Lease, Membership
from annotation.services import leases
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
    first_of,
    moment,
    row_locks,
    rows_of,
)

ORDINARY = f"AND EXISTS (SELECT 1 FROM seat) {NOT_SKIPPED}"
OF_PRIORITY = f"{ORDINARY} AND p.priority = (SELECT priority FROM top)"
RANK = f"{OF_PRIORITY} AND p.started = (SELECT started FROM top)"
FIRST_LOOK = {  # where the topic decides: (the topic of the first free pair, the topic looked for)
    STAY: "(SELECT topic_row FROM top) <> %(topic)s AND p.topic_row = %(topic)s",
    BLOCK_FULL: "(SELECT topic_row FROM top) = %(topic)s AND p.topic_row <> %(topic)s",
}


def claim_at_once(membership: Membership, now: datetime, *, at_most: int | None) -> Lease | None:
    """The lease of the next pair, or None where the claim is not an ordinary one: nothing was taken then.

    `membership`, with its campaign, is as loaded; it is moved on with its row. One that is out of date takes nothing.
    """
    if not row_locks() or not _is_ordinary(membership, now):
        return None
    topic, campaign = membership.current_topic_id, membership.campaign
    look = (
        None if topic is None else STAY if rule.stays_in_block(served=membership.block_served, length=campaign.block_length) else BLOCK_FULL
    )
    token, expires_at = uuid.uuid4(), leases.expiry(membership, now)
    values = {
        "me": membership.pk,
        "campaign": campaign.pk,
        "turn": membership.n_served,
        "topic": topic,
        "in_block": membership.block_served,
        "block_length": campaign.block_length,
        "at_most": at_most,
        "now": moment(now),
        "token": token,
        "expires_at": moment(expires_at),
    }
    rows = rows_of(_statement(look, at_most is not None), values)
    if not rows:
        return None
    pk, pair, in_block, topic, why = rows[0]
    membership.n_served, membership.current_topic_id, membership.block_served = membership.n_served + 1, topic, in_block
    lease = Lease(
        pk=pk,
        token=token,
        pair_id=pair,
        membership=membership,
        takes_slot=True,
        served_at=now,
        expires_at=expires_at,
        why=json.loads(why) if isinstance(why, str) else why,
    )
    lease._state.adding, lease._state.db = False, connection.alias
    return lease


def _is_ordinary(membership: Membership, now: datetime) -> bool:
    """As far as it can be said of the rows as loaded; the rest the statement asks."""
    campaign = membership.campaign
    if membership.topic_ids or (campaign.min_common and campaign.min_partners):
        return False
    if rule.is_closing(now, deadline=campaign.deadline, hours=campaign.closing_hours):
        return False
    plan = plan_of(campaign, membership.goal)
    return plan is None or not rule.is_special_turn(membership.n_served, every=plan.every, seed=membership.seed)


def plan_of(campaign: Campaign, target: int | None) -> rule.Plan | None:
    return rule.special_plan(target=target, n_everyone=campaign.n_everyone, n_gold=campaign.n_gold, gold_every=campaign.gold_every)


@cache
def _statement(look: str | None, bounded: bool) -> str:
    """look: how the topic decides, one of FIRST_LOOK, or None before the first pair; bounded: whether `at_most` is asked."""
    few = f"AND {N_LIVE} < %(at_most)s" if bounded else ""
    seat = f"""SELECT 1 FROM annotation_membership m WHERE m.id = %(me)s AND m.standing = 'active' AND m.n_served = %(turn)s
      AND m.block_served = %(in_block)s AND m.current_topic_id {"IS NULL" if look is None else "= %(topic)s"} AND m.topic_ids = '[]'
      AND NOT {EXPIRED} {few} FOR UPDATE OF m"""
    choices = [(OF_PRIORITY, "p.started DESC, p.position")]
    reasons = [IN_POOLS_ORDER]
    if look is not None:
        choices.insert(0, (f"{RANK} AND {FIRST_LOOK[look]}", "p.position"))
        reasons.insert(0, look)
    reason = f"(ARRAY[{', '.join(map(_quoted, reasons))}])[t.place + 1]"
    why = f"""jsonb_build_object(
      'rule', CASE WHEN t.started THEN {_quoted(FINISH)} ELSE {_quoted(OPEN)} END || ', ' || {reason},
      'turn', CAST(%(turn)s AS integer), 'priority', t.priority, 'position', t.position, 'started', t.started, 'needed', t.needed,
      'counted', t.counted, 'held_by_others', t.held, 'topic_in_a_row', t.in_block, 'block_length', CAST(%(block_length)s AS integer))"""
    in_block = "1" if look is None else "CASE WHEN c.topic_row = %(topic)s THEN %(in_block)s + 1 ELSE 1 END"
    return f"""WITH seat AS MATERIALIZED ({seat}),
      top AS MATERIALIZED (SELECT {COLUMNS} FROM annotation_pair p WHERE {FREE} {NOT_SKIPPED} ORDER BY {IN_ORDER} LIMIT 1),
      {first_of(choices, locking="FOR UPDATE OF p SKIP LOCKED")},
      taken AS (UPDATE annotation_pair p SET {SLOT_TAKEN}
        FROM chosen c WHERE p.id = c.id AND p.open_slots > 0 RETURNING c.*, CAST({in_block} AS integer) AS in_block),
      moved AS (UPDATE annotation_membership m SET n_served = m.n_served + 1, current_topic_id = t.topic_row, block_served = t.in_block,
        last_seen = %(now)s FROM taken t WHERE m.id = %(me)s),
      stored AS (INSERT INTO annotation_lease {LEASE_COLUMNS}
        SELECT %(token)s, t.id, %(me)s, 'live', TRUE, %(now)s, %(expires_at)s, {why} FROM taken t RETURNING id, why)
      SELECT s.id, t.id, t.in_block, t.topic_row, s.why FROM stored s CROSS JOIN taken t"""


def _quoted(text: str) -> str:
    """As a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
