"""The pace by whole days, against plain sums and scipy."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from scipy import stats

from assay.campaigns.day_pace import (
    DAY_SECONDS,
    DayHistory,
    DayPace,
    find_kick_off,
)

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


def pace_of(moments: np.ndarray, *, now: float) -> DayPace:
    pace = DayPace.from_history(
        DayHistory.from_times(moments, now=now, zone=UTC), now=now, zone=UTC
    )
    assert pace is not None
    return pace


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
    moments = np.concatenate([saturday, days_of([40, 40, 40])])
    pace = pace_of(moments, now=MONDAY + 3 * DAY_SECONDS)
    assert pace.history.has_kick_off
    assert pace.weekend[0] == 0
    assert pace.per_day == pytest.approx(40)


def test_today_counts_by_the_share_of_a_day_that_is_usually_made_until_now():
    """At 11 o'clock: 60 of the 180 judgements so far were made before it."""
    now = MONDAY + 2 * DAY_SECONDS + 11 * HOUR
    history = DayHistory.from_times(days_of([80, 80, 80]), now=now, zone=UTC)
    assert history.counts.tolist() == [80, 80, 20]
    assert history.exposure == pytest.approx([1, 1, 60 / 180], abs=0.01)
    assert pace_of(days_of([80, 80, 80]), now=now).per_day == pytest.approx(80, rel=0.05)


def test_the_first_day_counts_from_the_first_judgement_on():
    """It began at 13 o'clock, after half of the working hours."""
    moments = days_of([80] * 8)
    history = DayHistory.from_times(
        moments[moments >= MONDAY + 13 * HOUR], now=MONDAY + 8 * DAY_SECONDS, zone=UTC
    )
    assert history.counts[0] == 40
    assert history.exposure[0] == pytest.approx(0.5, abs=0.04)
    assert history.whole_days.tolist() == [80, 80, 80, 80, 80]  # of five more working days


def test_the_pace_is_the_mean_of_days_that_lose_half_of_their_weight_in_seven():
    counts = [30, 50, 20, 60]
    weight = 0.5 ** ((len(counts) - np.arange(len(counts)) - 0.5) / 7)
    pace = pace_of(days_of(counts), now=MONDAY + 4 * DAY_SECONDS)
    assert pace.per_day == pytest.approx(float(weight @ counts / weight.sum()))
    assert pace.n_days == pytest.approx(weight.sum())
    squares = float(weight @ (np.array(counts) / pace.per_day - 1) ** 2)
    freedom = 3 + weight.sum() - 1  # a spread of 0.3 counts for three days
    assert pace.freedom == pytest.approx(freedom)
    assert pace.spread == pytest.approx(math.sqrt((3 * 0.3**2 + squares) / freedom))


def test_the_spread_is_at_least_that_of_poisson_counts():
    pace = pace_of(days_of([4] * 5), now=MONDAY + 5 * DAY_SECONDS)
    assert pace.spread == pytest.approx(1 / math.sqrt(4))


@pytest.mark.parametrize(
    ("counts", "weekend"),
    [
        pytest.param([40] * 5, (0, 0.5, 1), id="unseen: idle or busy"),
        pytest.param([40] * 5 + [0, 0], (0, 0, 0), id="idle"),
        pytest.param([40] * 5 + [20, 20], (0.5, 0.5, 0.5), id="half as busy"),
        pytest.param([40] * 5 + [20], (0.25, 0.5, 0.75), id="one day of it"),
    ],
)
def test_two_days_show_what_a_weekend_brings(counts, weekend):
    pace = pace_of(days_of(counts), now=MONDAY + len(counts) * DAY_SECONDS)
    assert pace.weekend == pytest.approx(weekend)


def test_the_interval_of_an_end_by_hand():
    """Five days of work, after two working weeks of 60 a day: until Friday, 17 o'clock. The late
    end has three factors: the spread of the days to come, that of the pace, and a falling pace."""
    counts = ([60] * 5 + [0, 0]) * 2
    monday = MONDAY + 14 * DAY_SECONDS
    pace = pace_of(days_of(counts), now=monday)
    n_days = sum(0.5 ** ((age + 0.5) / 7) for age in range(10))
    freedom = 3 + n_days - 1
    variance = 3 * 0.3**2 / freedom
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(
        math.log(1 + variance / 5) + math.log(1 + variance / n_days)
    )
    fall = 0.05 * (n_days / 2 + 5)
    early, expected, late = pace.predict_ends(300)

    def working_days(end: float) -> float:
        weeks, rest = divmod(end - monday, 7 * DAY_SECONDS)
        day, seconds = divmod(rest, DAY_SECONDS)
        return 5 * weeks + day + (seconds / HOUR - 9) / 8

    assert expected == pytest.approx(monday + 4 * DAY_SECONDS + 17 * HOUR, abs=600)
    assert working_days(early) == pytest.approx(5 * math.exp(-reach), abs=0.02)
    assert working_days(late) == pytest.approx(5 * math.exp(reach + fall), abs=0.1)


def test_a_fall_goes_on_for_two_weeks_at_most():
    """So 100 days of work are not less certain, in proportion, than 20."""
    pace = pace_of(days_of(([60] * 5 + [0, 0]) * 2), now=MONDAY + 14 * DAY_SECONDS)
    ratios = []
    for days in (20, 100):
        _, expected, late = (end - pace.now for end in pace.predict_ends(60.0 * days))
        ratios.append(late / expected)
    assert 0.85 * ratios[0] < ratios[1] < ratios[0]


def test_ends_lie_in_the_hours_in_which_people_judge():
    pace = pace_of(days_of(([80] * 5 + [0, 0]) * 2), now=MONDAY + 14 * DAY_SECONDS)
    for remaining in (30.0, 300.0, 1000.0):
        for end in pace.predict_ends(remaining):
            assert 9 <= (end % DAY_SECONDS) / HOUR <= 17


def test_nothing_on_working_days_is_no_pace():
    saturday = MONDAY - 2 * DAY_SECONDS + np.arange(100) * 60.0
    history = DayHistory.from_times(saturday, now=MONDAY, zone=UTC)
    assert DayPace.from_history(history, now=MONDAY, zone=UTC) is None
