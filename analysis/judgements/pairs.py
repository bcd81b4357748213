"""The pairs of a campaign as columns, with only those values that do not change while annotators
judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_kept_pairs
from pooling.models import Topic

PAIR_KINDS = [kind.value for kind in Pair.Kind]
NORMAL, QUALIFICATION = (
    PAIR_KINDS.index(Pair.Kind.NORMAL.value),
    PAIR_KINDS.index(Pair.Kind.QUALIFICATION.value),
)
NO_GRADE = -1


@dataclass(frozen=True, eq=False)
class PairColumns:
    """All pairs of a campaign's accepted topics, including qualification pairs, by ascending row
    ID.

    topics, documents: distinct IDs by code point. topic, document: indices into them. ids: row IDs.
    kind: index into KINDS. gold: the known grade, or NO_GRADE. words: length of the document, 0 if
    its text is not stored. asked_more: additional judgements requested. beyond_depth: the pair's
    level is beyond the judging depth.
    """

    topics: list[str]
    documents: list[str]
    ids: NDArray[np.int64]
    topic: NDArray[np.int32]
    document: NDArray[np.int32]
    priority: NDArray[np.int32]
    rank: NDArray[np.int32]
    position: NDArray[np.int64]
    kind: NDArray[np.int8]
    gold: NDArray[np.int16]
    words: NDArray[np.int32]
    asked_more: NDArray[np.int16]
    beyond_depth: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    def index_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the pairs with these row IDs. All must be pairs of the campaign."""
        if len(self.ids) and self.ids[-1] - self.ids[0] == len(self.ids) - 1:
            return ids - self.ids[0]
        return np.searchsorted(self.ids, ids)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Return the indices of the pairs by topic ID, then document ID."""
        return np.lexsort((self.document, self.topic))

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Return the position of each pair when sorted by topic ID and document ID (`order`)."""
        place = np.empty(len(self), dtype=np.int64)
        place[self.order] = np.arange(len(self))
        return place

    @cached_property
    def normal(self) -> NDArray[np.bool_]:
        """Return a mask of the ordinary pairs, i.e. those that must be judged to complete the
        campaign."""
        return self.kind == NORMAL

    @cached_property
    def levels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the levels of the pool as distinct negated priorities of ordinary pairs,
        ascending, and the index of each ordinary pair's level, of shape (n_normal,)."""
        values, level = np.unique(-self.priority[self.normal].astype(np.int64), return_inverse=True)
        return values, level

    @cached_property
    def serving_order(self) -> NDArray[np.int64]:
        """Return the indices of the ordinary pairs in the order in which the scheduler assigns
        them."""
        normal = np.flatnonzero(self.normal)
        return normal[np.lexsort((self.position[normal], -self.priority[normal]))]


COLUMNS = (
    *(
        "pk",
        "topic_row",
        "entry__docno",
        "priority",
        "entry__best_rank",
        "position",
        "kind",
        "gold_grade",
        "entry__document__n_words",
    ),
    *("asked_more", "beyond_depth"),
)


def read_pairs(campaign: Campaign) -> PairColumns:
    """Read a campaign's pairs in two queries."""
    columns = list(
        zip(
            *get_kept_pairs(campaign)
            .order_by("pk")
            .values_list(*COLUMNS)
            .iterator(chunk_size=5000),
            strict=True,
        )
    ) or [()] * len(COLUMNS)
    ids, topic_rows, docnos, priority, rank, position, kind, gold, words, asked_more, beyond = (
        columns
    )
    names = dict(
        Topic.objects.filter(collection_id=campaign.collection_id).values_list("pk", "topic_id")
    )
    topics = sorted({names[row] for row in set(topic_rows)})
    documents = sorted(set(docnos))
    topic_code = {name: i for i, name in enumerate(topics)}
    code_of_row = {row: topic_code[names[row]] for row in set(topic_rows)}
    document_code = {name: i for i, name in enumerate(documents)}
    kinds = {name: i for i, name in enumerate(PAIR_KINDS)}
    return PairColumns(
        topics=topics,
        documents=documents,
        ids=np.array(ids, dtype=np.int64),
        topic=np.array([code_of_row[row] for row in topic_rows], dtype=np.int32),
        document=np.array([document_code[name] for name in docnos], dtype=np.int32),
        priority=np.array(priority, dtype=np.int32),
        rank=np.array(rank, dtype=np.int32),
        position=np.array(position, dtype=np.int64),
        kind=np.array([kinds[name] for name in kind], dtype=np.int8),
        gold=np.array([NO_GRADE if grade is None else grade for grade in gold], dtype=np.int16),
        words=np.array([n or 0 for n in words], dtype=np.int32),
        asked_more=np.array(asked_more, dtype=np.int16),
        beyond_depth=np.array(beyond, dtype=bool),
    )
