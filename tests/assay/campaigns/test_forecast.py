"""Forecasts from the days so far: replays, properties and reasons, with expected values by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.campaigns.forecast import (
    DAY_SECONDS,
    Forecast,
    Forecaster,
    count_short_pairs,
    estimate_significant_trend,
    mann_kendall_z,
)
from assay.campaigns.working_days import Calendar, WorkClock
from benchmarks.calibration.forecasts import HOUR_SECONDS, SESSION_KINDS, measure_forecast_coverage

NOW = 1_800_000_000.0
"""A Friday, 8 o'clock in UTC."""


def make_forecast(
    moments: np.ndarray, *, remaining: float, now: float, zone: tzinfo = UTC
) -> Forecast:
    return Forecaster.from_times(moments, now=now, zone=zone).forecast(remaining)


def every(seconds: float, hours: float) -> np.ndarray:
    """One judgement each `seconds`, over the last `hours`."""
    return NOW - np.arange(seconds / 2, hours * HOUR_SECONDS, seconds)


def november(day: int, hour: int = 0, minute: int = 0) -> float:
    """Of 2026; the 9th is a Monday."""
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC).timestamp()


def kick_off_campaign(*, seed: int = 1) -> np.ndarray:
    """A session of two hours on Monday, 9 November, 10 o'clock, with 400 judgements; then 40 on
    each working day between 9 and 17 o'clock."""
    rng = np.random.default_rng(seed)
    days = [day for day in range(10, 30) if datetime(2026, 11, day, tzinfo=UTC).weekday() < 5]
    sessions = [
        november(9, 10) + rng.random(400) * 2 * HOUR_SECONDS,
        *(november(day, 9) + rng.random(40) * 8 * HOUR_SECONDS for day in days),
    ]
    return np.sort(np.concatenate(sessions))


def assert_its_share_of_the_interval(
    moments: np.ndarray, *, remaining: float, first: float, seconds: float
) -> None:
    """Without a judgement, time moves the end by at most as much of the interval, and each bound by
    at most twice as much, as it is of a working day (and by itself). In working days, for an end
    may jump from an evening over a weekend."""
    looks = [Forecaster.from_times(moments, now=now) for now in (first, first + seconds)]
    if looks[0].pace is None or looks[1].pace is None:
        return  # fewer than 20 judgements within two working days
    calendar = Calendar.between(first, first + 800 * DAY_SECONDS, UTC)
    hours, passed, moved, days = looks[0].pace.history.profile, 0.0, [], []
    for before, after, weekend in zip(
        *(one.pace.predict_ends(remaining) for one in looks),
        reversed(looks[0].pace.weekend),
        strict=True,
    ):
        clock = WorkClock.from_calendar(
            calendar, hours, weekend=weekend + 1e-3
        )  # it takes some time
        times = clock.elapsed_days(np.array([before, after, first, first + seconds]))
        passed = max(passed, times[3] - times[2] + 1e-3)
        days.append(times[0])
        moved.append(abs(times[1] - times[0]))
    share = passed * (days[2] - days[0] + 1)
    assert moved[1] <= share
    assert max(moved) <= 2 * share


class TestReplay:
    """400 judgements are missing at each look: ten working days."""

    moments = kick_off_campaign()

    def at(self, day: int, hour: int, minute: int):
        return make_forecast(self.moments, remaining=400, now=november(day, hour, minute))

    def test_two_days_after_a_kick_off_one_working_day_is_known_and_no_date_is_told(self):
        found = self.at(11, 10, 5)
        assert found.expected is None
        assert found.reason == "A forecast needs two working days after the start."
        assert found.possible_from == november(12)

    @pytest.mark.parametrize(
        ("day", "hour", "minute", "truth"),
        [
            (12, 9, 55, november(26, 9, 55)),
            (12, 10, 5, november(26, 10, 5)),
            (13, 9, 55, november(27, 9, 55)),
            (13, 10, 5, november(27, 10, 5)),
            (16, 9, 55, november(30, 9, 55)),  # a Monday, with six judgements in 24 hours
            (17, 10, 5, november(30, 17) + 17 * HOUR_SECONDS),  # 1 December
        ],
    )
    def test_the_interval_holds_the_truth_and_the_date_is_within_a_few_days_of_it(
        self, day, hour, minute, truth
    ):
        found = self.at(day, hour, minute)
        assert found.early < truth < found.late
        assert abs(found.expected - truth) < 5 * DAY_SECONDS
        assert not found.is_vague

    @pytest.mark.parametrize("day", [12, 13, 16, 17, 18])
    def test_ten_minutes_at_the_hour_of_the_kick_off_change_next_to_nothing(self, day):
        known = self.moments[self.moments <= november(day, 9, 55)]
        assert_its_share_of_the_interval(
            known, remaining=400, first=november(day, 9, 55), seconds=600
        )

    @pytest.mark.parametrize("day", range(12, 20))
    def test_midnight_changes_next_to_nothing(self, day):
        known = self.moments[self.moments <= november(day, 23, 58)]
        assert_its_share_of_the_interval(
            known, remaining=400, first=november(day, 23, 58), seconds=240
        )

    def test_an_opening_burst_that_becomes_four_days_old_changes_nothing(self):
        """1,422 of 1,609 judgements in the first hours at 06:08:43, the others spread over four
        days; 687 are missing."""
        first, rng = november(9, 6, 8) + 43, np.random.default_rng(2)
        moments = np.concatenate(
            [
                first + rng.random(1422) * 3 * HOUR_SECONDS,
                first + DAY_SECONDS + rng.random(187) * 3 * DAY_SECONDS,
            ]
        )
        looks = [
            make_forecast(moments[moments <= now], remaining=687, now=now)
            for now in (november(13, 6, 3), november(13, 6, 8), november(13, 6, 12))
        ]
        assert max(one.expected for one in looks) - min(one.expected for one in looks) < 0.05 * (
            looks[0].late - looks[0].early
        )
        assert min(one.early for one in looks) > november(
            14
        )  # 187 in four days: 687 do not come within one


def sessions(*, seed: int, days: int = 14, begin: float = november(2)) -> np.ndarray:
    """Of 20 to 40 judgements, three a working day on average."""
    rng = np.random.default_rng(seed)
    made = [
        begin
        + day * DAY_SECONDS
        + (9 + 7 * rng.random()) * HOUR_SECONDS
        + 60.0 * np.arange(rng.integers(20, 41))
        for day in range(days)
        for _ in range(rng.poisson(3) if day % 7 < 5 else 0)
    ]
    return np.sort(np.concatenate(made))


SEEDS = st.integers(0, 10**6)


@settings(max_examples=60)
@given(seed=SEEDS, day=st.floats(4, 13), remaining=st.integers(20, 3000))
def test_ten_minutes_without_a_judgement_move_each_end_by_its_share_of_the_interval(
    seed, day, remaining
):
    moments, now = sessions(seed=seed), november(2) + day * DAY_SECONDS
    assert_its_share_of_the_interval(
        moments[moments <= now], remaining=remaining, first=now, seconds=600
    )


@settings(max_examples=60, derandomize=True)
@given(seed=SEEDS, remaining=st.integers(20, 3000))
def test_the_missing_over_the_pace_of_the_last_working_days_lies_in_the_interval(seed, remaining):
    """Of the last five, and of all ten."""
    moments, now = sessions(seed=seed, days=12), november(16)  # two working weeks, a Monday
    for begin, days in ((november(2), 10), (november(9), 5)):
        pace = (moments >= begin).sum() / days
        found = make_forecast(moments, remaining=remaining, now=now)
        if found.expected is None or not pace:
            continue
        weeks, rest = divmod(remaining / pace, 5)
        end = now + (7 * weeks + rest) * DAY_SECONDS
        late = math.inf if found.late is None else found.late
        assert found.early <= end + DAY_SECONDS
        assert end <= late + DAY_SECONDS


def test_the_interval_is_not_narrower_than_the_day_to_day_spread():
    """20 and 100 in turn on ten working days, mean 60 and standard deviation 40: of ten days 1.96
    times 40 √10 is 248, or four days."""
    moments = np.concatenate(
        [
            november(2 + day, 9) + np.arange(n) * 240.0
            for day, n in zip((0, 1, 2, 3, 4, 7, 8, 9, 10, 11), [20, 100] * 5, strict=True)
        ]
    )
    found = make_forecast(moments, remaining=600, now=november(16))
    assert found.early < november(27) - 3 * DAY_SECONDS
    assert found.late > november(27) + 4 * DAY_SECONDS


def test_an_even_pace_of_office_hours_ends_after_the_missing_over_the_pace():
    """Eight hours on ten working days, 100 an hour: 3,600 are four and a half days more, until
    Friday noon."""
    moments = np.concatenate(
        [
            november(2 + day, 9) + np.arange(0, 8 * HOUR_SECONDS, 36)
            for day in (0, 1, 2, 3, 4, 7, 8, 9, 10, 11)
        ]
    )
    found = make_forecast(moments, remaining=3600, now=november(16))
    assert found.expected == pytest.approx(november(20, 13), abs=4 * HOUR_SECONDS)
    assert (found.reason, found.trend, found.is_vague) == ("", None, False)
    assert found.per_day == pytest.approx(800)


def test_nobody_judges_at_a_weekend_once_one_has_shown_that():
    moments = np.concatenate(
        [
            november(2 + day, 9) + np.arange(0, 8 * HOUR_SECONDS, 36)
            for day in (0, 1, 2, 3, 4, 7, 8, 9, 10, 11)
        ]
    )
    for remaining in (2000, 5000, 9000):
        found = make_forecast(moments, remaining=remaining, now=november(12, 23))
        for end in (found.early, found.expected, found.late):
            assert datetime.fromtimestamp(end, UTC).weekday() < 5


def test_before_the_first_weekend_the_interval_holds_an_idle_and_a_busy_one():
    """80 a day from Monday to Wednesday; the end of 240 is Saturday evening if people judge at
    weekends, and Monday evening if not."""
    moments = np.concatenate(
        [november(9 + day, 9) + np.arange(0, 8 * HOUR_SECONDS, 360) for day in range(3)]
    )
    found = make_forecast(moments, remaining=240, now=november(12))
    assert "weekend" in found.reason
    assert found.early < november(14, 17) < november(16, 17) < found.late
    assert "weekend" not in make_forecast(moments, remaining=20, now=november(12)).reason


def test_days_are_those_of_the_zone():
    """In Auckland Monday's office hours lie on Sunday evening and night in UTC."""
    zone = ZoneInfo("Pacific/Auckland")
    starts = [
        datetime(2026, 11, 2 + day, 9, tzinfo=zone).timestamp()
        for day in (0, 1, 2, 3, 4, 7, 8, 9, 10, 11)
    ]
    moments = np.concatenate([start + np.arange(0, 8 * HOUR_SECONDS, 36) for start in starts])
    now = datetime(2026, 11, 14, 12, tzinfo=zone).timestamp()
    found = make_forecast(moments, remaining=600, now=now, zone=zone)  # three quarters of Monday
    assert found.expected == pytest.approx(
        datetime(2026, 11, 16, 15, tzinfo=zone).timestamp(), abs=2 * HOUR_SECONDS
    )
    assert datetime.fromtimestamp(found.early, zone).strftime("%a") == "Mon"


class TestTrend:
    def moments(self, counts: list[int]) -> np.ndarray:
        days = [day for day in range(28) if day % 7 < 5][: len(counts)]
        return np.concatenate(
            [
                november(2 + day, 9) + np.arange(n) * 8 * HOUR_SECONDS / n
                for day, n in zip(days, counts, strict=True)
            ]
        )

    def test_a_pace_that_falls_is_told_and_the_interval_holds_its_end(self):
        falling = [round(150 * 0.95**n) for n in range(15)]
        even = [round(150 * 0.95**14)] * 15
        now = november(22)
        fell, stayed = (
            make_forecast(self.moments(counts), remaining=400, now=now)
            for counts in (falling, even)
        )
        assert fell.trend == pytest.approx(-0.05, abs=0.005)
        assert fell.reason == "The pace falls by about 5% per working day."
        assert stayed.trend is None
        goes_on = next(
            n for n in range(1, 40) if sum(falling[-1] * 0.95**k for k in range(1, n + 1)) >= 400
        )
        assert fell.early < november(22) + (goes_on / 5 * 7 - 1) * DAY_SECONDS < fell.late

    def test_the_statistic_is_that_of_mann_and_kendall(self):
        """Five rising values: S = 10, variance 5 · 4 · 15 / 18. With a tie of two in three: S = 2,
        variance (3 · 2 · 11 - 2 · 1 · 9) / 18."""
        assert mann_kendall_z(np.array([1.0, 2, 3, 4, 5])) == pytest.approx(9 / math.sqrt(300 / 18))
        assert mann_kendall_z(np.array([1.0, 1, 2])) == pytest.approx(1 / math.sqrt(48 / 18))
        assert mann_kendall_z(np.array([5.0, 5, 5, 5])) == 0
        assert mann_kendall_z(np.array([5.0, 1])) == 0

    def test_the_score_without_ties_is_that_of_scipys_tau(self):
        counts = np.random.default_rng(3).permutation(12).astype(float)
        score = stats.kendalltau(np.arange(12), counts).statistic * 66
        expected = (score - math.copysign(1, score)) / math.sqrt(12 * 11 * 29 / 18)
        assert mann_kendall_z(counts) == pytest.approx(expected)

    def test_the_change_is_sens_slope_and_none_without_significance(self):
        counts = 200 * 0.9 ** np.arange(8.0)
        counts[3] = 0  # a holiday
        assert estimate_significant_trend(counts) == pytest.approx(-0.1)
        assert estimate_significant_trend(np.array([100.0, 90, 110, 95, 105, 100])) is None


def test_an_interval_that_is_too_wide_to_plan_by_is_marked():
    """60 within two working days, and two thousand to go."""
    moments = np.concatenate(
        [november(9, 9) + np.arange(30) * 600.0, november(10, 9) + np.arange(30) * 600.0]
    )
    assert make_forecast(moments, remaining=2000, now=november(11, 9, 5)).is_vague
    assert not make_forecast(moments, remaining=30, now=november(11, 9, 5)).is_vague


def test_what_takes_more_than_two_years_has_no_date():
    moments = np.concatenate([november(9 + day, 9) + np.arange(12) * 600.0 for day in range(5)])
    found = make_forecast(moments, remaining=10**6, now=november(14))
    assert (found.expected, found.reason) == (
        None,
        "At the current pace, judging takes more than two years.",
    )


@pytest.mark.parametrize(
    ("moments", "why"),
    [
        (np.empty(0), "No judgements yet."),
        (np.array([NOW - 80 * HOUR_SECONDS]), "Fewer than 20"),
        (every(600, 1), "needs two working days"),
        (every(600, 47), "needs two working days"),
        (every(4 * HOUR_SECONDS, 60), "Fewer than 20"),
        (np.array([NOW - 14 * DAY_SECONDS, NOW - 10 * DAY_SECONDS]), "Fewer than 20"),
        (
            NOW + 3 * DAY_SECONDS - np.arange(0, 2.5 * DAY_SECONDS, 600),
            "No judgements yet.",
        ),  # the future is no pace
        (np.array([np.nan]), "No judgements yet."),
    ],
)
def test_without_a_forecast_the_reason_is_said(moments, why):
    found = make_forecast(moments, remaining=10, now=NOW)
    assert (found.expected, found.early, found.late) == (None, None, None)
    assert why in found.reason


def test_two_days_of_a_weekend_tell_nothing_of_working_days():
    monday = NOW + 3 * DAY_SECONDS - 8 * HOUR_SECONDS
    moments = monday - np.arange(0, 2.01 * DAY_SECONDS, 600)
    assert "two working days" in make_forecast(moments, remaining=10, now=monday).reason


def test_weekends_alone_are_no_pace_of_working_days():
    """A Saturday's work, after two idle working days."""
    saturday = utc(10, 9) + 60.0 * np.arange(50)
    found = make_forecast(saturday, remaining=10, now=utc(14, 0))
    assert (found.expected, found.reason) == (None, "No judgements on a working day yet.")


def utc(day: int, hour: int, minute: int = 0) -> float:
    """Of January 2026, which begins with a Thursday."""
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("first", "possible"),
    [
        pytest.param(utc(5, 9), utc(7, 9), id="monday"),
        pytest.param(utc(5, 9, 30) + 1, utc(7, 9, 31), id="to the minute"),
        pytest.param(utc(8, 15), utc(12, 15), id="thursday"),
        pytest.param(utc(9, 10), utc(13, 10), id="friday"),
        pytest.param(utc(10, 0), utc(14, 0), id="saturday"),  # Monday and Tuesday are over
        pytest.param(utc(11, 20), utc(14, 0), id="sunday"),
    ],
)
def test_the_moment_from_which_there_can_be_a_forecast_is_told_and_kept(first, possible):
    """One a minute all the time: a minute before it there is none, and from then on there is
    one."""

    def at(moment: float):
        return make_forecast(np.arange(first, moment, 60.0), remaining=40, now=moment)

    young = at(first + HOUR_SECONDS)
    assert young.expected is None
    assert young.possible_from == possible
    assert young.n_short == 0
    assert at(first + 300).n_short == 15
    before = at(possible - 1.5 * HOUR_SECONDS)
    assert before.expected is None
    assert before.possible_from == possible
    for later in (60, 1800, 5 * HOUR_SECONDS, 30 * HOUR_SECONDS, 3 * DAY_SECONDS):
        assert at(possible + later).expected is not None
        assert at(possible + later).possible_from is None


def test_on_the_monday_after_an_idle_weekend_there_is_a_forecast():
    """Two weeks of office hours until Friday, and none on Monday yet; after two idle working days
    it waits for judgements."""
    worked = np.concatenate(
        [
            utc(day, 9) + np.arange(0, 8 * HOUR_SECONDS, 600)
            for day in (5, 6, 7, 8, 9, 12, 13, 14, 15, 16)
        ]
    )
    assert make_forecast(worked, remaining=100, now=utc(19, 8)).expected is not None
    idle = make_forecast(worked, remaining=100, now=utc(21, 8))
    assert (idle.expected, idle.possible_from, idle.n_short) == (None, None, 20)
    assert idle.reason == "Fewer than 20 judgements in the last two working days."


def test_before_the_first_judgement_no_moment_can_be_told():
    none = make_forecast(np.empty(0), remaining=40, now=NOW)
    assert (none.possible_from, none.n_short) == (None, 20)
    assert make_forecast(np.empty(0), remaining=0, now=NOW).n_short == 0
    assert (
        make_forecast(np.empty(0), remaining=19, now=NOW).n_short == 0
    )  # 20 cannot be made any more


def test_a_finished_campaign_has_no_forecast():
    found = make_forecast(every(360, 49), remaining=0, now=NOW)
    assert found.expected is None
    assert "judgements have been made" in found.reason


@pytest.mark.parametrize("kind", SESSION_KINDS)
def test_the_prediction_interval_covers_the_end(kind):
    """A short form of docs/evidence/calibration.md: of 60 campaigns, 95% give or take four standard errors
    of .028."""
    found = measure_forecast_coverage(
        kind, per_day=100, days=5, history=8, campaigns=60, rng=np.random.default_rng(11)
    )
    assert found.covered >= 0.84


class TestExpectedUntil:
    """A judgement every six minutes on four working days, ten an hour: Monday 5 to Thursday 8
    January 2026, and now is Friday, 0 h UTC."""

    now = 1767916800.0  # 9 January 2026
    moments = now - 180.0 - 360.0 * np.arange(4 * 240)

    def until(self, hours, *, remaining=math.inf, moments=None):
        forecaster = Forecaster.from_times(
            self.moments if moments is None else moments, now=self.now
        )
        return forecaster.predict_judgements_until(
            self.now + hours * HOUR_SECONDS, remaining=remaining
        )

    def test_the_coming_hours_bring_what_such_hours_brought(self):
        assert self.until(10) == pytest.approx(100, rel=0.1)
        assert self.until(10, remaining=60) == 60
        assert self.until(-3) == 0

    @pytest.mark.parametrize("hours", [5, 24, 100, 2000, 10_000])
    def test_it_is_the_forecast_read_the_other_way(self, hours):
        """What is expected until a moment is just made by then, and one more is not."""
        forecaster = Forecaster.from_times(self.moments, now=self.now)
        made = forecaster.predict_judgements_until(self.now + hours * HOUR_SECONDS)
        assert forecaster.forecast(0.999 * made).expected <= self.now + hours * HOUR_SECONDS
        assert forecaster.forecast(1.001 * made).expected >= self.now + hours * HOUR_SECONDS

    def test_where_there_is_no_forecast_there_is_no_expectation(self):
        """Before two days of history both are silent, for the same reason."""
        day = self.moments[:240]
        assert make_forecast(day, remaining=100, now=self.now).expected is None
        assert self.until(10, moments=day) is None
        assert self.until(10, moments=day, remaining=0) == 0  # nothing is left to expect


def test_a_forecast_is_the_same_each_time():
    moments = kick_off_campaign()
    assert make_forecast(moments, remaining=400, now=november(17)) == make_forecast(
        moments, remaining=400, now=november(17)
    )


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
    assert (
        count_short_pairs(
            np.array(counted, dtype=int), np.array(needed, dtype=int), capacity=capacity
        )
        == short
    )


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
        assert count_short_pairs(counted, needed, capacity=capacity) == twin


@pytest.mark.parametrize("seed", range(15))
def test_whatever_the_judgements_there_is_an_ordered_interval_or_a_reason(seed):
    """Bursts, idle weeks, weekend work, single judgements, NaN, the same second, clocks that
    change, at any hour."""
    rng = np.random.default_rng(seed)
    zone = ZoneInfo(
        rng.choice(["UTC", "Europe/Vienna", "America/New_York", "Pacific/Auckland", "Asia/Kolkata"])
    )
    begin = november(1) - rng.random() * 30 * DAY_SECONDS
    bursts = [
        begin
        + rng.random() * rng.choice([1, 5, 30]) * DAY_SECONDS
        + rng.random(rng.integers(1, 300)) * rng.choice([0, 60, HOUR_SECONDS, DAY_SECONDS])
        for _ in range(rng.integers(1, 12))
    ]
    moments = np.append(rng.permutation(np.concatenate(bursts)), np.nan)
    for _ in range(3):
        now = (
            float(np.nanmax(moments)) + rng.choice([-3, 0, 0.2, 1, 4]) * DAY_SECONDS * rng.random()
        )
        found = make_forecast(moments, remaining=int(rng.choice([1, 50, 3000])), now=now, zone=zone)
        if found.expected is None:
            assert found.reason
            continue
        assert now <= found.early <= found.expected <= (found.late or math.inf)
        assert math.isfinite(found.expected)
