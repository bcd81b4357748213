"""The pace of a campaign in whole days, and its extrapolation.

The unit is the day. Judgements of one day depend on each other (sessions, the annotators available
that day), so single hours predict little. docs/reference/methods/watching.md describes the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import tzinfo
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.campaigns.working_days import Calendar, WorkClock

DAY_SECONDS = 86400.0
WINDOW_DAYS = 42
"""Number of calendar days of history that are used."""
HALF_LIFE_DAYS = 7.0
"""Number of working days after which a day's weight is halved."""
KICK_OFF, KICK_OFF_DAYS = 3.0, 3
"""A kick-off has more than KICK_OFF times the judgements of any other day, and is one of the first
KICK_OFF_DAYS days with judgements."""
USUAL_SPREAD, SPREAD_DAYS = 0.3, 3.0
"""The day-to-day spread (standard deviation over mean) assumed without history, and the number of
days that this assumption weighs."""
DAILY_DECLINE, MAX_DECLINE_DAYS = 0.05, 10.0
"""The late end allows for a pace that falls by DAILY_DECLINE per working day, for at most MAX_DECLINE_DAYS days to
come."""
WEEKEND_DAYS = 2.0
"""Number of weekend days after which the pace of weekends is considered known."""
HORIZON_DAYS = 731


@dataclass(frozen=True, eq=False)
class DayHistory:
    """Days with the number of judgements on each, oldest first, until now.

    counts: (n_days). profile: (24), the share of a day's judgements in each hour. exposure:
    (n_days), the usual share of a day's judgements in the observed part of the day: 1 except for
    the first day and today, and 0 until the kick-off is over. begin: time from which days are used.
    has_kick_off: whether a kick-off is excluded.
    """

    calendar: Calendar
    counts: NDArray[np.float64]
    profile: NDArray[np.float64]
    exposure: NDArray[np.float64]
    begin: float
    has_kick_off: bool

    @classmethod
    def from_times(cls, moments: NDArray[np.float64], *, now: float, zone: tzinfo) -> DayHistory:
        """Create the history. moments: at least one of them not after `now`."""
        begin = float(moments[moments <= now].min())
        calendar = Calendar.between(max(begin, now - WINDOW_DAYS * DAY_SECONDS), now, zone)
        recent = moments[(moments >= calendar.edges[0]) & (moments <= now)]
        day, n = calendar.find_days(recent), len(calendar)
        counts = np.bincount(day, minlength=n).astype(np.float64)
        is_young = begin >= calendar.edges[0]
        kick_off = find_kick_off(counts, calendar.working) if is_young else None
        if kick_off is not None:
            begin = float(calendar.edges[kick_off + 1])
        counts[calendar.edges[1:] <= begin] = 0.0
        hour = (24 * (recent - calendar.edges[day]) / np.diff(calendar.edges)[day]).astype(np.int64)
        made = np.bincount(np.minimum(hour[recent >= begin], 23), minlength=24).astype(np.float64)
        profile = made / made.sum() if made.any() else np.full(24, 1 / 24)
        seen = np.clip(calendar.edges, min(begin, now), now)
        exposure = np.diff(
            WorkClock.from_calendar(calendar, profile, weekend=1.0).elapsed_days(seen)
        )
        return cls(calendar, counts, profile, exposure, begin, kick_off is not None)

    @cached_property
    def whole_days(self) -> NDArray[np.float64]:
        """Return the number of judgements on each past working day that was observed from its
        beginning."""
        whole = self.calendar.working & (self.calendar.edges[:-1] >= self.begin)
        whole[-1] = False
        return self.counts[whole]


def find_kick_off(counts: NDArray[np.float64], working: NDArray[np.bool_]) -> int | None:
    """Return the index of the kick-off day, or None: one of the first days with judgements, with
    far more of them than every other day.

    counts, working: (n_days), of which the last day is not over. A busy day that repeats is not a
    kick-off. A kick-off is detected only after a complete working day has followed.
    """
    first = np.flatnonzero(counts)[:KICK_OFF_DAYS]
    if not len(first):
        return None
    top = int(first[np.argmax(counts[first])])
    others = np.delete(counts, top)
    return top if working[top + 1 : -1].any() and counts[top] > KICK_OFF * others.max() else None


@dataclass(frozen=True, eq=False)
class DayPace:
    """The number of judgements per working day, weighted towards recent days, and its uncertainty.

    per_day: judgements per working day. spread: standard deviation of a day's judgements over their
    mean. n_days: weighted number of working days. freedom: degrees of freedom of the spread.
    weekend: judgements of a Saturday or Sunday relative to a working day (minimum, expected,
    maximum).
    """

    history: DayHistory
    now: float
    zone: tzinfo
    per_day: float
    spread: float
    n_days: float
    freedom: float
    weekend: tuple[float, float, float]

    @classmethod
    def from_history(cls, history: DayHistory, *, now: float, zone: tzinfo) -> DayPace | None:
        """Compute the pace. None if there are no judgements on working days."""
        counts, exposure, working = history.counts, history.exposure, history.calendar.working
        worked = exposure * working
        # number of working days since the middle of each day
        age = np.cumsum(worked[::-1])[::-1] - worked / 2
        weight = 0.5 ** (age / HALF_LIFE_DAYS)
        n_days = float(weight @ worked)
        per_day = float(weight[working] @ counts[working]) / max(n_days, 1e-9)
        if not per_day or not n_days:
            return None
        squares = float(weight[working] @ (counts / per_day - exposure)[working] ** 2)
        freedom = SPREAD_DAYS + max(0.0, float(weight @ worked**2) - 1)
        variance = (SPREAD_DAYS * USUAL_SPREAD**2 + squares) / freedom
        spread = math.sqrt(max(variance, 1 / per_day))  # at least that of Poisson counts
        off = exposure * ~working
        usual = per_day * float(weight @ off)
        seen = float(weight[~working] @ counts[~working]) / usual if usual else 0.0
        unknown = max(0.0, 1 - float(off.sum()) / WEEKEND_DAYS)
        least = (1 - unknown) * seen
        weekend = least, least + unknown / 2, least + unknown
        return cls(history, now, zone, per_day, spread, n_days, freedom, weekend)

    def predict_ends(self, remaining: float) -> tuple[float, float, float]:
        """Return the early, expected and late end in seconds since 1970, inf if more than two years
        from now.

        The expected end is `remaining` divided by the pace, in working days. The others are the
        bounds of the 95% prediction interval.
        """
        days, variance = remaining / self.per_day, self.spread**2
        error = math.sqrt(math.log1p(variance / days) + math.log1p(variance / self.n_days))
        reach = scipy.special.stdtrit(self.freedom, 0.975) * error
        fade = DAILY_DECLINE * (self.n_days / 2 + min(days, MAX_DECLINE_DAYS))
        idle, usual, busy = self._clocks
        return (
            busy.add(self.now, days * math.exp(-reach)),
            usual.add(self.now, days),
            idle.add(self.now, days * math.exp(min(reach + fade, 50.0))),
        )

    def predict_judgements_until(self, moment: float) -> float:
        """Return the expected number of judgements until a time, within two years."""
        now, then = self._clocks[1].elapsed_days(np.array([self.now, moment]))
        return self.per_day * float(then - now)

    @cached_property
    def _clocks(self) -> tuple[WorkClock, WorkClock, WorkClock]:
        """Return clocks of future working time, with idle, usual and busy weekends."""
        calendar = Calendar.between(self.now, self.now + HORIZON_DAYS * DAY_SECONDS, self.zone)
        profile = self.history.profile
        idle, usual, busy = (
            WorkClock.from_calendar(calendar, profile, weekend=w) for w in self.weekend
        )
        return idle, usual, busy
