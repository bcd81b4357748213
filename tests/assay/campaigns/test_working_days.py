"""Calendar days and working time, with expected values from the calendar."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from assay.campaigns.working_days import (
    Calendar,
    WorkClock,
    add_working_days,
    count_working_days,
)

VIENNA = ZoneInfo("Europe/Vienna")


def utc(day: int, hour: int = 0, minute: int = 0) -> float:
    """Of January 2026, which begins with a Thursday."""
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("moment", "days", "expected"),
    [
        pytest.param(utc(9, 10), 2, utc(13, 10), id="from Friday over a weekend"),
        pytest.param(utc(10, 15), 1, utc(13), id="from Saturday"),
        pytest.param(utc(8), 2, utc(10), id="the earliest of the moments of a weekend"),
        pytest.param(utc(12, 9, 55), -2, utc(8, 9, 55), id="back over a weekend"),
        pytest.param(utc(12, 9), 0.125, utc(12, 12), id="three hours"),
    ],
)
def test_working_days_are_added_without_saturdays_and_sundays(moment, days, expected):
    assert add_working_days(moment, days, UTC) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (utc(9, 12), utc(12, 12), 1.0),
        (utc(10, 3), utc(11, 20), 0.0),
        (utc(5), utc(12), 5.0),
        (utc(12, 6), utc(12, 9), 0.125),
    ],
)
def test_working_time_between_two_moments_leaves_the_weekend_out(first, last, expected):
    assert count_working_days(first, last, UTC) == pytest.approx(expected)


def test_days_begin_at_local_midnight_and_have_23_hours_when_the_clocks_go_forward():
    """In Vienna summer time begins on Sunday, 29 March 2026."""
    first, last = (datetime(2026, 3, day, 12, tzinfo=VIENNA).timestamp() for day in (28, 30))
    calendar = Calendar.between(first, last, VIENNA)
    assert calendar.edges[0] == datetime(2026, 3, 27, 23, tzinfo=UTC).timestamp()
    assert np.diff(calendar.edges).tolist() == [24 * 3600, 23 * 3600, 24 * 3600]
    assert calendar.working.tolist() == [False, False, True]
    assert calendar.find_days(np.array([first, last])).tolist() == [0, 2]


def test_a_clock_of_working_hours_stands_still_at_night_and_runs_slowly_at_weekends():
    """Half of a day's work at 9 o'clock and half at 15 o'clock; half as much at weekends."""
    profile = np.zeros(24)
    profile[[9, 15]] = 0.5
    clock = WorkClock.from_calendar(Calendar.between(utc(9), utc(12), UTC), profile, weekend=0.5)
    passed = [
        clock.elapsed_days(np.array([utc(9), then]))[1]
        for then in (utc(9, 9, 30), utc(10), utc(12))
    ]
    assert passed == pytest.approx([0.25, 1, 2])
    assert clock.add(utc(9, 12), 0.25) == pytest.approx(utc(9, 15, 30), abs=1)
    assert clock.add(utc(9, 12), 0.5) == pytest.approx(utc(9, 16), abs=1)  # not the night after
    assert clock.add(utc(9, 12), 0.75) == pytest.approx(utc(10, 10), abs=1)
    assert clock.add(utc(9, 12), 3) == math.inf
