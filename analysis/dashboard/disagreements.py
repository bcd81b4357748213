"""Disagreements between annotators: per annotator, and the most disputed pairs."""

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
"""Maximum number of disputed pairs on the Agreement page."""


@dataclass
class GradeDifference:
    """A judgement that differs from the label of the other annotators.

    own: the annotator's grade. others: grade by pseudonym. distance: between `own` and the label of
    the others.
    """

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
    """A pair with different grades. grades: (pseudonym, grade). spread: variance of the grades."""

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
    """Return the annotator's judgements that differ from the label of the others, largest distance
    first."""
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
    """Disputed pairs as indices into the judgement table, with the spread of their grades and their
    row IDs. Pairs with an uncertain label come first.

    n_weighty: number of pairs with an uncertain label. Their grades differ by two or more, or have
    no unique mode.
    """

    places: NDArray[np.intp]
    spread: NDArray[np.float64]
    ids: list[int]
    n_weighty: int

    @property
    def weighty(self) -> list[int]:
        return self.ids[: self.n_weighty]


def order_disputed_pairs(campaign: Campaign, live: CampaignSnapshot) -> DisputedOrder:
    """Return all pairs with at least two judgements and differing grades, uncertain labels first,
    then by spread (widest first). While the campaign runs, pairs that wait for a judgement are left
    out, because it may settle them."""
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
    """Return the first pairs of `order_disputed_pairs` with their grades."""
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
    """Return for each pair of `live.pairs` whether another judgement is expected."""
    its = count_slots(campaign, live)
    if campaign.is_over or campaign.state == Campaign.State.CLOSED:
        return np.zeros(len(live.pairs), dtype=bool)
    return live.pairs.normal & (its.counted < its.needed) & ~its.unjudgeable


@dataclass(frozen=True)
class QueuePosition:
    """The position of a pair in a list of pairs to review, starting at 1. before, after: row IDs of
    its neighbours."""

    place: int
    of: int
    before: int | None
    after: int | None


def position_among(ids: list[int], pair: int) -> QueuePosition | None:
    """Return the position of the pair among these row IDs, or None if it is absent."""
    if pair not in ids:
        return None
    at = ids.index(pair)
    return QueuePosition(
        at + 1, len(ids), ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None
    )


def position_in_disputed(
    campaign: Campaign, live: CampaignSnapshot, pair: int
) -> QueuePosition | None:
    """Return the pair's position among the disputed pairs, or None if it is not disputed."""
    return position_among(order_disputed_pairs(campaign, live).ids, pair)


def next_disputed_pair(campaign: Campaign, live: CampaignSnapshot, pair: int) -> int | None:
    """Return the next disputed pair to adjudicate, in list order and then from the start, or None
    if none is left. Only pairs without an adjudicated label qualify. If this pair's label is
    uncertain, so is the next one's."""
    order = order_disputed_pairs(campaign, live)
    among = order.weighty if pair in order.weighty else order.ids
    at = among.index(pair) + 1 if pair in among else 0
    ruled = {pair, *get_ruled_pairs(campaign).values_list("pk", flat=True)}
    return next((one for one in among[at:] + among[:at] if one not in ruled), None)


def attach_texts(campaign: Campaign, disagreeing: Iterable[GradeDifference | DisputedPair]) -> None:
    """Add topic and document to the listed pairs, in one query."""
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
