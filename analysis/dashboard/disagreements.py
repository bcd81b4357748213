"""Where annotators differ: one person's judgements beside the others', and the most disputed pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.core.agreement.raters import labels_of_others
from analysis.dashboard.progress import slots
from analysis.judgements.live import Live
from annotation.models import Campaign, Pair


@dataclass
class Difference:
    """own: the annotator's grade; others: pseudonym -> grade. distance: between own and the label of the others."""

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
class Disputed:
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


def of_person(campaign: Campaign, live: Live, pseudonym: str) -> list[Difference]:
    """The annotator's judgements that differ from the label of the others, the farthest first."""
    table = live.table(campaign.grades.size)
    if pseudonym not in table.annotators:
        return []
    me = table.annotators.index(pseudonym)
    label = live.derived("labels of the others", lambda: labels_of_others(table))
    mine = np.flatnonzero((table.annotator == me) & (label >= 0) & (label != table.grade))
    row_of_pair = live.pairs.ids[live.table_pairs]
    differences = []
    for row in mine.tolist():
        same = range(*np.searchsorted(table.pair, np.array([table.pair[row], table.pair[row] + 1], dtype=table.pair.dtype)).tolist())
        others = [(table.annotators[table.annotator[i]], int(table.grade[i])) for i in same if i != row]
        own = int(table.grade[row])
        differences.append(Difference(int(row_of_pair[table.pair[row]]), own, int(label[row]), abs(own - int(label[row])), others))
    differences.sort(key=lambda d: (-d.distance, d.pair))
    return differences


def most_disputed(campaign: Campaign, live: Live, *, most: int = 200) -> list[Disputed]:
    """Pairs with at least two judgements and any disagreement, the widest spread first. Those that still wait for a judgement, which may
    settle them, are left out as long as people judge."""
    table = live.table(campaign.grades.size)
    counts = table.counts
    n = counts.sum(axis=1)
    grades = np.arange(table.n_grades)
    mean = (counts @ grades) / np.maximum(n, 1)
    spread = (counts @ grades**2) / np.maximum(n, 1) - mean**2
    open_still = waiting(campaign, live)[live.table_pairs]
    candidates = np.flatnonzero((n >= 2) & (spread > 1e-12) & ~open_still)
    row_of_pair = live.pairs.ids[live.table_pairs]
    order = candidates[np.lexsort((candidates, -n[candidates], -spread[candidates].round(10)))][:most]
    disputed = []
    for pair in order.tolist():
        start, end = np.searchsorted(table.pair, np.array([pair, pair + 1], dtype=table.pair.dtype)).tolist()
        given = [(table.annotators[table.annotator[i]], int(table.grade[i])) for i in range(start, end)]
        disputed.append(Disputed(int(row_of_pair[pair]), given, float(spread[pair])))
    return disputed


def waiting(campaign: Campaign, live: Live) -> NDArray[np.bool_]:
    """Of every pair of `live.pairs` whether it will still be judged by somebody."""
    its = slots(campaign, live)
    if campaign.is_over or campaign.state == Campaign.State.CLOSED:
        return np.zeros(len(live.pairs), dtype=bool)
    return live.pairs.normal & (its.counted < its.needed) & ~its.unjudgeable


@dataclass(frozen=True)
class Turn:
    """Where a pair stands among those gone through, from 1; before, after: row ids of the pairs beside it."""

    place: int
    of: int
    before: int | None
    after: int | None


def turn_among(ids: list[int], pair: int) -> Turn | None:
    """None for a pair that is not among these row ids."""
    if pair not in ids:
        return None
    at = ids.index(pair)
    return Turn(at + 1, len(ids), ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None)


def turn_of(campaign: Campaign, live: Live, pair: int) -> Turn | None:
    """Its turn among the most disputed pairs; None for a pair that is not disputed."""
    return turn_among([one.pair for one in most_disputed(campaign, live)], pair)


def with_texts(campaign: Campaign, disagreeing: Iterable[Difference | Disputed]) -> None:
    """Fill in topic and document of the pairs shown, in one query."""
    shown = list(disagreeing)
    rows = Pair.objects.filter(pk__in=[d.pair for d in shown]).select_related("entry__topic", "entry__document")
    rows = rows.defer("entry__document__text", "entry__document__fields")
    pairs = {pair.pk: pair for pair in rows}
    for difference in shown:
        pair = pairs[difference.pair]
        difference.topic, difference.topic_text = pair.entry.topic.topic_id, pair.entry.topic.text
        difference.docno = pair.entry.docno
        difference.title = pair.entry.document.title if pair.entry.document else ""
        if isinstance(difference, Disputed):
            difference.adjudicated = pair.adjudicated_grade
