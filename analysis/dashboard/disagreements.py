"""Disagreements between annotators: judgements of one annotator that differ from the others, and
disputed pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.dashboard.progress import count_slots
from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.pairs import NO_GRADE
from annotation.models import Campaign, Pair
from assay.labels.agreement.raters import compute_labels_of_others
from assay.labels.disputes import find_disputed


class Vote(NamedTuple):
    """One annotator's grade of a pair, for display. grade: a grade of the scale, with its name and
    shape. doubtful: whether the page marks it as doubtful, because it differs from the others or
    the annotator's judgements look random."""

    name: str
    grade: dict[str, Any]
    doubtful: bool


@dataclass
class GradeDifference:
    """A judgement that differs from the label of the other annotators.

    own: the annotator's grade. others: grade by pseudonym. distance: between `own` and the label of
    the others. votes: all grades for display, the annotator's own first.
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
    votes: list[Vote] = field(default_factory=list)


def annotator_differences(
    campaign: Campaign, live: CampaignSnapshot, pseudonym: str
) -> list[GradeDifference]:
    """Return an annotator's judgements that differ from the label of the others, largest distance
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


def find_disputes(
    campaign: Campaign, live: CampaignSnapshot
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return two arrays over the pairs of the label table: the distance between a pair's highest
    and lowest grade, and whether the pair is disputed.

    A pair is disputed if its grades are two or more apart, or if no grade is more frequent than all
    others. Pairs with a known grade are not disputed. While the campaign runs, neither are pairs
    that wait for a judgement, because it may settle them.
    """
    table = live.table(campaign.grades.size)
    apart, disputed = find_disputed(table.counts)
    at = live.table_pairs
    is_left_out = is_awaiting_judgement(campaign, live)[at] | (live.pairs.gold[at] != NO_GRADE)
    return apart, disputed & ~is_left_out


def list_disputed_pairs(campaign: Campaign, live: CampaignSnapshot) -> list[int]:
    """Return the row IDs of the disputed pairs, largest distance between grades first. Pairs that a
    manager has adjudicated are included."""
    apart, disputed = find_disputes(campaign, live)
    places = np.flatnonzero(disputed)
    places = places[np.argsort(-apart[places], kind="stable")]
    ids: list[int] = live.pairs.ids[live.table_pairs][places].tolist()
    return ids


def is_awaiting_judgement(campaign: Campaign, live: CampaignSnapshot) -> NDArray[np.bool_]:
    """Return for each pair of `live.pairs` whether another judgement is expected."""
    its = count_slots(campaign, live)
    if campaign.is_over or campaign.state == Campaign.State.CLOSED:
        return np.zeros(len(live.pairs), dtype=bool)
    return live.pairs.normal & (its.counted < its.needed) & ~its.unjudgeable


def complete_differences(
    campaign: Campaign, pseudonym: str, differences: Iterable[GradeDifference]
) -> None:
    """Add topic, document and all votes to an annotator's differing judgements, in one query."""
    shown = list(differences)
    scale = {grade["value"]: grade for grade in campaign.scale}
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
        difference.votes = [
            Vote(pseudonym, scale[difference.own], True),
            *(Vote(name, scale[grade], False) for name, grade in difference.others),
        ]
