"""Show the effect of deeper and shallower pools: evaluate runs under qrels cut to the pools of
these runs (Assay-specific).

    evaluate_cut_pools(qrels, runs, measures, depths)   the pool of each depth: its size, and every score
                                                        under its part of the qrels

Documents outside the pool of a depth count as unjudged. Pools deeper than the judged one cannot be
evaluated, because documents below the greatest depth and documents without judgement are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.measures.evaluation import Evaluator, RecallBase, measure_topics
from assay.measures.measures import Measure
from assay.measures.packing import PackedRun

UNRANKED = np.iinfo(np.int64).max
"""Best rank of a document that no run retrieves."""


@dataclass(frozen=True, eq=False)
class CutPool:
    """The pool of the runs' first `depth` documents, with its cost and the scores under its
    judgements.

    pairs: int64 (n_topics), its number of documents per topic of the qrels. judged: int64
    (n_topics), those with a grade. values: float64 (n_runs, n_topics, n_measures), scores under
    these grades, 0 if the run does not have the topic.
    """

    depth: int
    pairs: NDArray[np.int64]
    judged: NDArray[np.int64]
    values: NDArray[np.float64]


def compute_best_ranks(packed: Sequence[PackedRun], n_rows: int) -> NDArray[np.int64]:
    """Return int64 (n_rows), the best rank at which a run has the document of each qrels row, or
    UNRANKED."""
    best = np.full(n_rows, UNRANKED)
    for run in packed:
        np.minimum.at(best, run.row, run.rank)
    return best


def count_pool_sizes(
    runs: Sequence[RunColumns], topics: Sequence[str], depths: Sequence[int]
) -> NDArray[np.int64]:
    """Return int64 (n_depths, n_topics), the number of documents of each topic that any run has
    down to each depth, judged or not."""
    sizes = np.zeros((len(depths), len(topics)), np.int64)
    places = [{topic: number for number, topic in enumerate(run.topics)} for run in runs]
    for number, topic in enumerate(topics):
        tops = [
            run.documents[run.rows(place[topic])][: max(depths)]
            for run, place in zip(runs, places, strict=True)
            if topic in place
        ]
        if not tops:
            continue
        documents, ranks = (
            np.concatenate(tops),
            np.concatenate([np.arange(1, len(top) + 1) for top in tops]),
        )
        _, document = np.unique(documents, return_inverse=True)
        best = np.full(document.max(initial=-1) + 1, UNRANKED)
        np.minimum.at(best, document, ranks)
        sizes[:, number] = [np.count_nonzero(best <= depth) for depth in depths]
    return sizes


def evaluate_cut_pools(
    qrels: QrelsColumns,
    runs: Sequence[RunColumns],
    measures: Sequence[Measure],
    depths: Sequence[int],
    *,
    min_relevant: int = 1,
) -> list[CutPool]:
    """Return the pools of these runs, one per depth, in the given order. Raises ValueError for a
    depth below 1 and for measures for which a grade of -1 means "not sampled"."""
    if min(depths) < 1:
        raise ValueError("the depth of a pool must be at least 1")
    if inferred := [str(measure) for measure in measures if measure.family == "infAP"]:
        raise ValueError(
            f"{', '.join(inferred)} counts unjudged documents as not drawn, so it cannot be computed for a shallower pool"
        )
    evaluator = Evaluator(qrels, measures, min_relevant=min_relevant)
    packed = [evaluator.pack(run) for run in runs]
    best = compute_best_ranks(packed, len(qrels.grades))
    cuts = []
    for depth, pairs in zip(depths, count_pool_sizes(runs, qrels.topics, depths), strict=True):
        grades = np.where(best <= depth, qrels.grades, -1).astype(qrels.grades.dtype)
        base = RecallBase(qrels.offsets, grades)
        values = np.stack(
            [measure_topics(run, base, measures, min_relevant=min_relevant) for run in packed]
        )
        cuts.append(CutPool(depth, pairs, base.n_judged, values))
    return cuts
