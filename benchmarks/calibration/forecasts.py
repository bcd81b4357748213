"""Does the forecast's interval cover the end of a campaign?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.core.forecast import DAY, HOUR, forecast

MONDAY = 19_723 * DAY
"""1 January 2024."""
KINDS = {"steady": 1.0, "office hours": 1.0, "office hours, idle weekends": 0.0, "office hours, weekends at a third": 1 / 3}
"""Kind of campaign -> pace of a Saturday or Sunday, as a part of that of a working day."""


class Covered(NamedTuple):
    covered: float
    shown: int
    """Campaigns with a forecast."""
    campaigns: int
    before: float
    """Coverage of the interval that was shown before."""


def campaign(kind: str, *, per_day: float, days: float, begin: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Moments of judgements, Poisson by hour: round the clock, or from 9 to 17 o'clock."""
    start = begin + np.arange(int(days * 24)) * HOUR
    hour, weekday = (start // HOUR) % 24, ((start // DAY) + 3) % 7
    pace = np.full(len(start), per_day / 24) if kind == "steady" else np.where((hour >= 9) & (hour < 17), per_day / 8, 0.0)
    pace = np.where(weekday >= 5, pace * KINDS[kind], pace)
    counts = rng.poisson(pace)
    return np.sort(np.repeat(start, counts) + rng.random(counts.sum()) * HOUR)


def coverage_of(kind: str, *, per_day: float, days: float, campaigns: int, rng: np.random.Generator, history: float = 2.0) -> Covered:
    """Campaigns that begin at a random hour of the week, seen after `history` days, when `days` times `per_day` judgements are missing."""
    hits, before = [], []
    for _ in range(campaigns):
        begin = MONDAY + int(rng.integers(0, 7 * 24)) * HOUR
        moments = campaign(kind, per_day=per_day, days=history + 3 * days + 14, begin=begin, rng=rng)
        now = moments[0] + (history + 0.3 * rng.random()) * DAY
        remaining = int(days * per_day)
        end = moments[moments > now][remaining - 1]
        early, late = of_the_pace(moments[moments <= now], remaining, now, rng)
        if not np.isnan(early):
            before.append(early <= end <= late)
        ahead = forecast(moments[moments <= now], remaining=remaining, now=now)
        if ahead.early is not None:
            hits.append(ahead.early <= end <= (np.inf if ahead.late is None else ahead.late))
    return Covered(float(np.mean(hits)) if hits else float("nan"), len(hits), campaigns, float(np.mean(before)) if before else float("nan"))


def of_the_pace(moments: NDArray[np.float64], remaining: int, now: float, rng: np.random.Generator) -> tuple[float, float]:
    """The interval that was shown before: percentiles of the mean pace of the last three days, by resampled blocks of six hours, as if the
    coming hours had exactly that pace. NaN with fewer than 20 judgements."""
    past = moments[moments > now - 3 * DAY]
    n_hours = int(min(72, max(1, np.ceil((now - moments.min()) / HOUR))))
    n_hours -= n_hours % 24 if n_hours > 24 else 0
    ago = ((now - past) // HOUR).astype(np.int64)
    counts = np.bincount(ago[ago < n_hours], minlength=n_hours)
    if n_hours < 24 or counts.sum() < 20:
        return np.nan, np.nan
    blocks = counts.reshape(-1, 6).mean(axis=1)
    pace = blocks[rng.integers(len(blocks), size=(200, len(blocks)))].mean(axis=1)
    slow, fast = np.quantile(pace, [0.025, 0.975])
    return now + remaining / fast * HOUR, now + remaining / slow * HOUR if slow > 0 else np.inf
