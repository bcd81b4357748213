"""Unjudged documents of a run that did not contribute to the pool, and their effect on its scores.

read_topic_tops(run, qrels, depth)                   top documents and their grades, by topic
ndcg_bounds, precision_bounds, rbp_bounds            exact score bounds over all possible grades
summarise_unique_documents                       mean grade of documents that only one group
                                                     retrieved, by rank (after Zobel 1998)
judging_order                                        unjudged documents, largest effect first
remaining_score_range                                range that is left after judging the first n
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.formats.qrels import make_qrels

Floats = NDArray[np.float64]

MAX_MEAN_UNJUDGED = 3.0
"""Maximum mean number of unjudged documents per topic for imputed scores. With more, they
overestimate bad runs and only score bounds are shown."""


class ScoreBounds(NamedTuple):
    """Score bounds by topic. low, zero, high: float64 (n_topics). zero counts unjudged documents as
    not relevant."""

    low: Floats
    zero: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class TopicTop:
    """The top documents of a run for one topic. grades: None for an unjudged document. judged:
    grades of all judged documents.

    n_elsewhere: number of other runs' unjudged documents whose grades also vary (`merge_unjudged`).
    The run does not have them, and they may enlarge its recall base.
    """

    topic: str
    documents: list[str]
    grades: list[int | None]
    judged: list[int]
    n_retrieved: int
    n_elsewhere: int = 0

    @property
    def unjudged(self) -> list[int]:
        """Return the ranks of the unjudged documents, from 1."""
        return [rank for rank, grade in enumerate(self.grades, start=1) if grade is None]


def read_topic_tops(run: RunColumns, qrels: QrelsColumns, depth: int | None) -> list[TopicTop]:
    """Return the run's top `depth` documents (None: all) for each topic of the qrels. Documents
    with a negative grade are unjudged. A topic that the run does not have is empty."""
    place = {topic: k for k, topic in enumerate(run.topics)}
    tops = []
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        grade_of = dict(
            zip(qrels.documents[rows].tolist(), qrels.grades[rows].tolist(), strict=True)
        )
        judged = [grade for grade in grade_of.values() if grade >= 0]
        documents: list[bytes] = []
        n_retrieved = 0
        if topic in place:
            own = run.rows(place[topic])
            documents, n_retrieved = run.documents[own][:depth].tolist(), own.stop - own.start
        codes = [grade_of.get(document, -1) for document in documents]
        grades = [grade if grade >= 0 else None for grade in codes]
        tops.append(
            TopicTop(
                topic,
                [document.decode("utf-8") for document in documents],
                grades,
                judged,
                n_retrieved,
            )
        )
    return tops


def list_unjudged(top: TopicTop, cutoff: int | None) -> list[str]:
    """Return the unjudged documents down to the cutoff, best rank first."""
    return [
        document
        for document, grade in zip(top.documents[:cutoff], top.grades[:cutoff], strict=True)
        if grade is None
    ]


def merge_unjudged(runs: Sequence[Sequence[TopicTop]], cutoff: int | None) -> list[list[TopicTop]]:
    """Return the same runs, by topic, each with the number of unjudged documents that only other
    runs have, so that all are compared with the same recall base.

    An unjudged document that turns out relevant raises the ideal and the number of relevant
    documents of every run, whether the run has it or not.
    """
    open_in = [
        set().union(*(list_unjudged(top, cutoff) for top in of_topic))
        for of_topic in zip(*runs, strict=True)
    ]
    return [
        [
            replace(top, n_elsewhere=len(together) - len(list_unjudged(top, cutoff)))
            for top, together in zip(tops, open_in, strict=True)
        ]
        for tops in runs
    ]


def iterate_grades(qrels: QrelsColumns) -> Iterator[tuple[str, str, int]]:
    """Yield (topic, document, grade) of each row."""
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        documents, grades = qrels.documents[rows].tolist(), qrels.grades[rows].tolist()
        for document, grade in zip(documents, grades, strict=True):
            yield topic, document.decode("utf-8"), grade


def add_later_judgements(qrels: QrelsColumns, later: Sequence[QrelsColumns]) -> QrelsColumns:
    """Return the qrels with later judgements of pairs that had no grade. Existing grades are kept,
    and topics that the qrels lack are ignored."""
    grades: dict[tuple[str, str], int] = {}
    for one in (qrels, *later):
        for topic, document, grade in iterate_grades(one):
            if grades.get((topic, document), -1) < 0:
                grades[topic, document] = grade
    known = set(qrels.topics)
    return make_qrels(
        qrels.name,
        ((topic, document, grade) for (topic, document), grade in grades.items() if topic in known),
    )


def precision_bounds(tops: Sequence[TopicTop], *, cutoff: int, min_relevant: int) -> ScoreBounds:
    relevant = np.array(
        [
            sum(grade is not None and grade >= min_relevant for grade in top.grades[:cutoff])
            for top in tops
        ],
        np.float64,
    )
    holes = np.array(
        [sum(grade is None for grade in top.grades[:cutoff]) for top in tops], np.float64
    )
    return ScoreBounds(relevant / cutoff, relevant / cutoff, (relevant + holes) / cutoff)


def rbp_bounds(
    tops: Sequence[TopicTop], *, persistence: float, min_relevant: int, cutoff: int | None = None
) -> ScoreBounds:
    """Return bounds of rank-biased precision (Moffat and Zobel 2008) over the given ranks. The
    residual is that of the unjudged documents and, without a cutoff, of all ranks below the last.
    """
    low, high = np.zeros(len(tops)), np.zeros(len(tops))
    for k, top in enumerate(tops):
        grades = top.grades[:cutoff]
        weights = (1 - persistence) * persistence ** np.arange(len(grades))
        low[k] = sum(
            w
            for w, grade in zip(weights.tolist(), grades, strict=True)
            if grade is not None and grade >= min_relevant
        )
        residual = sum(
            w for w, grade in zip(weights.tolist(), grades, strict=True) if grade is None
        )
        high[k] = low[k] + residual + (persistence ** len(grades) if cutoff is None else 0.0)
    return ScoreBounds(low, low, high)


def ndcg_bounds(
    tops: Sequence[TopicTop], *, cutoff: int | None, highest: int, exponential: bool = False
) -> ScoreBounds:
    """Return bounds of nDCG. Every multiset of grades of the unjudged documents is tried, in
    descending order by rank for the upper bound and in ascending order for the lower.

    An unjudged document also raises the ideal, so the bounds need not be reached with all grades 0
    or all grades highest. There are C(n_unjudged + highest, highest) multisets per topic. cutoff:
    None for all given ranks. exponential: the gain of grade g is 2^g - 1 instead of g. Other
    unjudged documents stay out of the ideal, except those that `n_elsewhere` counts, which have the
    highest grade for the lower bound.
    """
    ends = [_ndcg_range(top, cutoff, highest, exponential) for top in tops]
    low, zero, high = (
        (np.array(column) for column in zip(*ends, strict=True)) if ends else (np.empty(0),) * 3
    )
    return ScoreBounds(low, zero, high)


def _ndcg_range(
    top: TopicTop, cutoff: int | None, highest: int, exponential: bool
) -> tuple[float, float, float]:
    grades = top.grades[:cutoff]
    deepest = max(len(top.grades), len(top.judged) + len(top.unjudged) + top.n_elsewhere)
    ground = _SharedGains(top.judged, deepest if cutoff is None else cutoff, exponential)
    places = np.array([k for k, grade in enumerate(grades) if grade is None], np.int64)
    fixed = ground.discounted_gain(grades)
    fillings = grade_multisets(len(places), highest, exponential)
    ideal = ground.ideals(fillings)
    worst = (
        ground.ideals(fillings, of_others=compute_gains([highest] * top.n_elsewhere, exponential))
        if top.n_elsewhere
        else ideal
    )
    rising = fixed + fillings @ ground.discount[places]  # the multisets are in ascending order
    falling = fixed + fillings[:, ::-1] @ ground.discount[places]
    return (
        float(_normalise_gains(rising, worst).min()),
        float(_normalise_gains(rising, ideal)[0]),
        float(_normalise_gains(falling, ideal).max()),
    )


def ndcg_difference(
    own: TopicTop, rival: TopicTop, *, cutoff: int | None, highest: int, exponential: bool = False
) -> tuple[float, float, float]:
    """Return (least, with all unjudged documents as 0, greatest) of one run's nDCG minus that of
    another on a topic.

    Exact over the grades of both runs' unjudged documents. Such a document changes the difference
    of the gains by the difference of its discounts, and both ideals alike. Every multiset of grades
    is therefore tried, with the highest grades where the discounts differ most in either direction.
    """
    together = list(dict.fromkeys([*list_unjudged(own, cutoff), *list_unjudged(rival, cutoff)]))
    deepest = max(len(own.grades), len(rival.grades), len(own.judged) + len(together))
    ground = _SharedGains(own.judged, deepest if cutoff is None else cutoff, exponential)
    weight = dict.fromkeys(together, 0.0)
    for top, sign in ((own, 1.0), (rival, -1.0)):
        for k, (document, grade) in enumerate(
            zip(top.documents[:cutoff], top.grades[:cutoff], strict=True)
        ):
            if grade is None:
                weight[document] += sign * ground.discount[k]
    weights = np.sort(np.array(list(weight.values()), np.float64))
    fixed = ground.discounted_gain(own.grades[:cutoff]) - ground.discounted_gain(
        rival.grades[:cutoff]
    )
    fillings = grade_multisets(len(together), highest, exponential)
    ideal = ground.ideals(fillings)
    least, greatest = fixed + fillings[:, ::-1] @ weights, fixed + fillings @ weights
    return (
        float(_normalise_gains(least, ideal).min()),
        float(_normalise_gains(least, ideal)[0]),
        float(_normalise_gains(greatest, ideal).max()),
    )


class _SharedGains:
    """Values that all runs of one topic share: discounts down to a depth, and gains of the judged
    documents."""

    def __init__(self, judged: Sequence[int], depth: int, exponential: bool) -> None:
        self.depth, self.exponential = depth, exponential
        self.discount = 1 / np.log2(np.arange(2, depth + 2))
        self.known = compute_gains(
            sorted((grade for grade in judged if grade > 0), reverse=True)[:depth], exponential
        )

    def discounted_gain(self, grades: Sequence[int | None]) -> float:
        """Return the discounted gain of the judged documents."""
        gains = compute_gains([grade or 0 for grade in grades], self.exponential)
        return float(sum(gain * self.discount[k] for k, gain in enumerate(gains.tolist())))

    def ideals(self, fillings: Floats, *, of_others: Floats | None = None) -> Floats:
        """Return float64 (n), the ideal discounted gain of the judged documents, each row of
        `fillings` (n, n_unjudged) and `of_others` together."""
        known = self.known if of_others is None else np.concatenate([self.known, of_others])
        pooled = np.concatenate(
            [np.broadcast_to(known, (len(fillings), len(known))), fillings], axis=1
        )
        pooled = -np.sort(-pooled, axis=1)[:, : self.depth]
        return np.asarray(pooled @ self.discount[: pooled.shape[1]])


def compute_gains(grades: Sequence[int], exponential: bool) -> Floats:
    values = np.array(grades, np.float64)
    return np.exp2(values) - 1 if exponential else values


def grade_multisets(n_unjudged: int, highest: int, exponential: bool) -> Floats:
    """Return float64 (n, n_unjudged), the gains of every multiset of grades, each ascending,
    starting with all lowest. Without unjudged documents it is one empty multiset."""
    multisets = list(combinations_with_replacement(range(highest + 1), n_unjudged))
    values = np.array(multisets, np.float64).reshape(len(multisets), n_unjudged)
    return np.exp2(values) - 1 if exponential else values


def _normalise_gains(gained: Floats, ideal: Floats) -> Floats:
    return np.divide(gained, ideal, out=np.zeros(len(ideal)), where=ideal > 0)


@dataclass(frozen=True)
class UniqueDocumentGrades:
    """Grades of the judged documents that only one group had in its top k, for the best ranks 1-3
    and 4-k.

    grades: sums of grades. relevant: numbers of relevant documents. numbers: numbers of documents.
    """

    grades: tuple[float, float]
    relevant: tuple[float, float]
    numbers: tuple[int, int]

    def grade_at(self, rank: int) -> float:
        """Return the smoothed mean grade (Σ grades + 0.3) / (number + 1) for a rank."""
        band = 0 if rank <= 3 else 1
        return (self.grades[band] + 0.3) / (self.numbers[band] + 1)

    def relevance_at(self, rank: int) -> float:
        band = 0 if rank <= 3 else 1
        return (self.relevant[band] + 0.3) / (self.numbers[band] + 1)


def summarise_unique_documents(
    runs: Sequence[RunColumns],
    groups: Sequence[str],
    qrels: QrelsColumns,
    *,
    depth: int,
    min_relevant: int,
) -> UniqueDocumentGrades:
    """Summarise the grades of judged documents that exactly one group of `runs` has in its top
    `depth`. groups: of each run. min_relevant: minimum relevant grade."""
    best: dict[tuple[str, bytes], tuple[int, set[str]]] = {}
    for run, group in zip(runs, groups, strict=True):
        for index, topic in enumerate(run.topics):
            for rank, document in enumerate(
                run.documents[run.rows(index)][:depth].tolist(), start=1
            ):
                known = best.get((topic, document))
                if known is None:
                    best[topic, document] = (rank, {group})
                else:
                    known[1].add(group)
                    best[topic, document] = (min(rank, known[0]), known[1])
    sums, relevant, numbers = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        for document, grade in zip(
            qrels.documents[rows].tolist(), qrels.grades[rows].tolist(), strict=True
        ):
            known = best.get((topic, document))
            if grade >= 0 and known is not None and len(known[1]) == 1:
                band = 0 if known[0] <= 3 else 1
                sums[band] += grade
                relevant[band] += grade >= min_relevant
                numbers[band] += 1
    return UniqueDocumentGrades(
        (sums[0], sums[1]), (relevant[0], relevant[1]), (numbers[0], numbers[1])
    )


def imputed_ndcg(
    tops: Sequence[TopicTop], unique_grades: UniqueDocumentGrades, *, cutoff: int
) -> Floats:
    """Return float64 (n_topics), nDCG@k with the expected grade for every unjudged document. The
    ideal is that of the judged documents, and scores are limited to 1."""
    discount = 1 / np.log2(np.arange(2, cutoff + 2))
    values = np.zeros(len(tops))
    for k, top in enumerate(tops):
        gained = sum(
            discount[r] * (unique_grades.grade_at(r + 1) if grade is None else grade)
            for r, grade in enumerate(top.grades[:cutoff])
        )
        ideal = ideal_dcg(top, cutoff)
        values[k] = min(gained / ideal, 1.0) if ideal > 0 else 0.0
    return values


def imputed_precision(
    tops: Sequence[TopicTop], unique_grades: UniqueDocumentGrades, *, cutoff: int, min_relevant: int
) -> Floats:
    return np.array(
        [
            sum(
                unique_grades.relevance_at(r) if grade is None else float(grade >= min_relevant)
                for r, grade in enumerate(top.grades[:cutoff], start=1)
            )
            / cutoff
            for top in tops
        ]
    )


def ideal_dcg(top: TopicTop, cutoff: int) -> float:
    """Return the discounted gain of the topic's judged documents in ideal order down to the
    cutoff."""
    best = sorted((grade for grade in top.judged if grade > 0), reverse=True)[:cutoff]
    return float(sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, start=1)))


class UnjudgedDocument(NamedTuple):
    topic: str
    document: str
    rank: int
    weight: float


def judging_order(
    tops: Sequence[TopicTop], *, cutoff: int, rival: Sequence[TopicTop] | None = None
) -> list[UnjudgedDocument]:
    """Return unjudged documents by descending weight 1 / (T ideal log2(rank + 1)), ties by rank,
    topic, document. The ideal counts as 1 if no judged document is relevant.

    rival: top documents of a system to compare with, in the same topics. Its unjudged documents are
    included with their ranks there. A document that both have is weighted by the difference of its
    weights.
    """
    holes: dict[tuple[str, str], UnjudgedDocument] = {}
    for side, sign in ((tops, 1.0), (rival or (), -1.0)):
        for top, reference in zip(side, tops, strict=False):
            ideal = ideal_dcg(reference, cutoff) or 1.0
            for rank in top.unjudged:
                if rank > cutoff:
                    continue
                weight = sign / (len(tops) * ideal * math.log2(rank + 1))
                key = (top.topic, top.documents[rank - 1])
                earlier = holes.get(key)
                holes[key] = (
                    UnjudgedDocument(*key, rank, weight)
                    if earlier is None
                    else earlier._replace(weight=earlier.weight + weight)
                )
    chosen = [hole._replace(weight=abs(hole.weight)) for hole in holes.values()]
    return sorted(
        chosen,
        key=lambda hole: (-hole.weight, hole.rank, hole.topic.encode(), hole.document.encode()),
    )


NEGLIGIBLE_WIDTH = 0.01
"""Width of nDCG bounds at which a score is known well enough."""


def remaining_score_range(order: Sequence[UnjudgedDocument], *, highest: int) -> Floats:
    """Return float64 (n + 1), the highest grade times the total weight that remains after the
    first 0, 1, ... n unjudged documents have been judged.

    This is not the width of the score bounds. The sum of the weights may exceed 1, because they
    ignore that a relevant document also raises the ideal. Show it as a share of the first value.
    """
    weights = np.array([hole.weight for hole in order], np.float64)
    return highest * np.append(np.cumsum(weights[::-1])[::-1], 0.0)


def count_to_narrow(widths: Floats, *, width: float = NEGLIGIBLE_WIDTH) -> int:
    """Return how many documents must be judged until at most `width` of the score range is left.
    widths: ranges after 0, 1, ... judged documents, from `remaining_score_range`."""
    return int(np.argmax(widths <= width + 1e-12))
