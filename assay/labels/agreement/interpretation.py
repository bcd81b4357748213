"""Words for kappa: a convention, shown beside a value and never in its place."""

from __future__ import annotations

import math

INTERPRETATION_LABELS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)
"""Highest kappa of each band, to two decimals; below 0: poor. Landis and Koch (1977), "The
measurement of observer agreement for categorical data", who call the divisions clearly
arbitrary."""

CAVEAT = (
    "The words are the bands of Landis and Koch (1977), a convention without a statistical "
    "reason: kappa also depends on the number of "
    "grades and on how often each is used."
)


def interpretation_label(kappa: float | None) -> str | None:
    """Of a kappa rounded to two decimals; None where it is undefined."""
    if kappa is None or math.isnan(kappa):
        return None
    if kappa < 0:
        return "poor"
    return next(
        (word for highest, word in INTERPRETATION_LABELS if round(kappa, 2) <= highest),
        INTERPRETATION_LABELS[-1][1],
    )
