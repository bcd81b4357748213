"""The figures of a campaign that Home shows: kept as a small file for all processes, and never
waited for where a campaign is large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Sum

from analysis.dashboard import agreement_figures
from analysis.dashboard.annotators import LikeRandom, like_random
from analysis.dashboard.disagreements import disputed_order
from analysis.dashboard.progress import TooFast, progress, too_fast
from analysis.judgements.live import live_rows
from analysis.judgements.shared_answer import SharedAnswer, last_answer, shared
from annotation.models import Campaign, Membership
from annotation.selectors.pairs import ruled_pairs
from assay.campaigns.forecast import Forecast
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import Work

NAME = "home-2"
"""Of the kept answers: another one whenever they get other keys, for an answer of an earlier
version is not read."""
FIGURES = "figures of Home"
FRESH = 10.0
"""Seconds for which what was computed is good enough."""
FRESH_LARGE = 300.0
"""The same of a campaign that a job counts."""
AT_ONCE = 20_000
"""Judgements of all campaigns that one request counts; the rest is counted by jobs."""
LEAST = 500
"""As so many judgements a campaign is reckoned at least: counting none takes time, too."""


@dataclass(frozen=True)
class HomeFigures:
    """needed, counted: judgements. alpha: as of `agreement_figures.latest_alpha`. like_random: the
    most labels first. n_disputed: complete pairs whose label could be another
    (`DisputedOrder.weighty`), without a label of the managers' own; disputed: the row id of the
    first. at: when counted."""

    needed: int
    counted: int
    forecast: Forecast
    too_fast: list[TooFast]
    like_random: list[LikeRandom]
    n_disputed: int
    disputed: int | None
    alpha: dict[str, Any]
    at: datetime

    @property
    def missing(self) -> int:
        return self.needed - self.counted

    @property
    def share(self) -> float:
        return self.counted / self.needed if self.needed else 0.0


def home_figures(campaigns: Sequence[Campaign]) -> tuple[dict[int, HomeFigures], list[Job]]:
    """-> (by row id of the campaign, without those that were never counted; new jobs to be sent,
    which count the large ones)

    Small campaigns are counted now where that was not done within FRESH seconds.
    """
    size = _sizes(campaigns)
    left, known, asked = AT_ONCE, {}, []
    for campaign in campaigns:
        answer = last_answer(NAME, campaign)
        if answer is None or not answer.is_young(FRESH):
            cost = max(LEAST, size.get(campaign.pk, 0))
            if cost <= left:
                left -= cost
                answer = _counted_now(campaign)
            elif (answer is None or not answer.is_young(FRESH_LARGE)) and (
                job := _ask(campaign)
            ) is not None:
                asked.append(job)
        if answer is not None:
            known[campaign.pk] = _figures(answer)
    return known, asked


def _sizes(campaigns: Sequence[Campaign]) -> dict[int, int]:
    rows = Membership.objects.filter(
        campaign__in=[campaign.pk for campaign in campaigns]
    ).values_list("campaign")
    return dict(rows.annotate(n=Sum("n_judged")).order_by()) if campaigns else {}


def _counted_now(campaign: Campaign) -> SharedAnswer:
    return shared(NAME, campaign, lambda: _computed(campaign), fresh=FRESH, waiting=FRESH_LARGE)


def _ask(campaign: Campaign) -> Job | None:
    """A new job, unless one is on its way."""
    if Job.objects.filter(campaign_id=campaign.pk, kind=FIGURES, state__in=Job.ACTIVE).exists():
        return None
    return jobs.enqueue(
        FIGURES,
        {},
        label=f"Figures of {campaign.name}",
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.kind(FIGURES, unit="campaigns", figures=True)
def compute(work: Work) -> dict[str, Any]:
    _counted_now(Campaign.objects.select_related("pool").get(pk=work.campaign_id))
    return {}


def _computed(campaign: Campaign) -> dict[str, Any]:
    live = live_rows(campaign)
    now = progress(campaign, live=live)
    ruled = set(ruled_pairs(campaign).values_list("pk", flat=True))
    disputed = [pk for pk in disputed_order(campaign, live).weighty if pk not in ruled]
    alpha = agreement_figures.latest_alpha(campaign, live)
    return {
        "needed": now.needed,
        "counted": now.counted,
        "forecast": asdict(now.forecast),
        "too_fast": [asdict(one) for one in too_fast(campaign, live)],
        "like_random": [asdict(one) for one in like_random(campaign, live)],
        "n_disputed": len(disputed),
        "disputed": disputed[0] if disputed else None,
        "alpha": {**alpha, "at": alpha["at"].isoformat() if alpha["at"] else None},
    }


def _figures(answer: SharedAnswer) -> HomeFigures:
    value = dict(answer.value)
    forecast, alpha = Forecast(**value.pop("forecast")), value.pop("alpha")
    alpha = {**alpha, "at": datetime.fromisoformat(alpha["at"]) if alpha["at"] else None}
    signs = [TooFast(**one) for one in value.pop("too_fast")]
    suspects = [LikeRandom(**one) for one in value.pop("like_random")]
    return HomeFigures(
        **value,
        forecast=forecast,
        too_fast=signs,
        like_random=suspects,
        alpha=alpha,
        at=datetime.fromtimestamp(answer.made_at, UTC),
    )
