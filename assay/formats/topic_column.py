"""Collect the topic column while a file is read in blocks: topics in order of first appearance, and
the rows of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.formats import cells
from assay.ranking import group_rows


class TopicColumn:
    """The topics of the rows, stored as segments of consecutive rows of one topic. A topic may have
    several segments."""

    def __init__(self) -> None:
        self._codes: dict[bytes, int] = {}
        self._segment_topics: list[NDArray[np.int64]] = []
        self._segment_rows: list[NDArray[np.int64]] = []

    def add(self, words: NDArray[np.uint64]) -> None:
        """Add the next rows. words: the column's tokens, as `cells.take_column` returns them."""
        starts = cells.find_changes(words)
        codes = [
            self._codes.setdefault(topic, len(self._codes))
            for topic in cells.to_byte_strings(words[starts]).tolist()
        ]
        self._segment_topics.append(np.array(codes, np.int64))
        self._segment_rows.append(np.diff(starts, append=len(words)))

    @property
    def ids(self) -> list[str]:
        return [topic.decode("utf-8") for topic in self._codes]

    def group_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return (offsets: int64 (n_topics + 1), the permutation that groups the rows by topic, or
        None if they are grouped already). At least one row is required."""
        return group_rows(
            np.concatenate(self._segment_topics),
            np.concatenate(self._segment_rows),
            len(self._codes),
        )
