"""trec_eval's order, repeated documents and grouping, against Python's own sort."""

from __future__ import annotations

import random

import numpy as np
import pytest

from assay.ranking import (
    find_duplicates,
    group_rows,
    ids_to_words,
    iterate_topic_batches,
    rank_order,
    trec_order,
)


def random_rows(
    seed: int, *, width: int = 12, n_topics: int = 7
) -> tuple[list[list[tuple[float, bytes]]], np.ndarray]:
    rng = random.Random(seed)
    topics = []
    for _ in range(n_topics):
        ids = rng.sample(range(10 ** min(width, 6)), rng.choice([1, 2, 30]))
        topics.append(
            [
                (
                    rng.choice([0.0, -0.0, 1.0, 2.5, rng.random()]),
                    str(k).encode() * rng.choice([1, 1, 2]),
                )
                for k in set(ids)
            ]
        )
    return topics, np.concatenate(([0], np.cumsum([len(t) for t in topics])))


@pytest.mark.parametrize("seed", range(40))
def test_order_is_score_descending_then_id_descending(seed):
    topics, offsets = random_rows(seed)
    scores = np.array([s for t in topics for s, _ in t])
    ids = np.array([d for t in topics for _, d in t])
    order = trec_order(scores, ids_to_words(ids), offsets)
    order = np.arange(len(scores)) if order is None else order
    for i, topic in enumerate(topics):
        got = [(float(scores[r]), ids[r]) for r in order[offsets[i] : offsets[i + 1]]]
        assert got == sorted(topic, reverse=True)


def test_rows_in_order_need_no_permutation():
    assert (
        trec_order(
            np.array([2.0, 1.0, 1.0, 5.0]),
            ids_to_words(np.array([b"a", b"c", b"b", b"z"])),
            np.array([0, 3, 4]),
        )
        is None
    )
    assert trec_order(np.array([1.0]), ids_to_words(np.array([b"a"])), np.array([0, 1])) is None


def test_an_id_that_begins_another_is_the_smaller_one():
    ids = np.array([b"doc", b"doc1", b"doc10", b"doc100000000000000"])
    assert trec_order(np.zeros(4), ids_to_words(ids), np.array([0, 4])).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("seed", range(20))
def test_repeated_ids_within_a_topic_are_found_and_no_others(seed):
    rng = random.Random(seed)
    width = rng.choice([3, 9, 30])
    topics = [
        [f"{rng.randrange(60):0{width}d}".encode() for _ in range(rng.choice([1, 5, 40]))]
        for _ in range(9)
    ]
    offsets = np.concatenate(([0], np.cumsum([len(t) for t in topics])))
    expected, row = [], 0
    for topic in topics:
        seen: dict[bytes, int] = {}
        for document in topic:
            if document in seen:
                expected.append((row, seen[document]))
            seen.setdefault(document, row)
            row += 1
    assert (
        sorted(find_duplicates(ids_to_words(np.array([d for t in topics for d in t])), offsets))
        == expected
    )


def test_rows_in_segments_are_brought_together_stably():
    offsets, order = group_rows(np.array([0, 1, 0, 2, 1]), np.array([2, 1, 1, 1, 2]), 3)
    assert offsets.tolist() == [0, 3, 6, 7]
    assert order.tolist() == [0, 1, 3, 2, 5, 6, 4]
    offsets, order = group_rows(np.array([0, 0, 1, 2]), np.array([2, 1, 1, 1]), 3)
    assert order is None
    assert offsets.tolist() == [0, 3, 4, 5]


def test_rank_order_keeps_equal_ranks_as_they_stand():
    assert rank_order(np.array([2, 1, 1, 5, 4], np.int32), np.array([0, 3, 5])).tolist() == [
        1,
        2,
        0,
        4,
        3,
    ]
    assert rank_order(np.array([1, 1, 2, 0, 9], np.int32), np.array([0, 3, 5])) is None


@pytest.mark.parametrize("size", [1, 3, 10, 1000])
def test_batches_cover_every_topic_once(size):
    offsets = np.array([0, 4, 5, 20, 20, 21, 22])
    batches = list(iterate_topic_batches(offsets, size))
    assert [t for begin, end in batches for t in range(begin, end)] == list(range(6))
