"""Where annotators differ: one person's judgements beside the others', and the most disputed
pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.dashboard.progress import count_slots
from analysis.judgements.live import CampaignSnapshot
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_ruled_pairs
from assay.labels.aggregation.labelling import LOWEST_GRADE
from assay.labels.aggregation.majority import classify_decisions
from assay.labels.agreement.raters import compute_labels_of_others

MAX_LISTED = 200
"""Disputed pairs on the page Agreement."""


@dataclass
class GradeDifference:
    """own: the annotator's grade; others: pseudonym -> grade. distance: between own and the label
    of the others."""

    pair: int
    own: int
    label: int
    distance: int
    others: list[tuple[str, int]]
    topic: str = ""
    topic_text: str = ""
    docno: str = ""
    title: str = ""


@dataclass
class DisputedPair:
    """grades: (pseudonym, grade). spread: variance of the grades."""

    pair: int
    grades: list[tuple[str, int]]
    spread: float
    adjudicated: int | None = None
    topic: str = ""
    topic_text: str = ""
    docno: str = ""
    title: str = ""
    names: list[str] = field(default_factory=list)


def annotator_differences(
    campaign: Campaign, live: CampaignSnapshot, pseudonym: str
) -> list[GradeDifference]:
    """The annotator's judgements that differ from the label of the others, the farthest first."""
    table = live.table(campaign.grades.size)
    if pseudonym not in table.annotators:
        return []
    me = table.annotators.index(pseudonym)
    label = live.derived("labels of the others", lambda: compute_labels_of_others(table))
    mine = np.flatnonzero((table.annotator == me) & (label >= 0) & (label != table.grade))
    row_of_pair = live.pairs.ids[live.table_pairs]
    differences = []
    for row in mine.tolist():
        same = range(
            *np.searchsorted(
                table.pair, np.array([table.pair[row], table.pair[row] + 1], dtype=table.pair.dtype)
            ).tolist()
        )
        others = [
            (table.annotators[table.annotator[i]], int(table.grade[i])) for i in same if i != row
        ]
        own = int(table.grade[row])
        differences.append(
            GradeDifference(
                int(row_of_pair[table.pair[row]]),
                own,
                int(label[row]),
                abs(own - int(label[row])),
                others,
            )
        )
    differences.sort(key=lambda d: (-d.distance, d.pair))
    return differences


@dataclass(frozen=True, eq=False)
class DisputedOrder:
    """Disputed pairs as places in the table of judgements, with the spread of their grades and
    their row ids; those whose label could be another come first.

    n_weighty: how many those are: pairs whose grades are two or more apart, or without a grade more
    frequent than any other."""

    places: NDArray[np.intp]
    spread: NDArray[np.float64]
    ids: list[int]
    n_weighty: int

    @property
    def weighty(self) -> list[int]:
        return self.ids[: self.n_weighty]


def order_disputed_pairs(campaign: Campaign, live: CampaignSnapshot) -> DisputedOrder:
    """All pairs with at least two judgements and any disagreement, within each part the widest
    spread first. Those that still wait for a judgement, which may settle them, are left out as long
    as people judge."""
    table = live.table(campaign.grades.size)
    counts = table.counts
    n = counts.sum(axis=1)
    grades = np.arange(table.n_grades)
    mean = (counts @ grades) / np.maximum(n, 1)
    spread = (counts @ grades**2) / np.maximum(n, 1) - mean**2
    open_still = is_awaiting_judgement(campaign, live)[live.table_pairs]
    candidates = np.flatnonzero((n >= 2) & (spread > 1e-12) & ~open_still)
    given = counts[candidates] > 0
    apart = table.n_grades - 1 - given[:, ::-1].argmax(axis=1) - given.argmax(axis=1)
    weighty = (apart >= 2) | (classify_decisions(counts[candidates]) == LOWEST_GRADE)
    order = np.lexsort((candidates, -n[candidates], -spread[candidates].round(10), ~weighty))
    places = candidates[order]
    return DisputedOrder(
        places,
        spread[places],
        live.pairs.ids[live.table_pairs][places].tolist(),
        int(weighty.sum()),
    )


def list_most_disputed(
    campaign: Campaign, live: CampaignSnapshot, *, most: int = MAX_LISTED
) -> list[DisputedPair]:
    """The first of `order_disputed_pairs`, with the grades that were given."""
    table, order = live.table(campaign.grades.size), order_disputed_pairs(campaign, live)
    disputed = []
    for pair, pk, spread in zip(
        order.places[:most].tolist(), order.ids, order.spread.tolist(), strict=False
    ):
        start, end = np.searchsorted(
            table.pair, np.array([pair, pair + 1], dtype=table.pair.dtype)
        ).tolist()
        given = [
            (table.annotators[table.annotator[i]], int(table.grade[i])) for i in range(start, end)
        ]
        disputed.append(DisputedPair(pk, given, spread))
    return disputed


def is_awaiting_judgement(campaign: Campaign, live: CampaignSnapshot) -> NDArray[np.bool_]:
    """Of every pair of `live.pairs` whether it will still be judged by somebody."""
    its = count_slots(campaign, live)
    if campaign.is_over or campaign.state == Campaign.State.CLOSED:
        return np.zeros(len(live.pairs), dtype=bool)
    return live.pairs.normal & (its.counted < its.needed) & ~its.unjudgeable


@dataclass(frozen=True)
class QueuePosition:
    """Where a pair stands among those gone through, from 1; before, after: row ids of the pairs
    beside it."""

    place: int
    of: int
    before: int | None
    after: int | None


def position_among(ids: list[int], pair: int) -> QueuePosition | None:
    """None for a pair that is not among these row ids."""
    if pair not in ids:
        return None
    at = ids.index(pair)
    return QueuePosition(
        at + 1, len(ids), ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None
    )


def position_in_disputed(
    campaign: Campaign, live: CampaignSnapshot, pair: int
) -> QueuePosition | None:
    """Its turn among the disputed pairs; None for a pair that is not disputed."""
    return position_among(order_disputed_pairs(campaign, live).ids, pair)


def next_disputed_pair(campaign: Campaign, live: CampaignSnapshot, pair: int) -> int | None:
    """The disputed pair to decide after this one, in the order of the list and then from its begin:
    without a label of the managers' own, and one whose label could be another if this one's could.
    None if none is left."""
    order = order_disputed_pairs(campaign, live)
    among = order.weighty if pair in order.weighty else order.ids
    at = among.index(pair) + 1 if pair in among else 0
    ruled = {pair, *get_ruled_pairs(campaign).values_list("pk", flat=True)}
    return next((one for one in among[at:] + among[:at] if one not in ruled), None)


def attach_texts(campaign: Campaign, disagreeing: Iterable[GradeDifference | DisputedPair]) -> None:
    """Fill in topic and document of the pairs shown, in one query."""
    shown = list(disagreeing)
    rows = Pair.objects.filter(pk__in=[d.pair for d in shown]).select_related(
        "entry__topic", "entry__document"
    )
    rows = rows.defer("entry__document__text", "entry__document__fields")
    pairs = {pair.pk: pair for pair in rows}
    for difference in shown:
        pair = pairs[difference.pair]
        difference.topic, difference.topic_text = pair.entry.topic.topic_id, pair.entry.topic.text
        difference.docno = pair.entry.docno
        difference.title = pair.entry.document.title if pair.entry.document else ""
        if isinstance(difference, DisputedPair):
            difference.adjudicated = pair.adjudicated_grade
