"""Pairs whose annotators disagree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.labels.aggregation import LOWEST_GRADE
from assay.labels.aggregation.majority import classify_decisions


def find_disputed(counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return for each pair the distance between its highest and lowest grade, and whether it is
    disputed: its grades are two or more apart, or no grade is more frequent than all others.

    counts: (n_pairs, n_grades), the number of judgements by grade, at least one per pair. Both
    results have shape (n_pairs,).
    """
    given = counts > 0
    apart = counts.shape[1] - 1 - given[:, ::-1].argmax(axis=1) - given.argmax(axis=1)
    return apart, (apart >= 2) | ((apart > 0) & (classify_decisions(counts) == LOWEST_GRADE))
