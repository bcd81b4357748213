"""Convert the counts of a click log to labels: the Raw and DCTR qrels of TripClick (Rekabsaz et al.
2021)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickCounts
from assay.formats.qrels import make_qrels

DEFAULT_THRESHOLDS = (0.04, 0.30)
"""Click-through rates above which a document has grade 2 and 3 (TripClick)."""


def make_raw_labels(counts: ClickCounts, *, name: str = "raw") -> QrelsColumns:
    """Return TripClick's Raw labels: 1 for pairs clicked at least once, 0 for pairs shown above a
    click and never clicked. Other pairs have no label."""
    clicked = counts.clicks > 0
    return _make_qrels(name, counts, clicked.astype(np.int64), clicked | (counts.skipped > 0))


def make_dctr_labels(
    counts: ClickCounts, *, thresholds: Sequence[float] = DEFAULT_THRESHOLDS, name: str = "dctr"
) -> QrelsColumns:
    """Return labels from document click-through rates, clicks / impressions (Craswell et al. 2008).

    Pairs never clicked get 0, clicked ones 1, plus one grade for each threshold that the rate
    exceeds. Every pair shown has a label. thresholds: ascending, otherwise ValueError is raised.
    """
    if any(low >= high for low, high in pairwise(thresholds)):
        raise ValueError(f"the thresholds {', '.join(map(str, thresholds))} are not ascending")
    rates = counts.clicks / np.maximum(counts.impressions, 1)
    exceeded = np.searchsorted(np.asarray(thresholds, dtype=np.float64), rates, side="left")
    return _make_qrels(
        name, counts, np.where(counts.clicks > 0, 1 + exceeded, 0), counts.impressions > 0
    )


def _make_qrels(
    name: str, counts: ClickCounts, grades: NDArray[np.int64], labelled: NDArray[np.bool_]
) -> QrelsColumns:
    rows = np.flatnonzero(labelled)
    columns = (counts.topic[rows].tolist(), counts.document[rows].tolist(), grades[rows].tolist())
    return make_qrels(
        name,
        (
            (counts.topics[t], counts.documents[d], grade)
            for t, d, grade in zip(*columns, strict=True)
        ),
    )
