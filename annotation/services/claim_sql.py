"""What every statement of a claim is made of: when a pair is free for an annotator, and how such a statement is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections

FREE = """p.campaign_id = %(campaign)s AND p.open_slots > 0 AND p.kind = 'normal' AND NOT p.without_text
  AND NOT EXISTS (SELECT 1 FROM annotation_judgement j WHERE j.pair_id = p.id AND j.membership_id = %(me)s AND j.current)
  AND NOT EXISTS (SELECT 1 FROM annotation_lease l WHERE l.pair_id = p.id AND l.membership_id = %(me)s AND l.state = 'live')"""
NOT_SKIPPED = "AND NOT EXISTS (SELECT 1 FROM annotation_skip s WHERE s.pair_id = p.id AND s.membership_id = %(me)s)"
COLUMNS = "p.id, p.topic_row, p.priority, p.started, p.position, p.needed, p.counted, p.held"
IN_ORDER = "p.priority DESC, p.started DESC, p.position"
LEASE_COLUMNS = "(token, pair_id, membership_id, state, takes_slot, served_at, expires_at, why)"
EXPIRED = "EXISTS (SELECT 1 FROM annotation_lease l WHERE l.state = 'live' AND l.expires_at <= %(now)s)"
SLOT_TAKEN = "held = p.held + 1, open_slots = p.open_slots - 1, started = TRUE"
N_LIVE = "(SELECT COUNT(*) FROM annotation_lease l WHERE l.state = 'live' AND l.membership_id = m.id)"
# What the manager is told of the choice: how the pair's rank came first, and how it was chosen within the rank.
FINISH, OPEN = "highest priority, finish started pairs", "highest priority, open a new pair"
IN_POOLS_ORDER, STAY, BLOCK_FULL = "then the pool's order", "stay with the topic", "the topic's block is full"


class Candidate(NamedTuple):
    """The COLUMNS of a pair, as they are before it is taken."""

    id: int
    topic_row: int
    priority: int
    started: bool
    position: int
    needed: int
    counted: int
    held: int


def moment(when: datetime) -> Any:
    """As the ORM writes it; SQLite compares moments as text."""
    return connection.ops.adapt_datetimefield_value(when)


def first_of(choices: Sequence[tuple[str, str]], *, locking: str) -> str:
    """`choice_0 AS (…), …, chosen AS (…)`: `chosen` is the first free pair under the first (condition, order) that has one, with that
    one's place and the COLUMNS."""
    parts = []
    for place, (condition, order) in enumerate(choices):
        nothing_yet = "".join(f" AND NOT EXISTS (SELECT 1 FROM choice_{i})" for i in range(place))
        parts.append(
            f"choice_{place} AS (SELECT {place} AS place, {COLUMNS} FROM annotation_pair p WHERE {FREE} {condition}{nothing_yet}"
            f" ORDER BY {order} LIMIT 1 {locking})"
        )
    return f"{', '.join(parts)}, chosen AS ({' UNION ALL '.join(f'SELECT * FROM choice_{i}' for i in range(len(choices)))})"


def row_locks() -> bool:
    return connection.features.has_select_for_update_skip_locked


def rows_of(sql: str, values: Mapping[str, Any], *, prepare: bool = True) -> list[Any]:
    """All rows of one statement. On PostgreSQL it is prepared once a connection, since planning costs more than running it; not
    behind a pooler that mixes connections (Django's DISABLE_SERVER_SIDE_CURSORS says so)."""
    database = connections[DEFAULT_DB_ALIAS]
    if not prepare or database.vendor != "postgresql" or database.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]:
        with database.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()
    import psycopg  # an optional driver: not needed with SQLite

    with database.wrap_database_errors:
        database.ensure_connection()
        database.validate_no_broken_transaction()
        if database.connection.prepare_threshold is None:  # as Django leaves it: prepare nothing
            database.connection.prepare_threshold = 2**30  # prepare what asks for it
        return psycopg.Cursor(database.connection).execute(sql, values, prepare=True).fetchall()
