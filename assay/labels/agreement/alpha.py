"""Krippendorff's alpha, computed by the krippendorff library, and its confidence interval."""

from __future__ import annotations

from typing import Literal, NamedTuple

import krippendorff
import numpy as np
from numpy.typing import NDArray

from assay.labels.intervals import Interval, agreement_interval, no_interval
from assay.labels.labels import LabelTable

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


def krippendorff_alpha(counts: NDArray[np.integer], *, level: Level) -> float:
    """Return alpha of the annotator x pair matrix with missing values, given as counts (n_pairs,
    n_grades).

    Krippendorff (2011), "Computing Krippendorff's alpha-reliability". Pairs with one judgement have
    no effect. NaN if undefined: no pair with two judgements, or only one grade among such pairs.
    """
    pairable = counts[counts.sum(axis=1) > 1]
    if np.count_nonzero(pairable.sum(axis=0)) < 2:
        return float("nan")
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement=level))


def alpha_interval(
    counts: NDArray[np.integer], *, level: Level, topic: NDArray[np.integer] | None = None
) -> Interval:
    """Return the 95% confidence interval of alpha, or the reason why there is none
    (`assay/labels/intervals.py`).

    topic: (n_pairs), of each row of counts, or None without topics. Pairs of one topic are not
    independent, so topics are the sampling units, and pairs only if all belong to one topic.
    """
    twice = counts.sum(axis=1) > 1
    if not twice.any():
        return no_interval("no pair has two judgements")
    pairable = counts[twice]
    topics = (
        np.zeros(len(pairable), dtype=np.int64)
        if topic is None
        else np.unique(topic[twice], return_inverse=True)[1]
    )
    if topics.max() > 0:
        units = np.zeros((int(topics.max()) + 1, counts.shape[1], counts.shape[1]))
        np.add.at(units, topics, _coincidence_matrices(pairable))
        times, unit = np.ones(len(units), dtype=np.int64), "topics"
    else:
        distinct, times = np.unique(pairable, axis=0, return_counts=True)
        units, unit = _coincidence_matrices(distinct), "pairs"
    return agreement_interval(
        units, times, lambda joint: alpha_of_coincidences(joint, level=level), unit=unit
    )


def _coincidence_matrices(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return (n, n_grades, n_grades), the coincidence matrix of each row of counts (n, n_grades),
    each with at least two judgements."""
    ordered_pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(
        counts.shape[1]
    )
    return ordered_pairs / (counts.sum(axis=1) - 1)[:, None, None]


def alpha_of_coincidences(
    coincidences: NDArray[np.float64], *, level: Level
) -> NDArray[np.float64]:
    """Return (n), alpha of each coincidence matrix (n, n_grades, n_grades), NaN if undefined."""
    marginals = coincidences.sum(axis=1)
    n = marginals.sum(axis=1)
    distance = _squared_distances(marginals, level)
    observed = (coincidences * distance).sum(axis=(1, 2)) * (n - 1)
    expected = np.einsum("ni,nij,nj->n", marginals, distance, marginals)
    defined = (np.count_nonzero(marginals > 0, axis=1) > 1) & (expected > 0)
    return np.where(defined, 1 - observed / np.where(defined, expected, 1), np.nan)


def _squared_distances(marginals: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """Return squared distances (n, n_grades, n_grades) for marginals (n, n_grades): of mid-ranks
    (ordinal), of the grades (interval), or of the grades divided by their sum (ratio)."""
    n_grades = marginals.shape[1]
    if level != "ordinal":
        grades = np.arange(n_grades, dtype=np.float64)
        distance = (
            1 - np.eye(n_grades)
            if level == "nominal"
            else np.abs(grades[:, None] - grades[None, :])
        )
        if level == "ratio":
            distance /= np.maximum(grades[:, None] + grades[None, :], 1)
        return np.broadcast_to(distance**2, (len(marginals), n_grades, n_grades))
    middles = marginals.cumsum(axis=1) - marginals / 2
    return (middles[:, :, None] - middles[:, None, :]) ** 2


class SubsetAlpha(NamedTuple):
    alpha: float
    interval: Interval
    n_pairs: int
    """Pairs of the subset with at least two judgements."""
    n_judgements: int
    """Number of their judgements."""


def alpha_by_group(
    table: LabelTable, group: NDArray[np.integer], *, level: Level
) -> dict[int, SubsetAlpha]:
    """Return alpha of each group of pairs, for example by topic, document length, guideline version
    or day.

    group: (n_pairs), negative for pairs without a group.
    """
    result = {}
    order = np.argsort(group, kind="stable")
    groups, starts = np.unique(group[order], return_index=True)
    for g, members in zip(groups.tolist(), np.split(order, starts[1:]), strict=False):
        # split returns one part for an empty array
        if g < 0:
            continue
        counts = table.counts[members]
        pairable = counts[counts.sum(axis=1) > 1]
        interval = alpha_interval(counts, level=level, topic=table.pair_topic[members])
        result[g] = SubsetAlpha(
            krippendorff_alpha(counts, level=level), interval, len(pairable), int(pairable.sum())
        )
    return result
