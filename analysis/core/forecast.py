"""When will the campaign be complete, and what will be missing at the deadline? From the pace so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HOUR = 3600.0
DAY_HOURS = 24
MOST_HOURS = 72
"""The pace is that of the last three days at most: what was before says little about tomorrow."""


@dataclass(frozen=True)
class Forecast:
    """Moments are seconds since 1970. `expected` None: there is no forecast, and `reason` says why.

    early, late: the central 95 % of the moments forecast from resampled hours; late None: beyond ten years or never.
    per_day: judgements a day at the pace used, over `n_hours` hours.
    """

    expected: float | None
    early: float | None
    late: float | None
    per_day: float
    n_hours: int
    reason: str = ""


def hourly(moments: NDArray[np.float64], *, now: float) -> NDArray[np.int64]:
    """Judgements in each of the last hours, the newest last: (n_hours), at most MOST_HOURS, back to the first judgement.

    Whole days, where there are any, so that nights count as much as they last.
    """
    past = moments[(moments <= now) & (moments > now - MOST_HOURS * HOUR)]
    if not len(past):
        return np.zeros(0, dtype=np.int64)
    since_first = now - float(moments.min())
    n_hours = int(min(MOST_HOURS, max(1, np.ceil(since_first / HOUR))))
    if n_hours > DAY_HOURS:
        n_hours -= n_hours % DAY_HOURS
    ago = np.floor((now - past) / HOUR).astype(np.int64)
    ago = ago[ago < n_hours]
    return np.bincount(n_hours - 1 - ago, minlength=n_hours)


def forecast(moments: NDArray[np.float64], *, remaining: int, now: float, rng: np.random.Generator, trials: int = 1000) -> Forecast:
    """When `remaining` judgements more will have been made, at the pace of the last hours.

    moments: float64 (n), when the judgements so far were made. The interval is a percentile bootstrap over blocks of six hours (days
    have their rhythm, so single hours are not independent) with `trials` resamples.
    """
    counts = hourly(moments[~np.isnan(moments)], now=now)
    n = len(counts)
    per_day = float(counts.mean()) * DAY_HOURS if n else 0.0
    if remaining <= 0:
        return Forecast(None, None, None, per_day, n, "everything that is needed has been judged")
    if not n or not counts.sum():
        return Forecast(None, None, None, per_day, n, "no pace: nobody has judged within the last three days")
    expected = now + remaining / float(counts.mean()) * HOUR
    if n < 6 or counts.sum() < 20:
        few = f"too few judgements for an interval: {int(counts.sum())} within {n} hour{'s' if n != 1 else ''}; needs 20 within 6"
        return Forecast(expected, None, None, per_day, n, few)
    block = 6 if n >= 24 else 1
    blocks = counts[n % block :].reshape(-1, block).sum(axis=1) / block
    rates = blocks[rng.integers(len(blocks), size=(trials, len(blocks)))].mean(axis=1)
    slow, fast = np.quantile(rates, [0.025, 0.975])
    late = now + remaining / float(slow) * HOUR if slow > 0 else None
    if late is not None and late - now > 10 * 365 * 86400:
        late = None
    return Forecast(expected, now + remaining / float(fast) * HOUR, late, per_day, n)


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
