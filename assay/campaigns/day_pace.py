"""The pace of a campaign by whole days: a model of the days so far, and simulated days to come.

The day is the unit. Judgements of one day depend on each other (sessions, the annotators who have
time today), so hours tell little about the days to come. docs/reference/methods/watching.md describes the
model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from assay.campaigns.working_days import Calendar

DAY_SECONDS = 86400.0
WINDOW_DAYS = 42
"""Calendar days of history that count."""
HALF_LIFE = 10.0
"""Working days after which a day counts half."""
KICK_OFF, KICK_OFF_DAYS = 3.0, 3
"""A kick-off has more than KICK_OFF times the judgements of any other day, and is one of the first
KICK_OFF_DAYS days with judgements."""
USUAL_SPREAD, SPREAD_DAYS = 0.4, 3.0
"""The day-to-day spread (standard deviation over mean) assumed before there is any history, and the
number of days that this counts for."""
IDLE_DAYS = 0.25
"""Idle days, and as many others, that are added to those seen."""
USUAL_DRIFT, DRIFT, DRIFT_ODDS = -0.04, 0.03, 1.0
"""Of a drift of the log pace per working day, before the history is known: its mean, its standard
deviation, and the odds that there is one."""
WEEKEND_DAYS = 0.2
"""Days of the weekend for which an unseen one counts."""
DRIFT_DAYS = 40.0
"""Working days after which a drift has lost 63% of its strength."""
N_PATHS = 2001
"""Odd, so that a median is the value of one path."""
HORIZON_DAYS = 731
DRAWN_DAYS = 512
SEED = 3


@dataclass(frozen=True, eq=False)
class DayHistory:
    """Days with the judgements made on them, oldest first, until now.

    counts: (n_days). exposure: (n_days), the share of a day's judgements that are usually made in
    the part of the day that was seen: 1 except for the first day and today. apart: index of the
    kick-off day, None without one; no day until then is used. by_now: the share of a day's
    judgements that are usually made before this time of day. profile: (25), the same at each full
    hour."""

    calendar: Calendar
    now: float
    zone: tzinfo
    counts: NDArray[np.float64]
    exposure: NDArray[np.float64]
    apart: int | None
    profile: NDArray[np.float64]
    by_now: float

    @classmethod
    def of(cls, moments: NDArray[np.float64], *, now: float, zone: tzinfo) -> DayHistory:
        """moments: float64 (n), at least one of them not after `now`."""
        first = float(moments[moments <= now].min())
        calendar = Calendar.between(max(first, now - WINDOW_DAYS * DAY_SECONDS), now, zone)
        recent = moments[(moments >= calendar.edges[0]) & (moments <= now)]
        day, n = calendar.day_of(recent), len(calendar)
        counts = np.bincount(day, minlength=n).astype(np.float64)
        apart = find_kick_off(counts, calendar.working) if first >= calendar.edges[0] else None
        today, passed = calendar.share_of_day(now)
        begun = calendar.share_of_day(first)[1] if first >= calendar.edges[0] else 0.0
        seen = np.ones((n, 24))
        seen[today] = np.clip(24 * passed - np.arange(24), 0, 1)
        seen[0] -= np.clip(24 * begun - np.arange(24), 0, 1)
        length = np.diff(calendar.edges)
        hour = np.minimum(24 * (recent - calendar.edges[day]) / length[day], 23).astype(np.int64)
        kept = np.arange(n) > (-1 if apart is None else apart)
        made = np.bincount(hour[kept[day]], minlength=24)
        rate = made / np.maximum(seen[kept].sum(axis=0), 1e-9) * (made > 0)
        profile = np.concatenate([[0.0], np.cumsum(rate)]) / (rate.sum() or 1.0)
        exposure = np.ones(n)
        by_now = float(np.interp(24 * passed, np.arange(25), profile))
        exposure[today] = by_now
        exposure[0] -= float(np.interp(24 * begun, np.arange(25), profile))
        return cls(calendar, now, zone, counts, np.maximum(exposure, 0.0), apart, profile, by_now)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """(n_days) Whether the day is a working day after the kick-off."""
        return self.calendar.working & self._after_kick_off

    @cached_property
    def weekends(self) -> NDArray[np.bool_]:
        """(n_days) Whether the day is a Saturday or Sunday after the kick-off."""
        return ~self.calendar.working & self._after_kick_off

    @property
    def _after_kick_off(self) -> NDArray[np.bool_]:
        return np.arange(len(self.calendar)) > (-1 if self.apart is None else self.apart)

    @cached_property
    def whole_days(self) -> NDArray[np.float64]:
        """Judgements on each used working day that is over and was seen from its beginning."""
        whole = self.used.copy()
        whole[-1] = False
        return self.counts[whole & (self.exposure == 1.0)]

    @cached_property
    def age(self) -> NDArray[np.float64]:
        """(n_days) Working days from the middle of each day's seen part until now."""
        worked = self.exposure * self.calendar.working
        return np.cumsum(worked[::-1])[::-1] - worked / 2


def find_kick_off(counts: NDArray[np.float64], working: NDArray[np.bool_]) -> int | None:
    """Return the index of the kick-off day, None without one: far above every other day, and among
    the first with judgements.

    counts, working: (n_days), the last day is not over. A busy day that repeats is no kick-off, and
    before a whole working day has followed nothing can be said."""
    first = np.flatnonzero(counts)[:KICK_OFF_DAYS]
    if not len(first):
        return None
    top = int(first[np.argmax(counts[first])])
    others = np.delete(counts, top)
    return top if working[top + 1 : -1].any() and counts[top] > KICK_OFF * others.max() else None


@dataclass(frozen=True)
class PaceFit:
    """What a working day brings, by one model of the days so far.

    level: log of the judgements of a working day now. drift: change of the level per working day.
    spread: standard deviation of a day's judgements over their mean. errors: (2, 2), lower
    triangle; times the spread and two standard normals it is the error of level and drift."""

    level: float
    drift: float
    spread: float
    errors: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DayPace:
    """What the days to come bring, and how sure that is.

    steady, drifting: the fits without and with a drift. has_drift: probability of the second.
    freedom: degrees of freedom of the spread. idle: probability that nothing is judged on a working
    day. weekend: judgements on Saturdays and Sundays, and what as many working days would have
    brought in those days, recent ones weighted. weekend_days: number of such days."""

    history: DayHistory
    steady: PaceFit
    drifting: PaceFit
    has_drift: float
    freedom: float
    idle: float
    weekend: tuple[float, float]
    weekend_days: float

    @classmethod
    def of(cls, history: DayHistory) -> DayPace:
        weight = 0.5 ** (history.age / HALF_LIFE)
        seen = weight * history.exposure
        whole = (weight * history.exposure**2)[
            history.used
        ]  # a part of a day tells little of the spread
        freedom = SPREAD_DAYS + max(0.0, float(whole.sum()) - 1)
        steady, drifting = (
            _fit_pace(history, weight, whole, freedom, drifts=drifts) for drifts in (False, True)
        )
        of_drift = drifting.spread**2 * float((drifting.errors @ drifting.errors.T)[1, 1])
        far, usually_far = drifting.drift**2 / of_drift, (USUAL_DRIFT / DRIFT) ** 2
        odds = (
            DRIFT_ODDS * math.sqrt(of_drift) / DRIFT * math.exp(min(50.0, (far - usually_far) / 2))
        )  # Savage-Dickey ratio
        idle = float(whole @ (history.counts[history.used] == 0) + IDLE_DAYS) / float(
            whole.sum() + 2 * IDLE_DAYS
        )
        off = history.weekends
        usual = float(seen[off] @ np.exp(drifting.level - drifting.drift * history.age[off]))
        weekend = float(weight[off] @ history.counts[off]), usual
        return cls(
            history,
            steady,
            drifting,
            odds / (1 + odds),
            freedom,
            idle,
            weekend,
            float(history.exposure[off].sum()),
        )

    def paths(self, n_days: int) -> SimulatedPaths:
        """Simulate the rest of today and so many days after it."""
        history, drawn = self.history, get_draws()
        calendar = Calendar.between(
            history.now, history.now + (n_days + 0.5) * DAY_SECONDS, history.zone
        )
        share = np.ones(len(calendar))
        share[0] = 1 - history.by_now
        worked = share * calendar.working
        ahead = DRIFT_DAYS * -np.expm1(-(np.cumsum(worked) - worked / 2) / DRIFT_DAYS)
        level, drift, spread = self._parameters(drawn)
        brought = np.exp(level[:, None] + drift[:, None] * ahead) * share
        brought[:, ~calendar.working] *= self._weekends(drawn, spread)[:, None]
        first = datetime.fromtimestamp(history.now, UTC).astimezone(history.zone).toordinal()
        column = (
            first + np.arange(len(calendar))
        ) % DRAWN_DAYS  # a date keeps its draws as time passes
        noise = (1 + spread**2) * (
            1 - self.idle
        ) - 1  # squared spread of the days that are not idle
        shape = share / np.maximum(noise, np.exp(-level))[:, None]
        brought *= (
            _gamma_quantile_ratio(drawn.days[:, column], shape)
            * (drawn.idle[:, column] >= self.idle)
            / (1 - self.idle)
        )
        return SimulatedPaths(calendar, np.cumsum(brought, axis=1), history.profile, history.by_now)

    def _parameters(
        self, drawn: RandomDraws
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """(PATHS) level, drift and spread of each path."""
        drifts = drawn.drifts < self.has_drift
        spread = np.where(drifts, self.drifting.spread, self.steady.spread)
        spread = spread / np.sqrt(
            np.maximum(_gamma_quantile_ratio(drawn.parameters[2], np.array(self.freedom / 2)), 0.05)
        )  # chi-squared
        of_steady, of_drifting = (
            fit.errors @ drawn.parameters[:2] for fit in (self.steady, self.drifting)
        )
        level = np.where(
            drifts,
            self.drifting.level + spread * of_drifting[0],
            self.steady.level + spread * of_steady[0],
        )
        return (
            level,
            np.where(drifts, (self.drifting.drift + spread * of_drifting[1]) * drawn.lasts, 0.0),
            spread,
        )

    def _weekends(self, drawn: RandomDraws, spread: NDArray[np.float64]) -> NDArray[np.float64]:
        """(PATHS) A day of the weekend over a working day. One that has not been seen brings
        anything from nothing to as much."""
        (made, usual), unseen = self.weekend, WEEKEND_DAYS * max(0.0, 1 - self.weekend_days / 2)
        if not usual:
            return drawn.weekend
        seen = (
            made
            / usual
            * np.exp(spread * drawn.parameters[3] / math.sqrt(max(self.weekend_days, 1.0)))
        )
        return (self.weekend_days * seen + unseen * drawn.weekend) / (self.weekend_days + unseen)


@dataclass(frozen=True, eq=False)
class SimulatedPaths:
    """Simulated futures. made: (PATHS, n_days), judgements until the end of each day, today
    first."""

    calendar: Calendar
    made: NDArray[np.float64]
    profile: NDArray[np.float64]
    by_now: float

    def ends(self, remaining: float) -> NDArray[np.float64]:
        """(PATHS) When `remaining` judgements have been made, seconds since 1970; inf if not within
        these days."""
        reached = self.made >= remaining
        day = np.argmax(reached, axis=1)
        rows = np.arange(len(day))
        before = np.where(day > 0, self.made[rows, day - 1], 0.0)
        share = (remaining - before) / np.maximum(self.made[rows, day] - before, 1e-12)
        usual = np.where(day == 0, self.by_now + share * (1 - self.by_now), share)
        rises = np.diff(self.profile, prepend=0.0, append=1.0) > 0
        bounds = rises[:-1] | rises[1:]  # of the hours in which something is made
        passed = np.interp(usual, self.profile[bounds], np.arange(25)[bounds]) / 24
        ends = self.calendar.edges[day] + passed * np.diff(self.calendar.edges)[day]
        return np.where(reached[rows, day], ends, np.inf)

    def made_until(self, moment: float) -> NDArray[np.float64]:
        """(PATHS) How many judgements are made until a moment within these days."""
        day, passed = self.calendar.share_of_day(moment)
        usual = float(np.interp(24 * passed, np.arange(25), self.profile))
        share = max(0.0, (usual - self.by_now) / max(1 - self.by_now, 1e-12)) if day == 0 else usual
        before = self.made[:, day - 1] if day else np.zeros(len(self.made))
        return before + share * (self.made[:, day] - before)


@dataclass(frozen=True, eq=False)
class RandomDraws:
    """Random numbers that every forecast uses, so that two forecasts differ only by what they know.

    parameters: (4, PATHS), days: (PATHS, DRAWN_DAYS), standard normal. idle: (PATHS, DRAWN_DAYS),
    drifts: (PATHS), even on [0, 1]. lasts: (PATHS), the share of a drift that goes on, the larger
    of two that are even on [0, 1]. weekend: (PATHS), a day of an unseen weekend over a working day,
    with much weight near 0 and 1 (arcsine distribution)."""

    parameters: NDArray[np.float64]
    days: NDArray[np.float64]
    idle: NDArray[np.float64]
    drifts: NDArray[np.float64]
    lasts: NDArray[np.float64]
    weekend: NDArray[np.float64]


@lru_cache(maxsize=1)
def get_draws() -> RandomDraws:
    rng = np.random.default_rng(SEED)
    middles = (
        np.arange(N_PATHS) + 0.5
    ) / N_PATHS  # each parameter once in each part of its distribution (Latin hypercube)
    normal = np.array([NormalDist().inv_cdf(share) for share in middles])
    parameters = np.stack([rng.permutation(normal) for _ in range(4)])
    drifts, lasts, weekend = (rng.permutation(middles) for _ in range(3))
    days, idle = rng.standard_normal((N_PATHS, DRAWN_DAYS)), rng.random((N_PATHS, DRAWN_DAYS))
    return RandomDraws(
        parameters, days, idle, drifts, np.sqrt(lasts), np.sin(np.pi / 2 * weekend) ** 2
    )


def _fit_pace(
    history: DayHistory,
    weight: NDArray[np.float64],
    whole: NDArray[np.float64],
    freedom: float,
    *,
    drifts: bool,
) -> PaceFit:
    """Fit a log-linear pace with constant relative spread (gamma quasi-likelihood, Fisher scoring)
    to the used days.

    weight: (n_days). whole: (n_used), the weight of each day in the spread. drifts: whether the
    level changes; the prior of the change is normal with mean USUAL_DRIFT."""
    used = history.used
    counts, days, time, w = (
        history.counts[used],
        history.exposure[used],
        -history.age[used] * drifts,
        weight[used],
    )
    level, drift = math.log(max(float(w @ counts), 1e-9) / max(float(w @ days), 1e-9)), 0.0
    columns = np.stack([np.ones_like(time), time])
    spread, information = USUAL_SPREAD, np.eye(2)
    for _ in range(20):
        mean = np.exp(level + drift * time)
        squares = float(whole @ (counts / np.maximum(days, 1e-9) / mean - 1) ** 2)
        spread = math.sqrt(
            max((SPREAD_DAYS * USUAL_SPREAD**2 + squares) / freedom, math.exp(-level))
        )
        prior = np.array([1e-9, (spread / DRIFT) ** 2])
        information = (columns * (w * days)) @ columns.T + np.diag(prior)
        score = columns @ (w * (counts / mean - days)) - np.array(
            [0.0, prior[1] * (drift - USUAL_DRIFT)]
        )
        step = np.clip(np.linalg.solve(information, score), -1, 1)
        level, drift = level + float(step[0]), float(np.clip(drift + step[1], -0.5, 0.5))
        if abs(step).max() < 1e-9:
            break
    return PaceFit(level, drift, spread, np.linalg.cholesky(np.linalg.inv(information)))


def _gamma_quantile_ratio(
    z: NDArray[np.float64], shape: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the quantile of a gamma distribution at the standard normal z, over its mean (Wilson
    and Hilferty 1931)."""
    shape = np.maximum(shape, 1e-4)
    return np.maximum(0.0, 1 - 1 / (9 * shape) + z / (3 * np.sqrt(shape))) ** 3  # type: ignore[no-any-return]
