"""As many digits as a number has: those that its standard error leaves (METHODS 13)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MAX_DECIMALS = 4
"""Decimals of a number that is known exactly, as everywhere in tables."""


def mean_standard_error(samples: NDArray[np.float64]) -> float:
    """Standard error of the mean of the defined samples; NaN with fewer than two."""
    defined = samples[~np.isnan(samples)]
    return float(defined.std(ddof=1) / math.sqrt(len(defined))) if len(defined) > 1 else math.nan


def share_standard_error(share: float, n: int) -> float:
    """Standard error of a share of n draws; where none or all were, that of one draw more on the
    other side (Agresti and Coull 1998, roughly)."""
    kept = min(max(share, 1 / (n + 2)), 1 - 1 / (n + 2))
    return math.sqrt(kept * (1 - kept) / n)


def count_decimals(error: float) -> int:
    """Decimals of which the last is about as large as the error: 0.07 -> 2, 0.003 -> 3; none known
    or 0 -> MOST."""
    if math.isnan(error) or error <= 0:
        return MAX_DECIMALS
    return min(MAX_DECIMALS, max(0, math.ceil(-math.log10(error))))


def format_with_error(value: float | None, error: float | None) -> str:
    """The value with the digits that its error leaves; a dash where undefined."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{count_decimals(math.nan if error is None else error)}f}"


class PValue(float):
    """A float that a person reads as a p-value."""


def format_p(p: float) -> str:
    """A p-value for people: two significant digits, "< 0.001", a dash where undefined."""
    if p != p:
        return "-"
    if p < 0.001:
        return "< 0.001"
    return "1" if p == 1 else f"{p:#.2g}"


def format_p_equals(p: float) -> str:
    """As in a sentence: "p = 0.031", "p < 0.001"."""
    return f"p {format_p(p)}" if p < 0.001 else f"p = {format_p(p)}"
