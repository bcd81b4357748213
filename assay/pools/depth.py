"""Depth-k pools: the union over runs of each topic's top k, with best rank, contributing runs,
priority and order.

    cut_run(run, depth) -> RunTop                        what a pool needs of a run
    make_depth_pool(tops, depth, rng) -> PooledPairs
    extend_pool(pool, tops, depth, rng) -> PooledPairs   deeper, or with more runs; best ranks only improve
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import RunColumns
from assay.ranking import ids_to_words, to_big_endian


class PooledPair(NamedTuple):
    """A pair of a pool. runs: (tag, rank) of each run that contributed it, in the pool's order of
    runs."""

    topic: str
    document: str
    best_rank: int
    priority: int
    runs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class RunTop:
    """The first documents of each topic of one run. topics[i] owns rows offsets[i]:offsets[i + 1],
    in rank order from 1."""

    tag: str
    topics: list[str]
    offsets: NDArray[np.int64]
    documents: NDArray[np.bytes_]


@dataclass(frozen=True, eq=False)
class PooledPairs:
    """Pairs to judge, best first.

    tags: n_runs. topics: n_topics IDs, ascending by bytes. topic: int32 (n), index into topics.
    documents: S (n). best_rank: int32 (n), from 1, or 0 if unknown. priority: int32 (n), depth -
    best_rank. Higher priorities are judged earlier. ranks: int16 (n, n_runs), 0 if the run did not
    contribute. everyone: bool (n), pairs that all annotators judge (FiRA's priority `all`).
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
        columns = (
            self.topic.tolist(),
            self.documents.tolist(),
            self.best_rank.tolist(),
            self.priority.tolist(),
            self.ranks,
        )
        for topic, document, best, priority, ranks in zip(*columns, strict=True):
            runs = tuple((self.tags[k], int(ranks[k])) for k in np.flatnonzero(ranks).tolist())
            yield PooledPair(self.topics[topic], document.decode("utf-8"), best, priority, runs)

    def select_rows(self, rows: NDArray[np.integer | np.bool_]) -> PooledPairs:
        """Return the pairs of these rows in that order, with all topics. rows: numbers, or bool
        (n)."""
        columns = {
            name: getattr(self, name)[rows]
            for name in ("topic", "documents", "best_rank", "priority", "ranks", "everyone")
        }
        return replace(self, **columns)

    def by_depth(self) -> dict[int, int]:
        """Return the sizes of the pools of depth 1 to depth."""
        known = self.best_rank[self.best_rank > 0]
        counts = np.cumsum(np.bincount(known, minlength=self.depth + 1))
        return {depth: int(counts[depth]) for depth in range(1, self.depth + 1)}


MAX_DEPTH = 32767


def is_ranked(pool: PooledPairs) -> bool:
    """Return whether every priority follows from the pair's best rank."""
    return bool(((pool.best_rank > 0) & (pool.priority == pool.depth - pool.best_rank)).all())


def cut_run(run: RunColumns, depth: int, *, topics: Sequence[str] | None = None) -> RunTop:
    """Copy the first `depth` documents of each topic in the run's order. topics: restrict to
    these."""
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth {depth} must be between 1 and {MAX_DEPTH}")
    wanted = None if topics is None else set(topics)
    kept = [i for i, topic in enumerate(run.topics) if wanted is None or topic in wanted]
    begins = run.offsets[kept] if kept else np.empty(0, np.int64)
    sizes = (
        np.minimum(run.offsets[np.array(kept, np.int64) + 1] - begins, depth)
        if kept
        else np.empty(0, np.int64)
    )
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    rows = np.repeat(begins - offsets[:-1], sizes) + np.arange(offsets[-1])
    return RunTop(
        tag=run.tag,
        topics=[run.topics[i] for i in kept],
        offsets=offsets,
        documents=run.documents[rows],
    )


def make_depth_pool(tops: Sequence[RunTop], *, depth: int, rng: np.random.Generator) -> PooledPairs:
    """Return the union of the tops, cut at `depth`.

    The priority is depth - best rank. Pairs are ordered by descending priority, and within a
    priority by a random order of topics, with the pairs of a topic together (by the bytes of the
    document ID). The random order depends only on the generator and the set of topics, not on the
    order of runs. Tags must be distinct.
    """
    return _merge_tops([top.tag for top in tops], tops, [], depth=depth, rng=rng)


def extend_pool(
    pool: PooledPairs, tops: Sequence[RunTop], *, depth: int | None = None, rng: np.random.Generator
) -> PooledPairs:
    """Add runs to the pool, or make it deeper. All pairs are kept, and best ranks only improve.

    depth: depth of the new pool, at least that of `pool`. Tops are cut at it. A tag that the pool
    already has gets the smaller of both ranks.
    """
    depth = max(pool.depth, depth or 0)
    tags = pool.tags + [top.tag for top in tops if top.tag not in pool.tags]
    return _merge_tops(tags, tops, [pool], depth=depth, rng=rng)


def select_topics(
    pool: PooledPairs, topics: Collection[str]
) -> tuple[PooledPairs, NDArray[np.int64]]:
    """Return (the pairs of these topics in pool order, their rows in the pool)."""
    kept = [i for i, topic in enumerate(pool.topics) if topic in topics]
    index = np.full(len(pool.topics), -1, np.int32)
    index[kept] = np.arange(len(kept), dtype=np.int32)
    rows = np.flatnonzero(index[pool.topic] >= 0)
    return replace(
        pool.select_rows(rows), topics=[pool.topics[i] for i in kept], topic=index[pool.topic][rows]
    ), rows


def shrink_pool(
    pool: PooledPairs, *, tags: Sequence[str], depth: int, rng: np.random.Generator
) -> PooledPairs:
    """Return the pool of some of its runs down to `depth`, which undoes `extend_pool`, including
    the order.

    Every pair must come from a run.
    """
    columns = [pool.tags.index(tag) for tag in tags]
    ranks = np.where(pool.ranks[:, columns] <= depth, pool.ranks[:, columns], 0).astype(np.int16)
    kept = (ranks > 0).any(axis=1)
    used, topic = np.unique(pool.topic[kept], return_inverse=True)
    best = (
        np.where(ranks > 0, ranks, np.iinfo(np.int16).max)
        .min(axis=1, initial=np.iinfo(np.int16).max)[kept]
        .astype(np.int32)
    )
    part = PooledPairs(
        depth=depth,
        tags=list(tags),
        topics=[pool.topics[i] for i in used.tolist()],
        topic=topic.astype(np.int32),
        documents=pool.documents[kept],
        best_rank=best,
        priority=depth - best,
        ranks=ranks[kept],
        everyone=pool.everyone[kept],
    )
    return _merge_tops(list(tags), [], [part], depth=depth, rng=rng)


class _Occurrences(NamedTuple):
    """Occurrences of documents in runs and pools: one row per topic, document and run, or per pair
    of an existing pool.

    topic: int64 (n), index into the new pool's topics. words: uint64 (n, width / 8), the document's
    ID. rank: int64 (n), from 1, or 0 if unknown. run: int64 (n), index into the new pool's tags, or
    -1 for the best rank that a pool stores for its pair.
    """

    topic: NDArray[np.int64]
    words: NDArray[np.uint64]
    rank: NDArray[np.int64]
    run: NDArray[np.int64]


def _merge_tops(
    tags: list[str],
    tops: Sequence[RunTop],
    pools: Sequence[PooledPairs],
    *,
    depth: int,
    rng: np.random.Generator,
) -> PooledPairs:
    """Return the union. tags: tags of the pools' runs (in their order) and of the tops."""
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth {depth} must be between 1 and {MAX_DEPTH}")
    if len(set(tags)) != len(tags):
        twice = next(tag for k, tag in enumerate(tags) if tag in tags[:k])
        raise ValueError(f"two runs have the tag {twice}")
    parts: list[RunTop | PooledPairs] = [*tops, *pools]
    # Topics in the order of their bytes, so that the shuffle does not depend on the order of runs.
    names = sorted(
        {topic for part in parts for topic in part.topics}, key=lambda topic: topic.encode("utf-8")
    )
    index = {topic: i for i, topic in enumerate(names)}
    # All ids in the width of the longest one, so that they compare as rows of whole words.
    width = max([8] + [part.documents.dtype.itemsize for part in parts])
    occurrences = [_pool_occurrences(pool, index, width) for pool in pools]
    occurrences += [_top_occurrences(top, tags.index(top.tag), index, width, depth) for top in tops]
    if not any(len(sightings.topic) for sightings in occurrences):
        return _empty_pool(depth, tags)
    topic, ids, pair, rank, run = _group_by_pair(occurrences)
    ranks = _ranks_by_run(pair, rank, run, len(topic), len(tags))
    best = _compute_best_ranks(pair, rank, len(topic))
    priority = depth - best  # of a pair without a rank it is copied below
    everyone = np.zeros(len(topic), bool)
    for pool in pools:
        _copy_unranked(pool, _iterate_pairs(names, topic, ids), best, priority, everyone)
    arranged = _sort_pairs(topic, best, priority, ids, n_topics=len(names), rng=rng)
    return PooledPairs(
        depth=depth,
        tags=tags,
        topics=names,
        topic=topic[arranged].astype(np.int32),
        documents=_document_array(ids[arranged]),
        best_rank=best[arranged].astype(np.int32),
        priority=priority[arranged].astype(np.int32),
        ranks=ranks[arranged],
        everyone=everyone[arranged],
    )


def _pool_occurrences(pool: PooledPairs, index: dict[str, int], width: int) -> _Occurrences:
    """Return the pool's pairs with their best ranks, followed by the contributions of each run."""
    place = np.array([index[topic] for topic in pool.topics], np.int64)
    row, run = np.nonzero(pool.ranks)
    rows = np.concatenate((np.arange(len(pool)), row))
    return _Occurrences(
        topic=place[pool.topic[rows]],
        words=ids_to_words(pool.documents[rows], width),
        rank=np.concatenate((pool.best_rank, pool.ranks[row, run])).astype(np.int64),
        run=np.concatenate((np.full(len(pool), -1), run)).astype(np.int64),
    )


def _top_occurrences(
    top: RunTop, run: int, index: dict[str, int], width: int, depth: int
) -> _Occurrences:
    sizes = np.diff(top.offsets)
    rank = np.arange(len(top.documents)) - np.repeat(top.offsets[:-1], sizes) + 1
    topic = np.repeat(np.array([index[topic] for topic in top.topics], np.int64), sizes)
    near = rank <= depth
    return _Occurrences(
        topic[near],
        ids_to_words(top.documents, width)[near],
        rank[near],
        np.full(int(near.sum()), run),
    )


def _group_by_pair(
    occurrences: Sequence[_Occurrences],
) -> tuple[
    NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]
]:
    """Group by pair, sorted by topic and the bytes of the document ID. Returns topic and ID
    (n_pairs), and pair, rank and run of each occurrence."""
    topic, ids = (
        np.concatenate([part.topic for part in occurrences]),
        to_big_endian(np.concatenate([part.words for part in occurrences])),
    )
    rank, run = (
        np.concatenate([part.rank for part in occurrences]),
        np.concatenate([part.run for part in occurrences]),
    )
    # lexsort sorts by its last key first: topic, then the words of the id from the first one on.
    order = np.lexsort((*(ids[:, k] for k in range(ids.shape[1] - 1, -1, -1)), topic))
    topic, ids = topic[order], ids[order]
    # A pair begins where topic or id differ from the sighting before.
    new = np.ones(len(topic), bool)
    new[1:] = (topic[1:] != topic[:-1]) | (ids[1:] != ids[:-1]).any(axis=1)
    return topic[new], ids[new], np.cumsum(new) - 1, rank[order], run[order]


def _ranks_by_run(
    pair: NDArray[np.int64],
    rank: NDArray[np.int64],
    run: NDArray[np.int64],
    n_pairs: int,
    n_runs: int,
) -> NDArray[np.int16]:
    """Return int16 (n_pairs, n_runs), the rank in each run, 0 if it did not contribute."""
    ranks = np.zeros((n_pairs, n_runs), np.int16)
    # Of two ranks in one run the better one is written last and remains.
    order = np.argsort(-rank, kind="stable")
    order = order[(run[order] >= 0) & (rank[order] > 0)]
    ranks[pair[order], run[order]] = rank[order]
    return ranks


def _compute_best_ranks(
    pair: NDArray[np.int64], rank: NDArray[np.int64], n_pairs: int
) -> NDArray[np.int64]:
    """Return int64 (n_pairs), the best rank, 0 if unknown."""
    unknown = np.iinfo(np.int32).max
    best = np.full(n_pairs, unknown, np.int64)
    known = rank > 0
    np.minimum.at(best, pair[known], rank[known])
    best[best == unknown] = 0
    return best


def _copy_unranked(
    pool: PooledPairs,
    pairs: Iterator[tuple[str, bytes]],
    best: NDArray[np.int64],
    priority: NDArray[np.int64],
    everyone: NDArray[np.bool_],
) -> None:
    """Copy from a pool, in place, the values that do not follow from ranks: which pairs all
    annotators judge, and the priority of pairs without a rank."""
    if not pool.everyone.any() and (pool.best_rank > 0).all():
        return
    rows = {
        (pool.topics[t], d): k
        for k, (t, d) in enumerate(zip(pool.topic.tolist(), pool.documents.tolist(), strict=True))
    }
    for k, pair in enumerate(pairs):
        row = rows.get(pair)
        if row is None:
            continue
        everyone[k] = pool.everyone[row]
        if best[k] == 0:
            priority[k] = pool.priority[row]


def _document_array(ids: NDArray[np.uint64]) -> NDArray[np.bytes_]:
    words = np.ascontiguousarray(ids.byteswap())
    return words.view(f"S{8 * words.shape[1]}").reshape(len(words))


def _iterate_pairs(
    names: Sequence[str], topic: NDArray[np.int64], ids: NDArray[np.uint64]
) -> Iterator[tuple[str, bytes]]:
    """Yield (topic, document) lazily."""
    yield from zip((names[t] for t in topic.tolist()), _document_array(ids).tolist(), strict=True)


def _sort_pairs(
    topic: NDArray[np.int64],
    best: NDArray[np.int64],
    priority: NDArray[np.int64],
    ids: NDArray[np.uint64],
    *,
    n_topics: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the pool's order. Topics are shuffled once per priority, from the highest to the
    lowest."""
    place = np.empty(len(topic), np.int64)
    for value in range(int(priority.max()), int(priority.min()) - 1, -1):
        # Drawn also for priorities without pairs: later draws must not depend on which there are.
        shuffle = rng.permutation(n_topics)
        rows = priority == value
        place[rows] = shuffle[topic[rows]]
    return np.lexsort((*(ids[:, k] for k in range(ids.shape[1] - 1, -1, -1)), place, -priority))


def _empty_pool(depth: int, tags: list[str]) -> PooledPairs:
    none = np.empty(0, np.int32)
    return PooledPairs(
        depth=depth,
        tags=tags,
        topics=[],
        topic=none,
        documents=np.empty(0, "S8"),
        best_rank=none,
        priority=none,
        ranks=np.empty((0, len(tags)), np.int16),
        everyone=np.empty(0, bool),
    )
