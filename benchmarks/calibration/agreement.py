"""Coverage of the intervals of alpha and of an annotator's kappa, for the value of an infinite
campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from assay.labels.agreement.alpha import Level, alpha_interval, alpha_of_coincidences
from assay.labels.agreement.annotators import kappa_interval
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.intervals import Interval
from benchmarks.calibration.bca import bca_interval
from benchmarks.calibration.coverage import (
    Bounds,
    CoverageShares,
    measure_coverage,
    percentile_intervals,
)

Floats = NDArray[np.float64]
BORDERS = {
    (2, "balanced"): stats.norm.ppf([0.5]),
    (2, "5% relevant"): stats.norm.ppf([0.95]),
    (4, "balanced"): stats.norm.ppf([0.25, 0.5, 0.75]),
    (4, "5% relevant"): stats.norm.ppf([0.95, 0.975, 0.99]),
}
"""(number of grades, distribution) -> limits between the grades on a standard normal scale of
relevance."""
N_SAMPLES = 400
BATCH_TRIALS = 50
"""Trials that are resampled together, with the same samples."""


class IntervalCoverage(NamedTuple):
    """Coverage of three intervals: the one that Assay shows, the percentile bootstrap over pairs,
    and BCa over the same units as the interval shown."""

    now: CoverageShares
    before: CoverageShares
    bca: CoverageShares


class Campaign(NamedTuple):
    """Settings of a simulated campaign. grades, spread: a key of BORDERS.

    noise: share of the variance of relevance that is specific to a judgement. topic: share of the
    remaining variance that is common to a topic. shift: standard deviation of an annotator's shift
    on all pairs of a topic, drawn for each topic. severity: one value per annotator, added to the
    relevance they see, where three of them judge each pair; empty if all annotators are equal.
    """

    grades: int
    spread: str
    noise: float
    topic: float = 0.0
    severity: tuple[float, ...] = ()
    shift: float = 0.0

    def draw_grades(
        self, place: NDArray[np.int64], n_people: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw the grades of `n_people` annotators who judge every pair. Returns shape (pairs,
        people). place: (pairs), the topic of each pair, from 0."""
        n_topics, n = int(place[-1]) + 1, len(place)
        relevance = np.sqrt(self.topic * (1 - self.noise)) * rng.standard_normal(n_topics)[place]
        relevance += np.sqrt((1 - self.topic) * (1 - self.noise)) * rng.standard_normal(n)
        seen = relevance[:, None] + np.sqrt(self.noise) * rng.standard_normal((n, n_people))
        if self.shift:
            seen += self.shift * rng.standard_normal((n_topics, n_people))[place]
        if self.severity:
            seen += np.array(self.severity)[
                rng.random((n, len(self.severity))).argpartition(2, axis=1)[:, :n_people]
            ]
        return np.searchsorted(BORDERS[self.grades, self.spread], seen)


def assign_topics(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the topic of each pair, shape (pairs). sizes: number of pairs of each topic."""
    return np.repeat(np.arange(len(sizes)), sizes)


def measure_alpha_coverage(
    sizes: Sequence[int], campaign: Campaign, *, trials: int, rng: np.random.Generator
) -> tuple[float, IntervalCoverage]:
    """Measure the coverage of the interval of alpha for three judgements per pair. Returns (alpha
    of an infinite campaign, coverage)."""
    level: Level = "nominal" if campaign.grades == 2 else "ordinal"

    def draw(place: NDArray[np.int64]) -> NDArray[np.int64]:
        return (campaign.draw_grades(place, 3, rng)[..., None] == np.arange(campaign.grades)).sum(
            axis=1
        )

    def statistic(joint: Floats) -> Floats:
        flat = joint.reshape(-1, *joint.shape[-2:])
        return alpha_of_coincidences(flat, level=level).reshape(joint.shape[:-2])

    def units(counts: NDArray[np.int64]) -> Floats:
        """Return the coincidences of the three judgements of each pair, shape (pairs, grades,
        grades)."""
        return (
            counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(campaign.grades)
        ) / 2

    def shown(counts: NDArray[np.int64], place: NDArray[np.int64]) -> Interval:
        return alpha_interval(counts, level=level, topic=place)

    return _measure_coverage(sizes, draw, units, statistic, shown, trials=trials, rng=rng)


def measure_kappa_coverage(
    sizes: Sequence[int], campaign: Campaign, *, trials: int, rng: np.random.Generator
) -> tuple[float, IntervalCoverage]:
    """Measure the coverage of the interval of kappa between one annotator and the label by the
    others. Returns (kappa over infinitely many topics, coverage)."""
    grades = campaign.grades

    def draw(place: NDArray[np.int64]) -> NDArray[np.int64]:
        return campaign.draw_grades(place, 2, rng)

    def statistic(joint: Floats) -> Floats:
        return cohen_kappa(joint, weighted=grades > 2)

    def units(given: NDArray[np.int64]) -> Floats:
        return np.eye(grades**2)[given @ [grades, 1]].reshape(-1, grades, grades)

    def shown(given: NDArray[np.int64], place: NDArray[np.int64]) -> Interval:
        joint = np.bincount(
            (place * grades + given[:, 0]) * grades + given[:, 1],
            minlength=(int(place[-1]) + 1) * grades**2,
        )
        return kappa_interval(joint.reshape(-1, grades, grades), weighted=grades > 2)

    return _measure_coverage(sizes, draw, units, statistic, shown, trials=trials, rng=rng)


def _measure_coverage(
    sizes: Sequence[int],
    draw: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    units: Callable[[NDArray[np.int64]], Floats],
    statistic: Callable[[Floats], Floats],
    shown: Callable[[NDArray[np.int64], NDArray[np.int64]], Interval],
    *,
    trials: int,
    rng: np.random.Generator,
) -> tuple[float, IntervalCoverage]:
    """Measure the coverage of intervals of a statistic of pairs. Returns (true value, coverage).

    draw: simulates judgements of pairs of these topics. units: computes the joint counts of
    judgements by pair. statistic: function of joint counts (..., grades, grades).
    """
    many = np.arange(1_000_000) if len(sizes) == 1 else assign_topics([5] * 40_000)
    true = float(statistic(units(draw(many)).sum(axis=0)))
    place = assign_topics(sizes)
    n_units = len(sizes) if len(sizes) > 1 else len(place)
    by_pair, by_unit = (
        rng.multinomial(n, np.full(n, 1 / n), size=N_SAMPLES).astype(np.float64)
        for n in (len(place), n_units)
    )
    now: list[Bounds] = []
    before, accelerated = [], []
    for start in range(0, trials, BATCH_TRIALS):
        drawn = [draw(place) for _ in range(min(BATCH_TRIALS, trials - start))]
        now += [(interval.low, interval.high) for interval in (shown(one, place) for one in drawn)]
        of_pairs = np.stack([units(one) for one in drawn], axis=1)
        before += percentile_intervals(statistic(np.tensordot(by_pair, of_pairs, axes=1)))
        of_units = (
            of_pairs
            if len(sizes) == 1
            else np.add.reduceat(of_pairs, np.cumsum([0, *sizes[:-1]]), axis=0)
        )
        total = of_units.sum(axis=0)
        samples = statistic(np.tensordot(by_unit, of_units, axes=1))
        accelerated += bca_intervals(
            statistic(total), samples, statistic(total - of_units), np.ones((n_units, 1))
        )
    return true, IntervalCoverage(
        measure_coverage(true, now),
        measure_coverage(true, before),
        measure_coverage(true, accelerated),
    )


def bca_intervals(value: Floats, samples: Floats, left_out: Floats, times: Floats) -> list[Bounds]:
    """Return the BCa interval of each of k trials. samples: (n_samples, k), statistics of
    resamples. left_out: (n, k), the statistic without each unit. times: (n, k), how often the unit
    occurs.

    Undefined resamples, up to 5% of them, count as equal to the value itself.
    """
    undefined = np.isnan(samples)
    usable = (
        (undefined.mean(axis=0) <= 0.05)
        & ~(np.isnan(left_out) & (times > 0)).any(axis=0)
        & ~np.isnan(value)
    )
    intervals = bca_interval(
        value,
        np.where(undefined, value, samples),
        np.where(np.isnan(left_out), 0.0, left_out),
        times=times,
    )
    intervals[~usable] = np.nan
    return [(low, high) for low, high in intervals.tolist()]
