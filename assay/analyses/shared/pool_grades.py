"""A depth-k pool of run files with the grades that qrels give its pairs: what ordered pools,
stopping and simulations begin from."""

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
            "no run has a document for a topic of the qrels; are the topics' ids spelled alike?"
        )
    return pool


def look_up_grades(pool: PooledPairs, qrels: QrelsColumns) -> NDArray[np.int64]:
    """int64 (n_pairs), -1 where the qrels have no grade."""
    rows = index_qrels(qrels).find(TopicDocumentPairs(pool.topics, pool.topic, pool.documents))
    grades = np.where(rows >= 0, qrels.grades[rows] if len(qrels) else -1, UNJUDGED)
    return np.where(grades < 0, UNJUDGED, grades).astype(np.int64)


def keep_judged_pairs(
    pool: PooledPairs, grades: NDArray[np.int64]
) -> tuple[PooledPairs, NDArray[np.int64]]:
    """The pool without pairs that have no grade, and the grades of the others; topics without a
    pair go, too."""
    kept = grades >= 0
    used, topic = np.unique(pool.topic[kept], return_inverse=True)
    return replace(
        pool.at(kept), topics=[pool.topics[t] for t in used.tolist()], topic=topic.astype(np.int32)
    ), grades[kept]
