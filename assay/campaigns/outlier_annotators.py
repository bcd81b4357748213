"""Who agrees with the others clearly less than honest annotators of the same campaign do?

Honest annotators differ, too, and in a campaign of low kappa many of their intervals hold 0: a
fixed bound accuses 19 to 54 % of them. So each is set against the campaign's own annotators, with
the chance of their numbers of pairs, and with all that are looked at taken into account."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.labels.agreement.annotators import AnnotatorKappa
from assay.labels.intervals import MAX_COEFFICIENT

MIN_ANNOTATORS = 4
"""With an interval of kappa: of fewer nobody can say what is usual."""
FALSE_DISCOVERY_RATE = 0.05


def find_outliers(people: Sequence[AnnotatorKappa]) -> dict[str, bool]:
    """By name, whether a person's kappa is below the usual one (ours; Benjamini and Hochberg 1995,
    false discovery rate 5 %).

    On Fisher's z: the distance from the median of the others over √(own error² + spread of
    people²), one-sided normal. The spread is that of the middle (median absolute deviation), less
    what the errors explain, so that a few careless people do not hide themselves. The own error is
    that over pairs (`over_pairs`). Where pairs come by topic it is too small, but the spread then
    is as much larger: honest people were accused in at most 2 % of simulations with 5 or 10 topics
    and strong effects of topics. People without that interval are not looked at."""
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
    """(n) of each value the median of all others; at least two. Sorted once: without the value of
    rank r, those above it move down by one."""
    n, order = len(values), np.argsort(values, kind="stable")
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    low, high = (n - 2) // 2, (n - 1) // 2
    ascending = values[order]
    return (ascending[low + (rank <= low)] + ascending[high + (rank <= high)]) / 2


def benjamini_hochberg(
    p: NDArray[np.float64], rate: float = FALSE_DISCOVERY_RATE
) -> NDArray[np.bool_]:
    """Which hypotheses fall by the step-up procedure of Benjamini and Hochberg (1995)."""
    order = np.argsort(p, kind="stable")
    under = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order[: under[-1] + 1 if len(under) else 0]] = True
    return rejected
