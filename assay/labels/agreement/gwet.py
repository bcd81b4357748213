"""Gwet's AC1, a chance-corrected agreement that, unlike kappa, does not decrease only because one
grade is much more frequent than the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ac1(counts: NDArray[np.integer]) -> float:
    """Return AC1 of counts (n_pairs, n_grades), with any number of judgements per pair, over all
    grades of the scale.

    Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement": agreement is the mean over pairs with at least two judgements, chance is Σ π (1 - π)
    / (grades - 1) with π the mean share of a grade over all judged pairs. NaN without a pair with
    two judgements, and on a scale with one grade.
    """
    n = counts.sum(axis=1)
    twice = n > 1
    n_grades = counts.shape[1]
    if not twice.any() or n_grades < 2:
        return float("nan")
    agreed = (counts[twice] * (counts[twice] - 1)).sum(axis=1) / (n[twice] * (n[twice] - 1))
    share = (counts[n > 0] / n[n > 0, None]).mean(axis=0)
    by_chance = float((share * (1 - share)).sum()) / (n_grades - 1)
    return (float(agreed.mean()) - by_chance) / (1 - by_chance)
