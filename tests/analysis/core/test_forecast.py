"""Forecasts from the pace so far, with expected values by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.core.forecast import HOUR, forecast, hourly, short_at_deadline

NOW = 1_800_000_000.0


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def every(seconds: float, hours: float) -> np.ndarray:
    """One judgement each `seconds`, over the last `hours`."""
    return NOW - np.arange(seconds / 2, hours * HOUR, seconds)


def test_an_even_pace_of_ten_an_hour_needs_ten_hours_for_a_hundred():
    found = forecast(every(360, 48), remaining=100, now=NOW, rng=rng())
    assert found.per_day == pytest.approx(240)
    assert found.expected == pytest.approx(NOW + 10 * HOUR)
    assert found.early == pytest.approx(NOW + 10 * HOUR)  # every hour is the same, so every resample is
    assert found.late == pytest.approx(NOW + 10 * HOUR)


def test_an_uneven_pace_has_an_interval_around_the_forecast():
    day_only = np.concatenate([NOW - d * 24 * HOUR - np.arange(0, 12 * HOUR, 120) for d in range(3)])
    found = forecast(day_only, remaining=5000, now=NOW, rng=rng())
    assert found.early < found.expected < found.late


def test_without_judgements_there_is_no_forecast_and_the_reason_is_said():
    found = forecast(np.empty(0), remaining=10, now=NOW, rng=rng())
    assert found.expected is None
    assert "no pace" in found.reason


def test_a_campaign_that_rested_for_three_days_has_no_pace():
    found = forecast(np.array([NOW - 80 * HOUR]), remaining=10, now=NOW, rng=rng())
    assert found.expected is None
    assert "three days" in found.reason


def test_a_handful_of_judgements_gives_a_moment_but_no_interval():
    found = forecast(every(600, 1), remaining=6, now=NOW, rng=rng())
    assert found.expected == pytest.approx(NOW + HOUR)
    assert found.early is None
    assert "too few" in found.reason


def test_what_is_done_needs_no_forecast():
    found = forecast(every(360, 48), remaining=0, now=NOW, rng=rng())
    assert found.expected is None
    assert "has been judged" in found.reason


def test_hours_are_counted_from_the_first_judgement_in_whole_days():
    assert len(hourly(every(360, 30), now=NOW)) == 24
    assert len(hourly(every(360, 5), now=NOW)) == 5
    assert len(hourly(every(360, 500), now=NOW)) == 72
    assert hourly(every(360, 5), now=NOW).tolist() == [10] * 5


def test_the_same_seed_gives_the_same_interval():
    moments = every(700, 60) + np.random.default_rng(1).normal(0, 3000, size=len(every(700, 60)))
    assert forecast(moments, remaining=99, now=NOW, rng=rng()) == forecast(moments, remaining=99, now=NOW, rng=rng())


@pytest.mark.parametrize(
    ("counted", "needed", "capacity", "short"),
    [
        ([2, 1, 0, 0], [3, 3, 3, 3], 0, 1),  # the second has one judgement only
        ([2, 1, 0, 0], [3, 3, 3, 3], 3, 0),  # 1 closes the first, 2 the second
        ([2, 1, 0, 0], [3, 3, 3, 3], 4, 1),  # and one more opens the third
        ([2, 1, 0, 0], [3, 3, 3, 3], 5, 0),  # which then has two
        ([0, 0], [1, 1], 1, 0),  # one is all that a pair needs here
        ([], [], 5, 0),
    ],
)
def test_pairs_that_will_be_short_at_the_deadline(counted, needed, capacity, short):
    assert short_at_deadline(np.array(counted, dtype=int), np.array(needed, dtype=int), capacity=capacity) == short


def test_short_pairs_equal_those_of_a_naive_twin_that_hands_out_one_judgement_at_a_time():
    random = np.random.default_rng(3)
    for _ in range(50):
        needed = random.integers(1, 5, size=12)
        counted = np.minimum(random.integers(0, 5, size=12), needed)
        capacity = int(random.integers(0, 30))
        left = counted.copy()
        for _ in range(capacity):
            started = [i for i in range(12) if counted[i] > 0 and left[i] < needed[i]]
            opened = [i for i in range(12) if counted[i] == 0 and left[i] < needed[i]]
            if started:
                first = min(started, key=lambda i: (needed[i] - counted[i], i))
            elif opened:
                first = opened[0]
            else:
                break
            left[first] += 1
        twin = sum(0 < n < min(2, k) for n, k in zip(left, needed, strict=True))
        assert short_at_deadline(counted, needed, capacity=capacity) == twin
