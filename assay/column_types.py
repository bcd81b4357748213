"""Runs and qrels as columns: the one form in which they travel between readers, storage and
numbers.

Document ids are fixed-width bytes (numpy dtype S, UTF-8), whose order is the byte order that
trec_eval's string comparison has. Rows are grouped by topic; `topics[i]` owns rows
`offsets[i]:offsets[i + 1]`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RunColumns:
    """One system's rankings.

    topics: n_topics distinct ids in order of first appearance in the file. offsets: int64 (n_topics
    + 1). documents: S (n_rows), within a topic in trec_eval's order: score descending, ties by id
    descending. scores: float64 (n_rows), finite. ranks: int32 (n_rows), the rank column of the file
    as it stood (used only on request and for warnings); -1 if none."""

    tag: str
    topics: list[str]
    offsets: NDArray[np.int64]
    documents: NDArray[np.bytes_]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int32]
    warnings: list[str] = field(default_factory=list)
    """What a person should look at."""
    name: str = ""
    """The file's name, for messages."""
    notes: list[str] = field(default_factory=list)
    """What was read in the usual way, though the file could be read in another."""

    def __len__(self) -> int:
        return len(self.documents)

    def rows(self, topic: int) -> slice:
        return slice(int(self.offsets[topic]), int(self.offsets[topic + 1]))


@dataclass(frozen=True, eq=False)
class QrelsColumns:
    """Grades of (topic, document) pairs.

    topics: n_topics distinct ids in order of first appearance in the file.
    offsets: int64 (n_topics + 1).
    documents: S (n_rows), within a topic ascending by id.
    grades: int32 (n_rows); negative: in the pool but unjudged.
    """

    name: str
    topics: list[str]
    offsets: NDArray[np.int64]
    documents: NDArray[np.bytes_]
    grades: NDArray[np.int32]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """As of RunColumns."""

    def __len__(self) -> int:
        return len(self.documents)

    def rows(self, topic: int) -> slice:
        return slice(int(self.offsets[topic]), int(self.offsets[topic + 1]))


@dataclass(frozen=True, eq=False)
class JudgementColumns:
    """Judgements of annotators, one row each, in the order of the file.

    topics, documents, annotators: distinct ids in order of first appearance. topic, document,
    annotator: int32 (n), index into these lists. grade: int16 (n). seconds: float64 (n), NaN where
    the file has no time. judged_at: float64 (n), seconds since 1970 UTC, NaN where missing.
    excluded, gold: bool (n). lines: int64 (n), line of the file."""

    topics: list[str]
    documents: list[str]
    annotators: list[str]
    topic: NDArray[np.int32]
    document: NDArray[np.int32]
    annotator: NDArray[np.int32]
    grade: NDArray[np.int16]
    seconds: NDArray[np.float64]
    judged_at: NDArray[np.float64]
    excluded: NDArray[np.bool_]
    gold: NDArray[np.bool_]
    lines: NDArray[np.int64]
    warnings: list[str] = field(default_factory=list)
    name: str = ""
    """The file's name, for messages."""

    def __len__(self) -> int:
        return len(self.grade)
