"""Group rows by topic and order documents within a topic as trec_eval does.

    segments -> grouped rows -> duplicates, order

IDs are handled as words: uint64 (n, width / 8), the bytes of an S array, padded with NUL.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

BATCH_ROWS = 1 << 15
"""Number of rows whose hashes are sorted at a time. They stay in the processor's cache."""


def group_rows(
    segment_topics: NDArray[np.int64], segment_rows: NDArray[np.int64], n_topics: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return (offsets, permutation) that group rows by topic, if rows come in segments of one topic
    each.

    segment_topics, segment_rows: topic index and number of rows of each segment, in file order.
    offsets: int64 (n_topics + 1). permutation: groups the rows, or None if they are already
    grouped.
    """
    sizes = np.bincount(segment_topics, weights=segment_rows, minlength=n_topics).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    new = segment_topics[1:] != segment_topics[:-1]
    if int(new.sum()) + 1 == n_topics and (segment_topics[1:] >= segment_topics[:-1]).all():
        return offsets, None
    return offsets, np.argsort(np.repeat(segment_topics, segment_rows), kind="stable")


def expand_offsets(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64 (n_rows), the topic index of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def to_big_endian(words: Words) -> Words:
    """Return words whose order is that of the IDs' bytes."""
    return words.byteswap()


def ids_to_words(ids: NDArray[np.bytes_], width: int = 0) -> Words:
    """Return uint64 (n, width / 8), an S array as words, padded to a multiple of eight bytes and at
    least `width`."""
    width = -(-max(ids.dtype.itemsize, width, 1) // 8) * 8
    if ids.dtype.itemsize != width:
        ids = ids.astype(f"S{width}")
    return np.ascontiguousarray(ids).view("<u8").reshape(len(ids), width // 8)


def _hash_words(words: Words) -> NDArray[np.uint64]:
    if words.shape[1] == 1:
        return words[:, 0].copy()
    mixed = words[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    for k in range(1, words.shape[1]):
        mixed ^= mixed >> np.uint64(29)
        mixed += words[:, k]
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed


def find_duplicates(words: Words, offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return [(row, the first row with that ID)] of rows that repeat an ID within their topic, in
    row order. Usually empty."""
    row_pairs: list[tuple[int, int]] = []
    for topic, last in iterate_topic_batches(offsets, BATCH_ROWS):
        begin, end = int(offsets[topic]), int(offsets[last])
        part = words[begin:end]
        hashes = _hash_words(part)
        if last - topic > 1:
            number = np.arange(1, last - topic + 1, dtype=np.uint64) * np.uint64(0xD6E8FEB86659FD93)
            hashes += np.repeat(
                number ^ (number >> np.uint64(32)), np.diff(offsets[topic : last + 1])
            )
        ordered = np.sort(hashes)
        same = ordered[1:] == ordered[:-1]
        if same.any():
            suspects = np.flatnonzero(np.isin(hashes, ordered[1:][same]))
            topics = np.searchsorted(offsets, suspects + begin, side="right")
            first: dict[tuple[int, bytes], int] = {}
            for row, of in zip(suspects.tolist(), topics.tolist(), strict=True):
                earlier = first.setdefault((of, part[row].tobytes()), row + begin)
                if earlier != row + begin:
                    row_pairs.append((row + begin, earlier))
    return row_pairs


def trec_order(
    scores: NDArray[np.float64], words: Words, offsets: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the permutation to trec_eval's order: within a topic score descending, ties by ID
    descending as bytes. None if no row moves."""
    n = len(scores)
    if n < 2:
        return None
    inside = np.ones(n - 1, bool)
    inside[offsets[1:-1] - 1] = False
    rising = (scores[1:] > scores[:-1]) & inside
    order = None
    if rising.any():
        topics = expand_offsets(offsets)
        touched = np.zeros(len(offsets) - 1, bool)
        touched[topics[1:][rising]] = True
        order = np.arange(n)
        if touched.all():
            order = np.lexsort((-scores, topics))
        else:
            rows = np.flatnonzero(touched[topics])
            order[rows] = rows[np.lexsort((-scores[rows], topics[rows]))]
        scores, words = scores[order], words[order]
    tied = (scores[1:] == scores[:-1]) & inside
    if not tied.any():
        return order
    pairs = np.flatnonzero(tied)
    if not _is_ascending(words[pairs], words[pairs + 1]).any():
        return order
    starts = np.concatenate(([True], ~tied))
    member = np.zeros(n, bool)
    member[pairs] = True
    member[pairs + 1] = True
    rows = np.flatnonzero(member)
    groups = np.cumsum(starts[rows])
    keys = ~to_big_endian(words[rows])
    by_id = np.lexsort((*(keys[:, k] for k in range(keys.shape[1] - 1, -1, -1)), groups))
    if order is None:
        order = np.arange(n)
    order[rows] = order[rows[by_id]]
    return order


def _is_ascending(above: Words, below: Words) -> NDArray[np.bool_]:
    """Return whether the ID above is smaller than the ID below it, as bytes."""
    above, below = to_big_endian(above), to_big_endian(below)
    smaller = above[:, -1] < below[:, -1]
    for k in range(above.shape[1] - 2, -1, -1):
        smaller = (above[:, k] < below[:, k]) | ((above[:, k] == below[:, k]) & smaller)
    return smaller


def iterate_topic_batches(offsets: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Yield (first topic, last topic + 1) of each batch of adjacent topics, about `size` rows
    each."""
    topic, n_topics = 0, len(offsets) - 1
    while topic < n_topics:
        last = int(np.searchsorted(offsets, offsets[topic] + size, side="right")) - 1
        last = min(max(last, topic + 1), n_topics)
        yield topic, last
        topic = last


def rank_order(ranks: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the permutation to ascending rank within a topic. Equal ranks keep their order. None
    if no row moves."""
    if len(ranks) < 2:
        return None
    inside = np.ones(len(ranks) - 1, bool)
    inside[offsets[1:-1] - 1] = False
    falling = (ranks[1:] < ranks[:-1]) & inside
    if not falling.any():
        return None
    topics = expand_offsets(offsets)
    touched = np.zeros(len(offsets) - 1, bool)
    touched[topics[1:][falling]] = True
    rows = np.flatnonzero(touched[topics])
    order = np.arange(len(ranks))
    order[rows] = rows[np.lexsort((ranks[rows], topics[rows]))]
    return order
