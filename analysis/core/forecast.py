"""When will the campaign be complete, and what will be missing at the deadline? From the pace so far."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

MINUTE = 60.0
HOUR = 3600.0
DAY = 24 * HOUR
PACE_DAYS = 3
"""The pace that is told is that of so many days at most."""
LEAST_DAYS, MOST_DAYS, LEAST_JUDGEMENTS = 2, 7, 20
"""Of history: below the least there is no forecast; of more than the most, the last days are taken, a week with its weekend."""
HORIZON_DAYS = 3653
NO_CELL = 48
"""The cells are numbered by kind of day (2) and hour (24); this stands for none of them."""
EPOCH_WEEKDAY = 3  # 1 January 1970 was a Thursday; Monday is 0


@dataclass(frozen=True)
class Forecast:
    """Moments are seconds since 1970. `expected` None: there is no forecast, and `reason` says why.

    early, late: a 95 % prediction interval of the end; late None: beyond ten years or never. reason, with a forecast: what it does not know.
    per_day: judgements a day at the pace of the last days, over `n_hours` hours, the started one rounded up.
    possible_from: without a forecast, the minute from which on enough hours have been seen for one; None where they have, and before the first
    judgement. n_short: judgements that are missing to the fewest within the last LEAST_DAYS without which there is none.
    """

    expected: float | None
    early: float | None
    late: float | None
    per_day: float
    n_hours: int
    reason: str = ""
    possible_from: float | None = None
    n_short: int = 0


def pace(moments: NDArray[np.float64], *, now: float) -> tuple[float, float]:
    """-> (judgements a day within the last PACE_DAYS, seconds that this is measured over).

    From the first judgement on if that is later: the first one starts the clock and is not counted, so that three minutes of
    judging are a pace, not three judgements in an hour.
    """
    past = moments[moments <= now]
    if not len(past):
        return 0.0, 0.0
    begin = max(float(past.min()), now - PACE_DAYS * DAY)
    passed = now - begin
    return (float((past > begin).sum()) / passed * DAY if passed > 0 else 0.0), passed


def forecast(moments: NDArray[np.float64], *, remaining: int, now: float, confidence: float = 0.95) -> Forecast:
    """When `remaining` judgements more will have been made. moments: float64 (n), when the judgements so far were made.

    Each hour of the day is expected to bring what it brought on average on the last whole days (a week at most), Saturdays and Sundays
    (UTC) apart from the other days. The interval is one of prediction: beside the error of these means it holds the chance of the hours to
    come, both as Poisson counts that vary `dispersion` times as much. A weekend that has not been seen yet is taken to bring something
    between nothing and what working days do; without a whole working day there is no forecast.
    """
    moments = moments[~np.isnan(moments)]
    per_day, passed = pace(moments, now=now)
    n_hours = int(np.ceil(passed / HOUR))
    why = _no_forecast(moments, remaining, per_day, now)
    if not why and not (history := History.of(moments, now)).knows_working_days:
        why = "no forecast yet: no whole working day (UTC) since the first judgement"
    if why:
        return Forecast(None, None, None, per_day, n_hours, why, *_missing_for_one(moments, remaining, now))
    expected = history.reached(remaining, 0.0, idle_unseen=False)
    unseen = history.reached(remaining, 0.0, idle_unseen=True) != expected
    # with a weekend unseen each bound takes its own worst case, so each has the whole risk for itself
    z = NormalDist().inv_cdf(confidence if unseen else (1 + confidence) / 2)  # the same as scipy's, without loading it for the first page
    early, late = history.reached(remaining, z, idle_unseen=False), history.reached(remaining, -z, idle_unseen=True)
    reason = "no weekend has been seen yet: taken as anything from idle to a working day" if unseen else ""

    def moment(hours: float | None) -> float | None:
        return None if hours is None else now + hours * HOUR

    return Forecast(moment(expected), moment(early), moment(late), per_day, n_hours, reason)


def expected_until(moments: NDArray[np.float64], *, until: float, remaining: int, now: float) -> float | None:
    """How many judgements are expected until a moment (seconds since 1970), at most `remaining`; None where `forecast` gives no end."""
    moments = moments[~np.isnan(moments)]
    per_day, _ = pace(moments, now=now)
    if remaining <= 0:
        return 0.0
    if _no_forecast(moments, remaining, per_day, now):
        return None
    history = History.of(moments, now)
    return min(float(remaining), history.expected_within(max(0.0, until - now) / HOUR)) if history.knows_working_days else None


def _no_forecast(moments: NDArray[np.float64], remaining: int, per_day: float, now: float) -> str:
    """Why there is none; empty where there is one."""
    past = moments[moments <= now]
    if remaining <= 0:
        return "everything that is needed has been judged"
    if not len(past):
        return "no pace: nobody has judged yet"
    if not per_day:
        return f"no pace: nobody has judged within the last {PACE_DAYS} days" if now - past.max() > PACE_DAYS * DAY else FEW
    if now - float(past.min()) < LEAST_DAYS * DAY:
        return f"no forecast before {LEAST_DAYS} days of judging: the hours of a day differ too much"
    if (past > now - LEAST_DAYS * DAY).sum() < LEAST_JUDGEMENTS:
        return f"too few judgements: fewer than {LEAST_JUDGEMENTS} within the last {LEAST_DAYS} days"
    return ""


FEW = "no pace yet: one judgement only"


def _missing_for_one(moments: NDArray[np.float64], remaining: int, now: float) -> tuple[float | None, int]:
    """-> (possible_from, n_short) of `Forecast`; nothing is promised that asks for more judgements than remain."""
    past = moments[moments <= now]
    n_short = max(0, LEAST_JUDGEMENTS - int((past > now - LEAST_DAYS * DAY).sum()))
    if remaining < max(n_short, 1):
        return None, 0
    if not len(past):
        return None, n_short
    first = float(past.min())
    known = next(hours for hours in range(24 * LEAST_DAYS, 24 * (LEAST_DAYS + MOST_DAYS)) if _is_known(first + hours * HOUR, hours // 24))
    possible = float(np.ceil((first + known * HOUR) / MINUTE) * MINUTE)
    return (possible if possible > now else None), n_short


def _is_known(now: float, n_days: int) -> bool:
    """Whether the last days hold every hour of a working day."""
    return len(np.unique((cells := _cells_before(now, min(n_days, MOST_DAYS)))[cells < 24])) == 24


def _cells_before(now: float, n_days: int) -> NDArray[np.int64]:
    """Kind of day and hour, as 24 * kind + hour, of each of the hours of the last days, the last first."""
    hours = np.arange(24 * n_days)
    return _kind(now - (hours + 0.5) * HOUR) * 24 + (-1 - hours) % 24


@dataclass(frozen=True, eq=False)
class History:
    """What the hours of the last whole days have brought, by kind of day and hour. Hours begin at `now`'s minute, so none is a part.

    counts, seen: (2, 24), working day or weekend: judgements and how many such hours there were; the first is the hour that begins at `now`.
    dispersion: variance of the counts of like hours over their mean, at least 1.
    """

    now: float
    counts: NDArray[np.float64]
    seen: NDArray[np.float64]
    dispersion: float

    @classmethod
    def of(cls, moments: NDArray[np.float64], now: float) -> History:
        n_days = int(min(MOST_DAYS, (now - float(moments.min())) // DAY))
        ago = np.floor((now - moments) / HOUR).astype(np.int64)
        per_hour = np.bincount(ago[(ago >= 0) & (ago < 24 * n_days)], minlength=24 * n_days).astype(np.float64)
        cell = _cells_before(now, n_days)
        counts, seen = np.bincount(cell, weights=per_hour, minlength=48), np.bincount(cell, minlength=48).astype(np.float64)
        mean = counts / np.maximum(seen, 1)
        expected = mean[cell]
        some = expected > 0
        freedom = float((np.maximum(seen - 1, 0) * (counts > 0)).sum())
        chi2 = float(((per_hour - expected)[some] ** 2 / expected[some]).sum())
        dispersion = max(1.0, chi2 / freedom) if freedom else 1.0
        return cls(now, counts.reshape(2, 24).astype(np.float64), seen.reshape(2, 24), dispersion)

    @property
    def knows_working_days(self) -> bool:
        """Whether every hour of a working day has been seen."""
        return bool((self.seen[0] > 0).all())

    def cells(self, n_hours: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Of each coming hour: the cell of `counts` that tells of it (of an unseen hour of the weekend that of a working day), whether it is its own."""
        hours = np.arange(n_hours)
        own = _kind(self.now + (hours + 0.5) * HOUR) * 24 + hours % 24
        known = self.seen.ravel()[own] > 0
        return np.where(known, own, own % 24), known

    def expected_within(self, hours: float) -> float:
        """How many judgements the coming `hours` are expected to bring, by the same means as `reached`; not more hours than the horizon has."""
        n_hours = int(np.ceil(min(hours, 24 * HORIZON_DAYS)))
        cell, _ = self.cells(n_hours)
        rate = (self.counts.ravel() / np.maximum(self.seen.ravel(), 1))[cell]
        parts = np.minimum(1.0, min(hours, 24 * HORIZON_DAYS) - np.arange(n_hours))
        return float(rate @ parts)

    def reached(self, remaining: int, z: float, *, idle_unseen: bool) -> float | None:
        """Hours until the z-quantile of the judgements to come reaches `remaining`; None beyond HORIZON_DAYS.

        idle_unseen: hours of an unseen kind bring nothing. The count is taken as gamma with its mean and variance (Wilson and Hilferty).
        """
        for days in (14, 112, 730, HORIZON_DAYS):
            cell, known = self.cells(24 * days)
            is_counted = known | (not idle_unseen)
            brings = is_counted.astype(np.float64)
            rate = self.counts.ravel() / np.maximum(self.seen.ravel(), 1)
            mean = _sums(brings * rate[cell])
            # the error of a cell's mean counts with the square of its hours so far, which grows by 2 n + 1 with one hour more
            squares = brings * (2 * _before(np.where(is_counted, cell, NO_CELL)) + 1)
            variance = self.dispersion * (_sums(squares * (rate / np.maximum(self.seen.ravel(), 1))[cell]) + mean)
            with np.errstate(divide="ignore", invalid="ignore"):
                shape = mean**2 / variance
                quantile = mean * np.maximum(0, 1 - 1 / (9 * shape) + z / (3 * np.sqrt(shape))) ** 3 if z else mean
            quantile = np.maximum.accumulate(np.nan_to_num(quantile))
            if quantile[-1] >= remaining:
                after = int(np.searchsorted(quantile, remaining))
                below, above = quantile[after - 1], quantile[after]
                return after - 1 + float((remaining - below) / (above - below))
        return None


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n + 1) of the first 0, 1, ..., n values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _before(cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each hour how many earlier ones are of its cell (0 to NO_CELL)."""
    order = np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[order], np.arange(NO_CELL + 1))
    before = np.empty_like(cell)
    before[order] = np.arange(len(cell)) - first[cell[order]]
    return before


def _kind(moments: NDArray[np.floating]) -> NDArray[np.int64]:
    """0 working day, 1 weekend, in UTC."""
    weekday = (np.floor(moments / DAY).astype(np.int64) + EPOCH_WEEKDAY) % 7
    return (weekday >= 5).astype(np.int64)


def short_at_deadline(counted: NDArray[np.integer], needed: NDArray[np.integer], *, capacity: int, least: int = 2) -> int:
    """Pairs that will have some judgements but fewer than `least` (or than they need, if that is less) once `capacity` more are made.

    counted, needed: (n_pairs), in the order in which the scheduler serves them. It closes started pairs first, those nearest to their
    end before others, and then opens new ones in order. Pairs without any judgement are not short: they are simply not judged.
    """
    counted, needed = counted.astype(np.int64).copy(), needed.astype(np.int64)
    missing = np.maximum(needed - counted, 0)
    started = np.flatnonzero((counted > 0) & (missing > 0))
    order = np.concatenate([started[np.argsort(missing[started], kind="stable")], np.flatnonzero(counted == 0)])
    spent = np.cumsum(missing[order])
    full = order[spent <= capacity]
    counted[full] = needed[full]
    if len(full) < len(order):
        rest = capacity - (int(spent[len(full) - 1]) if len(full) else 0)
        counted[order[len(full)]] += max(rest, 0)
    return int(((counted > 0) & (counted < np.minimum(least, needed))).sum())
