"""Find annotators who agree with the others clearly less than honest annotators of the same
campaign.

A fixed threshold does not work: honest annotators differ as well, and in campaigns with low kappa
many of their intervals contain 0, so it would flag 19% to 54% of them. Each annotator is therefore
compared with the campaign's other annotators, with the sampling error of their kappas and a
correction for the number of annotators compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.labels.agreement.annotators import AnnotatorKappa
from assay.labels.intervals import MAX_COEFFICIENT

MIN_ANNOTATORS = 4
"""Minimum number of annotators with an interval of kappa. With fewer, the usual kappa is unknown.
"""
FALSE_DISCOVERY_RATE = 0.05


def find_outliers(people: Sequence[AnnotatorKappa]) -> dict[str, bool]:
    """Return by name whether a person's kappa is clearly lower than the others' (Assay-specific,
    with the procedure of Benjamini and Hochberg 1995 at a false discovery rate of 5%).

    On the scale of Fisher's z, the distance from the median of the others is divided by √(own
    error² + spread of people²) and tested one-sided with the normal distribution. The spread is
    based on the median absolute deviation, minus the part that errors explain, so that a few
    careless annotators do not mask themselves. The own error is that over pairs. It is too small if
    pairs are assigned by topic, but then the spread is larger by as much: in simulations with 5 or
    10 topics and strong topic effects, at most 2% of honest people were flagged. People without an
    interval over pairs are ignored.
    """
    looked_at = [person for person in people if not person.over_pairs.reason]
    result = {person.name: False for person in people}
    if len(looked_at) < MIN_ANNOTATORS:
        return result
    kappa = np.array([person.kappa for person in looked_at])
    z = np.arctanh(np.clip(kappa, -MAX_COEFFICIENT, MAX_COEFFICIENT))
    bounds = np.arctanh(
        np.clip(
            [person.over_pairs.bounds for person in looked_at], -MAX_COEFFICIENT, MAX_COEFFICIENT
        )
    )
    error = (bounds[:, 1] - bounds[:, 0]) / (
        2 * scipy.special.stdtrit(np.array([person.n for person in looked_at]) - 1, 0.975)
    )
    spread = (1.4826 * np.median(np.abs(z - np.median(z)))) ** 2 - np.median(error) ** 2
    p = scipy.special.ndtr((z - medians_of_others(z)) / np.sqrt(error**2 + max(spread, 0.0)))
    for person, is_below in zip(looked_at, benjamini_hochberg(p), strict=True):
        result[person.name] = bool(is_below)
    return result


def medians_of_others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n), for each value the median of all others. There must be at least two values.

    Values are sorted once: without the value of rank r, those above it move down by one.
    """
    n, order = len(values), np.argsort(values, kind="stable")
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    low, high = (n - 2) // 2, (n - 1) // 2
    ascending = values[order]
    return (ascending[low + (rank <= low)] + ascending[high + (rank <= high)]) / 2


def benjamini_hochberg(
    p: NDArray[np.float64], rate: float = FALSE_DISCOVERY_RATE
) -> NDArray[np.bool_]:
    """Return which hypotheses are rejected by the step-up procedure of Benjamini and Hochberg
    (1995)."""
    order = np.argsort(p, kind="stable")
    under = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order[: under[-1] + 1 if len(under) else 0]] = True
    return rejected
