"""Page of judging times."""

from __future__ import annotations

import math
import zoneinfo
from datetime import UTC, datetime

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from analysis.dashboard import judging_times
from analysis.judgements.live import get_snapshot
from annotation.permissions import get_managed_campaign
from assay.campaigns.statistics import find_slowest_topics, mean_seconds_by_day
from assay.charts.lines import Line, line_chart
from assay.charts.matrices import matrix_chart
from assay.charts.points import box_chart
from pooling.platform.page_files import render_page

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
N_SLOWEST = 20
"""Number of slowest topics listed with their mean time."""
NO_TIMES_MESSAGE = gettext_lazy("No counted judgement has a recorded time yet.")


@login_required
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    live = get_snapshot(campaign)
    rows = live.rows
    names = campaign.grades.names
    zone = zoneinfo.ZoneInfo(timezone.get_current_timezone_name())
    table = live.table(len(names))
    daily = mean_seconds_by_day(table) or []
    series = [
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
    pictures = [
        box_chart(
            judging_times.times_by_grade(rows, names),
            caption="Active time by grade",
            x_label="active seconds",
            what="grade",
            reason=str(NO_TIMES_MESSAGE),
        ),
        line_chart(
            series if daily else [],
            caption=("Daily mean time by grade"),
            x_label="",
            y_label="seconds",
            y_low=0,
            x_form=lambda s: datetime.fromtimestamp(s, UTC).strftime("%d %b"),
            x_at=[start for start, _ in daily][:: max(1, -(-len(daily) // 8))],
            reason=str(NO_TIMES_MESSAGE),
        ),
        box_chart(
            judging_times.times_by_half_day(rows),
            caption="Active time by half day",
            x_label="active seconds",
            what="half day",
            reason=str(NO_TIMES_MESSAGE),
        ),
        matrix_chart(
            DAYS,
            [str(h) for h in range(24)],
            judging_times.times_by_weekday_and_hour(rows, zone),
            caption="Judgements by weekday and hour",
            row_label="day",
            column_label="hour",
            written=False,
            reason=str(NO_TIMES_MESSAGE),
        ),
    ]
    n_timed, slowest = find_slowest_topics(table, N_SLOWEST)
    context = {
        "campaign": campaign,
        "tab": "time",
        "as_of": live.as_of,
        "shares": judging_times.compute_time_shares(rows),
        "n_timed": n_timed,
        "slowest": slowest,
        "pictures": pictures,
    }
    return render_page(request, "analysis/times.html", context)
