"""Convert the counts of a click log to labels: TripClick's Raw qrels (Rekabsaz et al. 2021), and
grades by ranges of a click model's estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickCounts
from assay.formats.qrels import make_qrels
from assay.labels.click_models import (
    click_through_rates,
    estimate_coec,
    estimate_pbm,
    estimate_sdbn,
)
from assay.number_words import format_part

DEFAULT_THRESHOLDS = (0.04, 0.30)
"""Click-through rates above which a document has grade 2 and 3 (TripClick)."""


class ClickModel(NamedTuple):
    """A click model. words: its description in options. thresholds: default, above which the grade
    is 2, 3, ... most: maximum threshold, None if there is none."""

    words: str
    estimate: Callable[[ClickCounts], NDArray[np.float64]]
    thresholds: tuple[float, ...] = DEFAULT_THRESHOLDS
    most: float | None = 1.0


RAW = "raw"
CLICK_MODELS = {
    "dctr": ClickModel("ranges of the click-through rate", click_through_rates),
    "pbm": ClickModel("position-based model", estimate_pbm),
    "sdbn": ClickModel("cascade model, simplified dynamic Bayesian network", estimate_sdbn),
    "coec": ClickModel("clicks over expected clicks", estimate_coec, (1.0, 2.0), None),
}
CLICK_MODEL_CHOICES = ((RAW, "clicked or skipped"),) + tuple(
    (name, model.words) for name, model in CLICK_MODELS.items()
)


def make_click_labels(
    counts: ClickCounts,
    model: str = "dctr",
    *,
    thresholds: Sequence[float] | None = None,
    name: str | None = None,
) -> QrelsColumns:
    """Return labels by a click model, by default named after it.

    `raw`: 1 for pairs clicked at least once, 0 for pairs shown above a click and never clicked.
    Others: pairs never clicked get 0, clicked ones 1, plus one grade for each threshold that the
    estimate exceeds; thresholds are those of the model by default. Pairs without an estimate have
    no label, with a warning. Raises ValueError for thresholds that do not ascend or that no
    estimate can exceed, and for a log that the model cannot be estimated from.
    """
    name = name or model
    clicked = counts.clicks > 0
    if model == RAW:
        return _make_qrels(name, counts, clicked.astype(np.int64), clicked | (counts.skipped > 0))
    chosen = CLICK_MODELS[model]
    thresholds = chosen.thresholds if thresholds is None else thresholds
    check_thresholds(model, thresholds)
    estimates = chosen.estimate(counts)
    exceeded = np.searchsorted(np.asarray(thresholds, dtype=np.float64), estimates, side="left")
    defined = ~np.isnan(estimates)
    qrels = _make_qrels(name, counts, np.where(clicked, 1 + exceeded, 0), defined)
    if n_undefined := int((~defined).sum()):
        qrels.warnings.append(
            f"{format_part(n_undefined, len(counts), 'pair', 'has', 'have')} no estimate by {model} "
            "and no label"
        )
    return qrels


def check_thresholds(model: str, thresholds: Sequence[float]) -> None:
    """Raise ValueError for thresholds that do not ascend or that no estimate of the model
    exceeds."""
    if any(low >= high for low, high in pairwise(thresholds)):
        raise ValueError(f"the thresholds {', '.join(map(str, thresholds))} are not ascending")
    most = None if model == RAW else CLICK_MODELS[model].most
    if most is not None and thresholds and thresholds[-1] > most:
        raise ValueError(
            f"a threshold of {thresholds[-1]:g} for {model}, expected rates from 0 to 1"
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
