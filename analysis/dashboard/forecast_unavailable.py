"""Messages that explain to managers why there is no forecast."""

from __future__ import annotations

from analysis.dashboard.headline import NUMBER_WORDS, format_day
from assay.campaigns.forecast import MIN_DAYS, MIN_JUDGEMENTS, UNJUDGED_MESSAGE, Forecast
from assay.number_words import format_count


def forecast_unavailable_reason(ahead: Forecast) -> str:
    """Return why there is no forecast, and when one will be available."""
    return " ".join(part for part in (ahead.reason, when_forecast_possible(ahead)) if part)


def when_forecast_possible(ahead: Forecast) -> str:
    """Return a sentence on when a forecast will be available, or an empty string if that is
    unknown."""
    if ahead.possible_from is not None:
        words = f"Forecast available from {format_day(ahead.possible_from)}"
        return f"{words}, after {ahead.n_short} more judgements." if ahead.n_short else f"{words}."
    if ahead.n_short and ahead.reason == UNJUDGED_MESSAGE:
        return f"Forecast available after {NUMBER_WORDS[MIN_DAYS]} working days and {MIN_JUDGEMENTS} judgements."
    if ahead.n_short:
        return f"Forecast available after {format_count(ahead.n_short, 'more judgement')} within {NUMBER_WORDS[MIN_DAYS]} working days."
    return ""
