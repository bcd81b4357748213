"""Join a run with qrels once: find the qrels row of each retrieved document.

Measures need only the ranks of a run's judged documents, a list that is far shorter than the run.
The list does not depend on grades, so one PackedRun serves any minimum relevant grade, any
relabelling and any subset of the judgements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.precision import rescore_by_order

WORD_BYTES = 8
"""Number of bytes of an ID that are processed at once, as one uint64."""

MAX_HASH = np.uint64(2**64 - 1)

ABSENT = -1
"""Row of a document that the qrels do not contain."""


@dataclass(frozen=True, eq=False)
class PackedRun:
    """The documents of a run that occur in the qrels. Topics are those of the qrels.

    topic: int64 (n_hits), index into the topics, ascending. rank: int64 (n_hits), from 1 in
    trec_eval's order over *all* documents of the run for the topic, ascending within the topic.
    ascending_rank: int64 (n_hits), the rank if equal scores are ordered by ascending ID. row: int64
    (n_hits), the qrels row, so that `grades[row]` is the document's grade. retrieved: int64
    (n_topics), the number of documents of the run. has_topic: bool (n_topics), whether the run has
    the topic. n_ignored: topics of the run that are not in the qrels.
    """

    tag: str
    topic: NDArray[np.int64]
    rank: NDArray[np.int64]
    ascending_rank: NDArray[np.int64]
    row: NDArray[np.int64]
    retrieved: NDArray[np.int64]
    has_topic: NDArray[np.bool_]
    n_ignored: int

    def order_ties_ascending(self) -> PackedRun:
        """Return the run with equal scores ordered by ascending ID."""
        order = np.lexsort((self.ascending_rank, self.topic))
        rank = self.ascending_rank[order]
        return replace(self, rank=rank, ascending_rank=rank, row=self.row[order])


class TopicDocumentPairs(NamedTuple):
    """Pairs of topic and document, for example the top of a pool. topic: int (n), index into
    topics. documents: S (n)."""

    topics: Sequence[str]
    topic: NDArray[np.integer]
    documents: NDArray[np.bytes_]


class PairIndex:
    """Index from (topic, document) pairs to rows of the qrels.

    It is a hash table of 64-bit words: pairs are sorted by hash, and the first bits of the hash
    give the bucket. Results are compared byte by byte, so they are exact whatever the hash.
    """

    def __init__(
        self, topics: Sequence[str], offsets: NDArray[np.int64], documents: NDArray[np.bytes_]
    ) -> None:
        self.topic_codes = {topic: code for code, topic in enumerate(topics)}
        self.n_rows = len(documents)
        codes = np.repeat(np.arange(len(topics)), np.diff(offsets))
        self.words = _to_words(documents)
        for attempt in range(64):
            # try other hashes until no two pairs collide; the first one suffices except in one of
            # billions of cases
            self.attempt = attempt
            hashes = _hash_words(codes, self.words, attempt)
            order = np.argsort(hashes)
            ordered = hashes[order]
            if not (ordered[1:] == ordered[:-1]).any() and (ordered[-1:] != MAX_HASH).all():
                break
        else:
            raise ValueError("a (topic, document) pair appears twice in the qrels")
        self.codes, self.order = codes, np.append(order, 0)
        self.hashes = np.append(ordered, MAX_HASH)
        self.shift = np.uint64(64 - max(1, (2 * self.n_rows).bit_length()))
        counts = np.bincount(
            (ordered >> self.shift).astype(np.int64), minlength=1 << (64 - int(self.shift))
        )
        self.starts = np.cumsum(counts) - counts
        self.filter_shift = np.uint64(64 - max(1, (8 * self.n_rows).bit_length()))
        self.taken = np.zeros(1 << (64 - int(self.filter_shift)), dtype=bool)
        self.taken[(hashes >> self.filter_shift).view(np.int64)] = True

    def rows(self, codes: NDArray[np.int64], documents: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """Return int64 (n), the row of each pair or ABSENT. codes: index of each pair's topic."""
        words = _to_words(documents)
        hashes = _hash_words(codes, words, self.attempt)
        result = np.full(len(hashes), ABSENT, dtype=np.int64)
        if not self.n_rows:
            return result
        # most documents of a run are unjudged and are excluded here
        active = np.flatnonzero(self.taken[(hashes >> self.filter_shift).view(np.int64)])
        wanted = hashes[active]
        position = self.starts[(wanted >> self.shift).view(np.int64)]
        while len(active):
            # hashes ascend in a bucket, and the last entry of all is the largest number
            found_hashes = self.hashes[position]
            same = found_hashes == wanted
            result[active[same]] = self.order[position[same]]
            further = np.flatnonzero(found_hashes < wanted)
            active, wanted, position = active[further], wanted[further], position[further] + 1
        hits = np.flatnonzero(result >= 0)
        wrong = hits[~self._matches(result[hits], codes[hits], words[hits])]
        result[wrong] = ABSENT
        return result

    def find(self, pairs: TopicDocumentPairs) -> NDArray[np.int64]:
        """Return int64 (n), the row of each pair or ABSENT, also for topics that the qrels do not
        have."""
        own = np.array(
            [self.topic_codes.get(topic, ABSENT) for topic in pairs.topics], dtype=np.int64
        )
        codes = own[pairs.topic] if len(pairs.topic) else np.zeros(0, dtype=np.int64)
        result = np.full(len(codes), ABSENT, dtype=np.int64)
        known = codes != ABSENT
        result[known] = self.rows(codes[known], pairs.documents[known])
        return result

    def _matches(
        self, rows: NDArray[np.int64], codes: NDArray[np.int64], words: NDArray[np.uint64]
    ) -> NDArray[np.bool_]:
        equal = self.codes[rows] == codes
        common = min(words.shape[1], self.words.shape[1])
        for column in range(common):
            equal &= self.words[:, column][rows] == words[:, column]
        for longer in (words[:, common:], self.words[rows, common:]):
            equal &= ~longer.any(axis=1)
        return equal


def index_qrels(qrels: QrelsColumns) -> PairIndex:
    return PairIndex(qrels.topics, qrels.offsets, qrels.documents)


def pack_run(run: RunColumns, index: PairIndex) -> PackedRun:
    """Return the run's documents that occur in the indexed qrels."""
    n_topics = len(index.topic_codes)
    codes = np.array([index.topic_codes.get(topic, ABSENT) for topic in run.topics], dtype=np.int64)
    lengths = np.diff(run.offsets)
    known = codes != ABSENT
    retrieved = np.zeros(n_topics, dtype=np.int64)
    retrieved[codes[known]] = lengths[known]
    has_topic = np.zeros(n_topics, dtype=bool)
    has_topic[codes[known]] = True

    row_codes, documents = np.repeat(codes, lengths), run.documents
    rank = np.arange(1, len(run) + 1) - np.repeat(run.offsets[:-1], lengths)
    ascending_rank = _reverse_ties(run, rank)
    if not known.all():
        keep = row_codes != ABSENT
        row_codes, documents, rank = row_codes[keep], documents[keep], rank[keep]
        ascending_rank = ascending_rank[keep]
    row = index.rows(row_codes, documents)
    hits = np.flatnonzero(row != ABSENT)
    if (np.diff(codes[known]) < 0).any():  # the run's topics are in a different order
        hits = hits[np.argsort(row_codes[hits], kind="stable")]
    return PackedRun(
        run.tag,
        row_codes[hits],
        rank[hits],
        ascending_rank[hits],
        row[hits],
        retrieved,
        has_topic,
        int((~known).sum()),
    )


def _reverse_ties(run: RunColumns, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ranks of all rows if rows of equal score are in reverse order. Rows that were
    ordered by the rank column have no ties."""
    if not (run.scores[1:] == run.scores[:-1]).any():
        return rank
    scores = rescore_by_order(run).scores
    is_first = np.concatenate(([True], scores[1:] != scores[:-1]))
    is_first[run.offsets[:-1][np.diff(run.offsets) > 0]] = True
    first = np.flatnonzero(is_first)
    sizes = np.diff(np.append(first, len(rank)))
    return np.repeat(2 * rank[first] + sizes - 1, sizes) - rank


def _to_words(documents: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """Return uint64 (n, n_words), the IDs' bytes padded with zeros."""
    n_words = max(1, -(-documents.dtype.itemsize // WORD_BYTES))
    padded = np.ascontiguousarray(documents.astype(f"S{n_words * WORD_BYTES}", copy=False))
    return padded.view("<u8").reshape(len(documents), n_words)


def _hash_words(
    codes: NDArray[np.int64], words: NDArray[np.uint64], attempt: int
) -> NDArray[np.uint64]:
    """Return uint64 (n), a mixed sum of products modulo 2^64. Zero words add nothing, so padding
    does not matter."""
    factors = _hash_factors(words.shape[1] + 2, attempt)
    hashes = (codes.astype(np.uint64) + np.uint64(1)) * factors[0]
    for column in range(words.shape[1]):
        hashes += words[:, column] * factors[column + 2]
    hashes ^= hashes >> np.uint64(32)
    hashes *= factors[1]
    return hashes


def _hash_factors(n: int, attempt: int) -> NDArray[np.uint64]:
    """Return n odd 64-bit numbers of the splitmix64 sequence (Steele, Lea and Flood 2014) from a
    start that depends on the attempt."""
    state = (np.arange(1, n + 1, dtype=np.uint64) + np.uint64(1000 * attempt)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) | np.uint64(1)
