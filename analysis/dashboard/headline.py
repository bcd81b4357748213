"""Times, forecasts and the state of a campaign as text for managers' pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from numpy.typing import NDArray

from annotation.core.scheduling import compute_band
from annotation.models import Campaign
from assay.campaigns.forecast import Forecast

if TYPE_CHECKING:
    from analysis.dashboard.progress import CampaignProgress

DAY_SECONDS = 86400.0
HOUR_SECONDS = 3600.0
NUMBER_WORDS = (
    gettext_lazy("no"),
    gettext_lazy("one"),
    gettext_lazy("two"),
    gettext_lazy("three"),
    gettext_lazy("four"),
    gettext_lazy("five"),
    gettext_lazy("six"),
    gettext_lazy("seven"),
    gettext_lazy("eight"),
    gettext_lazy("nine"),
    gettext_lazy("ten"),
    gettext_lazy("eleven"),
    gettext_lazy("twelve"),
)


def format_moment(seconds: float) -> str:
    """Return a time as “Fri 27 Nov, 18:00” in the reader's time zone, with the year unless it is
    the current one. seconds: since 1970."""
    moment = timezone.localtime(datetime.fromtimestamp(seconds, UTC))
    return formats.date_format(
        moment, "D j M, H:i" if moment.year == timezone.localtime().year else "D j M Y, H:i"
    )


def format_day(seconds: float) -> str:
    """Return a forecast's day as “Fri 27 Nov”, with the hour if it is within two days."""
    moment, now = timezone.localtime(datetime.fromtimestamp(seconds, UTC)), timezone.localtime()
    if moment - now < timedelta(days=2):
        return format_moment(seconds)
    return formats.date_format(moment, "D j M" if moment.year == now.year else "D j M Y")


def format_interval(ahead: Forecast) -> str:
    """Return an interval as “Thu 26 Nov to Wed 2 Dec”, or as months only if it is too wide for
    planning."""
    assert ahead.early is not None, "only a forecast has an interval"
    if ahead.late is None:
        return _("%(early)s to more than two years from now") % {
            "early": _format_month(ahead.early) if ahead.is_vague else format_day(ahead.early)
        }
    early, late = (
        _format_month(at) if ahead.is_vague else format_day(at) for at in (ahead.early, ahead.late)
    )
    return _("%(early)s to %(late)s") % {"early": early, "late": late}


def _format_month(seconds: float) -> str:
    return formats.date_format(timezone.localtime(datetime.fromtimestamp(seconds, UTC)), "M Y")


def is_surely_late(campaign: Campaign, ahead: Forecast) -> bool:
    """Return whether the whole prediction interval lies after the deadline."""
    return (
        campaign.deadline is not None
        and ahead.early is not None
        and ahead.early > campaign.deadline.timestamp()
    )


def has_ended(campaign: Campaign) -> bool:
    """Return whether judging has ended, so that there is nothing to forecast."""
    return campaign.is_over or campaign.state == Campaign.State.CLOSED


def last_complete_level(
    campaign: Campaign,
    priorities: Sequence[int],
    missing: Sequence[float] | NDArray[Any],
    room: float,
    *,
    width: int | None = None,
) -> int:
    """Return the last level (rank, batch, stage) down to which all pairs are complete after `room`
    more judgements, or 0 if not even the first is.

    priorities: of the levels, highest first. missing: judgements missing per level. width: ranks
    per rank window, the campaign's by default. The priorities of a window are judged together, so a
    window is complete as a whole.
    """
    if not len(priorities):
        return 0
    bands = [
        compute_band(
            priority,
            highest=max(priorities[0], campaign.top_priority),
            width=width or campaign.band,
        )
        for priority in priorities
    ]
    spent, level = 0.0, 0
    for band in sorted(set(bands)):
        own = [place for place, its in enumerate(bands) if its == band]
        spent += float(sum(missing[place] for place in own))
        if spent > room:
            break
        level = campaign.level_of(priorities[own[-1]])
    return level


def judged_levels(campaign: Campaign, priorities: list[int]) -> list[int]:
    """Return the priorities down to the judging depth, highest first. Levels beyond it never become
    complete."""
    least = campaign.least_priority
    return [priority for priority in priorities if least is None or priority >= least]


def campaign_headline(campaign: Campaign, now: CampaignProgress) -> str:
    """Return “Day 9 of 13 · 54% judged · two days late; complete to rank 6 by the deadline”."""
    said = {
        "level": translate_level_word(campaign.level_word),
        "share": f"{100 * now.counted // now.needed}%" if now.needed else _("nothing to judge"),
    }
    judged = _("%(share)s judged") % said if now.needed else said["share"]
    said["so_far"] = " · ".join(
        part for part in (_format_campaign_day(campaign, now), judged) if part
    )
    if now.needed and now.counted >= now.needed:
        return _("All required judgements have been made.")
    if has_ended(campaign):
        said["end"] = (
            _("Closed") if campaign.state == Campaign.State.CLOSED else _("The deadline has passed")
        )
        if now.complete_depth:
            return _("%(end)s at %(share)s; complete to %(level)s %(depth)s.") % (
                said | {"depth": now.complete_depth}
            )
        return _("%(end)s at %(share)s; the first %(level)s is not complete.") % said
    ahead, possible = now.forecast.expected, now.forecast.possible_from
    if ahead is None and possible is not None:
        return _("%(so_far)s · forecast available from %(day)s") % (
            said | {"day": format_day(possible)}
        )
    if ahead is None:
        return said["so_far"]
    if now.forecast.is_vague and is_surely_late(campaign, now.forecast):
        return _("%(so_far)s · late, too uncertain to say by how much") % said
    if now.forecast.is_vague:
        return _("%(so_far)s · completion date still too uncertain") % said
    if campaign.deadline is None:
        return _("%(so_far)s · expected to finish %(day)s") % (said | {"day": format_day(ahead)})
    said["late"] = format_lateness(ahead - campaign.deadline.timestamp())
    if now.by_deadline is None or ahead <= campaign.deadline.timestamp():
        return _("%(so_far)s · %(late)s") % said
    if now.by_deadline:
        return _("%(so_far)s · %(late)s; complete to %(level)s %(depth)s by the deadline") % (
            said | {"depth": now.by_deadline}
        )
    return (
        _("%(so_far)s · %(late)s; the first %(level)s will not be complete by the deadline") % said
    )


def translate_level_word(word: str) -> str:
    """Translate the name that the pool gives its levels (assay.pools.pool_kinds)."""
    return {
        "rank": _("rank"),
        "batch": _("batch"),
        "stage": _("stage"),
        "priority": _("priority"),
        "level": _("level"),
    }.get(word, word)


def _format_campaign_day(campaign: Campaign, now: CampaignProgress) -> str:
    """Return “Day 9 of 13”, from the opening to now and to the deadline. The first day is day 1."""
    if campaign.opened_at is None:
        return ""
    passed = max(1, int(np.ceil((now.moment - campaign.opened_at).total_seconds() / DAY_SECONDS)))
    if campaign.deadline is None or has_ended(campaign):
        return _("Day %(n)s") % {"n": f"{passed:,}"}
    whole = max(
        1, int(np.ceil((campaign.deadline - campaign.opened_at).total_seconds() / DAY_SECONDS))
    )
    return _("Day %(n)s of %(whole)s") % {"n": f"{min(passed, whole):,}", "whole": f"{whole:,}"}


def format_lateness(seconds: float) -> str:
    """Return “two days late”, “five hours late” or “in time”."""
    if seconds <= 0:
        return _("on time")
    size = (
        round(seconds / DAY_SECONDS)
        if seconds >= DAY_SECONDS
        else max(1, round(seconds / HOUR_SECONDS))
    )
    says = (
        ngettext("%(n)s day late", "%(n)s days late", size)
        if seconds >= DAY_SECONDS
        else ngettext("%(n)s hour late", "%(n)s hours late", size)
    )
    return says % {"n": NUMBER_WORDS[size] if size < len(NUMBER_WORDS) else f"{size:,}"}
