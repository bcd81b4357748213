"""Compute how added labels change the scores, ranks and unjudged documents of systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.unjudged_documents import read_topic_tops
from assay.measures.evaluation import Evaluator
from assay.measures.measures import Measure


@dataclass(frozen=True)
class SystemChange:
    """One system before and after labels were added.

    scores: means (before, after) by measure, NaN without topics. ranks: places (before, after) by
    measure among all systems; equal scores share the best place, None if the score is NaN.
    unjudged: documents (before, after) without a label down to the cutoff, over all topics.
    """

    tag: str
    scores: dict[str, tuple[float, float]]
    ranks: dict[str, tuple[int | None, int | None]]
    unjudged: tuple[int, int]


def compare_added_labels(
    runs: Iterable[RunColumns],
    before: QrelsColumns,
    after: QrelsColumns,
    measures: Sequence[Measure],
    *,
    min_relevant: int,
    cutoff: int,
) -> list[SystemChange]:
    """Compare the systems under two qrels of the same topics, in the order of the runs.

    min_relevant: minimum relevant grade. Unjudged documents count as not relevant.
    """
    tags: list[str] = []
    means: list[tuple[list[float], list[float]]] = []
    unjudged: list[tuple[int, int]] = []
    first, second = (
        Evaluator(qrels, measures, min_relevant=min_relevant) for qrels in (before, after)
    )
    for run in runs:
        tags.append(run.tag)
        means.append((first.evaluate(run).means().tolist(), second.evaluate(run).means().tolist()))
        unjudged.append(
            (count_unjudged(run, before, cutoff=cutoff), count_unjudged(run, after, cutoff=cutoff))
        )
    names = [str(measure) for measure in measures]
    ranks = [
        [rank_scores([pair[side][m] for pair in means]) for side in range(2)]
        for m in range(len(names))
    ]
    return [
        SystemChange(
            tag,
            {name: (means[i][0][m], means[i][1][m]) for m, name in enumerate(names)},
            {name: (ranks[m][0][i], ranks[m][1][i]) for m, name in enumerate(names)},
            unjudged[i],
        )
        for i, tag in enumerate(tags)
    ]


def count_unjudged(run: RunColumns, qrels: QrelsColumns, *, cutoff: int) -> int:
    """Return the number of unjudged documents down to the cutoff over the topics of the qrels."""
    tops = read_topic_tops(run, qrels, cutoff)
    return sum(rank <= cutoff for top in tops for rank in top.unjudged)


def rank_scores(scores: Sequence[float]) -> list[int | None]:
    """Return the place of each score from 1, the highest first. Scores that are equal to ten digits
    share the best place. NaN has None."""
    places = rankdata(-np.round(scores, 10), method="min", nan_policy="omit")
    return [None if math.isnan(place) else int(place) for place in places.tolist()]
