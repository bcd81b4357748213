"""Krippendorff's alpha, by the krippendorff library, and its bootstrap over pairs."""

from __future__ import annotations

from typing import Literal, NamedTuple

import krippendorff
import numpy as np
from numpy.typing import NDArray

from analysis.core.labels import LabelTable

Level = Literal["nominal", "ordinal"]


class Interval(NamedTuple):
    low: float
    high: float


def krippendorff_alpha(counts: NDArray[np.integer], *, level: Level) -> float:
    """Alpha of the annotator x pair matrix with missing values, given as counts (n_pairs, n_grades).

    Krippendorff (2011), "Computing Krippendorff's alpha-reliability". Pairs with one judgement carry nothing. NaN where it is
    undefined: no pair with two judgements, or one grade only among those that have.
    """
    pairable = counts[counts.sum(axis=1) > 1]
    if np.count_nonzero(pairable.sum(axis=0)) < 2:
        return float("nan")
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement=level))


def alpha_interval(
    counts: NDArray[np.integer], *, level: Level, rng: np.random.Generator, samples: int = 1000, coverage: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of alpha over pairs, drawn with replacement from those with at least two judgements.

    Pairs with the same counts are the same for alpha, so a sample of pairs is a multinomial draw over the distinct rows
    of counts: exact, and quick however many pairs there are. Samples in which alpha is undefined are left out; (NaN, NaN) if
    it is in all.
    """
    pairable = counts[counts.sum(axis=1) > 1]
    if not len(pairable) or samples < 1:
        return Interval(float("nan"), float("nan"))
    distinct, times = np.unique(pairable, axis=0, return_counts=True)
    draws = rng.multinomial(len(pairable), times / len(pairable), size=samples)
    g = counts.shape[1]
    coincidences = (draws @ _coincidences(distinct).reshape(len(distinct), g * g)).reshape(samples, g, g)
    return percentile_interval(alpha_of_coincidences(coincidences, level=level), coverage)


def percentile_interval(values: NDArray[np.float64], coverage: float = 0.95) -> Interval:
    """Percentiles of the defined values; (NaN, NaN) if there is none."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Interval(float("nan"), float("nan"))
    outside = (1 - coverage) / 2
    low, high = np.quantile(defined, [outside, 1 - outside])
    return Interval(float(low), float(high))


def _coincidences(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """The coincidence matrix of each row of counts (n, n_grades), each with at least two judgements: (n, n_grades, n_grades)."""
    ordered_pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    return ordered_pairs / (counts.sum(axis=1) - 1)[:, None, None]


def alpha_of_coincidences(coincidences: NDArray[np.float64], *, level: Level) -> NDArray[np.float64]:
    """Alpha of each coincidence matrix: (n, n_grades, n_grades) -> (n); NaN where undefined."""
    marginals = coincidences.sum(axis=1)
    n = marginals.sum(axis=1)
    distance = _squared_distances(marginals, level)
    observed = (coincidences * distance).sum(axis=(1, 2)) * (n - 1)
    expected = np.einsum("ni,nij,nj->n", marginals, distance, marginals)
    defined = (np.count_nonzero(marginals > 0, axis=1) > 1) & (expected > 0)
    return np.where(defined, 1 - observed / np.where(defined, expected, 1), np.nan)


def _squared_distances(marginals: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """(n, n_grades) -> (n, n_grades, n_grades). Ordinal: the square of the difference of mid-ranks."""
    n_grades = marginals.shape[1]
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(n_grades), (len(marginals), n_grades, n_grades))
    middles = marginals.cumsum(axis=1) - marginals / 2
    return (middles[:, :, None] - middles[:, None, :]) ** 2


class SubsetAlpha(NamedTuple):
    alpha: float
    interval: Interval
    n_pairs: int
    """Pairs of the subset with at least two judgements."""
    n_judgements: int
    """Their judgements."""


def alpha_by_group(
    table: LabelTable, group: NDArray[np.integer], *, level: Level, rng: np.random.Generator, samples: int = 1000
) -> dict[int, SubsetAlpha]:
    """Alpha of each group of pairs: by topic, document length, guideline version, day.

    group: (n_pairs), negative: in none.
    """
    result = {}
    order = np.argsort(group, kind="stable")
    groups, starts = np.unique(group[order], return_index=True)
    for g, members in zip(groups.tolist(), np.split(order, starts[1:]), strict=False):  # of nothing, split makes one part
        if g < 0:
            continue
        counts = table.counts[members]
        pairable = counts[counts.sum(axis=1) > 1]
        interval = alpha_interval(counts, level=level, rng=rng, samples=samples)
        result[g] = SubsetAlpha(krippendorff_alpha(counts, level=level), interval, len(pairable), int(pairable.sum()))
    return result
