"""Statistics of judging times: distributions by grade, half day, weekday and hour, and the shares
of idle and hidden time."""

from __future__ import annotations

import math
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.utils import timezone
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.rows import NO_GRADE, TOO_FAST, JudgementRows
from assay.campaigns.statistics import find_slowest_topics, mean_seconds_by_day
from assay.charts.lines import Line, line_chart
from assay.charts.matrices import matrix_chart
from assay.charts.points import BoxSummary, box_chart
from assay.charts.svg import Picture
from assay.labels.labels import LabelTable

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
N_SLOWEST = 10
"""Number of slowest topics listed with their mean time."""
WHISKER_QUANTILES = (0.05, 0.95)
"""Quantiles at the ends of a box plot's whiskers. Minimum and maximum would be dominated by a few
interrupted judgements."""


def summarise_times(name: str, seconds: NDArray[np.float64]) -> BoxSummary:
    """Return the five-number summary of the known times. All five are None if no time is known."""
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
    """Summarise the times of counted judgements for each grade of the scale."""
    return [
        summarise_times(name, rows.active[rows.counts & (rows.grade == grade)])
        for grade, name in enumerate(names)
    ]


def times_by_half_day(rows: JudgementRows, *, most: int = 14) -> list[BoxSummary]:
    """Summarise the times in each of the last `most` half days (UTC) that have judgements."""
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
    # the number of hours is small, whatever the number of judgements
    hours, n = np.unique(np.floor(rows.judged_at[rows.counts] / 3600), return_counts=True)
    grid: list[list[float | None]] = [[0.0] * 24 for _ in range(7)]
    for hour, count in zip(hours.tolist(), n.tolist(), strict=True):
        moment = datetime.fromtimestamp(hour * 3600, zone)
        grid[moment.weekday()][moment.hour] = (grid[moment.weekday()][moment.hour] or 0.0) + count
    return grid


@dataclass(frozen=True)
class TimeShares:
    """Hours of all judgements with known times: active, idle (page open without activity) and
    hidden (another window in front). median: active seconds of counted judgements, None if no
    times are known."""

    median: float | None
    active_h: float
    idle_h: float
    hidden_h: float
    n: int
    too_fast: int
    unknown: int


def compute_time_shares(rows: JudgementRows) -> TimeShares:
    known = ~np.isnan(rows.active) & (rows.grade != NO_GRADE)
    counted = rows.active[rows.counts & ~np.isnan(rows.active)]
    return TimeShares(
        median=float(np.median(counted)) if len(counted) else None,
        active_h=float(np.nansum(rows.active[known])) / 3600,
        idle_h=float(np.nansum(rows.idle[known])) / 3600,
        hidden_h=float(np.nansum(rows.hidden[known])) / 3600,
        n=int(known.sum()),
        too_fast=int((rows.status == TOO_FAST).sum()),
        unknown=int((np.isnan(rows.active) & (rows.grade != NO_GRADE)).sum()),
    )


def describe_times(live: CampaignSnapshot, names: list[str]) -> dict[str, Any]:
    """Return the template context of analysis/_times.html: shares of time, charts, n_timed (number
    of topics with times) and the slowest topics. names: of the grades."""
    table = live.table(len(names))
    n_timed, slowest = find_slowest_topics(table, N_SLOWEST)
    return {
        "shares": compute_time_shares(live.rows),
        "pictures": time_charts(live.rows, table, names) if n_timed else [],
        "n_timed": n_timed,
        "slowest": slowest,
    }


def time_charts(rows: JudgementRows, table: LabelTable, names: list[str]) -> list[Picture]:
    daily = mean_seconds_by_day(table) or []
    zone = zoneinfo.ZoneInfo(timezone.get_current_timezone_name())
    return [
        box_chart(
            times_by_grade(rows, names),
            caption=_("Active time by grade"),
            x_label=_("active seconds"),
            what="grade",
        ),
        line_chart(
            [
                Line(
                    name,
                    [
                        (start, None if math.isnan(by_grade.get(g, math.nan)) else by_grade[g])
                        for start, by_grade in daily
                    ],
                    marks=True,
                )
                for g, name in enumerate(names)
            ]
            if len(daily) > 1
            else [],
            caption=_("Daily mean time by grade"),
            x_label="",
            y_label=_("seconds"),
            y_low=0,
            x_form=lambda s: datetime.fromtimestamp(s, UTC).strftime("%d %b"),
            x_at=[start for start, _by_grade in daily][:: max(1, -(-len(daily) // 8))],
            reason=_("Appears after two days of judging."),
        ),
        box_chart(
            times_by_half_day(rows),
            caption=_("Active time by half day"),
            x_label=_("active seconds"),
            what="half day",
        ),
        matrix_chart(
            DAYS,
            [str(h) for h in range(24)],
            times_by_weekday_and_hour(rows, zone),
            caption=_("Judgements by weekday and hour"),
            row_label="day",
            column_label="hour",
            written=False,
        ),
    ]
