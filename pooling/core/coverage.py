"""What runs contribute to a pool, and how much of their tops is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pooling.core.columns import Qrels, Run
from pooling.core.depth import Pool
from pooling.core.ranking import words_of


def unique_pairs(pool: Pool) -> NDArray[np.int64]:
    """Per run: how many pairs no other run of the pool contributed. -> int64 (n_runs)"""
    contributed = pool.ranks > 0
    alone = contributed.sum(axis=1) == 1
    return contributed[alone].sum(axis=0)


def shared_pairs(pool: Pool) -> NDArray[np.int64]:
    """Pairs that two runs have in common; on the diagonal the pairs of each. -> int64 (n_runs, n_runs)"""
    contributed = (pool.ranks > 0).astype(np.float32)
    shared = np.zeros((contributed.shape[1],) * 2)
    for begin in range(0, len(contributed), 1 << 16):
        part = contributed[begin : begin + (1 << 16)]
        shared += part.T @ part
    return shared.astype(np.int64)


def overlap(pool: Pool) -> NDArray[np.float64]:
    """Row A, column B: pairs of both / pairs of A; NaN where A contributed none. -> float64 (n_runs, n_runs)"""
    shared = shared_pairs(pool)
    own = np.diagonal(shared).astype(np.float64)[:, None]
    return np.divide(shared, own, out=np.full(shared.shape, np.nan), where=own > 0)


def left_out(pool: Pool, tags: Sequence[str], *, depth: int | None = None) -> NDArray[np.bool_]:
    """Pairs that the pool of `depth` (default: its own) would lose without these runs. -> bool (n_pairs)"""
    depth = depth or pool.depth
    out = np.isin(pool.tags, list(tags))
    contributed = (pool.ranks > 0) & (pool.ranks <= depth)
    return np.asarray(contributed[:, out].any(axis=1) & ~contributed[:, ~out].any(axis=1))


def leave_out_counts(pool: Pool, groups: Mapping[str, str] | None = None) -> dict[str, int]:
    """Pairs that only one run, or one group of runs, contributed.

    groups: group of each tag; a tag without one is its own group. -> {tag or group: pairs}, in order of the pool's runs
    """
    members: dict[str, list[str]] = {}
    for tag in pool.tags:
        members.setdefault((groups or {}).get(tag, tag), []).append(tag)
    return {name: int(left_out(pool, tags).sum()) for name, tags in members.items()}


def judged_at(run: Run, qrels: Qrels, depth: int) -> NDArray[np.float64]:
    """Per topic of the qrels: judged (grade at least 0) in the run's top k / min(k, retrieved); 0 where nothing is retrieved.

    -> float64 (n_topics of the qrels), in their order
    """
    places = {topic: i for i, topic in enumerate(run.topics)}
    width = max(run.documents.dtype.itemsize, qrels.documents.dtype.itemsize, 8)
    result = np.zeros(len(qrels.topics))
    for i, topic in enumerate(qrels.topics):
        place = places.get(topic)
        if place is None:
            continue
        rows = run.rows(place)
        top = run.documents[rows][:depth]
        if not len(top):
            continue
        graded = qrels.rows(i)
        judged = qrels.documents[graded][qrels.grades[graded] >= 0]
        result[i] = np.isin(_keys(top, width), _keys(judged, width)).mean()
    return result


def _keys(ids: NDArray[np.bytes_], width: int) -> NDArray:
    """Ids as values that can be compared quickly."""
    words = words_of(ids, width)
    return words[:, 0] if words.shape[1] == 1 else np.ascontiguousarray(words).view(f"S{8 * words.shape[1]}").reshape(len(words))
