"""What runs contribute to a pool, and have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs


def count_unique_pairs(pool: PooledPairs) -> NDArray[np.int64]:
    """Per run: how many pairs no other run of the pool contributed. -> int64 (n_runs)"""
    contributed = pool.ranks > 0
    alone = contributed.sum(axis=1) == 1
    return contributed[alone].sum(axis=0)


def count_shared_pairs(pool: PooledPairs) -> NDArray[np.int64]:
    """Pairs that two runs have in common; on the diagonal the pairs of each. -> int64 (n_runs,
    n_runs)"""
    contributed = (pool.ranks > 0).astype(np.float32)
    shared = np.zeros((contributed.shape[1],) * 2)
    for begin in range(0, len(contributed), 1 << 16):
        part = contributed[begin : begin + (1 << 16)]
        shared += part.T @ part
    return shared.astype(np.int64)


def compute_overlap(pool: PooledPairs) -> NDArray[np.float64]:
    """Row A, column B: pairs of both / pairs of A; NaN where A contributed none. -> float64
    (n_runs, n_runs)"""
    shared = count_shared_pairs(pool)
    own = np.diagonal(shared).astype(np.float64)[:, None]
    return np.divide(shared, own, out=np.full(shared.shape, np.nan), where=own > 0)
