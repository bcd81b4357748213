"""SQL of a claim: the conditions for a pair to be free for an annotator, and the order in which
free pairs are examined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FREE_SQL = """p.campaign_id = %(campaign)s AND p.open_slots > 0 AND p.kind = 'normal' AND NOT p.without_text
  AND NOT EXISTS (SELECT 1 FROM annotation_judgement j WHERE j.pair_id = p.id AND j.membership_id = %(me)s AND j.current)
  AND NOT EXISTS (SELECT 1 FROM annotation_lease l WHERE l.pair_id = p.id AND l.membership_id = %(me)s AND l.state = 'live')"""
NOT_SKIPPED_SQL = "AND NOT EXISTS (SELECT 1 FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s)"
PAIR_COLUMNS_SQL = (
    "p.id, p.topic_row, p.priority, p.started, p.position, p.needed, p.counted, p.held"
)
SERVICE_ORDER_SQL = "p.priority DESC, p.started DESC, p.position"
POOL_ORDER_SQL = "p.priority DESC, p.position"
EXPIRED_SQL = (
    "EXISTS (SELECT 1 FROM annotation_lease l WHERE l.state = 'live' AND l.expires_at <= %(now)s)"
)
LIVE_COUNT_SQL = (
    "(SELECT COUNT(*) FROM annotation_lease l WHERE l.state = 'live' AND l.membership_id = m.id)"
)
CLAIM_STATE_SQL = (
    f"m.n_served, m.current_topic_row, m.block_served, m.topic_rows, m.status, {EXPIRED_SQL} AS "
    f"expired, {LIVE_COUNT_SQL} AS n_live"
)
TAKE_SLOT_SQL = """UPDATE annotation_pair SET held = held + 1, open_slots = open_slots - 1, started = TRUE
  WHERE id = %(pair)s AND open_slots > 0 RETURNING id"""
# For databases that need no locks: the columns of the selected pair before the update, and the
# number of leases of the annotator.
TAKE_CHOSEN_SQL = """UPDATE annotation_pair SET held = held + 1, open_slots = open_slots - 1, started = TRUE
  WHERE id = (SELECT id FROM chosen) AND open_slots > 0 RETURNING id, topic_row, priority, counted + held > 1, position, needed, counted, held - 1,
  (SELECT COUNT(*) FROM annotation_lease l WHERE l.state = 'live' AND l.membership_id = %(me)s)"""
ADVANCE_MEMBER_SQL = """UPDATE annotation_membership SET n_served = n_served + 1, current_topic_row = %(topic)s, block_served = %(in_block)s,
  last_seen = %(now)s WHERE id = %(me)s RETURNING id"""
SHARED_PAIRS_SQL = """SELECT b.membership_id, COUNT(*) FROM annotation_judgement a JOIN annotation_judgement b
  ON b.pair_id = a.pair_id AND b.current AND b.status = 'counted' AND b.membership_id <> a.membership_id
  WHERE a.membership_id = %(me)s AND a.current AND a.status = 'counted' GROUP BY b.membership_id"""


class Candidate(NamedTuple):
    """A pair that can be leased: its values of the columns in PAIR_COLUMNS_SQL before the lease."""

    id: int
    topic_row: int
    priority: int
    started: bool
    position: int
    needed: int
    counted: int
    held: int


class PairSource(NamedTuple):
    """A source of pairs: the first free pair under `condition` in `order`.

    reason: shown to the manager. of_topic: whether its pairs are of the annotator's current topic.
    None if they can be of any topic, or of any that earlier sources leave.
    """

    condition: str
    order: str
    reason: str
    of_topic: bool | None = None


def restrict_to_topics(topics: Sequence[int], condition: str, order: str) -> str:
    """Return a condition for an annotator restricted to topics: the first free pair of each topic,
    each found by index."""
    if not topics:
        return ""
    each = ", ".join(f"({int(topic)})" for topic in topics)
    first_of_topic = (
        f"SELECT (SELECT p.id FROM annotation_pair p WHERE p.topic_row = t.topic AND {FREE_SQL} "
        f"{condition} ORDER BY {order} LIMIT 1) "
        f"FROM (SELECT 0 AS topic WHERE 1 = 0 UNION ALL VALUES {each}) t"
    )
    return f"AND p.id IN ({first_of_topic})"


def first_choice_sql(
    choices: Sequence[PairSource], topics: Sequence[int], *, gate: str, locks: bool, locking: str
) -> str:
    """Return SQL `choice_0 AS (…), …, chosen AS (…)`. `chosen` is the first free pair of the first
    source that has one, with the number of the source and PAIR_COLUMNS_SQL. It is empty unless
    `gate` holds ("AND …", without columns of the pair).

    PostgreSQL evaluates a condition without columns of the pair once, before it reads pairs. SQLite
    evaluates it for each pair, except in the LIMIT clause. PostgreSQL cannot use it there, because
    it then underestimates how few rows are needed.
    """
    parts = []
    for place, (condition, order, *_) in enumerate(choices):
        first = gate + "".join(f" AND NOT EXISTS (SELECT 1 FROM choice_{i})" for i in range(place))
        once, limit = (first, "1") if locks else ("", f"(1 {first})")
        parts.append(
            f"choice_{place} AS (SELECT {place} AS place, {PAIR_COLUMNS_SQL} FROM annotation_pair p WHERE "
            f"{FREE_SQL} {once} {condition}"
            f" {restrict_to_topics(topics, condition, order)} ORDER BY {order} LIMIT {limit} {locking})"
        )
    return (
        f"{', '.join(parts)}, chosen AS "
        f"({' UNION ALL '.join(f'SELECT * FROM choice_{i}' for i in range(len(choices)))})"
    )
