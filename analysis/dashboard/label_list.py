"""The paged list of a campaign's labels, and the number of relevant labels per topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from numpy.typing import NDArray

from analysis.dashboard.disagreements import is_awaiting_judgement
from analysis.judgements.labels import (
    KNOWN_GRADE_COLUMN,
    Label,
    LabelChoices,
    Labels,
    decision_codes,
    make_labels,
    read_adjudications,
    read_known_grades,
)
from analysis.judgements.live import CampaignSnapshot
from annotation.models import Campaign, Pair
from assay.labels.aggregation import ADJUDICATED, DECISIONS
from assay.labels.labels import MISSING
from assay.natural_order import natural_sort_key
from pooling.platform.listing import ListPage, RowFilter

ADJUDICATED_WORD = DECISIONS[ADJUDICATED]
DECISION_WORDS = {
    "unanimous": gettext_lazy("all agree"),
    "majority": gettext_lazy("majority"),
    "lowest_grade": gettext_lazy("lowest grade"),
    ADJUDICATED_WORD: gettext_lazy("a manager"),
    KNOWN_GRADE_COLUMN: gettext_lazy("known beforehand"),
}
STATE_CHOICES = [
    ("disputed", gettext_lazy("disputed: grades differ, not adjudicated")),
    ("differ", gettext_lazy("grades differ")),
    ("waiting", gettext_lazy("still to be judged")),
    ("undecided", gettext_lazy("no label yet")),
    ("ruled", gettext_lazy("adjudicated")),
    ("asked", gettext_lazy("additional judgement requested")),
]
MAX_IN_SELECT = 200
"""Maximum number of topics in a select element. With more topics, the page offers a text search."""


class ListedLabel(NamedTuple):
    """A pair with a label or a counted judgement. grade: None without a label. spread: variance of
    its grades.

    disputed: its grades differ, no judgement is pending, and no manager has adjudicated it. asked:
    additional judgements requested beyond the campaign's number per pair.
    """

    pair: int
    topic: str
    document: str
    grade: int | None
    relevant: bool
    decision: str
    n: int
    spread: float
    waiting: bool
    disputed: bool
    asked: int


class ShownLabel(NamedTuple):
    """A row with the texts of its pair and a description of how its label was decided."""

    label: ListedLabel
    query: str
    title: str
    decided: str


class TopicLabels(NamedTuple):
    """Label counts of one topic. labels: all. relevant: relevant at each of two thresholds.
    undecided: pairs with too few judgements for a label."""

    topic: str
    labels: int
    relevant: int
    disputed: int
    undecided: int


def cached_labels(campaign: Campaign, live: CampaignSnapshot) -> Labels:
    """Return the labels that an export with default options contains. They are computed again only
    if judgements or adjudicated labels have changed."""
    depends_on = (
        live.newest,
        live.audit,
        campaign.threshold,
        read_adjudications(campaign),
        read_known_grades(campaign),
    )
    return live.derived("labels", lambda: _make_labels(campaign, live), depends_on=depends_on)


def _make_labels(campaign: Campaign, live: CampaignSnapshot) -> Labels:
    return make_labels(
        campaign, LabelChoices(), rows=live.rows, counted=lambda: live.table(campaign.grades.size)
    )


def list_labels(campaign: Campaign, live: CampaignSnapshot) -> list[ListedLabel]:
    """Return labels by topic in natural order, then by document ID. They are computed again only if
    judgements or adjudicated labels have changed."""
    over = campaign.is_over or campaign.state == Campaign.State.CLOSED
    depends_on = (
        live.newest,
        live.audit,
        campaign.threshold,
        over,
        read_adjudications(campaign),
        read_known_grades(campaign),
    )
    return live.derived(
        "listed labels",
        lambda: _build_label_list(campaign, live, cached_labels(campaign, live)),
        depends_on=depends_on,
    )


def _build_label_list(
    campaign: Campaign, live: CampaignSnapshot, made: Labels
) -> list[ListedLabel]:
    table, at = made.table, live.table_pairs
    grades = np.arange(table.n_grades)
    n = table.counts.sum(axis=1)
    spread = (table.counts @ grades**2) / np.maximum(n, 1) - (
        (table.counts @ grades) / np.maximum(n, 1)
    ) ** 2
    codes, waits = decision_codes(made.graded), is_awaiting_judgement(campaign, live)[at]
    differ = (n >= 2) & (spread > 1e-12)
    disputed = differ & ~waits & (codes != ADJUDICATED)
    columns = (
        live.pairs.ids[at].tolist(),
        table.pair_topic.tolist(),
        table.pair_document.tolist(),
        made.graded.label.tolist(),
        made.binary.label.tolist(),
        codes.tolist(),
        n.tolist(),
        np.where(differ, spread, 0.0).round(10).tolist(),
        waits.tolist(),
        disputed.tolist(),
        live.pairs.asked_more[at].tolist(),
    )
    rows = [
        ListedLabel(
            pair,
            table.topics[topic],
            table.documents[document],
            None if grade == MISSING else grade,
            binary == 1,
            "" if grade == MISSING else DECISIONS.get(code, ""),
            judged,
            width,
            waits_still,
            in_dispute,
            asked,
        )
        for pair, topic, document, grade, binary, code, judged, width, waits_still, in_dispute, asked in zip(
            *columns, strict=True
        )
    ]
    rows += _unjudged_labels(live, made.beyond, is_awaiting_judgement(campaign, live))
    place = {topic: natural_sort_key(topic) for topic in live.pairs.topics}
    return sorted(rows, key=lambda row: (place[row.topic], row.document))


def _unjudged_labels(
    live: CampaignSnapshot, beyond: Sequence[Label], waits: NDArray[np.bool_]
) -> list[ListedLabel]:
    """Return the labels of pairs without judgements."""
    if not beyond:
        return []
    pairs = live.pairs
    names = zip(pairs.topic.tolist(), pairs.document.tolist(), strict=True)
    index = {
        (pairs.topics[topic], pairs.documents[document]): i
        for i, (topic, document) in enumerate(names)
    }
    places = [
        (index[label.topic, label.document], label)
        for label in beyond
        if (label.topic, label.document) in index
    ]
    ids, waits_still, asked = (column.tolist() for column in (pairs.ids, waits, pairs.asked_more))
    return [
        ListedLabel(
            ids[i],
            one.topic,
            one.document,
            one.grade,
            one.binary == 1,
            one.decision,
            0,
            0.0,
            waits_still[i],
            False,
            asked[i],
        )
        for i, one in places
    ]


def matches_state(row: ListedLabel, state: str) -> bool:
    """Return whether the row matches the state filter. state: one of STATES."""
    return {
        "disputed": row.disputed,
        "differ": row.spread > 0,
        "waiting": row.waiting,
        "undecided": row.grade is None,
        "ruled": row.decision == ADJUDICATED_WORD,
        "asked": row.asked > 0,
    }[state]


def label_page(
    request: HttpRequest,
    campaign: Campaign,
    live: CampaignSnapshot,
    *,
    kept: int | None = None,
    whole: bool = False,
) -> ListPage:
    """Return the list with the filters and order of the request.

    kept: row of a pair that stays listed even if it no longer matches, because it was just
    adjudicated. whole: put all rows on one page.
    """
    rows = list_labels(campaign, live)
    asked, names = request.GET.get("topic", ""), live.pairs.topics
    named = (
        sorted(names, key=natural_sort_key)
        if len(names) <= MAX_IN_SELECT
        else [name for name in names if name == asked]
    )
    decisions = {row.decision for row in rows}

    def choice(name: str, label: str, options: Sequence[tuple[str, str]], fits: Any) -> RowFilter:
        return RowFilter(
            name,
            label,
            options,
            lambda rows, value: [row for row in rows if row.pair == kept or fits(row, value)],
        )

    return ListPage(
        request,
        rows,
        search=lambda row: f"{row.topic} {row.document}",
        sort={
            "topic": lambda row: natural_sort_key(row.topic),
            "document": lambda row: row.document,
            "grade": lambda row: row.grade,
            "decision": lambda row: row.decision,
            "judged": lambda row: row.n,
            "spread": lambda row: row.spread,
        },
        choices=[
            *(
                [
                    choice(
                        "topic",
                        _("Topic"),
                        [(name, name) for name in named],
                        lambda row, value: row.topic == value,
                    )
                ]
                if named
                else []
            ),
            choice(
                "grade",
                _("Label"),
                [(str(g["value"]), str(g["name"])) for g in campaign.scale],
                lambda row, value: str(row.grade) == value,
            ),
            choice(
                "decision",
                _("Decided by"),
                [(name, str(words)) for name, words in DECISION_WORDS.items() if name in decisions],
                lambda row, value: row.decision == value,
            ),
            choice(
                "state",
                _("Status"),
                [(state, str(words)) for state, words in STATE_CHOICES],
                matches_state,
            ),
        ],
        per_page=max(len(rows), 1) if whole else 50,
    )


def add_label_texts(rows: Sequence[ListedLabel]) -> list[ShownLabel]:
    """Add query and title to the rows of one page, in one query."""
    fields = ("pk", "entry__topic__text", "entry__document__title")
    texts = {
        pk: (query, title or "")
        for pk, query, title in Pair.objects.filter(pk__in=[row.pair for row in rows]).values_list(
            *fields
        )
    }
    return [
        ShownLabel(
            row, *texts.get(row.pair, ("", "")), str(DECISION_WORDS.get(row.decision, row.decision))
        )
        for row in rows
    ]


def topic_labels_page(request: HttpRequest, campaign: Campaign, live: CampaignSnapshot) -> ListPage:
    """Return the list of topics with their numbers of labels and relevant labels."""
    numbers: dict[str, list[int]] = {}
    for row in list_labels(campaign, live):
        of = numbers.setdefault(row.topic, [0, 0, 0, 0])
        of[0] += row.grade is not None
        of[1] += row.grade is not None and row.relevant
        of[2] += row.disputed
        of[3] += row.grade is None
    rows = [TopicLabels(topic, *of) for topic, of in numbers.items()]
    columns: dict[str, Any] = {
        name: (lambda row, name=name: getattr(row, name))
        for name in ("labels", "relevant", "disputed", "undecided")
    }
    return ListPage(
        request,
        rows,
        search=lambda row: row.topic,
        sort={"topic": lambda row: natural_sort_key(row.topic), **columns},
        default="topic",
        prefix="topics-",
        per_page=25,
    )
