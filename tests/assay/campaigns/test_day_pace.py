"""The model of whole days, against plain sums, scipy and loops."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from scipy import optimize, stats

from assay.campaigns import day_pace
from assay.campaigns.day_pace import DAY_SECONDS, DayHistory, DayPace, find_kick_off

HOUR = 3600.0
MONDAY = datetime(2026, 1, 5, tzinfo=UTC).timestamp()


def days_of(counts: list[int]) -> np.ndarray:
    """On each calendar day so many judgements, evenly from 9 to 17 o'clock, the first of all at
    9."""
    moments = np.concatenate(
        [
            MONDAY + day * DAY_SECONDS + 9 * HOUR + (np.arange(n) + 0.5) / max(n, 1) * 8 * HOUR
            for day, n in enumerate(counts)
        ]
    )
    moments[0] = MONDAY + 9 * HOUR
    return moments


def history_of(counts: list[int], *, hours: float = 0.0) -> DayHistory:
    """Looked at so many hours after the last of the days."""
    return DayHistory.of(
        days_of(counts), now=MONDAY + len(counts) * DAY_SECONDS + hours * HOUR, zone=UTC
    )


@pytest.mark.parametrize(
    ("counts", "day"),
    [
        pytest.param([400, 40, 42, 3], 0, id="kick-off"),
        pytest.param([3, 400, 40, 3], 1, id="after a pilot"),
        pytest.param([400, 40, 390, 3], None, id="it repeats"),
        pytest.param([400, 40, 42, 390], None, id="it repeats today"),
        pytest.param([120, 40, 42, 3], None, id="not more than three times another"),
        pytest.param([400, 3], None, id="before another whole day"),
        pytest.param([40, 41, 40, 400, 40, 2], None, id="later"),
        pytest.param([0, 0], None, id="nothing"),
    ],
)
def test_a_kick_off_is_far_above_all_other_days_and_early(counts, day):
    assert find_kick_off(np.array(counts, dtype=float), np.ones(len(counts), dtype=bool)) == day


def test_a_kick_off_on_a_friday_is_none_before_monday_is_over():
    working = np.array([True, False, False, True])
    assert find_kick_off(np.array([400.0, 0, 0, 5]), working) is None
    assert find_kick_off(np.array([400.0, 0, 0, 5, 0]), np.append(working, True)) == 0


def test_a_kick_off_on_a_saturday_is_no_pace_of_weekends():
    saturday = MONDAY - 2 * DAY_SECONDS + 10 * HOUR + np.arange(400) * 18.0
    pace = DayPace.of(
        DayHistory.of(
            np.concatenate([saturday, days_of([40, 40, 40])]),
            now=MONDAY + 3 * DAY_SECONDS,
            zone=UTC,
        )
    )
    assert pace.history.apart == 0
    assert pace.weekend[0] == 0
    assert math.exp(pace.steady.level) == pytest.approx(40)


def test_today_counts_by_the_share_of_a_day_that_is_usually_made_until_now():
    """At 11 o'clock two of the eight hours have passed."""
    history = DayHistory.of(
        days_of([80, 80, 80]), now=MONDAY + 2 * DAY_SECONDS + 11 * HOUR, zone=UTC
    )
    assert history.counts.tolist() == [80, 80, 20]
    assert history.by_now == pytest.approx(0.25, abs=0.01)
    assert history.exposure == pytest.approx([1, 1, 0.25], abs=0.01)
    assert history.age == pytest.approx([1.75, 0.75, 0.125], abs=0.01)


def test_the_first_day_counts_from_the_first_judgement_on():
    """It began at 13 o'clock, after half of the working hours."""
    moments = days_of([80, 80, 80])
    history = DayHistory.of(
        moments[moments >= MONDAY + 13 * HOUR], now=MONDAY + 3 * DAY_SECONDS, zone=UTC
    )
    assert history.counts[0] == 40
    assert history.exposure[0] == pytest.approx(0.5, abs=0.02)
    assert history.whole_days.tolist() == [80, 80]


def test_an_even_pace_is_found_exactly_and_has_no_drift():
    pace = DayPace.of(history_of([40, 40, 40, 40, 40, 0, 0, 40, 40]))
    assert math.exp(pace.steady.level) == pytest.approx(40)
    assert -0.04 < pace.drifting.drift < 0  # drawn from a usual fall towards none
    assert pace.weekend[0] == 0
    assert pace.weekend_days == 2


def test_the_steady_level_is_the_mean_of_days_that_lose_half_of_their_weight_in_ten():
    counts = [30, 50, 20, 60]
    weight = 0.5 ** ((len(counts) - np.arange(len(counts)) - 0.5) / 10)
    expected = float(weight @ counts / weight.sum())
    assert math.exp(DayPace.of(history_of(counts)).steady.level) == pytest.approx(expected)


def test_level_and_drift_are_the_minimum_of_the_penalised_gamma_deviance():
    counts = [90, 120, 70, 80, 60, 0, 0, 75, 40, 55]
    fit = DayPace.of(history_of(counts)).drifting
    working = np.array([0, 1, 2, 3, 4, 7, 8, 9])
    y, time = np.array(counts, dtype=float)[working], np.arange(8) - 7.5
    weight = 0.5 ** (-time / 10)

    def deviance(given: np.ndarray) -> float:
        eta = given[0] + given[1] * time
        return float(
            weight @ (eta + y * np.exp(-eta))
            + 0.5 * (fit.spread / day_pace.DRIFT) ** 2 * (given[1] + 0.04) ** 2
        )

    best = optimize.minimize(
        deviance,
        [4.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000},
    )
    assert [fit.level, fit.drift] == pytest.approx(best.x, abs=1e-5)
    ratio = y / np.exp(fit.level + fit.drift * time) - 1
    variance = (3 * 0.4**2 + weight @ ratio**2) / (
        3 + weight.sum() - 1
    )  # 0.4 counts for three days
    assert fit.spread == pytest.approx(math.sqrt(variance), rel=1e-4)


def test_a_pace_that_falls_clearly_is_taken_to_drift_and_an_even_one_is_not():
    falling = (
        [round(200 * 0.93**n) for n in range(5)]
        + [0, 0]
        + [round(200 * 0.93**n) for n in range(5, 10)]
    )
    even = [100, 103, 98, 101, 99, 0, 0, 102, 97, 100, 104, 99]
    assert DayPace.of(history_of(falling)).has_drift > 0.7
    assert (
        math.log(0.93) < DayPace.of(history_of(falling)).drifting.drift < math.log(0.96)
    )  # drawn towards none
    assert DayPace.of(history_of(even)).has_drift < 0.4


def test_a_coming_day_brings_what_the_days_so_far_brought():
    """The mean over all futures, of days to come that are not idle at the weekend."""
    paths = DayPace.of(history_of([100] * 5 + [0, 0] + [100] * 5 + [0, 0])).paths(12)
    brought = np.diff(paths.made, axis=1, prepend=0.0).mean(axis=0)
    assert brought[:5] == pytest.approx(100, rel=0.08)
    assert brought[5:7] == pytest.approx(0, abs=1e-9)  # two idle weekends have been seen


def test_the_quantiles_of_a_days_noise_are_near_those_of_a_gamma_distribution():
    for shape in (0.8, 2.0, 10.0, 100.0):
        for z in (-1.5, 0.0, 1.96):
            exact = stats.gamma.ppf(stats.norm.cdf(z), shape) / shape
            found = day_pace._gamma_quantile_ratio(np.array(z), np.array(shape))
            assert float(found) == pytest.approx(exact, rel=0.02, abs=0.03)


def test_a_future_that_has_ended_by_a_moment_has_brought_enough_by_then():
    paths = DayPace.of(history_of([60, 90, 40, 80, 70, 0, 0, 65], hours=11.3)).paths(40)
    for remaining in (5.0, 20.0, 333.0):
        ends = paths.ends(remaining)
        for moment in np.random.default_rng(4).uniform(
            MONDAY + 8.6 * DAY_SECONDS, MONDAY + 20 * DAY_SECONDS, 25
        ):
            clear = np.abs(ends - moment) > 60  # rounding decides nothing
            assert ((paths.made_until(moment) >= remaining) == (ends <= moment))[clear].all()


def test_ends_lie_in_the_hours_in_which_people_judge():
    paths = DayPace.of(history_of([80] * 5 + [0, 0] + [80] * 5 + [0, 0])).paths(40)
    ends = paths.ends(300.0)
    assert (((ends % DAY_SECONDS) / HOUR >= 9) & ((ends % DAY_SECONDS) / HOUR <= 17)).all()
