"""Moments, the end and the state of a campaign in words, as the pages of managers say them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from django.utils import formats, timezone
from numpy.typing import NDArray

from annotation.core.scheduling import band_of
from annotation.models import Campaign

if TYPE_CHECKING:
    from analysis.dashboard.progress import CampaignProgress

DAY = 86400.0
HOUR = 3600.0
SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def moment_text(seconds: float) -> str:
    """seconds: since 1970; in the reader's time zone."""
    moment = timezone.localtime(datetime.fromtimestamp(seconds, UTC))
    return formats.date_format(moment, "D j M, H:i")


def has_ended(campaign: Campaign) -> bool:
    """Whether nobody judges any more, so that there is nothing to forecast."""
    return campaign.is_over or campaign.state == Campaign.State.CLOSED


def complete_level(campaign: Campaign, priorities: Sequence[int], missing: Sequence[float] | NDArray[Any], room: float, *, width: int | None = None) -> int:
    """The level (rank, batch, stage) down to which all pairs are complete after `room` judgements more; 0: not even the first.

    priorities: of the levels, the highest first; missing: judgements of each. Priorities of one band are judged together, so that a band
    is complete as a whole; width: of the bands, the campaign's own unless given.
    """
    if not len(priorities):
        return 0
    bands = [band_of(priority, highest=max(priorities[0], campaign.top_priority), width=width or campaign.band) for priority in priorities]
    spent, level = 0.0, 0
    for band in sorted(set(bands)):
        own = [place for place, its in enumerate(bands) if its == band]
        spent += float(sum(missing[place] for place in own))
        if spent > room:
            break
        level = campaign.level_of(priorities[own[-1]])
    return level


def judged_levels(campaign: Campaign, priorities: list[int]) -> list[int]:
    """Of the priorities, the highest first, those down to the depth to which is judged: no level beyond it ever becomes complete."""
    least = campaign.least_priority
    return [priority for priority in priorities if least is None or priority >= least]


def headline(campaign: Campaign, now: CampaignProgress) -> str:
    """“9 of 13 days, 54 %, two days late; complete to rank 6 by the deadline.”"""
    word = campaign.level_word
    share = f"{100 * now.counted // now.needed} %" if now.needed else "nothing to judge"
    days = _days(campaign, now)
    if now.needed and now.counted >= now.needed:
        return "Everything that is needed has been judged."
    if has_ended(campaign):
        reached = f"complete to {word} {now.complete_depth}" if now.complete_depth else f"not even the first {word} is complete"
        return f"{'Closed' if campaign.state == Campaign.State.CLOSED else 'The deadline has passed'} at {share}; {reached}."
    ahead = now.forecast.expected
    if campaign.deadline is None:
        return f"{days}{share}, " + (f"expected to end {moment_text(ahead)}." if ahead is not None else "no forecast yet.")
    if ahead is None:
        return f"{days}{share}, no forecast yet."
    late = lateness(ahead - campaign.deadline.timestamp())
    if now.by_deadline is None or ahead <= campaign.deadline.timestamp():
        return f"{days}{share}, {late}."
    reached = f"complete to {word} {now.by_deadline}" if now.by_deadline else f"not even the first {word} complete"
    return f"{days}{share}, {late}; {reached} by the deadline."


def _days(campaign: Campaign, now: CampaignProgress) -> str:
    """“9 of 13 days, ”: from the opening to now, and to the deadline; the first day is day 1."""
    if campaign.opened_at is None:
        return ""
    passed = max(1, int(np.ceil((now.moment - campaign.opened_at).total_seconds() / DAY)))
    if campaign.deadline is None or has_ended(campaign):
        return f"Day {passed:,}, "
    whole = max(1, int(np.ceil((campaign.deadline - campaign.opened_at).total_seconds() / DAY)))
    return f"{min(passed, whole):,} of {whole:,} day{'' if whole == 1 else 's'}, "


def lateness(seconds: float) -> str:
    """“two days late”, “five hours late”, “in time”."""
    if seconds <= 0:
        return "in time"
    size, unit = (round(seconds / DAY), "day") if seconds >= DAY else (max(1, round(seconds / HOUR)), "hour")
    words = SMALL[size] if size < len(SMALL) else f"{size:,}"
    return f"{words} {unit}{'' if size == 1 else 's'} late"
