"""One opening of a pair by its annotator: what an answer changes, locked in one order and read then."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.services.statements import Reader, row_locks, rows_of, stored_value

MEMBER, LEASE, PAIR, CAMPAIGN = Reader(Membership, "m"), Reader(Lease, "l"), Reader(Pair, "p"), Reader(Campaign, "c")
OF_LEASE = "(SELECT o.pair_id FROM annotation_lease o WHERE o.token = %(named)s AND o.membership_id = %(me)s)"
OF_JUDGEMENT = "(SELECT o.pair_id FROM annotation_judgement o WHERE o.id = %(named)s AND o.membership_id = %(me)s)"
LOCK_MEMBER = f"SELECT {MEMBER.columns} FROM annotation_membership m WHERE m.id = %(me)s"
# The live lease first: whoever holds it may wait for the pair, and nobody waits for another lease.
LOCK_LEASES = f"""SELECT {LEASE.columns}, {PAIR.columns} FROM annotation_lease l JOIN annotation_pair p ON p.id = l.pair_id
  WHERE l.membership_id = %(me)s AND l.pair_id = {{named}} ORDER BY CASE WHEN l.state = 'live' THEN 0 ELSE 1 END, l.id"""
LOCK_PAIR = f"SELECT {PAIR.columns} FROM annotation_pair p WHERE p.id = {{named}}"
STANDS = f"""SELECT {CAMPAIGN.columns},
    (SELECT j.id FROM annotation_judgement j WHERE j.membership_id = %(me)s AND j.key = %(key)s),
    (SELECT j.id FROM annotation_judgement j WHERE j.membership_id = %(me)s AND j.pair_id = %(pair)s AND j.current),
    (SELECT s.id FROM annotation_skip s WHERE s.membership_id = %(me)s AND s.pair_id = %(pair)s)
  FROM annotation_campaign c WHERE c.id = %(campaign)s"""


@dataclass
class Opening:
    """One opening of a pair by its annotator, all of it locked: the membership, the annotator's leases of the pair, the pair.

    pair_had: None where the annotator never had it. known: a judgement that was stored under the same key; judged: the current one
    of the pair; skipped: whether it was put aside.
    """

    annotator: Membership
    pair_had: Pair | None
    leases: list[Lease]
    known: int | None
    judged: int | None
    skipped: bool

    @property
    def pair(self) -> Pair:
        """LookupError where there is none: for those who have found a lease or a judgement of it."""
        if self.pair_had is None:
            raise LookupError("the annotator never had this pair")
        return self.pair_had


def open_pair(annotator: Membership, key: uuid.UUID, of: str, named: Any) -> Opening:
    """Lock the membership, the annotator's leases of the pair, and the pair; then read what may have changed until then.

    of, named: OF_LEASE and a token, or OF_JUDGEMENT and an id. The membership and its campaign are brought up to date in place.
    """
    values: dict[str, Any] = {"me": annotator.pk, "named": named, "campaign": annotator.campaign_id}
    locks = row_locks()
    [own] = rows_of(f"{LOCK_MEMBER} {'FOR UPDATE' if locks else ''}", values)
    MEMBER.refresh(annotator, own)
    rows = rows_of(f"{LOCK_LEASES.format(named=of)} {'FOR UPDATE OF l, p' if locks else ''}", values)
    own_leases = [LEASE.instance(row[: len(LEASE)]) for row in rows]
    pairs = [row[len(LEASE) :] for row in rows[:1]] or rows_of(f"{LOCK_PAIR.format(named=of)} {'FOR UPDATE' if locks else ''}", values)
    pair = PAIR.instance(pairs[0]) if pairs else None
    values |= {"key": stored_value(Judgement, "key", key), "pair": pair.pk if pair else 0}
    [stands] = rows_of(STANDS, values)
    *campaign, known, judged, skipped = stands
    annotator.campaign = CAMPAIGN.instance(campaign)
    return Opening(annotator, pair, own_leases, known, judged, skipped is not None)
