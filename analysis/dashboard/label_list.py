"""The paged list of a campaign's pairs with judgements and labels, the queue for going through them
one by one, and label counts per topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.dashboard.disagreements import Vote, find_disputes, is_awaiting_judgement
from analysis.dashboard.progress import find_stalled_pairs
from analysis.judgements.labels import (
    KNOWN_GRADE_COLUMN,
    Labels,
    cached_labels,
    decision_codes,
    read_adjudications,
    read_known_grades,
)
from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.pairs import NO_GRADE
from annotation.models import Campaign, Pair
from assay.comparison.label_effects import LabelEffect
from assay.labels.aggregation import ADJUDICATED, DECISIONS
from assay.labels.labels import MISSING
from assay.natural_order import natural_sort_key
from pooling.models import Topic
from pooling.platform.listing import ListPage, RowFilter

ADJUDICATED_WORD = DECISIONS[ADJUDICATED]
DECISION_WORDS = {
    "unanimous": gettext_lazy("all agree"),
    "majority": gettext_lazy("majority"),
    "lowest_grade": gettext_lazy("tie: lower grade"),
    ADJUDICATED_WORD: gettext_lazy("adjudicated"),
    KNOWN_GRADE_COLUMN: gettext_lazy("known grade"),
}
DISPUTED, STALLED, ALL = "disputed", "stalled", "all"
MAX_IN_SELECT = 200
"""Maximum number of topics in a select element. With more topics, the page offers a text search."""
PER_PAGE = 12


class ListedPair(NamedTuple):
    """One pair in the list of a campaign's pairs. place: its index in the label table, -1 without
    counted judgements.

    grade: its label, None without one. known: its known grade, or None. n: number of counted
    judgements. apart: distance between its highest and lowest grade. disputed: see `find_disputes`.
    waiting: whether a judgement is expected. asked: additional judgements requested beyond the
    campaign's number per pair.
    """

    pair: int
    topic: str
    document: str
    place: int
    grade: int | None
    relevant: bool
    decision: str
    known: int | None
    n: int
    apart: int
    waiting: bool
    disputed: bool
    asked: int

    @property
    def is_adjudicated(self) -> bool:
        return self.decision == ADJUDICATED_WORD


class ShownPair(NamedTuple):
    """A row of the list with everything that the page shows: texts, grades, and how the label was
    decided."""

    label: ListedPair
    query: str
    title: str
    decided: str
    votes: list[Vote]
    effect: LabelEffect | None


class TopicLabels(NamedTuple):
    """Label counts of one topic. labels: pairs with a label. relevant: pairs with a relevant label.
    disputed: disputed pairs that are not adjudicated. undecided: pairs without a label."""

    topic: str
    labels: int
    relevant: int
    disputed: int
    undecided: int


@dataclass(frozen=True)
class SavedView:
    """A predefined selection of the list of pairs. n: number of its pairs."""

    key: str
    name: str | Promise
    n: int


VIEWS: dict[str, tuple[str | Promise, Callable[[ListedPair], bool]]] = {
    DISPUTED: (gettext_lazy("Disputed"), lambda row: row.disputed and not row.is_adjudicated),
    "few": (gettext_lazy("Too few judgements"), lambda row: row.grade is None and row.n > 0),
    STALLED: (gettext_lazy("Stalled"), lambda row: False),
    "gold": (gettext_lazy("Gold"), lambda row: row.known is not None),
    "adjudicated": (gettext_lazy("Adjudicated"), lambda row: row.is_adjudicated),
    "requested": (gettext_lazy("Requested"), lambda row: row.asked > 0),
    ALL: (gettext_lazy("All"), lambda row: True),
}
"""Views by key, each with its name and a filter. Stalled pairs depend on the time and are found by
`find_stalled_pairs`."""


def list_pairs(campaign: Campaign, live: CampaignSnapshot) -> list[ListedPair]:
    """Return all pairs of a campaign by topic in natural order, then by document ID. The list is
    rebuilt only if judgements or adjudicated labels have changed."""
    over = campaign.is_over or campaign.state == Campaign.State.CLOSED
    depends_on = (
        live.newest,
        live.audit,
        campaign.min_relevant,
        over,
        read_adjudications(campaign),
        read_known_grades(campaign),
    )
    return live.derived(
        "listed pairs",
        lambda: _build_pair_list(campaign, live, cached_labels(campaign, live)),
        depends_on=depends_on,
    )


def _build_pair_list(
    campaign: Campaign, live: CampaignSnapshot, labels: Labels
) -> list[ListedPair]:
    pairs, at, size = live.pairs, live.table_pairs, len(live.pairs)

    def of_all(values: Any, missing: int) -> list[Any]:
        """Extend a column from the pairs of the label table to all pairs, with `missing` for the
        others."""
        column = np.full(size, missing, dtype=np.int64)
        column[at] = values
        return column.tolist()

    apart, disputed = find_disputes(campaign, live)
    columns = (
        pairs.ids.tolist(),
        pairs.topic.tolist(),
        pairs.document.tolist(),
        of_all(np.arange(len(at)), -1),
        of_all(labels.graded.label, MISSING),
        of_all(labels.binary.label, MISSING),
        of_all(decision_codes(labels.graded), MISSING),
        pairs.gold.tolist(),
        of_all(labels.table.counts.sum(axis=1), 0),
        of_all(apart, 0),
        is_awaiting_judgement(campaign, live).tolist(),
        of_all(disputed, 0),
        pairs.asked_more.tolist(),
    )
    beyond = {(label.topic, label.document): label for label in labels.beyond}
    rows = []
    for (
        pair,
        topic,
        document,
        place,
        grade,
        binary,
        code,
        known,
        n,
        far,
        waits,
        doubt,
        asked,
    ) in zip(*columns, strict=True):
        names = pairs.topics[topic], pairs.documents[document]
        label = beyond.get(names)
        rows.append(
            ListedPair(
                pair,
                *names,
                place,
                grade=label.grade if label else (None if grade == MISSING else grade),
                relevant=(label.binary if label else binary) == 1,
                decision=label.decision
                if label
                else ("" if grade == MISSING else DECISIONS.get(code, "")),
                known=None if known == NO_GRADE else known,
                n=n,
                apart=far,
                waiting=waits,
                disputed=bool(doubt),
                asked=asked,
            )
        )
    order = {topic: natural_sort_key(topic) for topic in pairs.topics}
    return sorted(rows, key=lambda row: (order[row.topic], row.document))


def select_view(
    campaign: Campaign, live: CampaignSnapshot, requested_view: str
) -> tuple[str, list[SavedView], list[ListedPair]]:
    """Return the key of the selected view, all views with their sizes, and the rows of the selected
    view.

    requested_view: the requested key. If it is unknown, disputed pairs are shown, or all pairs if none is
    disputed. The view of requested judgements exists only if there are any.
    """
    rows = list_pairs(campaign, live)
    stalled = set(find_stalled_pairs(campaign, live)[0])
    rows_by_view = {key: [row for row in rows if fits(row)] for key, (_name, fits) in VIEWS.items()}
    rows_by_view[STALLED] = [row for row in rows if row.pair in stalled]
    key = requested_view if requested_view in VIEWS else DISPUTED if rows_by_view[DISPUTED] else ALL
    views = [
        SavedView(one, name, len(rows_by_view[one]))
        for one, (name, _fits) in VIEWS.items()
        if rows_by_view[one] or one in (key, *list(VIEWS)[:3], ALL)
    ]
    return key, views, rows_by_view[key]


def pair_page(
    request: HttpRequest,
    campaign: Campaign,
    live: CampaignSnapshot,
    rows: Sequence[ListedPair],
    *,
    view: str = "",
    whole: bool = False,
    effects: Mapping[int, LabelEffect] = MappingProxyType({}),
) -> ListPage:
    """Return one page of these rows, with the search, filters and order of the request. whole: put
    all rows on one page. effects: effect of each pair on the ranking, by row ID."""
    asked, names = request.GET.get("topic", ""), live.pairs.topics
    named = (
        sorted(names, key=natural_sort_key)
        if len(names) <= MAX_IN_SELECT
        else [name for name in names if name == asked]
    )
    choices = [
        RowFilter(
            "topic",
            _("Topic"),
            [(name, name) for name in named],
            lambda rows, value: [row for row in rows if row.topic == value],
        ),
        RowFilter(
            "grade",
            _("Label"),
            [(str(g["value"]), str(g["name"])) for g in campaign.scale],
            lambda rows, value: [row for row in rows if str(row.grade) == value],
        ),
    ]
    if view == DISPUTED and effects:
        choices.append(
            RowFilter(
                "ranking",
                _("Ranking"),
                [("changes", _("could change"))],
                lambda rows, _value: [row for row in rows if _get_effect(effects, row).swaps],
            )
        )
    return ListPage(
        request,
        rows,
        search=_searched_text(campaign, live) if request.GET.get("q") else lambda row: "",
        sort={
            "topic": lambda row: natural_sort_key(row.topic),
            "document": lambda row: row.document,
            "grade": lambda row: row.grade,
            "judged": lambda row: row.n,
            "apart": lambda row: row.apart,
            "known": lambda row: row.known,
            "effect": lambda row: _effect_sort_key(_get_effect(effects, row)),
        },
        choices=[choice for choice in choices if choice.options],
        default=("-effect" if effects else "-apart") if view == DISPUTED else "",
        per_page=max(len(rows), 1) if whole else PER_PAGE,
    )


def sort_disputes(
    rows: Iterable[ListedPair], effects: Mapping[int, LabelEffect]
) -> list[ListedPair]:
    """Sort disputed pairs in the list's default order: largest effect on the ranking first, or, if
    effects are unknown, most distant grades first."""
    if not effects:
        return sorted(rows, key=lambda row: row.apart, reverse=True)
    return sorted(rows, key=lambda row: _effect_sort_key(_get_effect(effects, row)), reverse=True)


def _get_effect(effects: Mapping[int, LabelEffect], row: ListedPair) -> LabelEffect:
    return effects.get(row.pair, LabelEffect(0.0, 0, False))


def _effect_sort_key(effect: LabelEffect) -> tuple[bool, int, float]:
    return effect.leader, effect.swaps, effect.change


def _searched_text(campaign: Campaign, live: CampaignSnapshot) -> Callable[[ListedPair], str]:
    """Return a function that gives a row's searchable text: topic, query, document ID and
    pseudonyms."""
    queries = dict(
        Topic.objects.filter(collection=campaign.collection_id).values_list("topic_id", "text")
    )
    votes = get_votes(campaign, live, None)

    def text(row: ListedPair) -> str:
        names = (name for name, _grade in votes.get(row.place, ()))
        return " ".join((row.topic, queries.get(row.topic, ""), row.document, *names))

    return text


def get_votes(
    campaign: Campaign, live: CampaignSnapshot, places: Iterable[int] | None
) -> dict[int, list[tuple[str, int]]]:
    """Return the counted grades of pairs as (pseudonym, grade), by the pair's index in the label
    table. places: indices of the pairs, None for all."""
    table = live.table(campaign.grades.size)
    known = range(table.n_pairs) if places is None else sorted(set(places) - {-1})
    wanted = np.array(known, dtype=table.pair.dtype)
    start = np.searchsorted(table.pair, wanted).tolist()
    end = np.searchsorted(table.pair, wanted, side="right").tolist()
    annotator, grade = table.annotator, table.grade
    return {
        place: [(table.annotators[annotator[i]], int(grade[i])) for i in range(first, last)]
        for place, first, last in zip(wanted.tolist(), start, end, strict=True)
    }


def add_texts(
    campaign: Campaign,
    live: CampaignSnapshot,
    rows: Sequence[ListedPair],
    *,
    doubtful: Iterable[str] = (),
    effects: Mapping[int, LabelEffect] = MappingProxyType({}),
) -> list[ShownPair]:
    """Add query, title, grades and the effect on the ranking to the rows of one page, in one query.
    doubtful: pseudonyms of annotators whose judgements look random. effects: effect on the ranking,
    by row ID."""
    fields = ("pk", "entry__topic__text", "entry__document__title")
    texts = {
        pk: (query, title or "")
        for pk, query, title in Pair.objects.filter(pk__in=[row.pair for row in rows]).values_list(
            *fields
        )
    }
    votes, doubtful = get_votes(campaign, live, (row.place for row in rows)), set(doubtful)
    scale = {grade["value"]: grade for grade in campaign.scale}
    return [
        ShownPair(
            row,
            *texts.get(row.pair, ("", "")),
            str(DECISION_WORDS.get(row.decision, row.decision)),
            [
                Vote(name, scale[grade], name in doubtful)
                for name, grade in votes.get(row.place, ())
            ],
            effects.get(row.pair),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Queue:
    """The position of a pair in a view of the list, and the pairs to go to from there.

    place: position of the pair, starting at 1, or None if it is not in the view. before, after: row
    IDs of its neighbours. following: the next pair without an adjudicated label, searched from the
    start again after the last pair. n, n_adjudicated: number of pairs in the view, and of those
    with an adjudicated label.
    """

    view: str
    place: int | None
    before: int | None
    after: int | None
    following: int | None
    n: int
    n_adjudicated: int

    @property
    def n_left(self) -> int:
        """Return the number of pairs in the view without an adjudicated label."""
        return self.n - self.n_adjudicated

    @property
    def pair_after_skip(self) -> int | None:
        """Return the row ID of the pair to go to if the current one is skipped."""
        return self.following or self.after


def find_queue(
    request: HttpRequest,
    campaign: Campaign,
    live: CampaignSnapshot,
    pair: int,
    *,
    effects: Mapping[int, LabelEffect] = MappingProxyType({}),
) -> Queue:
    """Return the queue of the view and filters in the request, by default of the disputed pairs.
    Adjudicated pairs stay in the queue of disputed pairs, so that positions do not change. effects:
    effect on the ranking, by row ID."""
    view, _views, rows = select_view(campaign, live, request.GET.get("view", DISPUTED))
    if view == DISPUTED:
        rows = [row for row in list_pairs(campaign, live) if row.disputed]
    fitting = pair_page(
        request, campaign, live, rows, view=view, whole=True, effects=effects
    ).fitting
    ids = [row.pair for row in fitting]
    done = {row.pair for row in fitting if row.is_adjudicated}
    at = ids.index(pair) if pair in ids else None
    onward = [] if at is None else ids[at + 1 :] + ids[:at]
    return Queue(
        view,
        None if at is None else at + 1,
        ids[at - 1] if at else None,
        ids[at + 1] if at is not None and at + 1 < len(ids) else None,
        next((one for one in onward if one not in done), None),
        len(ids),
        len(done),
    )


def topic_labels_page(request: HttpRequest, campaign: Campaign, live: CampaignSnapshot) -> ListPage:
    """Return a page of the list of topics with their label counts."""
    numbers: dict[str, list[int]] = {}
    for row in list_pairs(campaign, live):
        of = numbers.setdefault(row.topic, [0, 0, 0, 0])
        of[0] += row.grade is not None
        of[1] += row.grade is not None and row.relevant
        of[2] += row.disputed and not row.is_adjudicated
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
        per_page=10,
    )
