"""Unweighted agreement of any number of raters: Fleiss' kappa and percent agreement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def fleiss_kappa(counts: NDArray[np.integer]) -> float:
    """Return Fleiss' kappa of counts (n_pairs, n_grades), each pair with the same number of
    judgements, at least two.

    Fleiss (1971), "Measuring nominal scale agreement among many raters". NaN if undefined: pairs
    with different numbers of judgements or fewer than two, no pairs, or only one grade.
    """
    n = counts.sum(axis=1)
    if not len(n) or n[0] < 2 or (n != n[0]).any() or np.count_nonzero(counts.sum(axis=0)) < 2:
        return float("nan")
    by_chance = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return float((percent_agreement(counts) - by_chance) / (1 - by_chance))


def percent_agreement(counts: NDArray[np.integer]) -> float:
    """Return the share of equal grades among all two judgements of one pair, NaN if there are none.

    counts: (n_pairs, n_grades).
    """
    n = counts.sum(axis=1)
    possible = (n * (n - 1)).sum()
    return float((counts * (counts - 1)).sum() / possible) if possible else float("nan")
