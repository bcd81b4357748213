"""The figures of a campaign that Home shows: kept as a small file for all processes, and never
waited for where a campaign is large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Sum

from analysis.dashboard import agreement_metrics
from analysis.dashboard.annotators import RandomLikeAnnotator, find_random_like_annotators
from analysis.dashboard.disagreements import order_disputed_pairs
from analysis.dashboard.progress import FastAnnotator, compute_progress, list_fast_annotators
from analysis.judgements.live import get_snapshot
from analysis.judgements.shared_answer import CachedAnswer, get_last_answer, get_or_compute
from annotation.models import Campaign, Membership
from annotation.selectors.pairs import get_ruled_pairs
from assay.campaigns.forecast import Forecast
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

CACHE_NAME = "home-2"
"""Of the kept answers: another one whenever they get other keys, for an answer of an earlier
version is not read."""
FIGURES_JOB = "figures of Home"
FRESH_SECONDS = 10.0
"""Seconds for which what was computed is good enough."""
FRESH_SECONDS_LARGE = 300.0
"""The same of a campaign that a job counts."""
INLINE_LIMIT = 20_000
"""Judgements of all campaigns that one request counts; the rest is counted by jobs."""
MIN_JUDGEMENTS = 500
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
    too_fast: list[FastAnnotator]
    like_random: list[RandomLikeAnnotator]
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


def get_home_figures(campaigns: Sequence[Campaign]) -> tuple[dict[int, HomeFigures], list[Job]]:
    """-> (by row id of the campaign, without those that were never counted; new jobs to be sent,
    which count the large ones)

    Small campaigns are counted now where that was not done within FRESH seconds.
    """
    size = _count_judgements(campaigns)
    left, known, asked = INLINE_LIMIT, {}, []
    for campaign in campaigns:
        answer = get_last_answer(CACHE_NAME, campaign)
        if answer is None or not answer.is_young(FRESH_SECONDS):
            cost = max(MIN_JUDGEMENTS, size.get(campaign.pk, 0))
            if cost <= left:
                left -= cost
                answer = _compute_inline(campaign)
            elif (answer is None or not answer.is_young(FRESH_SECONDS_LARGE)) and (
                job := _request_job(campaign)
            ) is not None:
                asked.append(job)
        if answer is not None:
            known[campaign.pk] = _parse_figures(answer)
    return known, asked


def _count_judgements(campaigns: Sequence[Campaign]) -> dict[int, int]:
    rows = Membership.objects.filter(
        campaign__in=[campaign.pk for campaign in campaigns]
    ).values_list("campaign")
    return dict(rows.annotate(n=Sum("n_judged")).order_by()) if campaigns else {}


def _compute_inline(campaign: Campaign) -> CachedAnswer:
    return get_or_compute(
        CACHE_NAME,
        campaign,
        lambda: _compute_figures(campaign),
        fresh=FRESH_SECONDS,
        waiting=FRESH_SECONDS_LARGE,
    )


def _request_job(campaign: Campaign) -> Job | None:
    """A new job, unless one is on its way."""
    if Job.objects.filter(campaign_id=campaign.pk, kind=FIGURES_JOB, state__in=Job.ACTIVE).exists():
        return None
    return jobs.enqueue(
        FIGURES_JOB,
        {},
        label=f"Figures of {campaign.name}",
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.register_job_kind(FIGURES_JOB, unit="campaigns", figures=True)
def run_figures_job(work: ClaimedJob) -> dict[str, Any]:
    _compute_inline(Campaign.objects.select_related("pool").get(pk=work.campaign_id))
    return {}


def _compute_figures(campaign: Campaign) -> dict[str, Any]:
    live = get_snapshot(campaign)
    now = compute_progress(campaign, live=live)
    ruled = set(get_ruled_pairs(campaign).values_list("pk", flat=True))
    disputed = [pk for pk in order_disputed_pairs(campaign, live).weighty if pk not in ruled]
    alpha = agreement_metrics.latest_alpha(campaign, live)
    return {
        "needed": now.needed,
        "counted": now.counted,
        "forecast": asdict(now.forecast),
        "too_fast": [asdict(one) for one in list_fast_annotators(campaign, live)],
        "like_random": [asdict(one) for one in find_random_like_annotators(campaign, live)],
        "n_disputed": len(disputed),
        "disputed": disputed[0] if disputed else None,
        "alpha": {**alpha, "at": alpha["at"].isoformat() if alpha["at"] else None},
    }


def _parse_figures(answer: CachedAnswer) -> HomeFigures:
    value = dict(answer.value)
    forecast, alpha = Forecast(**value.pop("forecast")), value.pop("alpha")
    alpha = {**alpha, "at": datetime.fromisoformat(alpha["at"]) if alpha["at"] else None}
    signs = [FastAnnotator(**one) for one in value.pop("too_fast")]
    suspects = [RandomLikeAnnotator(**one) for one in value.pop("like_random")]
    return HomeFigures(
        **value,
        forecast=forecast,
        too_fast=signs,
        like_random=suspects,
        alpha=alpha,
        at=datetime.fromtimestamp(answer.made_at, UTC),
    )
