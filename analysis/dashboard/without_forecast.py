"""What the pages of managers say while there is no forecast: since when there can be one, and what
is true without it."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from analysis.dashboard.headline import DAY, SMALL, day_text
from annotation.models import Campaign
from assay.campaigns.forecast import LEAST_DAYS, LEAST_JUDGEMENTS, Forecast
from assay.counts import counted

if TYPE_CHECKING:
    from analysis.dashboard.progress import CampaignProgress


def why_and_since(ahead: Forecast) -> str:
    """Why there is no forecast, and when there can be one."""
    return " ".join(part for part in (ahead.reason, since(ahead)) if part)


def since(ahead: Forecast) -> str:
    """When there can be a forecast; empty where nothing is known of that."""
    if ahead.possible_from is not None:
        words = f"Forecast available from {day_text(ahead.possible_from)}"
        return f"{words}, after {ahead.n_short} more judgements." if ahead.n_short else f"{words}."
    if ahead.n_short == LEAST_JUDGEMENTS and not ahead.n_hours:
        return f"Forecast after {SMALL[LEAST_DAYS]} working days and {LEAST_JUDGEMENTS} judgements."
    if ahead.n_short:
        return f"Forecast after {counted(ahead.n_short, 'more judgement')} within {SMALL[LEAST_DAYS]} working days."
    return ""


def true_without(campaign: Campaign, now: CampaignProgress) -> str:
    """What is missing, what the deadline asks for, and what was made lately."""
    missing = now.needed - now.counted
    parts = [f"{counted(missing, 'judgement')} missing"]
    if campaign.deadline is not None and campaign.deadline > now.moment:
        days = (campaign.deadline - now.moment).total_seconds() / DAY
        asked = f"{ceil(missing / days):,} per day" if days >= 1 else "all of them today"
        parts.append(f"{asked} needed to meet the deadline")
    return "; ".join((*parts, f"{now.per_24h:,} in the last 24 h"))
