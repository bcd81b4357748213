"""Majority voting with the lowest-grade rule (TripJudge: Althammer et al. 2022, section 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.labels.aggregation.labelling import LOWEST_GRADE, MAJORITY, NONE, UNANIMOUS, Aggregation
from assay.labels.labels import MISSING, LabelTable


def majority(table: LabelTable, *, min_judgements: int = 2) -> Aggregation:
    """The most frequent grade of each pair; of several equally frequent ones the lowest.

    Decisions: `unanimous` if all judgements are equal, `majority` if one grade is more frequent
    than any other, `lowest grade` otherwise. Pairs with fewer than `min_judgements` judgements have
    no label."""
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
    """(n, n_grades) -> (n): the mode, of several the lowest. 0 where a row is all zero: the caller
    masks it."""
    return counts.argmax(axis=1)  # argmax gives the first of equal values


def classify_decisions(counts: NDArray[np.int64]) -> NDArray[np.int8]:
    """How the mode of each row was decided: (n, n_grades) -> (n)."""
    highest = counts.max(axis=1)
    n_most_frequent = (counts == highest[:, None]).sum(axis=1)
    unanimous = highest == counts.sum(axis=1)
    return np.where(
        unanimous, UNANIMOUS, np.where(n_most_frequent == 1, MAJORITY, LOWEST_GRADE)
    ).astype(np.int8)
