"""Estimate whether qrels judge a system fairly that did not contribute to the pool, and how deep
the pool had to be.

    make_chunks, run_chunk    mean scores of all runs under some of the reduced qrels
    combine_results           chunks and scores -> Reusability
    to_json                   field names of the command's JSON output

Leave one out (Zobel 1998; Voorhees 2018): pairs that only one run, or only the runs of one group,
contributed to the pool of depth k are dropped from the qrels. Judged pairs outside that pool stay.
Depth: the qrels of the pool of depth d alone, for each d up to k. Scores and ranks are compared
with those under the full qrels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.comparison.rankings import tau_b_batch
from assay.comparison.significance import rank_values
from assay.measures.batch import PackedCollection, compute_mean_scores, evaluate_subcollections
from assay.measures.measures import Measure
from assay.measures.on_subcollections import Flags

CHUNK_COLUMNS = 32
"""Number of reduced qrels that are evaluated together."""


@dataclass(frozen=True)
class ReusabilityRequest:
    """Settings of a reusability analysis. depth: k of the pool. groups: the group of each run, in
    the collection's order, or None if each run is its own group. min_relevant: minimum relevant
    grade. missing_topics: "zero" or "skip"."""

    measures: tuple[Measure, ...]
    depth: int = 10
    groups: tuple[str, ...] | None = None
    min_relevant: int = 1
    missing_topics: str = "zero"

    def units(self, collection: PackedCollection) -> list[str]:
        """Return the units to leave out in turn: runs, or groups in the order of their first
        runs."""
        return list(dict.fromkeys(collection.tags if self.groups is None else self.groups))


@dataclass(frozen=True, eq=False)
class LeftOutRuns:
    """Effect of leaving out one run or group. n_pairs: rows dropped from the qrels. tau: float64
    (n_measures). score_change, rank_change: float64 (n_measures, n_runs), new minus old. Rank 1 is
    the best, and tied runs share the mean rank."""

    unit: str
    n_pairs: int
    tau: NDArray[np.float64]
    score_change: NDArray[np.float64]
    rank_change: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShallowPoolResult:
    """Scores and ranks under the qrels of a shallower pool, compared with those under the full
    qrels. n_pairs: its judged pairs, which is its cost. tau, mean_abs_change: float64
    (n_measures)."""

    depth: int
    n_pairs: int
    tau: NDArray[np.float64]
    mean_abs_change: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reusability:
    measures: tuple[Measure, ...]
    tags: list[str]
    leave_out: list[LeftOutRuns]
    depths: list[ShallowPoolResult]


def compute_pool_ranks(collection: PackedCollection, depth: int) -> NDArray[np.int64]:
    """Return int64 (n_assessments, n_runs), the rank from 1 at which each run contributed each
    assessed pair to the pool, or depth + 1 if it did not."""
    ranks = np.full((len(collection.grades), len(collection.tags)), depth + 1, np.int64)
    for number, topic in enumerate(collection.packed):
        first = collection.rows(number).start
        for run in range(len(collection.tags)):
            top = topic.retrieved[: min(depth, int(topic.lengths[run])), run]
            row = np.minimum(np.searchsorted(topic.documents, top), len(topic.documents) - 1)
            place = np.flatnonzero(topic.documents[row] == top)
            ranks[first + row[place], run] = place + 1
    return ranks


def make_reduced_qrels(collection: PackedCollection, request: ReusabilityRequest) -> Flags:
    """Return uint8 0/1 (n_assessments, 1 + n_units + depth), the rows of the qrels that stay in
    each reduced qrels. Columns: the full qrels, each unit left out, each depth from 1."""
    ranks = compute_pool_ranks(collection, request.depth)
    units = request.units(collection)
    unit_of_run = np.array([units.index(name) for name in (request.groups or collection.tags)])
    contributed = np.stack(
        [
            (ranks[:, unit_of_run == unit] <= request.depth).any(axis=1)
            for unit in range(len(units))
        ],
        axis=1,
    )
    alone = contributed & (contributed.sum(axis=1) == 1)[:, None]
    pooled = ranks.min(axis=1)[:, None] <= np.arange(1, request.depth + 1)
    return np.concatenate([np.ones((len(ranks), 1), np.uint8), ~alone, pooled], axis=1).astype(
        np.uint8
    )


def make_chunks(collection: PackedCollection, request: ReusabilityRequest) -> list[tuple[int, int]]:
    """Return ranges of columns of the reduced qrels, one per piece of work."""
    n_columns = 1 + len(request.units(collection)) + request.depth
    return [
        (start, min(start + CHUNK_COLUMNS, n_columns))
        for start in range(0, n_columns, CHUNK_COLUMNS)
    ]


def run_chunk(
    collection: PackedCollection, request: ReusabilityRequest, chunk: tuple[int, int]
) -> NDArray[np.float64]:
    """Return float64 (n_measures, n_runs, n_columns of the chunk), the mean scores under these
    reduced qrels."""
    assessed = make_reduced_qrels(collection, request)[:, slice(*chunk)]
    return compute_mean_scores(
        collection,
        evaluate_subcollections(
            collection, request.measures, assessed=assessed, min_relevant=request.min_relevant
        ),
        missing_topics=request.missing_topics,
    )


def combine_results(
    collection: PackedCollection,
    request: ReusabilityRequest,
    pieces: Sequence[tuple[int, int]],
    results: Sequence[NDArray[np.float64]],
) -> Reusability:
    """Return the analysis from the results of `run_chunk` for each piece, in the order of `pieces`.
    None counts as NaN."""
    assert [piece[0] for piece in pieces] == sorted(piece[0] for piece in pieces)
    means = np.concatenate([np.asarray(result, dtype=np.float64) for result in results], axis=2)
    kept = make_reduced_qrels(collection, request)
    n_kept = kept.sum(axis=0, dtype=np.int64)
    change = means - means[:, :, :1]
    rounded = np.round(means, 10)
    rank = np.moveaxis(rank_values(np.moveaxis(rounded, 1, -1)), -1, 1)
    rank_change = rank - rank[:, :, :1]
    # measures x columns
    tau = np.array([tau_b_batch(np.broadcast_to(of[:, 0], of.T.shape), of.T) for of in rounded])
    units = request.units(collection)
    leave_out = [
        LeftOutRuns(
            unit, int(n_kept[0] - n_kept[c]), tau[:, c], change[:, :, c], rank_change[:, :, c]
        )
        for c, unit in enumerate(units, start=1)
    ]
    depths = [
        ShallowPoolResult(depth, int(n_kept[c]), tau[:, c], np.abs(change[:, :, c]).mean(axis=1))
        for depth, c in enumerate(range(1 + len(units), means.shape[2]), start=1)
    ]
    return Reusability(request.measures, collection.tags, leave_out, depths)


def find_largest_change(changes: Iterable[float | None]) -> float | None:
    """Return the defined change with the largest absolute value (the increase if two are equal), or
    None if none is defined."""
    known = [change for change in changes if change is not None and not math.isnan(change)]
    return max(known, key=lambda change: (abs(change), change)) if known else None


def to_json(result: Reusability) -> dict[str, Any]:
    """Return the result as lists and numbers under the names of the command's JSON output. NaN is
    kept."""
    names = [str(measure) for measure in result.measures]

    def by_measure(values: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(names, values.tolist(), strict=True))

    return {
        "leave_out": {
            left.unit: {
                "pairs": left.n_pairs,
                "tau": by_measure(left.tau),
                "runs": {
                    tag: {
                        "score_change": by_measure(left.score_change[:, r]),
                        "rank_change": by_measure(left.rank_change[:, r]),
                    }
                    for r, tag in enumerate(result.tags)
                },
            }
            for left in result.leave_out
        },
        "depth": {
            str(at.depth): {
                "pairs": at.n_pairs,
                "tau": by_measure(at.tau),
                "mean_abs_change": by_measure(at.mean_abs_change),
            }
            for at in result.depths
        },
    }
