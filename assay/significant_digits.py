"""Format numbers with the digits that their standard errors support."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MAX_DECIMALS = 4
"""Number of decimals of exactly known numbers, as in all tables."""


def mean_standard_error(samples: NDArray[np.float64]) -> float:
    """Return the standard error of the mean of the defined samples, NaN with fewer than two."""
    defined = samples[~np.isnan(samples)]
    return float(defined.std(ddof=1) / math.sqrt(len(defined))) if len(defined) > 1 else math.nan


def share_standard_error(share: float, n: int) -> float:
    """Return the standard error of a share of n draws. Shares of 0 and 1 are replaced by 1 / (n +
    2) and its complement (similar to Agresti and Coull 1998)."""
    kept = min(max(share, 1 / (n + 2)), 1 - 1 / (n + 2))
    return math.sqrt(kept * (1 - kept) / n)


def count_decimals(error: float) -> int:
    """Return the number of decimals whose last digit is about as large as the error: 0.07 -> 2,
    0.003 -> 3. An unknown or zero error gives MAX_DECIMALS."""
    if math.isnan(error) or error <= 0:
        return MAX_DECIMALS
    return min(MAX_DECIMALS, max(0, math.ceil(-math.log10(error))))


def format_with_error(value: float | None, error: float | None) -> str:
    """Format the value with the digits that its error supports, or as a dash if undefined."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{count_decimals(math.nan if error is None else error)}f}"


class PValue(float):
    """A float that is shown as a p-value."""


def format_p(p: float) -> str:
    """Format a p-value with two significant digits, as "< 0.001", or as a dash if undefined."""
    if p != p:
        return "-"
    if p < 0.001:
        return "< 0.001"
    return "1" if p == 1 else f"{p:#.2g}"


def format_p_equals(p: float) -> str:
    """Format a p-value for a sentence: "p = 0.031", "p < 0.001"."""
    return f"p {format_p(p)}" if p < 0.001 else f"p = {format_p(p)}"
