"""The interval of a system's mean score, for new topics: shown where it covers what it says, refused in words elsewhere.

METHODS 13. Simulated in `docs/calibration.md`, "Means of systems".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from analysis.core.estimates import interval_over_topics
from analysis.core.intervals import Interval, no_interval

LEAST_TOPICS = 25
SKEWNESS_SQUARED = 5
"""Topics needed for each unit of squared skewness of the scores: where few topics bring all of a mean, Student's t does not cover."""


def mean_interval(values: NDArray[np.float64], *, alpha: float = 0.05) -> Interval:
    """Mean ± t s/√T over the topics that count.

    values: float64 (n_topics), NaN for a topic that is left out. Refused below LEAST_TOPICS topics, where all topics have one value (a
    spread of 0 is no certainty), and with fewer than SKEWNESS_SQUARED g² topics, g their skewness (the form of Cochran's rule, 1977, 2.15).
    """
    counted = values[~np.isnan(values)]
    n = len(counted)
    if n < LEAST_TOPICS:
        return no_interval(f"{n} {'topic' if n == 1 else 'topics'}; an interval needs {LEAST_TOPICS}", "topics")
    if np.ptp(counted) < 1e-12:
        return no_interval(f"all {n} topics have the same value", "topics")
    needed = math.ceil(SKEWNESS_SQUARED * skewness(counted) ** 2)
    if n < needed:
        return no_interval(f"few topics bring most of the mean; with scores as skewed as these an interval needs {needed:,} topics, not {n:,}", "topics")
    return Interval(*interval_over_topics(counted, alpha=alpha), "", "topics")


def skewness(values: NDArray[np.float64]) -> float:
    """Third moment about the mean in standard deviations (divided by n), as scipy.stats.skew. values: float64 (n), not all equal."""
    off = values - values.mean()
    return float((off**3).mean() / (off**2).mean() ** 1.5)
