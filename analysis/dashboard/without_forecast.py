"""What the pages of managers say while there is no forecast: since when there can be one, and what is true without it."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from django.utils.timesince import timeuntil

from analysis.core.forecast import LEAST_DAYS, LEAST_JUDGEMENTS, Forecast
from analysis.dashboard.headline import DAY, SMALL, moment_text
from annotation.models import Campaign
from pooling.core.counts import counted

if TYPE_CHECKING:
    from analysis.dashboard.progress import CampaignProgress


def why_and_since(ahead: Forecast) -> str:
    """Why there is no forecast, and when there can be one."""
    return "; ".join(part for part in (ahead.reason, since(ahead)) if part)


def since(ahead: Forecast) -> str:
    """When there can be a forecast; empty where nothing is known of that."""
    days = SMALL[LEAST_DAYS]
    if ahead.possible_from is not None:
        return f"from {moment_text(ahead.possible_from)} on, if {LEAST_JUDGEMENTS} judgements are made in the {days} days before"
    if ahead.n_short == LEAST_JUDGEMENTS and not ahead.per_day and not ahead.n_hours:
        return f"a forecast needs {days} days, a whole working day among them, and {LEAST_JUDGEMENTS} judgements"
    if ahead.n_short:
        more = f"{ahead.n_short:,} more" if ahead.n_short < LEAST_JUDGEMENTS else f"{LEAST_JUDGEMENTS}"
        return f"told again as soon as {more} are made within {days} days"
    return ""


def true_without(campaign: Campaign, now: CampaignProgress) -> str:
    """What is missing, what the deadline asks for, and what was made lately."""
    missing = now.needed - now.counted
    words = f"{counted(missing, 'judgement is', plural='judgements are')} missing"
    if campaign.deadline is not None and campaign.deadline > now.moment:
        days = (campaign.deadline - now.moment).total_seconds() / DAY
        asked = f"{ceil(missing / days):,} a day" if days >= 1 else "all of them"
        words += f"; the deadline in {timeuntil(campaign.deadline)} asks for {asked}"
    return f"{words}; {now.per_24h:,} {'was' if now.per_24h == 1 else 'were'} made in the last 24 hours"
