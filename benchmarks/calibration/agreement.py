"""Do the intervals of alpha and of a person's kappa cover the value of an endless campaign?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.core.agreement.alpha import alpha_interval, alpha_of_coincidences
from analysis.core.agreement.kappa import cohen_kappa
from analysis.core.agreement.people import kappa_interval
from analysis.core.bca import bca
from benchmarks.calibration.coverage import Bounds, Covered, covered, percentiles

Floats = NDArray[np.float64]
BORDERS = {
    (2, "balanced"): stats.norm.ppf([0.5]),
    (2, "5 % relevant"): stats.norm.ppf([0.95]),
    (4, "balanced"): stats.norm.ppf([0.25, 0.5, 0.75]),
    (4, "5 % relevant"): stats.norm.ppf([0.95, 0.975, 0.99]),
}
"""(grades, how they are spread) -> borders of the grades on a standard normal scale of relevance."""
N_SAMPLES = 400
AT_ONCE = 50
"""Trials that are resampled together, by the same draws."""


class Found(NamedTuple):
    """Coverage of what is shown, of the percentile bootstrap over pairs that was shown before, and of BCa over the same units as now."""

    now: Covered
    before: Covered
    bca: Covered


class Campaign(NamedTuple):
    """grades, spread: a key of BORDERS. noise: share of the variance of relevance that is each judgement's own; topic: share of the rest that is
    the topic's. severity: of each annotator, added to what they see; three of them judge each pair; empty: all are alike."""

    grades: int
    spread: str
    noise: float
    topic: float = 0.0
    severity: tuple[float, ...] = ()

    def counts(self, topics: int, pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """(topics * pairs, grades): three judgements of each pair."""
        relevance = np.sqrt(self.topic * (1 - self.noise)) * rng.standard_normal((topics, 1, 1))
        relevance = relevance + np.sqrt((1 - self.topic) * (1 - self.noise)) * rng.standard_normal((topics, pairs, 1))
        seen = relevance + np.sqrt(self.noise) * rng.standard_normal((topics, pairs, 3))
        if self.severity:
            who = rng.random((topics, pairs, len(self.severity))).argpartition(2, axis=2)[:, :, :3]
            seen += np.array(self.severity)[who]
        given = np.searchsorted(BORDERS[self.grades, self.spread], seen)
        return (given[..., None] == np.arange(self.grades)).sum(axis=2).reshape(topics * pairs, self.grades)


def alpha_coverage(topics: int, pairs: int, campaign: Campaign, *, trials: int, rng: np.random.Generator) -> tuple[float, Found]:
    """-> (alpha of an endless campaign, coverage)"""
    level = "nominal" if campaign.grades == 2 else "ordinal"

    def statistic(joint: Floats) -> Floats:
        flat = joint.reshape(-1, *joint.shape[-2:])
        return alpha_of_coincidences(flat, level=level).reshape(joint.shape[:-2])

    true = float(statistic(_coincidences(campaign.counts(40_000, 5, rng)).sum(axis=0)))
    place = np.repeat(np.arange(topics), pairs)
    by_pair, by_topic = (rng.multinomial(n, np.full(n, 1 / n), size=N_SAMPLES).astype(np.float64) for n in (topics * pairs, topics))
    now, before, accelerated = [], [], []
    for start in range(0, trials, AT_ONCE):
        drawn = [campaign.counts(topics, pairs, rng) for _ in range(min(AT_ONCE, trials - start))]
        intervals = [alpha_interval(counts, level=level, topic=place) for counts in drawn]
        now += [(interval.low, interval.high) for interval in intervals]
        units = np.stack([_coincidences(counts) for counts in drawn], axis=1)
        samples = statistic(np.tensordot(by_pair, units, axes=1))
        before += percentiles(samples)
        if intervals[0].unit == "topics":
            units = units.reshape(topics, pairs, *units.shape[1:]).sum(axis=1)
            samples = statistic(np.tensordot(by_topic, units, axes=1))
        total = units.sum(axis=0)
        accelerated += by_bca(statistic(total), samples, statistic(total - units), np.ones((len(units), 1)))
    return true, Found(covered(true, now), covered(true, before), covered(true, accelerated))


def _coincidences(counts: NDArray[np.int64]) -> Floats:
    """(pairs, grades, grades): of three judgements each."""
    return (counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])) / 2


def kappa_coverage(pairs: int, *, grades: int, spread: str, noise: float, trials: int, rng: np.random.Generator) -> tuple[float, Found]:
    """One annotator and the label of the others. -> (kappa of endless pairs, coverage)"""

    def draw(n: int) -> NDArray[np.int64]:
        given = np.sqrt(1 - noise) * rng.standard_normal((n, 1)) + np.sqrt(noise) * rng.standard_normal((n, 2))
        own, others = np.searchsorted(BORDERS[grades, spread], given).T
        return np.bincount(own * grades + others, minlength=grades**2).reshape(grades, grades)

    def statistic(joint: Floats) -> Floats:
        return cohen_kappa(joint, weighted=grades > 2)

    true = float(statistic(draw(1_000_000)))
    cells = np.eye(grades**2).reshape(-1, 1, grades, grades)
    now, before, accelerated = [], [], []
    for start in range(0, trials, AT_ONCE):
        joint = np.stack([draw(pairs) for _ in range(min(AT_ONCE, trials - start))])
        intervals = [kappa_interval(one, weighted=grades > 2) for one in joint]
        now += [(interval.low, interval.high) for interval in intervals]
        drawn = rng.multinomial(pairs, joint.reshape(len(joint), -1) / pairs, size=(N_SAMPLES, len(joint)))
        samples = statistic(drawn.reshape(N_SAMPLES, len(joint), grades, grades))
        before += percentiles(samples)
        times = joint.reshape(len(joint), -1).T
        accelerated += by_bca(statistic(joint), samples, statistic(np.maximum(joint - cells, 0)), times)
    return true, Found(covered(true, now), covered(true, before), covered(true, accelerated))


def by_bca(value: Floats, samples: Floats, left_out: Floats, times: Floats) -> list[Bounds]:
    """Of each trial (k). samples: (n_samples, k); left_out: (n, k), without each unit, which is there `times` (n, k) often.

    Undefined resamples, up to 5 % of them, are taken to be as large as the value itself.
    """
    undefined = np.isnan(samples)
    usable = (undefined.mean(axis=0) <= 0.05) & ~(np.isnan(left_out) & (times > 0)).any(axis=0) & ~np.isnan(value)
    intervals = bca(value, np.where(undefined, value, samples), np.where(np.isnan(left_out), 0.0, left_out), times=times)
    intervals[~usable] = np.nan
    return [(low, high) for low, high in intervals.tolist()]
