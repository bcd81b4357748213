"""Forecast when a campaign will be complete and how much will be missing at its deadline, from the
pace of the days so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, tzinfo

import numpy as np
from numpy.typing import NDArray

from assay.campaigns.day_pace import DAY_SECONDS, DayHistory, DayPace
from assay.campaigns.working_days import add_working_days, count_working_days

MINUTE_SECONDS = 60.0
MIN_DAYS, MIN_JUDGEMENTS = 2, 20
"""Minimum number of working days of history, and of judgements within as many working days before
now. Below either there is no forecast."""
MAX_USEFUL_DAYS, MAX_USEFUL_RATIO = 60, 3.0
"""A prediction interval is too wide to plan by if it is longer than MAX_USEFUL_DAYS and its end is more
than MAX_USEFUL_RATIO times as far away as its beginning."""
SIGNIFICANT_Z = 1.96
JUDGED_MESSAGE = "All required judgements have been made."
UNJUDGED_MESSAGE = "No judgements yet."


@dataclass(frozen=True)
class Forecast:
    """A forecast. Times are seconds since 1970. If `expected` is None, there is no forecast, and
    `reason` says why.

    expected: end at the pace of the last working days. early, late: 95% prediction interval of the
    end. late is None if more than two years from now. per_day: judgements per working day, None if
    unknown. reason: why there is no forecast, or what the forecast does not take into account.
    possible_from: without a forecast, the minute from which the history is long enough, or None if
    it already is long enough or there are no judgements yet. n_short: number of judgements still
    needed to reach MIN_JUDGEMENTS within the last MIN_DAYS. is_vague: whether the prediction
    interval is too wide to plan by. trend: relative change of the pace per working day, None if it
    is not significant.
    """

    expected: float | None = None
    early: float | None = None
    late: float | None = None
    per_day: float | None = None
    reason: str = ""
    possible_from: float | None = None
    n_short: int = 0
    is_vague: bool = False
    trend: float | None = None


@dataclass(frozen=True, eq=False)
class Forecaster:
    """Forecasts of one campaign at one time, all based on the same pace.

    past: times of the judgements so far. lately: number of judgements within the last MIN_DAYS
    working days. lacking: working days of history missing to MIN_DAYS, without the kick-off.
    pace: None if there is no forecast.
    """

    past: NDArray[np.float64]
    now: float
    zone: tzinfo
    lately: int
    lacking: float
    has_kick_off: bool
    pace: DayPace | None

    @classmethod
    def from_times(
        cls, moments: NDArray[np.float64], *, now: float, zone: tzinfo = UTC
    ) -> Forecaster:
        """Create a forecaster. moments: float64 (n), NaN and times after `now` are ignored. zone:
        time zone of the campaign's calendar days."""
        past = moments[moments <= now]  # NaN compares as false
        if not len(past):
            return cls(past, now, zone, 0, float(MIN_DAYS), False, None)
        history = DayHistory.from_times(past, now=now, zone=zone)
        lately = int((past > add_working_days(now, -MIN_DAYS, zone)).sum())
        lacking = (
            0.0
            if now - history.begin > 7 * DAY_SECONDS
            else max(0.0, MIN_DAYS - count_working_days(history.begin, now, zone))
        )
        pace = None
        if lacking < 1e-9 and lately >= MIN_JUDGEMENTS:
            pace = DayPace.from_history(history, now=now, zone=zone)
        return cls(past, now, zone, lately, lacking, history.has_kick_off, pace)

    def forecast(self, remaining: float) -> Forecast:
        """Forecast when `remaining` more judgements will be complete."""
        if remaining <= 0:
            return Forecast(reason=JUDGED_MESSAGE)
        if self.pace is None:
            possible_from, n_short = self._missing_history(remaining)
            return Forecast(
                reason=self._no_forecast_reason(), possible_from=possible_from, n_short=n_short
            )
        early, expected, late = self.predict_ends(remaining)
        per_day, trend = self.pace.per_day, estimate_significant_trend(self.pace.history.whole_days)
        if not math.isfinite(expected):
            return Forecast(
                per_day=per_day,
                reason="At the current pace, judging takes more than two years.",
                trend=trend,
            )
        is_vague = (
            late - early > MAX_USEFUL_DAYS * DAY_SECONDS
            and late - self.now > MAX_USEFUL_RATIO * (early - self.now)
        )
        reason = " ".join(filter(None, (_describe_trend(trend), self._weekend_note(late))))
        until = late if math.isfinite(late) else None
        return Forecast(expected, early, until, per_day, reason, is_vague=is_vague, trend=trend)

    def predict_ends(self, remaining: float) -> tuple[float, float, float]:
        """Return the early, expected and late end as in `Forecast`, inf if more than two years from
        now, NaN without a forecast."""
        return (
            (math.nan, math.nan, math.nan)
            if self.pace is None
            else self.pace.predict_ends(remaining)
        )

    def predict_judgements_until(
        self, until: float, *, remaining: float = math.inf
    ) -> float | None:
        """Return the expected number of judgements until a time, at most `remaining`, or None
        without a forecast.

        The pace is that of `forecast`, so `remaining` is reached by `until` if the expected end is
        not later.
        """
        if remaining <= 0 or (self.pace is not None and until <= self.now):
            return 0.0
        return (
            None if self.pace is None else min(remaining, self.pace.predict_judgements_until(until))
        )

    def _no_forecast_reason(self) -> str:
        if not len(self.past):
            return UNJUDGED_MESSAGE
        if self.lacking > 1e-9 and self.has_kick_off:
            return "A forecast needs two working days after the start."
        if self.lacking > 1e-9:
            return "A forecast needs two working days of judgements."
        if self.lately >= MIN_JUDGEMENTS:
            return "No judgements on a working day yet."
        return f"Fewer than {MIN_JUDGEMENTS} judgements in the last two working days."

    def _missing_history(self, remaining: float) -> tuple[float | None, int]:
        """Return (possible_from, n_short) of `Forecast`. possible_from is None if a forecast would
        need more judgements than remain."""
        n_short = max(0, MIN_JUDGEMENTS - self.lately)
        if remaining < max(n_short, 1):
            return None, 0
        if not len(self.past) or self.lacking < 1e-9:
            return None, n_short
        return math.ceil(
            round(add_working_days(self.now, self.lacking, self.zone) / MINUTE_SECONDS, 3)
        ) * MINUTE_SECONDS, n_short

    def _weekend_note(self, late: float) -> str:
        assert self.pace is not None, "called only if a forecast exists"
        history = self.pace.history
        if (
            history.exposure[~history.calendar.working].any()
            or late <= self.now
            or count_working_days(self.now, min(late, self.now + 7 * DAY_SECONDS), self.zone)
            * DAY_SECONDS
            > late - self.now - 1
        ):
            return ""
        return (
            "No weekend has passed yet: the prediction interval allows for idle and busy weekends."
        )


def mann_kendall_z(counts: NDArray[np.float64]) -> float:
    """Return the standard normal statistic of a monotone trend (Mann 1945, ties as in Kendall
    1975), 0 with fewer than three values."""
    n = len(counts)
    if n < 3:
        return 0.0
    score = float(np.sign(np.subtract.outer(counts, counts))[np.tril_indices(n, -1)].sum())
    ties = np.unique(counts, return_counts=True)[1]
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    return (score - math.copysign(1, score)) / math.sqrt(variance) if score and variance else 0.0


def estimate_significant_trend(counts: NDArray[np.float64]) -> float | None:
    """Return the relative change from one value to the next, or None without a significant monotone
    trend.

    This is the median of the changes between all pairs of positive values, on the log scale (Sen
    1968).
    """
    statistic, positive = mann_kendall_z(counts), np.flatnonzero(counts > 0)
    if abs(statistic) <= SIGNIFICANT_Z or len(positive) < 2:
        return None
    later, earlier = np.tril_indices(len(positive), -1)
    logs = np.log(counts[positive])
    slope = float(np.median((logs[later] - logs[earlier]) / (positive[later] - positive[earlier])))
    return math.expm1(slope) if statistic * slope > 0 else None


def _describe_trend(trend: float | None) -> str:
    if trend is None:
        return ""
    return f"The pace {'falls' if trend < 0 else 'rises'} by about {100 * abs(trend):.0f}% per working day."


def count_short_pairs(
    counted: NDArray[np.integer], needed: NDArray[np.integer], *, capacity: int, least: int = 2
) -> int:
    """Return the number of pairs that will have judgements, but fewer than `least` (or than they
    need, if that is less), after `capacity` more judgements.

    counted, needed: (n_pairs), in the order in which the scheduler assigns pairs. It completes
    started pairs first, those with the fewest missing judgements first, and then starts new ones in
    order. Pairs without judgements are not counted.
    """
    counted, needed = counted.astype(np.int64).copy(), needed.astype(np.int64)
    missing = np.maximum(needed - counted, 0)
    started = np.flatnonzero((counted > 0) & (missing > 0))
    order = np.concatenate(
        [started[np.argsort(missing[started], kind="stable")], np.flatnonzero(counted == 0)]
    )
    spent = np.cumsum(missing[order])
    full = order[spent <= capacity]
    counted[full] = needed[full]
    if len(full) < len(order):
        rest = capacity - (int(spent[len(full) - 1]) if len(full) else 0)
        counted[order[len(full)]] += max(rest, 0)
    return int(((counted > 0) & (counted < np.minimum(least, needed))).sum())
