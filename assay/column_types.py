"""Runs, qrels and judgements as columns, the common form of readers, storage and computations.

Document IDs are fixed-width bytes (numpy dtype S, UTF-8). Their byte order is that of trec_eval's
string comparison. Rows are grouped by topic: `topics[i]` has the rows `offsets[i]:offsets[i + 1]`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The rankings of one system.

    topics: n_topics distinct IDs in order of first appearance in the file. offsets: int64 (n_topics
    + 1). documents: S (n_rows), within a topic in trec_eval's order: score descending, ties by ID
    descending. scores: float64 (n_rows), finite. ranks: int32 (n_rows), the file's rank column, -1
    if it has none. Ranks are used only on request and for warnings.
    """

    tag: str
    topics: list[str]
    offsets: NDArray[np.int64]
    documents: NDArray[np.bytes_]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int32]
    warnings: list[str] = field(default_factory=list)
    """Warnings for the user."""
    name: str = ""
    """The file's name, for messages."""
    notes: list[str] = field(default_factory=list)
    """Notes on how an ambiguous file was read."""
    description: str = ""
    """Text of the file's ir_metadata head (YAML)."""

    def __len__(self) -> int:
        return len(self.documents)

    def rows(self, topic: int) -> slice:
        return slice(int(self.offsets[topic]), int(self.offsets[topic + 1]))


@dataclass(frozen=True, eq=False)
class QrelsColumns:
    """Grades of (topic, document) pairs.

    topics: n_topics distinct IDs in order of first appearance in the file. offsets: int64 (n_topics
    + 1). documents: S (n_rows), ascending within a topic. grades: int32 (n_rows), negative if in
    the pool but unjudged.
    """

    name: str
    topics: list[str]
    offsets: NDArray[np.int64]
    documents: NDArray[np.bytes_]
    grades: NDArray[np.int32]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Notes on how an ambiguous file was read."""

    def __len__(self) -> int:
        return len(self.documents)

    def rows(self, topic: int) -> slice:
        return slice(int(self.offsets[topic]), int(self.offsets[topic + 1]))


@dataclass(frozen=True, eq=False)
class JudgementColumns:
    """Judgements of annotators, one per row, in the order of the file.

    topics, documents, annotators: distinct IDs in order of first appearance. topic, document,
    annotator: int32 (n), indices into these lists. grade: int16 (n). seconds: float64 (n), NaN if
    the file has no time. judged_at: float64 (n), seconds since 1970 UTC, NaN if missing. excluded,
    gold: bool (n). lines: int64 (n), line of the file.
    """

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


A_WINS, B_WINS, TIE, BOTH_BAD = range(4)
"""Outcomes of a battle."""


@dataclass(frozen=True, eq=False)
class BattleColumns:
    """Preferences between two systems on a topic, one battle per row, in the order of the file.

    systems, topics, annotators: distinct names, systems in alphabetical order, the others in order
    of first appearance. topic, a, b: int32 (n), indices into these lists. outcome: int8 (n),
    A_WINS, B_WINS, TIE or BOTH_BAD. left: int8 (n), 0 if a was shown on the left, 1 if b, -1 if
    unknown. annotator: int32 (n), -1 if unknown. tokens, citations: float64 (n, 2), length and
    number of citations of the answers of a and b, NaN if unknown.
    """

    systems: list[str]
    topics: list[str]
    annotators: list[str]
    topic: NDArray[np.int32]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outcome: NDArray[np.int8]
    left: NDArray[np.int8]
    annotator: NDArray[np.int32]
    tokens: NDArray[np.float64]
    citations: NDArray[np.float64]
    name: str = ""
    """The file's name, for messages."""

    def __len__(self) -> int:
        return len(self.outcome)
