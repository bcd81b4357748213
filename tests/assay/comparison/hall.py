"""Hall's transformation of the studentised mean (1992), forwards, for tests: the code under test
has its inverse in closed form."""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats


def transformed(studentised: float, skewness: float, n: int) -> float:
    """T + g T^2 / 3 + g^2 T^3 / 27 + g / 6 with g = skewness / sqrt(n)."""
    g = skewness / n**0.5
    return studentised + g * studentised**2 / 3 + g**2 * studentised**3 / 27 + g / 6


def wider_interval(values: np.ndarray, alpha: float = 0.05) -> tuple[float, float]:
    """From Student's t and from the roots of the transformation at t and -t, whichever reaches
    further."""
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
