"""How long judging takes: distributions per grade, per half day, per day and hour; what time was
idle or hidden."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from analysis.judgements.rows import NO_GRADE, TOO_FAST, JudgementRows
from assay.charts.points import BoxSummary

WHISKER_QUANTILES = (0.05, 0.95)
"""The ends of a box's line: quantiles, since single interrupted judgements would stretch it beyond
use."""


def summarise_times(name: str, seconds: NDArray[np.float64]) -> BoxSummary:
    """Five numbers of the known times; None where there is none."""
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
    """Counted judgements, one box a grade of the scale."""
    return [
        summarise_times(name, rows.active[rows.counts & (rows.grade == grade)])
        for grade, name in enumerate(names)
    ]


def times_by_half_day(rows: JudgementRows, *, most: int = 14) -> list[BoxSummary]:
    """The last half days (UTC) in which somebody judged."""
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
    """Counted judgements by day of the week (Monday first) and hour, in the zone's time: 7 x 24."""
    hours, n = np.unique(
        np.floor(rows.judged_at[rows.counts] / 3600), return_counts=True
    )  # few, however many judgements
    grid: list[list[float | None]] = [[0.0] * 24 for _ in range(7)]
    for hour, count in zip(hours.tolist(), n.tolist(), strict=True):
        moment = datetime.fromtimestamp(hour * 3600, zone)
        grid[moment.weekday()][moment.hour] = (grid[moment.weekday()][moment.hour] or 0.0) + count
    return grid


@dataclass(frozen=True)
class TimeShares:
    """Hours of all judgements with known times: active, idle (page open, nobody there), hidden
    (another window)."""

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
        too_fast=int((rows.standing == TOO_FAST).sum()),
        unknown=int((np.isnan(rows.active) & (rows.grade != NO_GRADE)).sum()),
    )
