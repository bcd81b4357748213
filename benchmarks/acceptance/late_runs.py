"""E1: each group's runs left out of the pool in turn; what their holes would have been worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.unpooled_runs import iterate_left_out_scores

CUTOFF = 10


def measure_left_out(
    runs: Sequence[RunColumns], groups: Sequence[str], qrels: QrelsColumns, *, level: int
) -> dict[str, float]:
    """Mean absolute errors of nDCG@10 with holes as 0 and filled, and how often the exact range
    failed to hold the truth.

    The truth is nDCG@10 under the qrels; documents that only the left-out group has in its first
    ten lose their judgement. filled_few: over the runs with at most three holes a topic, the only
    ones for which the expected fill is shown."""
    zero, filled, few, outside, n_topics = [], [], [], 0, 0
    for one in iterate_left_out_scores(runs, groups, qrels, cutoff=CUTOFF, level=level):
        held = (one.bounds.low <= one.truth + 1e-9) & (one.truth <= one.bounds.high + 1e-9)
        outside, n_topics = outside + int((~held).sum()), n_topics + len(one.truth)
        zero.append(abs(one.bounds.zero.mean() - one.judged))
        filled.append(abs(one.filled - one.judged))
        few.append(one.is_filled)
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
