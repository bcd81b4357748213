"""Rank-biased overlap of two rankings of the same systems, a top-weighted similarity.

Webber, Moffat and Zobel (2010), "A similarity measure for indefinite rankings". Ties follow Corsi
and Urbano (2024), "The treatment of ties in rank-biased overlap", variant b, which corrects for the
information lost by ties, as tau-b does.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.comparison.rankings import DECIMALS

Floats = NDArray[np.float64]
PERSISTENCE = 0.9
"""Default persistence, which gives the first ten ranks 86% of the weight."""


def rank_biased_overlap(x: ArrayLike, y: ArrayLike, *, persistence: float = PERSISTENCE) -> float:
    """Return the extrapolated RBO, from 0 to 1 and symmetric, of the rankings by two lists of means
    (n_systems). Higher means are better and are rounded to 10 decimals.

    NaN for fewer than two systems, or if a system has no mean.
    """
    means = np.round(np.asarray([x, y], dtype=np.float64), DECIMALS)
    n = means.shape[1]
    if n < 2 or np.isnan(means).any():
        return math.nan
    share_x, share_y = _membership_by_depth(means[0]), _membership_by_depth(means[1])
    agreement = (share_x * share_y).sum(axis=0) / np.sqrt(
        (share_x**2).sum(axis=0) * (share_y**2).sum(axis=0)
    )
    weight = persistence ** np.arange(n)
    # both rankings have the same systems, so they agree completely below the last one
    return float((1 - persistence) * (agreement * weight).sum() + persistence**n)


def _membership_by_depth(values: Floats) -> Floats:
    """Return (n_systems, depths), the share of each system that is in the top d. If the depth cuts
    a group of tied systems, each of them has the same share."""
    above = (values[None, :] > values[:, None]).sum(axis=1)
    tied = (values[None, :] == values[:, None]).sum(axis=1)
    return np.clip((np.arange(1, len(values) + 1)[None, :] - above[:, None]) / tied[:, None], 0, 1)


def rank_biased_overlap_batch(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Return float64 (n), the RBO of each row of x with the same row of y. x, y: (n, systems)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return np.array([rank_biased_overlap(a, b) for a, b in zip(x, y, strict=True)])
