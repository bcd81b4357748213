"""Calendar days of a time zone, and working time, in which Monday to Friday count, but not Saturday
and Sunday."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Calendar:
    """Consecutive calendar days.

    edges: float64 (n + 1), the midnights between the days in seconds since 1970. A day has 23 or 25
    hours when the clocks change. working: bool (n), whether the day is one of Monday to Friday.
    """

    edges: NDArray[np.float64]
    working: NDArray[np.bool_]

    @classmethod
    def between(cls, first: float, last: float, zone: tzinfo) -> Calendar:
        """Return the days from the one that contains `first` to the one that contains `last`."""
        day = datetime.fromtimestamp(first, UTC).astimezone(zone).date()
        end = datetime.fromtimestamp(last, UTC).astimezone(zone).date()
        days = [day + timedelta(days=n) for n in range((end - day).days + 2)]
        edges = [datetime(one.year, one.month, one.day, tzinfo=zone).timestamp() for one in days]
        return cls(np.array(edges), np.array([one.weekday() < 5 for one in days[:-1]], dtype=bool))

    def __len__(self) -> int:
        return len(self.working)

    def find_days(self, moments: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the day that contains each time."""
        return np.searchsorted(self.edges, moments, side="right") - 1


@dataclass(frozen=True, eq=False)
class WorkClock:
    """Elapsed working days as a function of time, which advances at the usual hours of judging.

    moments: (24 n + 1), the hours of n calendar days. passed: (24 n + 1), working days that have
    passed at each.
    """

    moments: NDArray[np.float64]
    passed: NDArray[np.float64]

    @classmethod
    def from_calendar(
        cls, calendar: Calendar, profile: NDArray[np.float64], *, weekend: float
    ) -> WorkClock:
        """Create a clock. profile: (24), the share of a day's judgements in each hour. weekend:
        judgements of a Saturday or Sunday relative to a working day."""
        length = np.diff(calendar.edges)[:, None]
        hours = calendar.edges[:-1, None] + length * np.arange(24) / 24
        brought = np.where(calendar.working, 1.0, weekend)[:, None] * profile
        return cls(
            np.append(hours, calendar.edges[-1]), np.concatenate([[0.0], np.cumsum(brought)])
        )

    def elapsed_days(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number of working days that have passed at each time."""
        return np.interp(moments, self.moments, self.passed)

    def add(self, moment: float, days: float) -> float:
        """Return the earliest time that is `days` working days after `moment`, inf beyond the
        calendar."""
        target = float(np.interp(moment, self.moments, self.passed)) + days
        if target > self.passed[-1]:
            return math.inf
        return max(moment, float(np.interp(target - 1e-9, self.passed, self.moments)))


def count_working_days(first: float, last: float, zone: tzinfo) -> float:
    """Return the working time from `first` to `last` in days."""
    calendar = Calendar.between(first, max(first, last), zone)
    return float(
        np.diff(np.interp([first, last], calendar.edges, _elapsed_working_days(calendar)))[0]
    )


def add_working_days(moment: float, days: float, zone: tzinfo) -> float:
    """Return the earliest time that is `days` working days after `moment`, or before it if `days`
    is negative."""
    margin = (abs(days) + 7) * 2 * 86400
    calendar = Calendar.between(moment - margin * (days < 0), moment + margin * (days >= 0), zone)
    passed = _elapsed_working_days(calendar)
    here = float(np.interp(moment, calendar.edges, passed))
    # on a weekend, its beginning
    return float(np.interp(here + days - 1e-9, passed, calendar.edges))


def _elapsed_working_days(calendar: Calendar) -> NDArray[np.float64]:
    """Return (n + 1), the working days that have passed at each midnight."""
    return np.concatenate([[0.0], np.cumsum(calendar.working)])
