"""Rank-biased overlap of two rankings of the same systems, weighted towards the top.

Webber, Moffat and Zobel (2010), "A similarity measure for indefinite rankings"; ties as Corsi and
Urbano (2024), "The treatment of ties in rank-biased overlap", in their variant b, which corrects
for what ties leave unknown, as tau-b does."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.comparison.rankings import DECIMALS

Floats = NDArray[np.float64]
PERSISTENCE = 0.9
"""The first ten ranks have 86 % of the weight (ours)."""


def rank_biased_overlap(x: ArrayLike, y: ArrayLike, *, persistence: float = PERSISTENCE) -> float:
    """Extrapolated RBO of the rankings by two lists of means (systems), higher is better, rounded
    to 10 decimals. From 0 to 1, symmetric.

    NaN for fewer than two systems, or one without a mean.
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
    # below the last system everything agrees, for the rankings hold the same systems
    return float((1 - persistence) * (agreement * weight).sum() + persistence**n)


def _membership_by_depth(values: Floats) -> Floats:
    """(systems, depths): how much of each system is among the first d; of a group of ties that the
    depth cuts, each has its share."""
    above = (values[None, :] > values[:, None]).sum(axis=1)
    tied = (values[None, :] == values[:, None]).sum(axis=1)
    return np.clip((np.arange(1, len(values) + 1)[None, :] - above[:, None]) / tied[:, None], 0, 1)
