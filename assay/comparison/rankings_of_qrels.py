"""Compare the rankings of the same systems under several qrels, for each pair of qrels (Althammer
et al. 2022, Table 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.rank_biased_overlap import rank_biased_overlap
from assay.comparison.rankings import (
    count_tied_pairs,
    list_swapped_pairs,
    tau_a,
    tau_ap,
    tau_ap_variant,
    tau_b,
)
from assay.comparison.tau_intervals import compute_tau_intervals, list_undecided_pairs
from assay.labels.intervals import Interval, interval_if_containing
from assay.measures.evaluation import Evaluation

PAIR_KEYS = (
    "tau",
    "tau_a",
    "tau_ap",
    "tau_ap_variant",
    "rbo",
    "interval",
    "interval_reason",
    "undecided",
    "swaps",
)


@dataclass(frozen=True, eq=False)
class QrelsRankings:
    """Scores of systems under one qrels.

    values: float64 (n_topics, systems, measures), NaN if the topic does not count for the system.
    means: (systems, measures).
    """

    tags: list[str]
    measures: list[str]
    topics: list[str]
    values: NDArray[np.float64]
    means: NDArray[np.float64]

    @classmethod
    def from_evaluations(cls, evaluations: Sequence[Evaluation]) -> QrelsRankings:
        """Create from evaluations of several runs under one qrels, with the same measures."""
        first = evaluations[0]
        values = np.stack([evaluation.values for evaluation in evaluations], axis=1)
        means = np.stack([evaluation.means() for evaluation in evaluations])
        return cls(
            [e.tag for e in evaluations],
            [str(m) for m in first.measures],
            first.topics,
            values,
            means,
        )


def compare_rankings(
    rankings: Mapping[str, QrelsRankings], *, seed: int, n_samples: int = 1000
) -> dict[str, Any]:
    """Compare every pair of qrels. Returns {key of OF_PAIRS: {measure: {A: {B: ...}}}, "tied":
    {measure: {A: n}}, "topics": {A: {B: shared}}, "undefined": {measure: {A: {B: reason}}}}.

    tau_ap has A as its reference. Intervals are those of tau-b over the topics that both qrels
    have, or NaN with a reason. "undecided": pairs of systems whose order these topics leave
    undecided under A, B or both.
    """
    names = list(rankings)
    first = rankings[names[0]]
    measures, tags = first.measures, first.tags
    compared, shared = _compare_over_shared_topics(rankings, seed, n_samples)
    result: dict[str, Any] = {
        key: {m: {a: {} for a in names} for m in measures} for key in PAIR_KEYS
    }
    result["tied"] = {
        m: {a: count_tied_pairs(rankings[a].means[:, i]) for a in names}
        for i, m in enumerate(measures)
    }
    result["topics"] = {a: {b: shared[a, b] for b in names if b != a} for a in names}
    undefined: dict[str, Any] = {}
    for i, measure in enumerate(measures):
        for a, b in permutations(names, 2):
            x, y = rankings[a].means[:, i], rankings[b].means[:, i]
            result["tau"][measure][a][b] = tau_b(x, y)
            result["tau_a"][measure][a][b] = tau_a(x, y)
            result["tau_ap"][measure][a][b] = tau_ap(x, y)
            result["tau_ap_variant"][measure][a][b] = tau_ap_variant(x, y)
            result["rbo"][measure][a][b] = rank_biased_overlap(x, y)
            shown = compared[a, b][i]
            interval = interval_if_containing(shown.interval, result["tau"][measure][a][b])
            result["interval"][measure][a][b] = interval.bounds
            result["interval_reason"][measure][a][b] = interval.reason
            result["undecided"][measure][a][b] = [list(pair) for pair in shown.undecided]
            result["swaps"][measure][a][b] = [list(pair) for pair in list_swapped_pairs(x, y, tags)]
            if math.isnan(result["tau"][measure][a][b]):
                undefined.setdefault(measure, {}).setdefault(a, {})[b] = _undefined_reason(
                    x, y, a, b
                )
    if undefined:
        result["undefined"] = undefined
    return result


class _RankingComparison(NamedTuple):
    interval: Interval
    undecided: list[tuple[str, str]]


def _compare_over_shared_topics(
    rankings: Mapping[str, QrelsRankings], seed: int, n_samples: int
) -> tuple[dict[tuple[str, str], list[_RankingComparison]], dict[tuple[str, str], int]]:
    """Return {(A, B): comparison over the shared topics for each measure} and {(A, B): number of
    shared topics}, for both orders.

    Each pair starts from the seed, so that an interval does not depend on names, their order or
    other comparisons.
    """
    compared, n_shared = {}, {}
    for a, b in combinations(sorted(rankings), 2):
        places_a = {topic: i for i, topic in enumerate(rankings[a].topics)}
        places_b = {topic: i for i, topic in enumerate(rankings[b].topics)}
        common = sorted(places_a.keys() & places_b.keys(), key=str.encode)
        values_a = rankings[a].values[[places_a[topic] for topic in common]]
        values_b = rankings[b].values[[places_b[topic] for topic in common]]
        tags = rankings[a].tags
        compared[a, b] = compared[b, a] = [
            _RankingComparison(
                interval, list_undecided_pairs(values_a[:, :, m], values_b[:, :, m], tags)
            )
            for m, interval in enumerate(
                compute_tau_intervals(
                    values_a, values_b, rng=np.random.default_rng(seed), n_samples=n_samples
                )
            )
        ]
        n_shared[a, b] = n_shared[b, a] = len(common)
    return compared, n_shared


def _undefined_reason(x: NDArray[np.float64], y: NDArray[np.float64], a: str, b: str) -> str:
    if len(x) < 2:
        return "there is only one system to rank"
    for means, name in ((x, a), (y, b)):
        if np.isnan(means).any():
            return f"a system has no mean under {name}: none of its topics counts"
    tied = [
        name
        for means, name in ((x, a), (y, b))
        if count_tied_pairs(means) == len(means) * (len(means) - 1) // 2
    ]
    return f"all systems are tied under {' and '.join(tied)}"
