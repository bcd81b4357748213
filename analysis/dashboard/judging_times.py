"""Judging times: distributions by grade, half day, weekday and hour, and the shares of idle and
hidden time."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from analysis.judgements.rows import NO_GRADE, TOO_FAST, JudgementRows
from assay.charts.points import BoxSummary

WHISKER_QUANTILES = (0.05, 0.95)
"""Quantiles at the ends of a box plot's whiskers. Minimum and maximum would be dominated by a few
interrupted judgements."""


def summarise_times(name: str, seconds: NDArray[np.float64]) -> BoxSummary:
    """Return the five-number summary of the known times. Its numbers are None if there are no known
    times."""
    known = seconds[~np.isnan(seconds)]
    if not len(known):
        return BoxSummary(name, None, None, None, None, None, 0)
    low, q1, median, q3, high = np.quantile(
        known, [WHISKER_QUANTILES[0], 0.25, 0.5, 0.75, WHISKER_QUANTILES[1]]
    )
    return BoxSummary(
        name, float(low), float(q1), float(median), float(q3), float(high), len(known)
    )


def times_by_grade(rows: JudgementRows, names: list[str]) -> list[BoxSummary]:
    """Return one summary of counted judgements per grade of the scale."""
    return [
        summarise_times(name, rows.active[rows.counts & (rows.grade == grade)])
        for grade, name in enumerate(names)
    ]


def times_by_half_day(rows: JudgementRows, *, most: int = 14) -> list[BoxSummary]:
    """Return one summary per half day (UTC) for the last `most` half days with judgements."""
    half_day = np.floor(rows.judged_at / 43200)
    shown = np.unique(half_day[rows.counts])[-most:]
    return [
        summarise_times(
            datetime.fromtimestamp(h * 43200, UTC).strftime("%d %b %Hh"),
            rows.active[rows.counts & (half_day == h)],
        )
        for h in shown
    ]


def times_by_weekday_and_hour(
    rows: JudgementRows, zone: zoneinfo.ZoneInfo
) -> list[list[float | None]]:
    """Count judgements by weekday (Monday first) and hour in the given time zone, as 7 rows of 24."""
    hours, n = np.unique(
        np.floor(rows.judged_at[rows.counts] / 3600), return_counts=True
    )  # hours are few, whatever the number of judgements
    grid: list[list[float | None]] = [[0.0] * 24 for _ in range(7)]
    for hour, count in zip(hours.tolist(), n.tolist(), strict=True):
        moment = datetime.fromtimestamp(hour * 3600, zone)
        grid[moment.weekday()][moment.hour] = (grid[moment.weekday()][moment.hour] or 0.0) + count
    return grid


@dataclass(frozen=True)
class TimeShares:
    """Hours of all judgements with known times: active, idle (page open without activity) and
    hidden (another window in front)."""

    active_h: float
    idle_h: float
    hidden_h: float
    n: int
    too_fast: int
    unknown: int


def compute_time_shares(rows: JudgementRows) -> TimeShares:
    known = ~np.isnan(rows.active) & (rows.grade != NO_GRADE)
    return TimeShares(
        active_h=float(np.nansum(rows.active[known])) / 3600,
        idle_h=float(np.nansum(rows.idle[known])) / 3600,
        hidden_h=float(np.nansum(rows.hidden[known])) / 3600,
        n=int(known.sum()),
        too_fast=int((rows.status == TOO_FAST).sum()),
        unknown=int((np.isnan(rows.active) & (rows.grade != NO_GRADE)).sum()),
    )
