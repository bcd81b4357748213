"""Conventional interpretation labels of kappa, shown next to a value and never instead of it."""

from __future__ import annotations

import math

INTERPRETATION_LABELS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)
"""Highest kappa of each class to two decimals. Values below 0 are poor. Landis and Koch (1977),
"The measurement of observer agreement for categorical data", call the divisions clearly arbitrary.
"""

CAVEAT = (
    "The interpretation labels of Landis and Koch (1977) are a convention without a "
    "statistical basis: kappa also depends on the number of grades and on how often each is "
    "used."
)


def interpretation_label(kappa: float | None) -> str | None:
    """Return the label of a kappa rounded to two decimals, or None if it is undefined."""
    if kappa is None or math.isnan(kappa):
        return None
    if kappa < 0:
        return "poor"
    return next(
        (word for highest, word in INTERPRETATION_LABELS if round(kappa, 2) <= highest),
        INTERPRETATION_LABELS[-1][1],
    )
