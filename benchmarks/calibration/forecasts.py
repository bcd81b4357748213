"""Coverage of the prediction interval for the end of a campaign."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.campaigns.forecast import DAY_SECONDS, Forecaster

HOUR_SECONDS = 3600.0
MONDAY_SECONDS = 19_723 * DAY_SECONDS
"""1 January 2024."""
EVEN_KINDS = {
    "steady": 1.0,
    "office hours": 1.0,
    "office hours, idle weekends": 0.0,
    "office hours, weekends at a third": 1 / 3,
}
"""Kind of campaign with single, independent judgements -> pace on Saturdays and Sundays relative to
working days."""
SESSION_KINDS = (
    "sessions",
    "kick-off",
    "weekends at a third",
    "holiday",
    "fade-out",
    "late burst",
    "few annotators",
)
"""Kinds of campaign in which annotators work in sessions of 20 to 40 judgements."""
SESSION_JUDGEMENTS = 30
DAILY_FADE = 0.95


class ForecastCoverage(NamedTuple):
    """Coverage of forecasts. covered: share of the campaigns with a forecast that end within its
    interval. later: share that end after it. width: median width in days."""

    covered: float
    later: float
    width: float
    shown: int
    campaigns: int


def draw_even_campaign(
    kind: str, *, per_day: float, days: int, begin: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the times of judgements from a Poisson process by hour, either round the clock or from
    9:00 to 17:00. begin: a midnight."""
    start = begin + np.arange(days * 24) * HOUR_SECONDS
    hour, weekday = (start // HOUR_SECONDS) % 24, ((start // DAY_SECONDS) + 3) % 7
    pace = (
        np.full(len(start), per_day / 24)
        if kind == "steady"
        else np.where((hour >= 9) & (hour < 17), per_day / 8, 0.0)
    )
    pace = np.where(weekday >= 5, pace * EVEN_KINDS.get(kind, 0.0), pace)
    if kind == "fade-out, even":
        pace = pace * DAILY_FADE ** _count_working_days(
            start // DAY_SECONDS - begin // DAY_SECONDS, weekday
        )
    counts = rng.poisson(pace)
    return np.sort(np.repeat(start, counts) + rng.random(counts.sum()) * HOUR_SECONDS)


def draw_session_campaign(
    kind: str, *, per_day: float, days: int, begin: float, seen: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the times of judgements made in sessions between 9:00 and 17:00. seen: working days
    before the forecast."""
    weekday = (begin // DAY_SECONDS + np.arange(days) + 3) % 7
    working = np.flatnonzero(weekday < 5)
    pace = np.where(weekday < 5, per_day, per_day / 3 if kind == "weekends at a third" else 0.0)
    if kind == "kick-off":
        pace[working[0]] *= rng.uniform(4, 12)
    elif kind == "holiday":
        pace[rng.choice(working[1 : seen + 5])] = 0
    elif kind == "late burst":
        pace[rng.choice(working[seen - 2 : seen + 5])] *= 2
    elif kind == "fade-out":
        pace = pace * DAILY_FADE ** _count_working_days(np.arange(days), weekday)
    elif kind == "few annotators":  # three, each on three of five days
        present = (rng.random((days, 3)) < 0.6).sum(axis=1) / 1.8
        pace = pace * np.where(np.arange(days) == working[0], 1.0, present)
    made = [
        begin
        + day * DAY_SECONDS
        + (9 + 7 * rng.random()) * HOUR_SECONDS
        + 60.0 * np.arange(rng.integers(20, 41))
        for day, n in enumerate(rng.poisson(pace / SESSION_JUDGEMENTS))
        for _ in range(n)
    ]
    return np.sort(np.concatenate(made))


def _count_working_days(
    day: NDArray[np.float64], weekday: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Count the working days from the first day to each day. Both arrays increase by one per day.
    weekday: 0 for Monday."""
    first = weekday[0]
    whole, rest = np.divmod(day + first, 7)
    return 5 * whole + np.minimum(rest, 5) - min(first, 5)


def measure_forecast_coverage(
    kind: str, *, per_day: float, days: int, history: int, campaigns: int, rng: np.random.Generator
) -> ForecastCoverage:
    """Measure the coverage of forecasts for campaigns that begin on any day of the week.

    Forecasts are made during working hours after `history` working days, when the judgements of
    `days` working days at the usual pace are missing.
    """
    hits, later, width = [], [], []
    for _ in range(campaigns):
        begin = MONDAY_SECONDS + int(rng.integers(0, 7)) * DAY_SECONDS
        n_days = (history + 8 * days + 20) * 7 // 5
        weekday = ((begin // DAY_SECONDS) + np.arange(n_days) + 3) % 7
        now = (
            begin
            + np.flatnonzero(weekday < 5)[history] * DAY_SECONDS
            + (9 + 8 * rng.random()) * HOUR_SECONDS
        )
        if kind in SESSION_KINDS:
            moments = draw_session_campaign(
                kind, per_day=per_day, days=n_days, begin=begin, seen=history, rng=rng
            )
        else:
            moments = draw_even_campaign(kind, per_day=per_day, days=n_days, begin=begin, rng=rng)
        remaining = int(days * per_day * (DAILY_FADE**history if "fade" in kind else 1))
        to_come = moments[moments > now]
        end = float(to_come[remaining - 1]) if len(to_come) >= remaining else math.inf
        ahead = Forecaster.from_times(moments[moments <= now], now=now).forecast(remaining)
        if ahead.expected is None or ahead.early is None:
            continue
        late = math.inf if ahead.late is None else ahead.late
        hits.append(ahead.early <= end <= late)
        later.append(end > late)
        width.append((late - ahead.early) / DAY_SECONDS)
    if not hits:
        return ForecastCoverage(math.nan, math.nan, math.nan, 0, campaigns)
    return ForecastCoverage(
        float(np.mean(hits)), float(np.mean(later)), float(np.median(width)), len(hits), campaigns
    )
