"""How many relevant pairs of an ordered pool are left, by the audit pairs of its last finished
batch (SAMPLING 3.5, 4)."""

from __future__ import annotations

from typing import NamedTuple

from analysis.judgements.labels import Labels
from annotation.models import Campaign
from annotation.selectors.pairs import waited_for
from assay.pools.pool_kinds import Entered
from assay.sampling.stopping import LOOKS, Left, relevant_left


class NoAudit(ValueError):
    """Why nothing can be said of what is left."""


class AuditedPairs(NamedTuple):
    """batch: whose audit pairs tell. n: of them judged. left: at 95 % over LOOKS looks together.
    n_relevant: relevant pairs so far."""

    batch: int
    n: int
    left: Left
    n_relevant: int


class _Entry(NamedTuple):
    row: int
    topic: str
    document: str
    batch: int | None
    entered: str
    text: int | None


def audited(campaign: Campaign, made: Labels) -> AuditedPairs:
    """Of kept topics and pairs that have a text. An audit pair that nobody could judge is missing
    by chance. Raises NoAudit."""
    assert campaign.pool is not None
    columns = ("pk", "topic__topic_id", "docno", "stage", "entered", "document")
    entries = [
        _Entry(*row)
        for row in campaign.pool.entries.filter(topic__removed_reason="").values_list(*columns)
    ]
    waiting = waited_for(campaign)
    waits = set(waiting.values_list("entry", flat=True))
    relevant = {(row.topic, row.document): row.grade >= campaign.threshold for row in made.rows}
    sizes = dict(campaign.pool.strata.values_list("number", "size"))
    for batch in sorted(sizes, reverse=True):
        drawn = [one for one in entries if one.batch == batch and one.entered == Entered.CHANCE]
        known = [
            relevant[one.topic, one.document]
            for one in drawn
            if (one.topic, one.document) in relevant
        ]
        if not known or any(one.row in waits for one in drawn):
            continue
        since = [
            one
            for one in entries
            if one.text is not None and (one.batch is None or one.batch >= batch)
        ]
        if len(since) > sizes[batch]:
            raise NoAudit(
                f"pairs came to the pool after batch {batch} was planned; the audit pairs of the "
                f"next batch will tell of them"
            )
        found_since = sum(relevant.get((one.topic, one.document), False) for one in since)
        left = relevant_left(
            len(since), sum(known), len(known), found_since=found_since, confidence=1 - 0.05 / LOOKS
        )
        return AuditedPairs(batch, len(known), left, sum(relevant.values()))
    raise NoAudit("the audit pairs of no batch are all judged yet")
