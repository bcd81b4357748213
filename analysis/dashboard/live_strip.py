"""The strip of live figures over the progress page: computed once for the installation, however
many managers look."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from analysis.dashboard import agreement_figures
from analysis.dashboard.progress import CampaignProgress, progress
from analysis.judgements import live as rows
from analysis.judgements.shared_answer import shared
from annotation.models import Campaign
from assay.campaigns.forecast import Forecast

MINUTE = 60.0


@dataclass(frozen=True)
class Strip:
    """now: without its depths, and its forecast to the minute. alpha: as of `figures.latest_alpha`.
    changed_at: since when both are so."""

    now: CampaignProgress
    alpha: dict[str, Any]
    changed_at: float


def strip_figures(campaign: Campaign) -> Strip:
    """Read from the database at most `rows.WAITING` seconds ago."""
    answer = shared(
        "strip", campaign, lambda: _computed(campaign), fresh=rows.FRESH, waiting=rows.WAITING
    )
    progress, alpha = dict(answer.value["now"]), dict(answer.value["alpha"])
    forecast = Forecast(**progress.pop("forecast"))
    moment = datetime.fromtimestamp(answer.changed_at, UTC)
    alpha["at"] = datetime.fromisoformat(alpha["at"]) if alpha["at"] else None
    return Strip(
        CampaignProgress(**progress, depths=[], forecast=forecast, moment=moment),
        alpha,
        answer.changed_at,
    )


def _computed(campaign: Campaign) -> dict[str, Any]:
    live = rows.live_rows(campaign, fresh=0.0)
    now = progress(campaign, live=live)
    ahead = now.forecast
    ahead = replace(
        ahead,
        expected=_minute(ahead.expected),
        early=_minute(ahead.early),
        late=_minute(ahead.late),
    )
    figures = {
        name: value
        for name, value in vars(now).items()
        if name not in ("depths", "forecast", "moment")
    }
    alpha = agreement_figures.latest_alpha(campaign, live)
    return {
        "now": {**figures, "forecast": asdict(ahead)},
        "alpha": {**alpha, "at": alpha["at"].isoformat() if alpha["at"] else None},
    }


def _minute(seconds: float | None) -> float | None:
    """Pages write minutes; what a page does not show is no change."""
    return None if seconds is None else seconds - seconds % MINUTE
