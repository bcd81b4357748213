"""Depth-k pools of run files with grades from qrels, on which prioritised pools, stopping rules and
simulations are based."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.cli.base import BadInput
from assay.column_types import QrelsColumns, RunColumns
from assay.measures.packing import TopicDocumentPairs, index_qrels
from assay.pools.depth import PooledPairs, cut_run, make_depth_pool

UNJUDGED = -1


def build_pool_from_files(
    runs: Iterable[RunColumns], qrels: QrelsColumns, *, depth: int, seed: int
) -> PooledPairs:
    """Return the pool of the runs' first `depth` documents for the topics of the qrels.

    Raises BadInput if it is empty."""
    tops = [cut_run(run, depth, topics=qrels.topics) for run in runs]
    pool = make_depth_pool(tops, depth=depth, rng=np.random.default_rng(seed))
    if not len(pool):
        raise BadInput(
            "the runs contain no documents for any topic in the qrels; check the topic IDs"
        )
    return pool


def look_up_grades(pool: PooledPairs, qrels: QrelsColumns) -> NDArray[np.int64]:
    """Return int64 (n_pairs), the grades of the pool's pairs, -1 if the qrels have none."""
    rows = index_qrels(qrels).find(TopicDocumentPairs(pool.topics, pool.topic, pool.documents))
    grades = np.where(rows >= 0, qrels.grades[rows] if len(qrels) else -1, UNJUDGED)
    return np.where(grades < 0, UNJUDGED, grades).astype(np.int64)


def keep_judged_pairs(
    pool: PooledPairs, grades: NDArray[np.int64]
) -> tuple[PooledPairs, NDArray[np.int64]]:
    """Return (the pool without pairs that have no grade and topics that have no pair left, the
    grades of its pairs)."""
    kept = grades >= 0
    used, topic = np.unique(pool.topic[kept], return_inverse=True)
    return replace(
        pool.select_rows(kept),
        topics=[pool.topics[t] for t in used.tolist()],
        topic=topic.astype(np.int32),
    ), grades[kept]
