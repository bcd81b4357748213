"""Aggregation by majority with the lowest-grade rule (TripJudge, Althammer et al. 2022, section
3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.labels.aggregation.labelling import LOWEST_GRADE, MAJORITY, NONE, UNANIMOUS, Aggregation
from assay.labels.labels import MISSING, LabelTable


def majority(table: LabelTable, *, min_judgements: int = 2) -> Aggregation:
    """Return the most frequent grade of each pair, the lowest of tied grades.

    The decision is `unanimous` if all judgements are equal, `majority` if one grade is more
    frequent than any other, and `lowest grade` otherwise. Pairs with fewer than `min_judgements`
    judgements have no label.
    """
    counts = table.counts
    enough = counts.sum(axis=1) >= max(min_judgements, 1)
    return Aggregation(
        method="majority",
        min_judgements=min_judgements,
        table=table,
        label=np.where(enough, lowest_mode(counts), MISSING).astype(np.int16),
        decision=np.where(enough, classify_decisions(counts), NONE).astype(np.int8),
    )


def lowest_mode(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return (n), the mode of each row, the lowest of tied ones. counts: (n, n_grades). A row of
    zeros gives 0, which the caller masks."""
    return counts.argmax(axis=1)  # argmax returns the first of equal values


def classify_decisions(counts: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return (n), how the mode of each row was decided. counts: (n, n_grades)."""
    highest = counts.max(axis=1)
    n_most_frequent = (counts == highest[:, None]).sum(axis=1)
    unanimous = highest == counts.sum(axis=1)
    return np.where(
        unanimous, UNANIMOUS, np.where(n_most_frequent == 1, MAJORITY, LOWEST_GRADE)
    ).astype(np.int8)
