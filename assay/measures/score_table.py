"""Per-topic scores of several runs as one array for resampling."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from assay.measures.evaluation import Evaluation, Floats


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of several runs by one measure on common topics. scores: float64 (n_runs, n_topics),
    without NaN. topics: sorted by ID, so that the order of files does not change samples.
    n_left_out: topics of the qrels that do not count for all runs, or were not requested."""

    tags: list[str]
    topics: list[str]
    scores: Floats
    n_left_out: int


def make_score_table(
    evaluations: Sequence[Evaluation], measure: int = 0, *, only: Collection[str] | None = None
) -> ScoreTable:
    """Return one measure of runs under the same qrels, on the topics that count for every run and,
    if given, are in `only`."""
    values = np.array([evaluation.values[:, measure] for evaluation in evaluations])
    topics = evaluations[0].topics
    counts = ~np.isnan(values).any(axis=0)
    order = [
        i
        for i in sorted(range(len(topics)), key=topics.__getitem__)
        if counts[i] and (only is None or topics[i] in only)
    ]
    return ScoreTable(
        tags=[evaluation.tag for evaluation in evaluations],
        topics=[topics[i] for i in order],
        scores=values[:, order],
        n_left_out=len(topics) - len(order),
    )
