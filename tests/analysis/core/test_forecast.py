"""Forecasts from the pace so far, with expected values by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from scipy import optimize, stats

from analysis.core.forecast import DAY, HOUR, History, expected_until, forecast, pace, short_at_deadline
from benchmarks.calibration.forecasts import coverage_of

NOW = 1_800_000_000.0
"""A Friday, 8 o'clock in UTC."""


def every(seconds: float, hours: float) -> np.ndarray:
    """One judgement each `seconds`, over the last `hours`."""
    return NOW - np.arange(seconds / 2, hours * HOUR, seconds)


def test_an_even_pace_of_ten_an_hour_needs_ten_hours_for_a_hundred():
    """After t hours 10 t are expected; their variance is 10 t, and 5 t more for the means of two days each: a gamma of shape t 10/1.5, scale 1.5."""
    found = forecast(every(360, 48.2), remaining=100, now=NOW)
    assert found.per_day == pytest.approx(240, abs=1)
    assert found.expected == pytest.approx(NOW + 10 * HOUR)
    for bound, share in ((found.early, 0.975), (found.late, 0.025)):
        hours = optimize.brentq(lambda t, share=share: stats.gamma.ppf(share, t * 10 / 1.5, scale=1.5) - 100, 1, 30)
        assert bound == pytest.approx(NOW + hours * HOUR, abs=0.1 * HOUR)


def test_the_end_lies_in_the_hours_in_which_people_judge():
    """Eight hours a day from 9 to 17 o'clock on two days, 100 an hour: 1,000 more are done on the second day from now, at 11 o'clock."""
    nine = NOW + HOUR
    moments = np.concatenate([nine - d * DAY + np.arange(18, 8 * HOUR, 36) for d in (1, 2, 3)])
    found = forecast(moments, remaining=1000, now=NOW)
    weekend = forecast(moments, remaining=1000, now=NOW - 3 * DAY + 20 * HOUR)
    assert found.expected == pytest.approx(nine + DAY + 2 * HOUR, abs=60)
    assert found.early < found.expected < found.late
    assert "weekend" in found.reason  # it would end on a Saturday, if people judge on Saturdays
    assert found.late > NOW + 3 * DAY
    assert weekend.expected is None


def test_nobody_judges_at_a_weekend_once_a_week_has_shown_that():
    days = [d for d in range(1, 15) if ((NOW // DAY - d) + 3) % 7 < 5]
    moments = np.concatenate([NOW + HOUR - d * DAY + np.arange(18, 8 * HOUR, 36) for d in days])
    found = forecast(moments, remaining=1000, now=NOW)
    assert found.expected == pytest.approx(NOW + HOUR + 3 * DAY + 2 * HOUR, abs=60)
    assert found.reason == ""


@pytest.mark.parametrize(
    ("moments", "why"),
    [
        (np.empty(0), "no pace"),
        (np.array([NOW - 80 * HOUR]), "within the last 3 days"),
        (every(600, 1), "before 2 days"),
        (every(600, 47), "before 2 days"),
        (every(4 * HOUR, 60), "too few"),
        (NOW + 3 * DAY - np.arange(0, 2.5 * DAY, 600), "nobody has judged yet"),  # the future is no pace
    ],
)
def test_without_a_forecast_the_reason_is_said(moments, why):
    found = forecast(moments, remaining=10, now=NOW)
    assert (found.expected, found.early, found.late) == (None, None, None)
    assert why in found.reason


def test_two_days_of_a_weekend_tell_nothing_of_working_days():
    monday = NOW + 3 * DAY - 8 * HOUR
    moments = monday - np.arange(0, 2.01 * DAY, 600)
    assert "no whole working day" in forecast(moments, remaining=10, now=monday).reason


def utc(day: int, hour: int, minute: int = 0) -> float:
    """Of January 2026, which begins with a Thursday."""
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("first", "possible"),
    [
        pytest.param(utc(5, 9), utc(7, 9), id="monday"),
        pytest.param(utc(5, 9, 30) + 1, utc(7, 9, 31), id="to the minute"),
        pytest.param(utc(8, 15), utc(10, 15), id="thursday"),  # the rest of Thursday and Friday are one of each hour
        pytest.param(utc(9, 10), utc(12, 10), id="friday"),  # Friday from 10 to 24 o'clock, and Monday until 10
        pytest.param(utc(10, 0), utc(13, 0), id="saturday"),  # Monday is over
        pytest.param(utc(11, 20), utc(13, 20), id="sunday"),
    ],
)
def test_the_moment_from_which_there_can_be_a_forecast_is_told_and_kept(first, possible):
    """One a minute all the time: a minute before it there is none, and from then on there is one."""
    def at(moment: float):
        return forecast(np.arange(first, moment, 60.0), remaining=40, now=moment)

    young = at(first + HOUR)
    assert young.expected is None
    assert young.possible_from == possible
    assert young.n_short == 0
    assert at(first + 300).n_short == 15
    if possible - first > 2 * DAY:
        before = at(possible - 1.5 * HOUR)
        assert before.expected is None
        assert before.possible_from == possible
    for later in (0, 60, 1800, 5 * HOUR, 30 * HOUR, 3 * DAY):
        assert at(possible + later).expected is not None
        assert at(possible + later).possible_from is None


def test_after_an_idle_weekend_it_waits_for_judgements_alone():
    """Two weeks of office hours until Friday, then three judgements on Monday before 9."""
    worked = np.concatenate([utc(day, 9) + np.arange(0, 8 * HOUR, 600) for day in (5, 6, 7, 8, 9, 12, 13, 14, 15, 16)])
    monday = utc(19, 9)
    some = forecast(np.concatenate([worked, monday - np.array([60.0, 120.0, 180.0])]), remaining=100, now=monday)
    assert (some.expected, some.possible_from, some.n_short) == (None, None, 17)
    assert "too few judgements" in some.reason
    enough = forecast(np.concatenate([worked, monday - 60.0 * np.arange(1, 21)]), remaining=100, now=monday)
    assert enough.expected is not None
    assert enough.n_short == 0


def test_before_the_first_judgement_no_moment_can_be_told():
    none = forecast(np.empty(0), remaining=40, now=NOW)
    assert (none.possible_from, none.n_short) == (None, 20)
    assert forecast(np.empty(0), remaining=0, now=NOW).n_short == 0
    assert forecast(np.empty(0), remaining=19, now=NOW).n_short == 0  # 20 cannot be made any more


def test_what_is_done_needs_no_forecast():
    found = forecast(every(360, 49), remaining=0, now=NOW)
    assert found.expected is None
    assert "has been judged" in found.reason


@pytest.mark.parametrize("minutes", [3, 65, 600])
def test_a_started_hour_counts_by_its_part_that_has_passed(minutes):
    """One a minute is 60 an hour after three minutes, too; the first one only starts the clock."""
    moments = NOW - 60.0 * np.arange(minutes + 1)
    assert pace(moments, now=NOW)[0] == pytest.approx(24 * 60)
    assert forecast(moments, remaining=10, now=NOW).per_day == pytest.approx(24 * 60)


def test_one_judgement_is_no_pace():
    assert pace(np.array([NOW - 1.0]), now=NOW)[0] == 0
    assert "one judgement only" in forecast(np.array([NOW - 1.0]), remaining=5, now=NOW).reason


@pytest.mark.parametrize("kind", ["steady", "office hours"])
def test_the_prediction_interval_covers_the_end(kind):
    """A short form of docs/calibration.md. The interval of the mean pace alone, as shown before, covers a steady pace in two of three."""
    found = coverage_of(kind, per_day=100, days=1, campaigns=300, rng=np.random.default_rng(11))
    assert 0.90 <= found.covered <= 0.99
    if kind == "steady":
        assert found.before < 0.85


class TestExpectedUntil:
    """A judgement every six minutes on four working days, ten an hour: Monday 5 to Thursday 8 January 2026, and now is Friday, 0 h UTC."""

    now = 1767916800.0  # 9 January 2026
    moments = now - 180.0 - 360.0 * np.arange(4 * 240)

    def until(self, hours, *, remaining=10_000, moments=None):
        return expected_until(self.moments if moments is None else moments, until=self.now + hours * HOUR, remaining=remaining, now=self.now)

    def test_the_coming_hours_bring_what_such_hours_brought(self):
        assert self.until(10) == pytest.approx(100)
        assert self.until(2.5) == pytest.approx(25)
        assert self.until(10, remaining=60) == 60
        assert self.until(-3) == 0

    def test_it_is_the_forecast_read_the_other_way(self):
        end = forecast(self.moments, remaining=77, now=self.now).expected
        assert self.until((end - self.now) / HOUR) == pytest.approx(77)

    def test_where_there_is_no_forecast_there_is_no_expectation(self):
        """Before two days of history both are silent, for the same reason."""
        day = self.moments[:240]
        assert forecast(day, remaining=100, now=self.now).expected is None
        assert self.until(10, moments=day) is None
        assert self.until(10, moments=day, remaining=0) == 0  # nothing is left to expect


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


@pytest.mark.parametrize("days", [3, 6])
def test_the_bounds_are_those_of_a_plain_sum_over_the_hours_to_come(days):
    now = datetime(2024, 5, 10, 9, 30, tzinfo=UTC).timestamp()  # a Friday: of three days no weekend has been seen
    moments = now - np.random.default_rng(5).uniform(0, days * 24 * 3600.0, size=400)
    history = History.of(moments, now)
    for idle_unseen in (False, True):
        seen_hours: dict[int, int] = {}
        mean = error = 0.0
        quantiles = []
        for hour in range(24 * 14):
            moment = datetime.fromtimestamp(now + (hour + 0.5) * 3600, UTC)
            kind, cell = int(moment.weekday() >= 5), hour % 24
            unseen = not history.seen[kind, cell]
            if not (unseen and idle_unseen):
                row = 0 if unseen else kind
                rate = history.counts[row, cell] / history.seen[row, cell]
                n = seen_hours[24 * row + cell] = seen_hours.get(24 * row + cell, 0) + 1
                mean += rate
                error += (n**2 - (n - 1) ** 2) * rate / history.seen[row, cell]
            shape = mean**2 / (history.dispersion * (error + mean)) if mean else 0.0
            quantiles.append(mean * max(0, 1 - 1 / (9 * shape) + 1.96 / (3 * shape**0.5)) ** 3 if shape else 0.0)
        wanted = 250
        after = next(i for i, value in enumerate(quantiles) if value >= wanted)
        below = quantiles[after - 1]
        expected = after + (wanted - below) / (quantiles[after] - below)
        assert history.reached(wanted, 1.96, idle_unseen=idle_unseen) == pytest.approx(expected, rel=1e-6)


def ends_by_a_loop(moments: np.ndarray, remaining: int, now: float) -> list[float | None]:
    """Expected, early and late end in hours, hour by hour by the words of docs/methods/watching.md."""
    history: dict[tuple[bool, int], list[int]] = {}
    for ago in range(24 * int(min(7, (now - moments.min()) // DAY))):
        end = now - ago * HOUR
        kind = datetime.fromtimestamp(end - HOUR / 2, UTC).weekday() >= 5
        history.setdefault((kind, (-1 - ago) % 24), []).append(int(((moments > end - HOUR) & (moments <= end)).sum()))
    means = {cell: sum(counts) / len(counts) for cell, counts in history.items()}
    judged = [cell for cell in history if means[cell]]
    freedom = sum(len(history[cell]) - 1 for cell in judged)
    chi2 = sum((n - means[cell]) ** 2 / means[cell] for cell in judged for n in history[cell])
    dispersion = max(1.0, chi2 / freedom) if freedom else 1.0

    def reached(z: float, *, idle: bool) -> float | None:
        hours: dict[tuple[bool, int], int] = {}
        before = 0.0
        for hour in range(24 * 200):
            own = (datetime.fromtimestamp(now + (hour + 0.5) * HOUR, UTC).weekday() >= 5, hour % 24)
            if own not in history and idle:
                continue
            cell = own if own in history else (False, hour % 24)
            hours[cell] = hours.get(cell, 0) + 1
            mean = sum(m * means[c] for c, m in hours.items())
            variance = dispersion * (sum(m * m * means[c] / len(history[c]) for c, m in hours.items()) + mean)
            shape = mean**2 / variance if mean else 1.0
            quantile = max(before, mean * max(0, 1 - 1 / (9 * shape) + z / (3 * shape**0.5)) ** 3 if z else mean)
            if quantile >= remaining:
                return hour + (remaining - before) / (quantile - before)
            before = quantile
        return None

    expected = reached(0, idle=False)
    z = stats.norm.ppf(0.975 if reached(0, idle=True) == expected else 0.95)
    return [expected, reached(z, idle=False), reached(-z, idle=True)]


@pytest.mark.parametrize("seed", range(6))
def test_ends_are_those_of_a_loop_over_hours(seed: int) -> None:
    rng = np.random.default_rng(seed)
    now = NOW + float(rng.integers(0, 14 * 24 * 60)) * 60
    moments = np.sort(now - rng.uniform(0, rng.uniform(3.5, 10) * DAY, 400))
    hour = moments % DAY / HOUR
    moments = moments[(hour >= 9) & (hour < 17)] if seed % 2 else moments
    found = forecast(moments, remaining=150, now=now)
    expected = ends_by_a_loop(moments, 150, now)
    assert [end and (end - now) / HOUR for end in (found.expected, found.early, found.late)] == pytest.approx(expected, abs=1e-6)
    assert None not in expected
