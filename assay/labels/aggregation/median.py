"""Aggregation by the median grade."""

from __future__ import annotations

import numpy as np

from assay.labels.aggregation.labelling import Aggregation
from assay.labels.labels import MISSING, LabelTable


def median(table: LabelTable, *, min_judgements: int = 2) -> Aggregation:
    """Return the median grade of each pair, and the lower middle one of an even number of
    judgements.

    Pairs with fewer than `min_judgements` judgements have no label. There are no decisions.
    """
    up_to = table.counts.cumsum(axis=1)
    n = table.judgements_per_pair
    middle = (n - 1) // 2
    label = (up_to > middle[:, None]).argmax(axis=1)
    return Aggregation(
        method="median",
        min_judgements=min_judgements,
        table=table,
        label=np.where(n >= max(min_judgements, 1), label, MISSING).astype(np.int16),
    )
