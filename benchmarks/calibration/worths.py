"""Coverage of the interval of the sample-size gain from an LLM judge's labels. The true gain is
that for infinitely many topics."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from assay.labels.effective_gain import compute_gain_interval
from benchmarks.calibration.coverage import CoverageShares, measure_coverage, percentile_intervals

Floats = NDArray[np.float64]
N_SAMPLES = 400


class LlmSetting(NamedTuple):
    """Settings of a simulated LLM judge. share: share of pairs that are relevant. latent:
    correlation of the relevance that people and the LLM judge see, on a normal scale. topic: share
    of a pair's relevance, and of the LLM judge's error, that is common to the topic."""

    share: float
    latent: float
    topic: float

    def joint(self, topics: int, pairs: int, rng: np.random.Generator) -> Floats:
        """Draw the numbers of pairs by human label and LLM label, shape (topics, 2, 2)."""
        border = stats.norm.ppf(1 - self.share)
        relevance, error = (
            math.sqrt(self.topic) * rng.standard_normal((topics, 1))
            + math.sqrt(1 - self.topic) * rng.standard_normal((topics, pairs))
            for _ in range(2)
        )
        seen = self.latent * relevance + math.sqrt(1 - self.latent**2) * error
        both = 2 * (relevance > border) + (seen > border)
        return (
            (both[..., None] == np.arange(4)).sum(axis=1).reshape(topics, 2, 2).astype(np.float64)
        )


class GainCoverage(NamedTuple):
    now: CoverageShares
    before: CoverageShares


def measure_gain_coverage(
    topics: int, pairs: int, llm: LlmSetting, *, trials: int, rng: np.random.Generator
) -> tuple[float, GainCoverage]:
    """Measure the coverage of intervals of the gain. Returns (gain over infinitely many topics,
    coverage of the interval shown and of the percentile interval over topics)."""
    true = float(_sample_size_gain(llm.joint(40_000, 20, rng).sum(axis=0)))
    now, before = [], []
    for _ in range(trials):
        joint = llm.joint(topics, pairs, rng)
        interval = compute_gain_interval(joint)
        now.append((interval.low, interval.high))
        times = rng.multinomial(topics, np.full(topics, 1 / topics), size=N_SAMPLES)
        before += percentile_intervals(
            _sample_size_gain(np.tensordot(times, joint, axes=1))[:, None]
        )
    return true, GainCoverage(measure_coverage(true, now), measure_coverage(true, before))


def _sample_size_gain(joint: Floats) -> Floats:
    """Return the sample-size gain 1 / (1 - ρ²), or 1 if one of the two labels does not vary."""
    people, called = joint.sum(axis=-1)[..., 1], joint.sum(axis=-2)[..., 1]
    n = joint.sum(axis=(-2, -1))
    spread = people * (n - people) * called * (n - called)
    square = np.divide(
        (n * joint[..., 1, 1] - people * called) ** 2,
        spread,
        out=np.zeros_like(n),
        where=spread > 0,
    )
    return np.asarray(1 / np.maximum(1 - square, 1e-12))
