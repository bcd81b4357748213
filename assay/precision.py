"""Runs with single-precision scores, and runs whose order differs from that of their scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.column_types import RunColumns
from assay.ranking import ids_to_words, trec_order


def to_single_precision(run: RunColumns) -> RunColumns:
    """Round scores to single precision and reorder the run, as the reader does with
    scores="float32" and as trec_eval 9 and pytrec_eval do."""
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32).astype(np.float64)
    order = trec_order(scores, ids_to_words(run.documents), run.offsets)
    if order is None:
        return replace(run, scores=scores)
    return replace(
        run, documents=run.documents[order], scores=scores[order], ranks=run.ranks[order]
    )


def rescore_by_order(run: RunColumns) -> RunColumns:
    """Return the run with scores that agree with its order, so that a file of it is read as the
    same rankings in both precisions.

    The scores are the run's own if they agree. If the run was ordered by the rank column and its
    scores disagree, the score of a row is the number of rows from it to the end of its topic.
    """
    if trec_order(run.scores, ids_to_words(run.documents), run.offsets) is None:
        return run
    ends = np.repeat(run.offsets[1:], np.diff(run.offsets))
    return replace(run, scores=(ends - np.arange(len(run))).astype(np.float64))
