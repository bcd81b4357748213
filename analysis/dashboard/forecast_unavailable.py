"""Messages for managers while no forecast is available: when it will be, and the current progress."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from analysis.dashboard.headline import DAY_SECONDS, NUMBER_WORDS, format_day
from annotation.models import Campaign
from assay.campaigns.forecast import LEAST_DAYS, LEAST_JUDGEMENTS, UNJUDGED_MESSAGE, Forecast
from assay.number_words import format_count

if TYPE_CHECKING:
    from analysis.dashboard.progress import CampaignProgress


def forecast_unavailable_reason(ahead: Forecast) -> str:
    """Return why there is no forecast and when there can be one."""
    return " ".join(part for part in (ahead.reason, when_forecast_possible(ahead)) if part)


def when_forecast_possible(ahead: Forecast) -> str:
    """Return when a forecast can be available, or an empty string if that is unknown."""
    if ahead.possible_from is not None:
        words = f"Forecast available from {format_day(ahead.possible_from)}"
        return f"{words}, after {ahead.n_short} more judgements." if ahead.n_short else f"{words}."
    if ahead.n_short and ahead.reason == UNJUDGED_MESSAGE:
        return f"Forecast available after {NUMBER_WORDS[LEAST_DAYS]} working days and {LEAST_JUDGEMENTS} judgements."
    if ahead.n_short:
        return f"Forecast available after {format_count(ahead.n_short, 'more judgement')} within {NUMBER_WORDS[LEAST_DAYS]} working days."
    return ""


def progress_summary(campaign: Campaign, now: CampaignProgress) -> str:
    """Return the number of missing judgements, the daily rate that the deadline requires, and the
    recent rate."""
    missing = now.needed - now.counted
    parts = [f"{format_count(missing, 'judgement')} missing"]
    if campaign.deadline is not None and campaign.deadline > now.moment:
        days = (campaign.deadline - now.moment).total_seconds() / DAY_SECONDS
        asked = f"{ceil(missing / days):,} per day" if days >= 1 else "all of them today"
        parts.append(f"{asked} needed to meet the deadline")
    return "; ".join((*parts, f"{now.per_24h:,} in the last 24 h"))
