"""The manager's first page: how far the campaign is and when it will be done."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import formats, timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from analysis.charts.bars import bars
from analysis.charts.lines import Line, lines
from analysis.charts.matrices import matrix
from analysis.charts.svg import number
from analysis.core.campaign import HALF_DAY, judgements_per_half_day
from analysis.selectors import progress as selectors
from analysis.selectors.live import REFRESH, Live, live_rows
from analysis.services import figures
from annotation.models import Campaign, Lease, Pair
from annotation.permissions import managed_campaign
from annotation.selectors.pairs import held_back
from pooling.tasks import send
from pooling.templatetags.pooling import ahead as until

MOST_ROWS = 25
SHOWN_HALF_DAYS = 28


@login_required
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = managed_campaign(request, slug)
    if campaign.state == Campaign.State.DRAFT:
        return redirect("campaign-settings", slug)
    live = live_rows(campaign)
    now = selectors.progress(campaign, live=live)
    job = figures.keep_alpha(campaign, live)
    if job is not None:
        send(job)
    topics, ranks, shares, left_out = selectors.heat_map(campaign, live)
    context = {
        "campaign": campaign,
        "tab": "progress",
        "now": now,
        "n_held_back": held_back(campaign),
        "alpha": figures.latest_alpha(campaign),
        "verdict": verdict(campaign, now),
        "refresh": REFRESH,
        "pace": pace_chart(live),
        "burn_up": burn_up(campaign, live, now),
        "depth_bars": depth_chart(now),
        "heat": mark_safe(
            matrix(
                topics,
                [str(rank) for rank in ranks],
                shares,
                caption="Judgements made, by topic and best rank; the topics farthest from their end first",
                row_label="topic",
                column_label="best rank",
                high=1.0,
                form=lambda v: f"{100 * v:.0f} %",
                written=False,
                reason="The campaign has no pairs.",
            )
        ),
        "topics_left_out": left_out,
        "stalled": stalled(campaign, live),
        "leases": live_leases(campaign),
    }
    return render(request, "analysis/progress.html", context)


def moment_text(seconds: float) -> str:
    moment = timezone.localtime(datetime.fromtimestamp(seconds, UTC))
    return formats.date_format(moment, "D j M, H:i")


def verdict(campaign: Campaign, now: selectors.Progress) -> dict[str, str]:
    """The forecast in words, and whether it is good or bad news. Without a forecast: why."""
    ahead = now.forecast
    if ahead.expected is None:
        done = now.counted >= now.needed and now.needed
        return {"when": "done" if done else "none", "note": ahead.reason, "level": "good" if done else ""}
    span = ahead.reason
    if ahead.early is not None:
        span = f"between {moment_text(ahead.early)} and {moment_text(ahead.late) if ahead.late else 'never'} (95 %)"
    if campaign.deadline is None:
        return {"when": moment_text(ahead.expected), "note": span, "level": ""}
    late = ahead.expected > campaign.deadline.timestamp()
    due = (
        f"deadline {moment_text(campaign.deadline.timestamp())}, {until(campaign.deadline)}"
        if campaign.deadline > timezone.now()
        else "the deadline is over"
    )
    return {"when": moment_text(ahead.expected), "note": f"{span}; {due}", "level": "bad" if late else "good"}


def pace_chart(live: Live) -> SafeString:
    counts = judgements_per_half_day(live.rows.judged_at[live.rows.counts]) or []
    shown = counts[-SHOWN_HALF_DAYS:]
    labels = [datetime.fromtimestamp(start, UTC).strftime("%d %b %Hh") for start, _ in shown]
    picture = bars(
        labels,
        [float(n) for _, n in shown],
        caption="Counted judgements per 12 hours (starting at 0 and 12 o'clock UTC)",
        unit="judgements",
        what="half day",
        reason="Nobody has judged yet.",
    )
    return mark_safe(picture)


def burn_up(campaign: Campaign, live: Live, now: selectors.Progress) -> SafeString:
    """Judgements made over time, and the forecast with its interval up to the need."""
    made = np.sort(live.rows.judged_at[selectors.of_slots(live)])
    caption = "Judgements made, and forecast with its 95 % interval"
    if not len(made):
        return mark_safe(lines([], caption=caption, x_label="", y_label="", reason="Nobody has judged yet."))
    at = np.linspace(made[0], now.moment.timestamp(), 60)
    series = [Line("made", [(float(t), float(n)) for t, n in zip(at, np.searchsorted(made, at, side="right"), strict=True)])]
    ahead = now.forecast
    if ahead.expected is not None:
        series.append(_ahead(now, ahead.expected, ahead.early, ahead.late))
    vertical = [(campaign.deadline.timestamp(), "deadline")] if campaign.deadline else []
    picture = lines(
        series,
        caption=caption,
        x_label="",
        y_label="judgements",
        y_low=0,
        x_form=lambda s: datetime.fromtimestamp(s, UTC).strftime("%d %b"),
        x_at=_days(made[0], max([ahead.expected or 0, now.moment.timestamp(), *(v for v, _ in vertical)])),
        y_form=lambda v: number(float(round(v))),
        vertical=vertical,
        horizontal=[(float(now.needed), "needed")],
    )
    return mark_safe(picture)


def _ahead(now: selectors.Progress, expected: float, early: float | None, late: float | None) -> Line:
    """The line from here to the need; the band is where the pace of resampled hours would be at each moment."""
    here, left = now.moment.timestamp(), now.needed - now.counted
    at = np.linspace(here, expected, 20)
    middle = [(float(t), now.counted + left * (t - here) / max(expected - here, 1)) for t in at]
    if early is None:
        return Line("forecast", middle)
    low = [now.counted + (left * (t - here) / (late - here) if late else 0.0) for t in at]
    high = [min(float(now.needed), now.counted + left * (t - here) / max(early - here, 1)) for t in at]
    return Line("forecast", middle, low=low, high=high)


def _days(first: float, last: float) -> list[float]:
    """Midnights (UTC) to write under the axis, at most eight."""
    day = 2 * HALF_DAY
    start, end = int(first // day), int(last // day) + 1
    step = max(1, -(-(end - start) // 8))
    return [d * day for d in range(start + 1, end + 1, step) if first <= d * day <= last]


def depth_chart(now: selectors.Progress) -> SafeString:
    labels = [f"rank {level.rank}" for level in now.depths]
    values = [100 * level.share for level in now.depths]
    picture = bars(
        labels, values, caption="Complete pairs by best rank", unit="% complete", what="best rank", reason="The campaign has no pairs."
    )
    return mark_safe(picture)


def stalled(campaign: Campaign, live: Live) -> list[Pair]:
    """The longest stalled pairs, with `last`: when each was judged last."""
    ids, moments = selectors.stalled_pairs(campaign, live)
    last = dict(zip(ids[:MOST_ROWS], moments, strict=False))
    pairs: dict[int, Any] = Pair.objects.select_related("entry__topic").in_bulk(list(last))  # with the last moment
    for pk, moment in last.items():
        pairs[pk].last = moment
    return [pairs[pk] for pk in last]


def live_leases(campaign: Campaign) -> list[Any]:
    found = Lease.objects.filter(membership__campaign=campaign, state=Lease.State.LIVE, expires_at__gt=timezone.now())
    rows: list[Any] = list(found.select_related("membership", "pair__entry__topic").order_by("-served_at")[:MOST_ROWS])
    for lease in rows:
        lease.reason = why_in_words(lease.why)
    return rows


def why_in_words(why: dict[str, Any]) -> str:
    """The rule and the numbers behind a claim, as the scheduler stored them."""
    if not why:
        return "not recorded"
    rule = str(why.get("rule", ""))
    said = {key: {True: "yes", False: "no"}[value] if isinstance(value, bool) else value for key, value in why.items()}
    numbers = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in said.items() if key != "rule" and value not in (None, "", []))
    return f"{rule} ({numbers})" if numbers else rule
