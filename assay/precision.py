"""Runs whose scores are compared in single precision, and runs that are in another order than that
of their scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.column_types import RunColumns
from assay.ranking import ids_to_words, trec_order


def to_single_precision(run: RunColumns) -> RunColumns:
    """As the reader gives it with scores="float32": rounded before they are compared, as trec_eval
    9 and pytrec_eval do."""
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32).astype(np.float64)
    order = trec_order(scores, ids_to_words(run.documents), run.offsets)
    if order is None:
        return replace(run, scores=scores)
    return replace(
        run, documents=run.documents[order], scores=scores[order], ranks=run.ranks[order]
    )


def rescore_by_order(run: RunColumns) -> RunColumns:
    """The run with scores that have its order: its own, or, where it was ordered by the rank column
    and its scores say otherwise, the number of documents from a row to the end of its topic. A file
    of it is read as the same rankings in either precision."""
    if trec_order(run.scores, ids_to_words(run.documents), run.offsets) is None:
        return run
    ends = np.repeat(run.offsets[1:], np.diff(run.offsets))
    return replace(run, scores=(ends - np.arange(len(run))).astype(np.float64))
