"""The table of counted judgements, the common input of aggregation, agreement and statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from assay.column_types import JudgementColumns

MISSING = -1
"""Label of a pair without one. It is never a grade, because unlabelled is not non-relevant."""


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Counted judgements, at most one per annotator and pair.

    topics, documents, annotators: distinct IDs with a judgement, ascending by code point (the order
    of UTF-8 bytes). pair_topic, pair_document: int32 (n_pairs), the pairs in ascending order of
    topic ID, then document ID. pair, annotator: int32 (n_judgements), rows in ascending order of
    pair, then annotator. grade: int16 (n_judgements), 0 to n_grades - 1. seconds: float64
    (n_judgements), NaN if unknown. judged_at: float64 (n_judgements), seconds since 1970 in UTC,
    NaN if unknown.

    The order is canonical: the table does not depend on the order of the rows it was made from.
    """

    topics: list[str]
    documents: list[str]
    annotators: list[str]
    pair_topic: NDArray[np.int32]
    pair_document: NDArray[np.int32]
    pair: NDArray[np.int32]
    annotator: NDArray[np.int32]
    grade: NDArray[np.int16]
    seconds: NDArray[np.float64]
    judged_at: NDArray[np.float64]
    n_grades: int

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def n_pairs(self) -> int:
        return len(self.pair_topic)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Return (n_pairs, n_grades), the number of judgements of each pair with each grade."""
        cells = self.pair.astype(np.int64) * self.n_grades + self.grade
        return np.bincount(cells, minlength=self.n_pairs * self.n_grades).reshape(
            self.n_pairs, self.n_grades
        )

    @cached_property
    def judgements_per_pair(self) -> NDArray[np.int64]:
        """Return (n_pairs), the number of judgements."""
        return np.bincount(self.pair, minlength=self.n_pairs)

    def pair_ids(self, pair: int) -> tuple[str, str]:
        """Return (topic ID, document ID)."""
        return self.topics[self.pair_topic[pair]], self.documents[self.pair_document[pair]]

    def select_judgements(self, rows: NDArray[np.bool_]) -> LabelTable:
        """Return the table of these judgements, without pairs, topics, documents and annotators
        that have none left."""
        if rows.all():
            return self
        pair, topic = self.pair[rows], self.pair_topic[self.pair[rows]]
        return make_label_table(
            topics=self.topics,
            documents=self.documents,
            annotators=self.annotators,
            topic=topic,
            document=self.pair_document[pair],
            annotator=self.annotator[rows],
            grade=self.grade[rows],
            seconds=self.seconds[rows],
            judged_at=self.judged_at[rows],
            n_grades=self.n_grades,
        )

    def select_pairs(self, pairs: NDArray[np.bool_]) -> LabelTable:
        """Return the table with the judgements of these pairs. pairs: bool (n_pairs)."""
        return self.select_judgements(pairs[self.pair])

    def exclude_annotators(self, names: set[str]) -> LabelTable:
        """Return the table without the judgements of these annotators. Unknown names are
        ignored."""
        dropped = np.array([name in names for name in self.annotators], dtype=bool)
        return self.select_judgements(~dropped[self.annotator]) if len(self) else self

    def select_by_min_judgements(self, min_judgements: int) -> LabelTable:
        """Return the table of the pairs with at least this many judgements."""
        return self.select_pairs(self.judgements_per_pair >= min_judgements)

    def binarise(self, min_relevant: int) -> LabelTable:
        """Return the table with each judgement as 1 (relevant, from grade `min_relevant`) or 0,
        before aggregation."""
        if not 0 < min_relevant < self.n_grades:
            raise ValueError(
                f"the minimum relevant grade is {min_relevant}, expected 1 to {self.n_grades - 1}"
            )
        return replace(self, grade=(self.grade >= min_relevant).astype(np.int16), n_grades=2)


def make_label_table(
    *,
    topics: list[str],
    documents: list[str],
    annotators: list[str],
    topic: ArrayLike,
    document: ArrayLike,
    annotator: ArrayLike,
    grade: ArrayLike,
    n_grades: int,
    seconds: ArrayLike | None = None,
    judged_at: ArrayLike | None = None,
) -> LabelTable:
    """Make a table from one row per judgement, with indices into lists of distinct IDs. IDs without
    a judgement are dropped.

    topic, document, annotator, grade: (n). seconds, judged_at: (n), NaN if unknown, or None if all
    are unknown. Raises ValueError if a grade is outside 0 to n_grades - 1, or if an annotator has
    two judgements of a pair.
    """
    topic, document, annotator = (
        np.asarray(a, dtype=np.int64) for a in (topic, document, annotator)
    )
    grade = np.asarray(grade, dtype=np.int16)
    if n_grades < 2:
        raise ValueError(f"a scale needs at least 2 grades, not {n_grades}")
    if len(grade) and (grade.min() < 0 or grade.max() >= n_grades):
        raise ValueError(
            f"the grades range from {grade.min()} to {grade.max()}, which is outside the scale from 0 to {n_grades - 1}"
        )
    topics, topic = _sort_used_ids(topics, topic)
    documents, document = _sort_used_ids(documents, document)
    annotators, annotator = _sort_used_ids(annotators, annotator)
    codes, pair = np.unique(topic * max(len(documents), 1) + document, return_inverse=True)
    order = np.lexsort((annotator, pair))
    pair, annotator = pair[order], annotator[order]
    if ((np.diff(pair) == 0) & (np.diff(annotator) == 0)).any():
        raise ValueError(
            "an annotator has judged a pair twice; use `counted`, which keeps the last judgement of each pair"
        )
    unknown = np.full(len(pair), np.nan)
    return LabelTable(
        topics=topics,
        documents=documents,
        annotators=annotators,
        pair_topic=(codes // max(len(documents), 1)).astype(np.int32),
        pair_document=(codes % max(len(documents), 1)).astype(np.int32),
        pair=pair.astype(np.int32),
        annotator=annotator.astype(np.int32),
        grade=grade[order],
        seconds=unknown if seconds is None else np.asarray(seconds, dtype=np.float64)[order],
        judged_at=unknown if judged_at is None else np.asarray(judged_at, dtype=np.float64)[order],
        n_grades=n_grades,
    )


def _sort_used_ids(ids: list[str], index: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """Return (the IDs that the index refers to, ascending; the index into them)."""
    used = np.unique(index)
    order = sorted(used.tolist(), key=ids.__getitem__)
    position = np.full(len(ids), MISSING, dtype=np.int64)
    position[order] = np.arange(len(order))
    return [ids[i] for i in order], position[index]


@dataclass(frozen=True)
class DroppedCounts:
    """Numbers of judgements that do not count, by reason. Each row is counted under the first
    reason that applies in this order."""

    repeated: int
    """Rows followed by a later row of the same annotator for the same pair."""
    too_fast: int
    excluded: int
    gold: int
    """Rows of gold pairs, if these were excluded."""
    emptied_pairs: int
    """Pairs (not rows) without any counted judgement."""


def select_counted(
    judgements: JudgementColumns, *, n_grades: int, min_seconds: float = 1.0, with_gold: bool = True
) -> tuple[LabelTable, DroppedCounts]:
    """Return (the judgements that count, numbers of those that do not by reason).

    If an annotator has several judgements of a pair, only the last row counts, before any other
    filter: if it is too fast or excluded, the annotator has no judgement of the pair. The following
    filters remove judgements with a known time below `min_seconds` (unknown times are never too
    fast), excluded ones, and, unless `with_gold`, those of gold pairs.
    """
    last = _last_row_mask(judgements)
    too_fast = last & (judgements.seconds < min_seconds)
    excluded = last & ~too_fast & judgements.excluded
    gold = (
        last & ~too_fast & ~excluded & judgements.gold
        if not with_gold
        else np.zeros(len(last), dtype=bool)
    )
    kept = last & ~too_fast & ~excluded & ~gold
    table = make_label_table(
        topics=judgements.topics,
        documents=judgements.documents,
        annotators=judgements.annotators,
        topic=judgements.topic[kept],
        document=judgements.document[kept],
        annotator=judgements.annotator[kept],
        grade=judgements.grade[kept],
        seconds=judgements.seconds[kept],
        judged_at=judgements.judged_at[kept],
        n_grades=n_grades,
    )
    n_pairs = len(
        np.unique(
            judgements.topic.astype(np.int64) * max(len(judgements.documents), 1)
            + judgements.document
        )
    )
    return table, DroppedCounts(
        repeated=int((~last).sum()),
        too_fast=int(too_fast.sum()),
        excluded=int(excluded.sum()),
        gold=int(gold.sum()),
        emptied_pairs=n_pairs - table.n_pairs,
    )


def _last_row_mask(judgements: JudgementColumns) -> NDArray[np.bool_]:
    """Return (n), True for the last row of each annotator and pair."""
    pairs = (
        judgements.topic.astype(np.int64) * max(len(judgements.documents), 1) + judgements.document
    )
    _, pairs = np.unique(pairs, return_inverse=True)
    keys = pairs * max(len(judgements.annotators), 1) + judgements.annotator
    last = np.zeros(len(keys), dtype=bool)
    _, first_from_the_end = np.unique(keys[::-1], return_index=True)
    last[len(keys) - 1 - first_from_the_end] = True
    return last


def find_scale_warnings(table: LabelTable) -> list[str]:
    """Return warnings on the grades as a whole: grades that never use 0 may have been counted from
    1."""
    if len(table) and not (table.grade == 0).any():
        return [
            (
                "no judgement has grade 0. Grades are expected to begin at 0; if these begin "
                "at 1, every pair counts as relevant with a minimum relevant grade of 1"
            )
        ]
    return []
