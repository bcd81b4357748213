"""Confidence intervals of agreement and of tau between rankings. If an interval would not be
calibrated, a reason is given instead.

The methods were selected by simulation. `docs/evidence/calibration.md` has the results,
`benchmarks/calibration` the simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MIN_UNITS = {"pairs": 20, "topics": 10}
MIN_AGREED = {"pairs": 3, "topics": 15}
MIN_DISAGREED = 2
"""Minimum number of units with agreement on other than the most frequent grade (for topics, at most
half of them), and of units with disagreement. No method was found that covers below these limits: a
relevant share of 5% gives tables in which chance determines whether there is any agreement."""
MIN_EFFECTIVE = 5
"""Minimum effective number of units. With fewer, one unit dominates."""
DOMINANT_SHARE, MIN_TOPICS_IF_DOMINANT = 0.8, 60
"""If more than this share of the grades are equal, few topics contain the others, and at least this
many topics of equal size are needed to show how much topics differ."""
MAX_UNDEFINED = 0.05
MAX_COEFFICIENT = 0.999999
"""Values are limited to this before Fisher's z, which is infinite at 1."""


class Interval(NamedTuple):
    """A confidence interval. NaN bounds mean that there is none, for the reason given. unit: the
    sampling unit, `topics` or `pairs`."""

    low: float
    high: float
    reason: str = ""
    unit: str = ""

    @property
    def bounds(self) -> list[float]:
        return [self.low, self.high]


def no_interval(reason: str, unit: str = "") -> Interval:
    return Interval(math.nan, math.nan, reason, unit)


def interval_if_containing(interval: Interval, value: float) -> Interval:
    """Return the interval if it contains the value that is shown with it, which may be computed
    from more data."""
    if interval.reason or math.isnan(value) or interval.low <= value <= interval.high:
        return interval
    return no_interval(
        "the value over all units lies outside the interval over shared units", interval.unit
    )


def share_upper_bound(n: int, n_with: int = 0, *, confidence: float = 0.95) -> float:
    """Return the one-sided upper bound of a share observed in `n_with` of n units (Clopper and
    Pearson 1934)."""
    return (
        1.0 if n_with >= n else float(scipy.special.betaincinv(n_with + 1, n - n_with, confidence))
    )


def share_interval(n: int, n_with: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the two-sided interval of a share observed in `n_with` of n units (Clopper and Pearson
    1934)."""
    tail = (1 + confidence) / 2
    return (
        1 - share_upper_bound(n, n - n_with, confidence=tail),
        share_upper_bound(n, n_with, confidence=tail),
    )


def agreement_interval(
    units: Floats,
    times: NDArray[np.integer],
    statistic: Callable[[Floats], Floats],
    *,
    unit: str,
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of a coefficient of agreement (kappa, alpha) by the jackknife over units
    on Fisher's z with Student's t.

    units: float64 (k, grades, grades), the joint counts of grades of each distinct unit. times:
    (k), its multiplicity. statistic: joint counts (n, grades, grades) -> (n), at most 1, NaN if
    undefined. Student's t has the degrees of freedom of the effective number of units (Kish 1965),
    (sum of sizes)^2 / sum of squared sizes, minus 1. The bootstrap is too narrow here (coverage .55
    to .93 for small or skewed tables, docs/evidence/calibration.md).

    The interval is refused below the minimum numbers of units, effective units, and units with
    agreement and disagreement, with too few topics if one grade dominates, and if more than 5% of
    the leave-one-out samples are undefined.
    """
    owner = np.zeros(len(units), dtype=np.int64)
    return agreement_intervals(units, times, owner, 1, statistic, unit=unit, confidence=confidence)[
        0
    ]


def agreement_intervals(
    units: Floats,
    times: NDArray[np.integer],
    owner: NDArray[np.integer],
    n_owners: int,
    statistic: Callable[[Floats], Floats],
    *,
    unit: str,
    confidence: float = 0.95,
) -> list[Interval]:
    """Return `agreement_interval` for each owner of units with one call of `statistic`. owner: (k),
    from 0."""
    g = units.shape[-1]
    total = np.zeros((n_owners, g, g))
    np.add.at(total, owner, units * times[:, None, None])
    values, without = statistic(total), statistic(total[owner] - units)

    def sum_by_owner(of_units: Floats) -> Floats:
        """Return the sum of the units of each owner, weighted by their multiplicity."""
        return np.bincount(owner, weights=times * of_units, minlength=n_owners).astype(
            np.float64, copy=False
        )

    n, size = sum_by_owner(np.ones(len(units))), units.sum(axis=(1, 2))
    some = np.maximum(n, 1)
    effective = np.divide(
        sum_by_owner(size) ** 2, sum_by_owner(size**2), out=np.zeros(n_owners), where=n > 0
    )
    undefined = sum_by_owner(np.isnan(without).astype(np.float64)) / some
    z = np.arctanh(
        np.clip(
            np.where(np.isnan(without), values[owner], without), -MAX_COEFFICIENT, MAX_COEFFICIENT
        )
    )
    mean = sum_by_owner(z) / some
    error = np.sqrt(
        (n - 1) / some * sum_by_owner((z - mean[owner]) ** 2),
        where=n > 0,
        out=np.full(n_owners, np.nan),
    )
    middle = np.arctanh(np.clip(values, -MAX_COEFFICIENT, MAX_COEFFICIENT))
    reach = scipy.special.stdtrit(np.maximum(effective - 1, 1), (1 + confidence) / 2) * error
    low, high = np.tanh(middle - reach), np.tanh(middle + reach)
    result = []
    order, end = np.argsort(owner, kind="stable"), np.bincount(owner, minlength=n_owners).cumsum()
    for i in range(n_owners):
        own = order[end[i - 1] if i else 0 : end[i]]
        why = _refusal_reason(units[own], times[own], total[i], float(effective[i]), unit)
        if not why and (np.isnan(values[i]) or undefined[i] > MAX_UNDEFINED):
            why = f"undefined in {100 * undefined[i]:.0f}% of the samples that leave out one of the {n[i]:.0f} {unit}"
        result.append(
            no_interval(why, unit) if why else Interval(float(low[i]), float(high[i]), "", unit)
        )
    return result


def _refusal_reason(
    units: Floats, times: NDArray[np.integer], total: Floats, effective: float, unit: str
) -> str:
    """Return the reason why there is no interval, or an empty string."""
    n = int(times.sum())
    agreed = np.einsum("kii->ki", units)
    mass = total.sum(axis=0) + total.sum(axis=1)
    usual = int(mass.argmax()) if n else 0
    too_few = (
        f"{n} {unit.removesuffix('s') if n == 1 else unit}; a confidence interval needs {MIN_UNITS[unit]}"
        if n < MIN_UNITS[unit]
        else ""
    )
    if too_few and unit == "topics":
        return too_few
    n_disagreed = int(times[units.sum(axis=(1, 2)) - agreed.sum(axis=1) > 1e-9].sum())
    if n and n_disagreed < MIN_DISAGREED:
        what = "no disagreement" if n_disagreed == 0 else "disagreement in only one"
        percent = 100 * share_upper_bound(n, n_disagreed)
        bound = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
        return (
            f"{what} of {n} {unit.removesuffix('s') if n == 1 else unit}: at most {bound}% of "
            f"{unit} have any (95% CI, Clopper-Pearson)"
        )
    if too_few:
        return too_few
    if effective < MIN_EFFECTIVE:
        return (
            f"{n} {unit} of very unequal size, equivalent to {effective:.1f} of equal size; a "
            f"confidence interval needs {MIN_EFFECTIVE}"
        )
    share = float(mass[usual] / mass.sum())
    if unit == "topics" and share > DOMINANT_SHARE and effective < MIN_TOPICS_IF_DOMINANT:
        needed = f"a confidence interval then needs {MIN_TOPICS_IF_DOMINANT} topics of equal size, not {math.floor(effective)}"
        return f"{math.floor(100 * share)}% of the grades are the same; {needed}"
    n_agreed = int(times[agreed.sum(axis=1) - agreed[:, usual] > 1e-9].sum())
    if unit == "pairs" and n * _chance_share(total, usual) >= MIN_AGREED[unit]:
        # the grades are not rare; an annotator who judges the opposite way has no agreement at all
        return ""
    least = min(MIN_AGREED[unit], (n + 1) // 2)
    if n_agreed < least:
        return (
            f"agreement on another than the most frequent grade in {n_agreed} of {n} {unit}; "
            f"a confidence interval needs {least}"
        )
    return ""


def _chance_share(total: Floats, usual: int) -> float:
    """Return the share of units that would agree on other than the usual grade if grades were
    random."""
    shares = total.sum(axis=0) * total.sum(axis=1) / total.sum() ** 2
    return float(shares.sum() - shares[usual])
