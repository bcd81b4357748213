"""Hall's transformation (1992) of the studentised mean. The code under test uses the inverse in
closed form."""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats


def transformed(studentised: float, skewness: float, n: int) -> float:
    """Return T + g T^2 / 3 + g^2 T^3 / 27 + g / 6 with g = skewness / sqrt(n)."""
    g = skewness / n**0.5
    return studentised + g * studentised**2 / 3 + g**2 * studentised**3 / 27 + g / 6


def wider_interval(values: np.ndarray, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval whose ends are those of Student's t or the roots of the transformation at
    t and -t, whichever are further out."""
    n, error, skewness = len(values), float(stats.sem(values)), float(stats.skew(values))
    t = float(stats.t.ppf(1 - alpha / 2, n - 1))
    least, greatest = (
        optimize.brentq(
            lambda x, end=end: transformed(x, skewness, n) - end, -1e4, 1e4, xtol=1e-13, rtol=1e-15
        )
        for end in (-t, t)
    )
    return float(values.mean() - max(t, greatest) * error), float(
        values.mean() - min(-t, least) * error
    )
