"""Depth-k pools: the union over runs of each topic's top k, with best rank, contributing runs, priority and order.

top_of_run(run, depth) -> Top          what a pool needs of a run; the run can then be forgotten
depth_pool(tops, depth, rng) -> Pool
extend_pool(pool, tops, depth, rng) -> Pool      deeper, or with more runs; best ranks can only improve
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pooling.core.columns import Run
from pooling.core.ranking import big_endian, words_of


class PooledPair(NamedTuple):
    """One pair of a pool. runs: (tag, rank) of each run that contributed it, in the pool's order of runs."""

    topic: str
    document: str
    best_rank: int
    priority: int
    runs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Top:
    """The first documents of each topic of one run. topics[i] owns rows offsets[i]:offsets[i + 1], in rank order from 1."""

    tag: str
    topics: list[str]
    offsets: NDArray[np.int64]
    documents: NDArray[np.bytes_]


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs to be judged, best first.

    tags: n_runs. topics: n_topics ids ascending as bytes.
    topic: int32 (n), index into topics. documents: S (n). best_rank: int32 (n), from 1; 0 where it is not known.
    priority: int32 (n), depth - best_rank; higher is judged earlier. ranks: int16 (n, n_runs), 0 where the run did not contribute.
    everyone: bool (n), pairs that each annotator judges (FiRA's priority `all`).
    """

    depth: int
    tags: list[str]
    topics: list[str]
    topic: NDArray[np.int32]
    documents: NDArray[np.bytes_]
    best_rank: NDArray[np.int32]
    priority: NDArray[np.int32]
    ranks: NDArray[np.int16]
    everyone: NDArray[np.bool_]
    warnings: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[PooledPair]:
        columns = (self.topic.tolist(), self.documents.tolist(), self.best_rank.tolist(), self.priority.tolist(), self.ranks)
        for topic, document, best, priority, ranks in zip(*columns, strict=True):
            runs = tuple((self.tags[k], int(ranks[k])) for k in np.flatnonzero(ranks).tolist())
            yield PooledPair(self.topics[topic], document.decode("utf-8"), best, priority, runs)

    def by_depth(self) -> dict[int, int]:
        """How many pairs the pool of each depth 1..depth has."""
        known = self.best_rank[self.best_rank > 0]
        counts = np.cumsum(np.bincount(known, minlength=self.depth + 1))
        return {depth: int(counts[depth]) for depth in range(1, self.depth + 1)}


DEEPEST = 32767


def top_of_run(run: Run, depth: int, *, topics: Sequence[str] | None = None) -> Top:
    """Each topic's first `depth` documents in the run's order, copied. topics: only these."""
    if not 1 <= depth <= DEEPEST:
        raise ValueError(f"depth {depth} is not from 1 to {DEEPEST}")
    wanted = None if topics is None else set(topics)
    kept = [i for i, topic in enumerate(run.topics) if wanted is None or topic in wanted]
    begins = run.offsets[kept] if kept else np.empty(0, np.int64)
    sizes = np.minimum(run.offsets[np.array(kept, np.int64) + 1] - begins, depth) if kept else np.empty(0, np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    rows = np.repeat(begins - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Top(tag=run.tag, topics=[run.topics[i] for i in kept], offsets=offsets, documents=run.documents[rows])


def depth_pool(tops: Sequence[Top], *, depth: int, rng: np.random.Generator) -> Pool:
    """The union of the tops, cut at `depth`.

    Priority is depth - best rank. Order: priority descending; within one priority a shuffle of topics, pairs of a topic together
    (by document id as bytes). The shuffle depends on the generator and on the set of topics only, not on the order of runs.
    Tags must differ.
    """
    return _pooled([top.tag for top in tops], tops, [], depth=depth, rng=rng)


def extend_pool(pool: Pool, tops: Sequence[Top], *, depth: int | None = None, rng: np.random.Generator) -> Pool:
    """The pool with more runs, or with the same runs deeper: every pair of `pool` stays, best ranks only improve.

    depth: of the new pool, at least that of `pool`; tops are cut at it. A tag that the pool knows has the smaller of both ranks.
    """
    depth = max(pool.depth, depth or 0)
    tags = pool.tags + [top.tag for top in tops if top.tag not in pool.tags]
    return _pooled(tags, tops, [pool], depth=depth, rng=rng)


def _pooled(tags: list[str], tops: Sequence[Top], pools: Sequence[Pool], *, depth: int, rng: np.random.Generator) -> Pool:
    if not 1 <= depth <= DEEPEST:
        raise ValueError(f"depth {depth} is not from 1 to {DEEPEST}")
    if len(set(tags)) != len(tags):
        raise ValueError("two runs have one tag")
    parts: list[Top | Pool] = [*tops, *pools]
    names = sorted({topic for part in parts for topic in part.topics}, key=lambda topic: topic.encode("utf-8"))
    index = {topic: i for i, topic in enumerate(names)}
    width = max([8] + [part.documents.dtype.itemsize for part in parts])
    of, words, ranks, owners = [], [], [], []
    for pool in pools:
        place = np.array([index[topic] for topic in pool.topics], np.int64)
        of.append(place[pool.topic])
        words.append(words_of(pool.documents, width))
        ranks.append(pool.best_rank.astype(np.int64))
        owners.append(np.full(len(pool), -1))
        row, run = np.nonzero(pool.ranks)
        of.append(place[pool.topic[row]])
        words.append(words_of(pool.documents[row], width))
        ranks.append(pool.ranks[row, run].astype(np.int64))
        owners.append(run.astype(np.int64))
    for top in tops:
        sizes = np.diff(top.offsets)
        rank = np.arange(len(top.documents)) - np.repeat(top.offsets[:-1], sizes) + 1
        near = rank <= depth
        of.append(np.repeat(np.array([index[topic] for topic in top.topics], np.int64), sizes)[near])
        words.append(words_of(top.documents, width)[near])
        ranks.append(rank[near])
        owners.append(np.full(int(near.sum()), tags.index(top.tag)))
    if not of or not sum(len(part) for part in of):
        return _empty(depth, tags)
    topic, ids = np.concatenate(of), big_endian(np.concatenate(words))
    rank, owner = np.concatenate(ranks), np.concatenate(owners)
    order = np.lexsort((*(ids[:, k] for k in range(ids.shape[1] - 1, -1, -1)), topic))
    topic, ids, rank, owner = topic[order], ids[order], rank[order], owner[order]
    new = np.ones(len(topic), bool)
    new[1:] = (topic[1:] != topic[:-1]) | (ids[1:] != ids[:-1]).any(axis=1)
    pair = np.cumsum(new) - 1
    n_pairs = int(pair[-1]) + 1
    matrix = np.zeros((n_pairs, len(tags)), np.int16)
    better = np.lexsort((-rank,))
    better = better[(owner[better] >= 0) & (rank[better] > 0)]
    matrix[pair[better], owner[better]] = rank[better]
    best = np.full(n_pairs, np.iinfo(np.int32).max, np.int64)
    known = rank > 0
    np.minimum.at(best, pair[known], rank[known])
    best[best == np.iinfo(np.int32).max] = 0
    topic, ids = topic[new], ids[new]
    priority = np.where(best > 0, depth - best, 0)
    everyone = np.zeros(n_pairs, bool)
    for pool in pools:
        if pool.everyone.any() or (pool.best_rank == 0).any():
            rows = {(pool.topics[t], d): k for k, (t, d) in enumerate(zip(pool.topic.tolist(), pool.documents.tolist(), strict=True))}
            documents = _documents(ids)
            for k in range(n_pairs):
                at = rows.get((names[int(topic[k])], documents[k]))
                if at is not None:
                    everyone[k] = pool.everyone[at]
                    if best[k] == 0:
                        priority[k] = pool.priority[at]
    arranged = _arranged(topic, best, priority, ids, n_topics=len(names), rng=rng)
    return Pool(
        depth=depth, tags=tags, topics=names, topic=topic[arranged].astype(np.int32), documents=_documents(ids[arranged]),
        best_rank=best[arranged].astype(np.int32), priority=priority[arranged].astype(np.int32), ranks=matrix[arranged],
        everyone=everyone[arranged],
    )  # fmt: skip


def _documents(ids: NDArray[np.uint64]) -> NDArray[np.bytes_]:
    words = np.ascontiguousarray(ids.byteswap())
    return words.view(f"S{8 * words.shape[1]}").reshape(len(words))


def _arranged(
    topic: NDArray[np.int64], best: NDArray[np.int64], priority: NDArray[np.int64], ids: NDArray[np.uint64], *,
    n_topics: int, rng: np.random.Generator,
) -> NDArray[np.int64]:  # fmt: skip
    """The pool's order. One shuffle of the topics for each priority, drawn from the highest down."""
    place = np.empty(len(topic), np.int64)
    for value in range(int(priority.max()), int(priority.min()) - 1, -1):
        shuffle = rng.permutation(n_topics)
        rows = priority == value
        place[rows] = shuffle[topic[rows]]
    return np.lexsort((*(ids[:, k] for k in range(ids.shape[1] - 1, -1, -1)), place, -priority))


def _empty(depth: int, tags: list[str]) -> Pool:
    none = np.empty(0, np.int32)
    return Pool(
        depth=depth, tags=tags, topics=[], topic=none, documents=np.empty(0, "S8"), best_rank=none, priority=none,
        ranks=np.empty((0, len(tags)), np.int16), everyone=np.empty(0, bool),
    )  # fmt: skip
