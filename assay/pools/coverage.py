"""Unique and shared contributions of runs to a pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs


def count_unique_pairs(pool: PooledPairs) -> NDArray[np.int64]:
    """Return int64 (n_runs), the number of pairs that no other run of the pool contributed."""
    contributed = pool.ranks > 0
    alone = contributed.sum(axis=1) == 1
    return contributed[alone].sum(axis=0)


def count_shared_pairs(pool: PooledPairs) -> NDArray[np.int64]:
    """Return int64 (n_runs, n_runs), the number of pairs that two runs share, with the pairs of
    each run on the diagonal."""
    contributed = (pool.ranks > 0).astype(np.float32)
    shared = np.zeros((contributed.shape[1],) * 2)
    for begin in range(0, len(contributed), 1 << 16):
        part = contributed[begin : begin + (1 << 16)]
        shared += part.T @ part
    return shared.astype(np.int64)


def compute_overlap(pool: PooledPairs) -> NDArray[np.float64]:
    """Return float64 (n_runs, n_runs), pairs of both runs / pairs of the row's run, NaN if that run
    contributed none."""
    shared = count_shared_pairs(pool)
    own = np.diagonal(shared).astype(np.float64)[:, None]
    return np.divide(shared, own, out=np.full(shared.shape, np.nan), where=own > 0)
