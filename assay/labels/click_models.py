"""Click models: estimates of relevance from the counts of a click log, per pair shown.

All take `ClickCounts` and return float64 (n), NaN where the estimate is undefined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.formats.clicks import ClickCounts

MAX_ROUNDS = 10_000
START_EXAMINATION = 0.9
"""Examination of all ranks before the first round. It should exceed all click-through rates, because
attractiveness cannot exceed 1."""
TOLERANCE = 1e-7
"""Greatest change of a probability in the last round of expectation maximisation."""


def click_through_rates(counts: ClickCounts) -> NDArray[np.float64]:
    """Return clicks / impressions (document click-through rate; Craswell et al. 2008)."""
    return counts.clicks / counts.impressions


def estimate_sdbn(counts: ClickCounts) -> NDArray[np.float64]:
    """Return attractiveness times satisfaction by the simplified dynamic Bayesian network, a
    cascade model (Chapelle and Zhang 2009, algorithm 1 without prior).

    A session is examined down to its last click. Attractiveness is clicks / examinations, and
    satisfaction is last clicks / clicks. Undefined for pairs never shown at or above a last click.
    """
    examined = counts.clicks + counts.skipped
    return np.where(examined > 0, counts.last / np.maximum(examined, 1), np.nan)


def estimate_coec(counts: ClickCounts) -> NDArray[np.float64]:
    """Return clicks over expected clicks (Zhang and Jones 2007): 1 for a pair that is clicked as
    often as all pairs on average at the ranks at which it was shown.

    Undefined for pairs shown only at ranks where nothing was clicked.
    """
    _, rank = np.unique(counts.rank, return_inverse=True)
    shown, clicked = (
        np.bincount(rank, counts.rank_impressions),
        np.bincount(rank, counts.rank_clicks),
    )
    rates = clicked / shown
    expected = np.bincount(counts.rank_pair, counts.rank_impressions * rates[rank], len(counts))
    return np.where(expected > 0, counts.clicks / np.where(expected > 0, expected, 1), np.nan)


def estimate_pbm(counts: ClickCounts) -> NDArray[np.float64]:
    """Return attractiveness by the position-based model (Richardson, Dominowska and Ragno 2007;
    Craswell et al. 2008): the probability of a click is examination (of the rank) times
    attractiveness (of the pair), estimated by expectation maximisation.

    The most examined rank has examination 1, because only the product is known. Only ranks that
    clicked pairs shown at several ranks connect can be compared. Clicked pairs outside the
    connected ranks with most impressions are undefined. Pairs never clicked are 0. Raises
    ValueError if no ranks are connected, because then all pairs below one rank are undefined.
    """
    attractiveness = np.where(counts.clicks > 0, np.nan, 0.0)
    rows = np.flatnonzero((counts.clicks > 0)[counts.rank_pair])
    if not len(rows):
        return attractiveness
    n_ranks, rows = len(np.unique(counts.rank[rows])), rows[_is_connected(counts, rows)]
    if n_ranks > 1 and len(np.unique(counts.rank[rows])) == 1:
        raise ValueError(
            "the position-based model needs clicked documents that were shown at several ranks, but this log has none; choose another click model"
        )
    ranks, rank = np.unique(counts.rank[rows], return_inverse=True)
    pairs, pair = np.unique(counts.rank_pair[rows], return_inverse=True)
    shown, clicks = counts.rank_impressions[rows], counts.rank_clicks[rows]
    without = shown - clicks
    n_of_pair, n_of_rank = np.bincount(pair, shown), np.bincount(rank, shown)
    a, e = np.full(len(pairs), 0.5), np.full(len(ranks), START_EXAMINATION)
    for _ in range(MAX_ROUNDS):
        not_clicked = without / np.maximum(1 - a[pair] * e[rank], np.finfo(float).tiny)
        next_a = np.bincount(pair, clicks + not_clicked * a[pair] * (1 - e[rank])) / n_of_pair
        next_e = np.bincount(rank, clicks + not_clicked * e[rank] * (1 - a[pair])) / n_of_rank
        change = max(np.abs(next_a - a).max(), np.abs(next_e - e).max())
        a, e = next_a, next_e
        if change < TOLERANCE:
            break
    attractiveness[pairs] = np.minimum(a * e.max(), 1)
    return attractiveness


def _is_connected(counts: ClickCounts, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return whether each of these rows by rank is in the largest group of ranks that pairs
    connect: bool (len(rows))."""
    from scipy.sparse import coo_array  # imported here because only this model needs it
    from scipy.sparse.csgraph import connected_components

    ranks, rank = np.unique(counts.rank[rows], return_inverse=True)
    pairs, pair = np.unique(counts.rank_pair[rows], return_inverse=True)
    size = len(ranks) + len(pairs)
    edges = coo_array((np.ones(len(rows)), (rank, len(ranks) + pair)), shape=(size, size))
    group = connected_components(edges, directed=False)[1][rank]
    return group == np.bincount(group, counts.rank_impressions[rows]).argmax()
