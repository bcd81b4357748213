"""Intervals of agreement between raters, and of tau between rankings: shown where they cover what they say, refused in words elsewhere.

METHODS 13. Which method covers was found by simulation; `docs/calibration.md` has the table, `analysis/calibration` the simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_UNITS = {"pairs": 20, "topics": 10}
LEAST_AGREED = {"pairs": 3, "topics": 15}
LEAST_DISAGREED = 2
"""Units with agreement off the most frequent grade (of topics, at most half of them is asked), and units with disagreement: below these no
interval was found that covers, for a share of 5 % relevant makes tables in which chance decides whether anything is agreed on."""
MOST_UNDEFINED = 0.05
LARGEST = 0.999999
"""Values are pulled to this before Fisher's z, which is infinite at 1."""


class Interval(NamedTuple):
    """NaN bounds: there is none, and `reason` says why. unit: what was taken as drawn at random, `topics` or `pairs`."""

    low: float
    high: float
    reason: str = ""
    unit: str = ""

    @property
    def bounds(self) -> list[float]:
        return [self.low, self.high]


def no_interval(reason: str, unit: str = "") -> Interval:
    return Interval(math.nan, math.nan, reason, unit)


def interval_holding(interval: Interval, value: float) -> Interval:
    """The interval, if it contains the value that it is shown beside; that value may rest on more than the interval does."""
    if interval.reason or math.isnan(value) or interval.low <= value <= interval.high:
        return interval
    return no_interval("the value over everything lies outside the interval over what is shared", interval.unit)


def share_bound(n: int, n_with: int = 0, *, confidence: float = 0.95) -> float:
    """Upper bound of a share of which `n_with` among n are an instance (Clopper and Pearson 1934, one-sided)."""
    return 1.0 if n_with >= n else float(scipy.special.betaincinv(n_with + 1, n - n_with, confidence))


def agreement_interval(
    units: Floats, times: NDArray[np.integer], statistic: Callable[[Floats], Floats], *, unit: str, confidence: float = 0.95
) -> Interval:
    """Interval of a coefficient of agreement (kappa, alpha) by the jackknife over units, on Fisher's z, with Student's t.

    units: float64 (k, grades, grades), the joint counts of grades of each distinct unit; times: (k), how often it is there.
    statistic: joint counts (n, grades, grades) -> (n), at most 1, NaN where undefined.
    The usual bootstrap is too narrow here (.55 to .93 for small or skewed tables); see docs/calibration.md. Refused with fewer
    than LEAST_UNITS, LEAST_AGREED or LEAST_DISAGREED units, and where more than 5 % of the samples without one unit are undefined.
    """
    n = int(times.sum())
    total = np.einsum("kij,k->ij", units, times.astype(np.float64))
    why = _refused(units, times, total, unit)
    if why:
        return no_interval(why, unit)
    value = float(statistic(total[None])[0])
    left_out = statistic(total - units)
    undefined = float(times[np.isnan(left_out)].sum() / n)
    if math.isnan(value) or undefined > MOST_UNDEFINED:
        return no_interval(_undefined_without_one(undefined, n, unit), unit)
    z = np.arctanh(np.clip(np.where(np.isnan(left_out), value, left_out), -LARGEST, LARGEST))
    mean = float(np.average(z, weights=times))
    error = math.sqrt((n - 1) / n * float((times * (z - mean) ** 2).sum()))
    middle = math.atanh(min(max(value, -LARGEST), LARGEST))
    reach = float(scipy.special.stdtrit(n - 1, (1 + confidence) / 2)) * error
    return Interval(math.tanh(middle - reach), math.tanh(middle + reach), "", unit)


def agreement_intervals(
    tables: NDArray[np.integer], statistic: Callable[[Floats], Floats], *, unit: str = "pairs", confidence: float = 0.95
) -> list[Interval]:
    """`agreement_interval` of each of many tables (n, grades, grades) of joint counts, whose units are single counts: the same
    bounds and reasons, with one call of `statistic` for all tables."""
    table, row, column = np.nonzero(tables)
    times = tables[table, row, column]
    left_out = tables[table].astype(np.float64)
    left_out[np.arange(len(table)), row, column] -= 1
    values, without = statistic(tables.astype(np.float64)), statistic(left_out)
    n, size = tables.sum(axis=(1, 2)), len(tables)
    undefined = np.bincount(table, weights=times * np.isnan(without), minlength=size) / np.maximum(n, 1)
    z = np.arctanh(np.clip(np.where(np.isnan(without), values[table], without), -LARGEST, LARGEST))
    mean = np.bincount(table, weights=times * z, minlength=size) / np.maximum(n, 1)
    squares = np.bincount(table, weights=times * (z - mean[table]) ** 2, minlength=size)
    error = np.sqrt((n - 1) / np.maximum(n, 1) * squares, where=n > 0, out=np.full(size, np.nan))
    middle = np.arctanh(np.clip(values, -LARGEST, LARGEST))
    reach = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) * error
    low, high = np.tanh(middle - reach), np.tanh(middle + reach)
    first = np.searchsorted(table, np.arange(size + 1))
    result = []
    for i, total in enumerate(tables.astype(np.float64)):
        own = slice(first[i], first[i + 1])
        if not n[i]:
            result.append(no_interval(f"no {unit.removesuffix('s')} shared with others"))
            continue
        units = np.zeros((first[i + 1] - first[i], *total.shape))
        units[np.arange(len(units)), row[own], column[own]] = 1
        why = _refused(units, times[own], total, unit)
        if not why and (np.isnan(values[i]) or undefined[i] > MOST_UNDEFINED):
            why = _undefined_without_one(undefined[i], int(n[i]), unit)
        result.append(no_interval(why, unit) if why else Interval(float(low[i]), float(high[i]), "", unit))
    return result


def _undefined_without_one(share: float, n: int, unit: str) -> str:
    return f"undefined in {100 * share:.0f} % of the samples that leave out one of the {n} {unit}"


def _refused(units: Floats, times: NDArray[np.integer], total: Floats, unit: str) -> str:
    """Why there is no interval; empty where there is one."""
    n = int(times.sum())
    agreed = np.einsum("kii->ki", units)
    usual = int((total.sum(axis=0) + total.sum(axis=1)).argmax()) if n else 0
    n_disagreed = int(times[units.sum(axis=(1, 2)) - agreed.sum(axis=1) > 1e-9].sum())
    if n and n_disagreed < LEAST_DISAGREED:
        what = "no disagreement" if n_disagreed == 0 else "disagreement in one only"
        bound = 100 * share_bound(n, n_disagreed)
        return f"{what} of {n} {unit.removesuffix('s') if n == 1 else unit}: at most {bound:.2g} % of {unit} have any (95 %, Clopper-Pearson)"
    if n < LEAST_UNITS[unit]:
        return f"{n} {unit}; an interval needs {LEAST_UNITS[unit]}"
    n_agreed = int(times[agreed.sum(axis=1) - agreed[:, usual] > 1e-9].sum())
    if unit == "pairs" and n * _by_chance(total, usual) >= LEAST_AGREED[unit]:
        return ""  # the grades are not rare: there is nothing to agree on for somebody who judges the other way round
    least = min(LEAST_AGREED[unit], (n + 1) // 2)
    if n_agreed < least:
        return f"agreement on another than the most frequent grade in {n_agreed} of {n} {unit}; an interval needs {least}"
    return ""


def _by_chance(total: Floats, usual: int) -> float:
    """The share of units that would agree on another than the usual grade, if the grades were given by chance."""
    shares = total.sum(axis=0) * total.sum(axis=1) / total.sum() ** 2
    return float(shares.sum() - shares[usual])
