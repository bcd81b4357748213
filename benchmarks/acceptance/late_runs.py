"""Measurement for target E1: leave each group's runs out of the pool in turn, and compare their
imputed scores with the true ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.unpooled_runs import iterate_left_out_scores

CUTOFF = 10


def measure_left_out(
    runs: Sequence[RunColumns], groups: Sequence[str], qrels: QrelsColumns, *, level: int
) -> dict[str, float]:
    """Measure how well scores of runs left out of the pool are imputed.

    Returns mean absolute errors of nDCG@10, with unjudged documents as 0 and imputed, and the share
    of score bounds that do not contain the true value. The true value is nDCG@10 under the qrels.
    Documents that only the left-out group has in its top ten lose their judgement. filled_few: over
    runs with at most three unjudged documents per topic, the only ones for which imputed scores are
    shown.
    """
    zero, filled, few, outside, n_topics = [], [], [], 0, 0
    for one in iterate_left_out_scores(runs, groups, qrels, cutoff=CUTOFF, min_relevant=level):
        held = (one.bounds.low <= one.truth + 1e-9) & (one.truth <= one.bounds.high + 1e-9)
        outside, n_topics = outside + int((~held).sum()), n_topics + len(one.truth)
        zero.append(abs(one.bounds.zero.mean() - one.judged))
        filled.append(abs(one.filled - one.judged))
        few.append(one.shows_imputed_score)
    kept = np.array(few)
    return {
        "runs": len(zero),
        "zero": float(np.mean(zero)),
        "filled": float(np.mean(filled)),
        "ratio": float(np.mean(filled) / np.mean(zero)),
        "runs_few": int(kept.sum()),
        "ratio_few": float(np.array(filled)[kept].mean() / np.array(zero)[kept].mean()),
        "outside": outside,
        "topics": n_topics,
    }
