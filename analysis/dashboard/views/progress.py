"""Charts and tables of the overview, the planning page, and requests for stopping advice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from analysis.dashboard import level_sentences, planning_options
from analysis.dashboard import progress as selectors
from analysis.dashboard.forecast_unavailable import forecast_unavailable_reason
from analysis.dashboard.headline import (
    campaign_headline,
    format_day,
    format_interval,
    format_moment,
    has_ended,
    is_surely_late,
)
from analysis.judgements import interim_checks
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Lease, Pair
from annotation.permissions import get_managed_campaign
from annotation.services.campaigns.depth import full_depth_reason
from annotation.services.errors import CampaignError
from assay.campaigns.statistics import HALF_DAY_SECONDS, count_by_half_day
from assay.charts.bars import bar_chart
from assay.charts.lines import Line, line_chart
from assay.charts.matrices import matrix_chart
from assay.charts.svg import Picture, format_number
from pooling.permissions import SignedInRequest
from pooling.platform.jobs import Refused
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id
from pooling.platform.sentences import as_sentence
from pooling.tasks import send

MAX_ROWS = 25
SHOWN_HALF_DAYS = 28
CHART_WIDTH = 720.0
"""Width in pixels of the chart of the overview, which takes two of three columns."""


def state_context(
    campaign: Campaign, now: selectors.CampaignProgress, activity: selectors.AnnotatorActivity
) -> dict[str, Any]:
    """Return the template context of analysis/_live.html, without agreement."""
    return {
        "campaign": campaign,
        "headline": campaign_headline(campaign, now),
        "now": now,
        "activity": activity,
        "verdict": forecast_verdict(campaign, now),
    }


def progress_charts(
    campaign: Campaign, live: CampaignSnapshot, now: selectors.CampaignProgress
) -> dict[str, Any]:
    """Return the template context of the charts on the overview and in
    analysis/_progress_details.html."""
    topics, ranks, shares, left_out = selectors.progress_heat_map(campaign, live)
    level = campaign.level_word
    heat = matrix_chart(
        topics,
        [str(rank) for rank in ranks],
        shares,
        caption=level_sentences.name_heat_map(level),
        row_label="topic",
        column_label=level,
        high=1.0,
        form=lambda v: f"{100 * v:.0f}%",
        written=False,
        reason=_("The campaign has no pairs."),
    )
    return {
        "pace": pace_chart(live),
        "burn_up": burn_up_chart(campaign, live, now),
        "depth_bars": depth_chart(now, level),
        "heat": heat,
        "topics_left_out": left_out,
        "level_word": level_sentences.name_levels(level),
        "heat_map_title": level_sentences.name_heat_map(level),
        "depth_summary": describe_depth(campaign, now),
    }


def forecast_verdict(campaign: Campaign, now: selectors.CampaignProgress) -> dict[str, Any]:
    """Describe the forecast in words, and whether it is good or bad news.

    when: the expected end. notes: its prediction interval and the deadline, or the reason why there
    is no forecast. ended: whether judging has ended.
    """
    ahead, missing = now.forecast, now.needed - now.counted
    due = [] if campaign.deadline is None else [_format_deadline(campaign)]
    if has_ended(campaign):
        return _end_verdict(campaign, missing)
    if not missing:
        return {"when": _("Done"), "notes": due, "level": "good"}
    if ahead.expected is None:
        return {
            "when": _("Not yet"),
            "notes": [forecast_unavailable_reason(ahead), *due],
            "level": "",
        }
    interval = _("95%% prediction interval: %(interval)s") % {"interval": format_interval(ahead)}
    level = ""
    if campaign.deadline is not None:
        level = "bad" if ahead.expected > campaign.deadline.timestamp() else "good"
    if ahead.is_vague and not is_surely_late(campaign, ahead):
        level = ""
    when = _("Too uncertain") if ahead.is_vague else format_day(ahead.expected)
    return {"when": when, "notes": [interval, *due], "level": level}


def _format_deadline(campaign: Campaign) -> str:
    assert campaign.deadline is not None
    return _("Deadline: %(moment)s") % {"moment": format_moment(campaign.deadline.timestamp())}


def _end_verdict(campaign: Campaign, missing: int) -> dict[str, Any]:
    notes = [
        ngettext("%(n)s judgement is missing", "%(n)s judgements are missing", missing)
        % {"n": f"{missing:,}"}
        if missing
        else _("All required judgements have been made.")
    ]
    if campaign.state == Campaign.State.CLOSED:
        return {"when": _("Closed"), "notes": notes, "level": "", "ended": True}
    assert campaign.deadline is not None
    when = format_moment(campaign.deadline.timestamp())
    return {"when": when, "notes": notes, "level": "bad" if missing else "good", "ended": True}


def describe_depth(campaign: Campaign, now: selectors.CampaignProgress) -> str:
    """Say down to which rank (batch, stage) all pairs are complete."""
    return level_sentences.describe_complete_levels(campaign.level_word, now.complete_depth)


def pace_chart(live: CampaignSnapshot) -> Picture:
    counts = count_by_half_day(live.rows.judged_at[live.rows.counts]) or []
    shown = counts[-SHOWN_HALF_DAYS:]
    labels = [datetime.fromtimestamp(start, UTC).strftime("%d %b %Hh") for start, _ in shown]
    picture = bar_chart(
        labels,
        [float(n) for _, n in shown],
        caption="Judgements per half day (UTC)",
        unit="judgements",
        what="half day",
        reason=_("No judgements yet."),
    )
    return picture


def burn_up_chart(
    campaign: Campaign, live: CampaignSnapshot, now: selectors.CampaignProgress
) -> Picture:
    """Draw the judgements made over time, and the forecast with its prediction interval up to the
    number needed."""
    made = np.sort(live.rows.judged_at[selectors.fills_slot_mask(live)])
    ended = has_ended(campaign)
    caption = _("Judgements made") if ended else _("Progress and forecast")
    if not len(made):
        return line_chart(
            [], caption=caption, x_label="", y_label="", reason=_("No judgements yet.")
        )
    at = np.linspace(made[0], now.moment.timestamp(), 60)
    series = [
        Line(
            "made",
            [
                (float(t), float(n))
                for t, n in zip(at, np.searchsorted(made, at, side="right"), strict=True)
            ],
        )
    ]
    ahead = now.forecast
    expected = None if ended else ahead.expected
    if expected is not None:
        due = campaign.deadline.timestamp() if campaign.deadline else expected
        until = max(expected, due if ahead.late is None else min(ahead.late, due))
        series.append(_forecast_line(now, expected, ahead.early, ahead.late, until=until))
    vertical = [(campaign.deadline.timestamp(), _("deadline"))] if campaign.deadline else []
    picture = line_chart(
        series,
        caption=caption,
        x_label="",
        y_label="judgements",
        y_low=0,
        x_form=lambda s: datetime.fromtimestamp(s, UTC).strftime("%d %b"),
        x_at=_day_ticks(
            made[0], max([expected or 0, now.moment.timestamp(), *(v for v, _ in vertical)])
        ),
        whole=True,
        vertical=vertical,
        horizontal=[(float(now.needed), _("%(n)s needed") % {"n": f"{now.needed:,}"})],
        width=CHART_WIDTH,
    )
    return picture


def _forecast_line(
    now: selectors.CampaignProgress,
    expected: float,
    early: float | None,
    late: float | None,
    *,
    until: float,
) -> Line:
    """Return the forecast as a line that rises from now to the number needed and stays there until
    `until`. Its interval is bounded by lines to the early and the late end. until: at least
    `expected`."""
    here, left = now.moment.timestamp(), now.needed - now.counted
    at = np.unique([*np.linspace(here, until, 20), expected])

    def rise(end: float | None) -> list[float]:
        share = np.zeros(len(at)) if end is None else (at - here) / max(end - here, 1)
        return (now.counted + left * np.minimum(share, 1)).tolist()  # type: ignore[no-any-return]

    middle = list(zip(at.tolist(), rise(expected), strict=True))
    if early is None:
        return Line("forecast", middle)
    return Line("forecast", middle, low=rise(late), high=rise(early))


def _day_ticks(first: float, last: float) -> list[float]:
    """Return axis ticks at midnight (UTC), at most eight."""
    day = 2 * HALF_DAY_SECONDS
    start, end = int(first // day), int(last // day) + 1
    step = max(1, -(-(end - start) // 8))
    return [d * day for d in range(start + 1, end + 1, step) if first <= d * day <= last]


def depth_chart(now: selectors.CampaignProgress, word: str) -> Picture:
    """Draw the completion of each level. word: the pool's name for its levels."""
    labels = [f"{word} {level.rank}" for level in now.depths]
    values = [100 * level.share for level in now.depths]
    picture = bar_chart(
        labels,
        values,
        caption=f"Complete pairs by {word}",
        unit="% complete",
        what=word,
        reason=_("The campaign has no pairs."),
        high=100.0,
    )
    return picture


def describe_last_level(campaign: Campaign) -> str:
    """Say at which level judging stops. Empty if the whole pool is judged."""
    if campaign.judged_to is None:
        return ""
    return level_sentences.describe_last_level(campaign.level_word, campaign.judged_to)


def list_stalled_pairs(campaign: Campaign, live: CampaignSnapshot) -> list[Pair]:
    """Return the pairs that have been stalled longest, each with the time of its last judgement as
    `last`."""
    ids, moments = selectors.find_stalled_pairs(campaign, live)
    last = dict(zip(ids[:MAX_ROWS], moments, strict=False))
    # each pair gets the time of its last judgement
    pairs: dict[int, Any] = Pair.objects.select_related("entry__topic").in_bulk(list(last))
    for pk, moment in last.items():
        pairs[pk].last = moment
    return [pairs[pk] for pk in last]


def list_live_leases(campaign: Campaign) -> list[Any]:
    leases = Lease.objects.filter(
        membership__campaign=campaign, state=Lease.State.LIVE, expires_at__gt=timezone.now()
    )
    rows: list[Any] = list(
        leases.select_related("membership", "pair__entry__topic").order_by("-served_at")[:MAX_ROWS]
    )
    for lease in rows:
        lease.reason = describe_claim_reason(lease.why)
    return rows


def describe_claim_reason(why: dict[str, Any]) -> str:
    """Describe in sentences why a pair was assigned to an annotator, from the scheduler's rule and
    its stored details."""
    if not why:
        return _("Not recorded.")
    rule = str(why.get("rule") or "")
    sentences = [f"{rule[:1].upper()}{rule[1:]}." if rule else _("The reason was not recorded.")]
    if why.get("one_in"):
        sentences.append(
            _("One in %(n)s pairs is a gold or calibration pair.") % {"n": why["one_in"]}
        )
    if why.get("band") is not None:
        sentences.append(_("Rank window %(n)s.") % {"n": why["band"]})
    if why.get("topic_in_a_row") and why.get("block_length", 1) > 1:
        sentences.append(
            _("Pair %(n)s of at most %(most)s in this topic block.")
            % {"n": why["topic_in_a_row"], "most": why["block_length"]}
        )
    if why.get("needed") is not None and "counted" in why:
        says = ngettext(
            "The pair had %(n)s of %(needed)s judgement.",
            "The pair had %(n)s of %(needed)s judgements.",
            why["needed"],
        )
        sentences.append(says % {"n": why["counted"], "needed": why["needed"]})
    if held := why.get("held_by_others"):
        says = ngettext(
            "%(n)s other annotator was judging the pair.",
            "%(n)s other annotators were judging the pair.",
            held,
        )
        sentences.append(says % {"n": format_number(held)})
    return " ".join(sentences)


@login_required
@require_POST
def request_stopping_check(request: HttpRequest, slug: str) -> HttpResponse:
    """Request a check whether judging can stop. The button is on the Results page."""
    campaign = get_managed_campaign(request, slug)
    try:
        send(interim_checks.request_interim_check(campaign, user=request.user))
    except Refused as error:
        messages.error(request, as_sentence(error))
    return redirect("campaign-systems", slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def planning_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the planning options. A POST of key and value previews an option, and with `confirm`
    applies it."""
    campaign = get_managed_campaign(request, slug)
    if campaign.state == Campaign.State.DRAFT:
        return redirect("campaign-settings", slug)
    if campaign.state == Campaign.State.CLOSED:
        return redirect("campaign", slug)
    context = {
        "campaign": campaign,
        "tab": "progress",
        "headline": campaign_headline(campaign, selectors.compute_progress(campaign)),
        "word": level_sentences.name_levels(campaign.level_word),
        "last_level": describe_last_level(campaign),
        "why_whole": full_depth_reason(campaign),
    }
    if request.method == "POST":
        key = request.POST.get("key", "")
        try:
            now, option = planning_options.get_planning_option(
                campaign, key, parse_row_id(request.POST.get("value"))
            )
            if "confirm" in request.POST:
                messages.success(
                    request,
                    planning_options.apply_planning_option(campaign, option, actor=request.user),
                )
                return (
                    redirect("campaign-step", slug, "people")
                    if key == "invite"
                    else redirect("campaign-planning", slug)
                )
        except CampaignError as error:
            messages.error(request, str(error))
            return redirect("campaign-planning", slug)
        return render_page(
            request, "analysis/planning.html", {**context, "now": now, "option": option}
        )
    live = get_snapshot(campaign, fresh=0.0)
    now, offered, why_none = planning_options.list_planning_options(campaign, live=live)
    helpful = planning_options.filter_helpful_options(now, offered)
    shown = planning_options.list_depth_options(campaign, offered, live=live) if offered else []
    context |= {
        "now": now,
        "options": helpful,
        "recommended": helpful[0] if helpful and now.is_late else None,
    }
    return render_page(
        request, "analysis/planning.html", {**context, "why_none": why_none, "depths": shown}
    )
