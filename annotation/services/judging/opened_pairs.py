"""Loading of the rows that an answer changes, which are locked in a fixed order and then read."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from itertools import islice
from typing import Any

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.services.judging.statements import (
    ModelReader,
    fetch_rows,
    has_row_locks,
    to_database_value,
)

MEMBER, LEASE, PAIR, CAMPAIGN = (
    ModelReader(Membership, "m"),
    ModelReader(Lease, "l"),
    ModelReader(Pair, "p"),
    ModelReader(Campaign, "c"),
)
LEASE_PAIR_SQL = "(SELECT o.pair_id FROM annotation_lease o WHERE o.token = %(named)s AND o.membership_id = %(me)s)"
JUDGEMENT_PAIR_SQL = "(SELECT o.pair_id FROM annotation_judgement o WHERE o.id = %(named)s AND o.membership_id = %(me)s)"
LOCK_MEMBER_SQL = f"SELECT {MEMBER.columns} FROM annotation_membership m WHERE m.id = %(me)s"
# The active lease first. Its holder may wait for the pair, and no transaction waits for a second
# lease.
LOCK_LEASES_SQL = f"""SELECT {LEASE.columns}, {PAIR.columns} FROM annotation_lease l JOIN annotation_pair p ON p.id = l.pair_id
  WHERE l.membership_id = %(me)s AND l.pair_id = {{named}} ORDER BY CASE WHEN l.state = 'live' THEN 0 ELSE 1 END, l.id"""
LOCK_PAIR_SQL = f"SELECT {PAIR.columns} FROM annotation_pair p WHERE p.id = {{named}}"
CURRENT_STATE_SQL = f"""SELECT {CAMPAIGN.columns},
    (SELECT j.id FROM annotation_judgement j WHERE j.membership_id = %(me)s AND j.key = %(key)s),
    (SELECT j.id FROM annotation_judgement j WHERE j.membership_id = %(me)s AND j.pair_id = %(pair)s AND j.current),
    (SELECT s.id FROM annotation_skip s WHERE s.membership_id = %(me)s AND s.pair_id = %(pair)s)
  FROM annotation_campaign c WHERE c.id = %(campaign)s"""
# One statement for databases without concurrent writers: no locks are needed, so the order does not
# matter. Returns one row per lease, or a single row.
COMBINED_SQL = f"""SELECT {MEMBER.columns}, {CAMPAIGN.columns},
    (SELECT j.id FROM annotation_judgement j WHERE j.membership_id = m.id AND j.key = %(key)s),
    (SELECT j.id FROM annotation_judgement j WHERE j.membership_id = m.id AND j.pair_id = p.id AND j.current),
    (SELECT s.id FROM annotation_skip s WHERE s.membership_id = m.id AND s.pair_id = p.id), {PAIR.columns}, {LEASE.columns}
  FROM annotation_membership m JOIN annotation_campaign c ON c.id = m.campaign_id LEFT JOIN annotation_pair p ON p.id = {{named}}
    LEFT JOIN annotation_lease l ON l.membership_id = m.id AND l.pair_id = p.id
  WHERE m.id = %(me)s ORDER BY CASE WHEN l.state = 'live' THEN 0 ELSE 1 END, l.id"""


@dataclass
class Opening:
    """A pair opened by an annotator, with locked rows: the membership, the annotator's leases of
    the pair, and the pair.

    assigned_pair: None if the pair was never assigned to the annotator. stored_judgement_id: of a
    judgement already stored under the same key. current_judgement_id: of the annotator's current
    judgement of the pair. skipped: whether the annotator skipped it.
    """

    annotator: Membership
    assigned_pair: Pair | None
    leases: list[Lease]
    stored_judgement_id: int | None
    current_judgement_id: int | None
    skipped: bool

    @property
    def pair(self) -> Pair:
        """Return the pair. Raises LookupError if there is none, which cannot happen after a lease
        or judgement of it was found."""
        if self.assigned_pair is None:
            raise LookupError("this pair was never assigned to the annotator")
        return self.assigned_pair


def open_pair(annotator: Membership, key: uuid.UUID, pair_sql: str, row_key: Any) -> Opening:
    """Lock the membership, the annotator's leases of the pair, and the pair, and then read their
    current values.

    pair_sql, row_key: LEASE_PAIR_SQL and a token, or JUDGEMENT_PAIR_SQL and an id. The membership and its
    campaign are refreshed in place.
    """
    values = {
        "me": annotator.pk,
        "named": row_key,
        "campaign": annotator.campaign_id,
        "key": to_database_value(Judgement, "key", key),
    }
    if not has_row_locks():
        return _read_combined(annotator, pair_sql, values)
    [own] = fetch_rows(f"{LOCK_MEMBER_SQL} FOR UPDATE", values)
    MEMBER.refresh(annotator, own)
    rows = fetch_rows(f"{LOCK_LEASES_SQL.format(named=pair_sql)} FOR UPDATE OF l, p", values)
    own_leases = [LEASE.instance(row[: len(LEASE)]) for row in rows]
    pairs = [row[len(LEASE) :] for row in rows[:1]] or fetch_rows(
        f"{LOCK_PAIR_SQL.format(named=pair_sql)} FOR UPDATE", values
    )
    pair = PAIR.instance(pairs[0]) if pairs else None
    [stands] = fetch_rows(CURRENT_STATE_SQL, {**values, "pair": pair.pk if pair else 0})
    *campaign, known, judged, skipped = stands
    annotator.campaign = CAMPAIGN.instance(campaign)
    return Opening(annotator, pair, own_leases, known, judged, skipped is not None)


def _read_combined(annotator: Membership, pair_sql: str, values: dict[str, Any]) -> Opening:
    rows = fetch_rows(COMBINED_SQL.format(named=pair_sql), values)
    parts = iter(rows[0])
    member, campaign = list(islice(parts, len(MEMBER))), list(islice(parts, len(CAMPAIGN)))
    known, judged, skipped = islice(parts, 3)
    pair = list(islice(parts, len(PAIR)))
    MEMBER.refresh(annotator, member)
    annotator.campaign = CAMPAIGN.instance(campaign)
    own_leases = [
        LEASE.instance(row[-len(LEASE) :]) for row in rows if row[-len(LEASE)] is not None
    ]
    return Opening(
        annotator,
        None if pair[0] is None else PAIR.instance(pair),
        own_leases,
        known,
        judged,
        skipped is not None,
    )
