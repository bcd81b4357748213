"""Statistics of campaigns for the Home page. Those of small campaigns are computed in the request,
and those of large ones by a job that stores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Sum
from django.utils import timezone

from analysis.dashboard import agreement_metrics, ranking_effects
from analysis.dashboard.annotators import RandomLikeAnnotator, find_random_like_annotators
from analysis.dashboard.disagreements import list_disputed_pairs
from analysis.dashboard.progress import FastAnnotator, compute_progress, list_fast_annotators
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Membership
from annotation.selectors.pairs import get_ruled_pairs
from assay.campaigns.forecast import Forecast
from assay.cli.base import to_json_types
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

STATISTICS_JOB = "home page statistics"
FRESH_SECONDS = 10.0
"""Seconds for which computed statistics are reused."""
FRESH_LARGE = timedelta(minutes=5)
"""Time for which the statistics of a campaign are reused if a job computes them."""
INLINE_LIMIT = 20_000
"""Maximum number of judgements, over all campaigns, for which statistics are computed in one
request. Jobs compute the rest."""
MIN_JUDGEMENTS = 500
"""Minimum number of judgements assumed for a campaign, because even an empty one takes time."""


@dataclass(frozen=True)
class HomeStatistics:
    """Statistics of one campaign on the Home page.

    needed, counted: numbers of judgements. alpha: as from `agreement_metrics.latest_alpha`.
    like_random: annotators whose labels look random, those with most labels first. n_disputed:
    complete pairs with an uncertain label (see `DisputedOrder`) that have not been adjudicated.
    disputed: row ID of the first of them. at: time of computation. n_pivotal: number of disputed
    pairs that could change the ranking, None if not computed for all of them.
    """

    needed: int
    counted: int
    forecast: Forecast
    too_fast: list[FastAnnotator]
    like_random: list[RandomLikeAnnotator]
    n_disputed: int
    disputed: int | None
    alpha: dict[str, Any]
    at: datetime
    n_pivotal: int | None = None

    @property
    def missing(self) -> int:
        return self.needed - self.counted

    @property
    def share(self) -> float:
        return self.counted / self.needed if self.needed else 0.0


def get_home_figures(campaigns: Sequence[Campaign]) -> tuple[dict[int, HomeStatistics], list[Job]]:
    """Return the statistics of campaigns by row ID, and new jobs to send for the large ones. Left
    out are campaigns of preferences and campaigns whose statistics were never computed."""
    campaigns = [campaign for campaign in campaigns if not campaign.is_preferences]
    size = _count_judgements(campaigns)
    left, known, large = INLINE_LIMIT, {}, []
    for campaign in campaigns:
        cost = max(MIN_JUDGEMENTS, size.get(campaign.pk, 0))
        if cost <= left:
            left -= cost
            known[campaign.pk] = _compute_inline(campaign)
        else:
            large.append(campaign)
    known |= _last_job_figures(large)
    asked = []
    for campaign in large:
        last = known.get(campaign.pk)
        if last is None or timezone.now() - last.at > FRESH_LARGE:
            job = _request_job(campaign)
            asked += [job] if job is not None else []
    return known, asked


def _count_judgements(campaigns: Sequence[Campaign]) -> dict[int, int]:
    rows = Membership.objects.filter(
        campaign__in=[campaign.pk for campaign in campaigns]
    ).values_list("campaign")
    return dict(rows.annotate(n=Sum("n_judged")).order_by()) if campaigns else {}


def _compute_inline(campaign: Campaign) -> HomeStatistics:
    live = get_snapshot(campaign, fresh=FRESH_SECONDS)
    return live.derived(
        "home", lambda: _compute_statistics(campaign, live), depends_on=(live.rows, live.read_at)
    )


def _last_job_figures(campaigns: Sequence[Campaign]) -> dict[int, HomeStatistics]:
    """Return the newest statistics that jobs have stored, by row ID of the campaign."""
    if not campaigns:
        return {}
    done = Job.objects.filter(
        campaign_id__in=[campaign.pk for campaign in campaigns],
        kind=STATISTICS_JOB,
        state=Job.State.DONE,
    ).exclude(report={})  # left out: reports written by an older version
    newest = done.values("campaign_id").annotate(newest=Max("pk")).order_by().values("newest")
    rows = Job.objects.filter(pk__in=newest).values_list("campaign_id", "report")
    names, of_suspect = (
        {one.name for one in fields(kind)} for kind in (Forecast, RandomLikeAnnotator)
    )
    return {
        campaign: _parse_figures(report)
        for campaign, report in rows
        if campaign is not None
        # otherwise another version wrote the report
        and report["forecast"].keys() == names
        and all(one.keys() == of_suspect for one in report["like_random"])
    }


def _request_job(campaign: Campaign) -> Job | None:
    """Create a job that computes the statistics, unless one is queued or running."""
    if Job.objects.filter(
        campaign_id=campaign.pk, kind=STATISTICS_JOB, state__in=Job.ACTIVE
    ).exists():
        return None
    return jobs.enqueue(
        STATISTICS_JOB,
        {},
        label=f"Statistics of {campaign.name}",
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.register_job_kind(STATISTICS_JOB, unit="campaigns", figures=True)
def run_statistics_job(work: ClaimedJob) -> dict[str, Any]:
    """Compute a campaign's statistics for the Home page: a report with the fields of
    HomeStatistics."""
    campaign = Campaign.objects.select_related("pool").get(pk=work.campaign_id)
    figures = asdict(_compute_statistics(campaign, get_snapshot(campaign)))
    at, alpha_at = figures["at"].isoformat(), figures["alpha"]["at"]
    alpha = {**figures["alpha"], "at": alpha_at.isoformat() if alpha_at else None}
    return to_json_types({**figures, "at": at, "alpha": alpha})  # type: ignore[no-any-return]


def _compute_statistics(campaign: Campaign, live: CampaignSnapshot) -> HomeStatistics:
    now = compute_progress(campaign, live=live)
    ruled = set(get_ruled_pairs(campaign).values_list("pk", flat=True))
    disputed = [pk for pk in list_disputed_pairs(campaign, live) if pk not in ruled]
    effects = ranking_effects.get_effects(campaign) if disputed else {}
    pivotal = [pk for pk in disputed if pk in effects and effects[pk].swaps]
    return HomeStatistics(
        needed=now.needed,
        counted=now.counted,
        forecast=now.forecast,
        too_fast=list_fast_annotators(campaign, live),
        like_random=find_random_like_annotators(campaign, live),
        n_disputed=len(disputed),
        disputed=next(iter(pivotal or disputed), None),
        alpha=agreement_metrics.latest_alpha(campaign, live),
        at=now.moment,
        n_pivotal=len(pivotal) if effects.keys() >= set(disputed) else None,
    )


def _parse_figures(report: Mapping[str, Any]) -> HomeStatistics:
    at, alpha = report["alpha"]["at"], report["alpha"]
    return HomeStatistics(
        **{
            **report,
            "forecast": Forecast(**report["forecast"]),
            "too_fast": [FastAnnotator(**one) for one in report["too_fast"]],
            "like_random": [RandomLikeAnnotator(**one) for one in report["like_random"]],
            "alpha": {**alpha, "at": datetime.fromisoformat(at) if at else None},
            "at": datetime.fromisoformat(report["at"]),
        }
    )
