"""Disputed pairs whose label could change the ranking of the systems. A job computes them, and
pages show the result with its age."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from analysis.dashboard.label_list import get_votes, list_pairs
from analysis.judgements.campaign_sample import describe_prioritised_progress
from analysis.judgements.interim_checks import min_judgements_per_pair
from analysis.judgements.labels import LabelChoices, make_labels
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from analysis.judgements.system_rankings import (
    campaign_measures,
    no_rankings_reason,
    runs_marker,
)
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign
from assay.comparison.label_effects import LabelEffect, compute_label_effects
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measure
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob
from pooling.services.runs import load_rankings

RANKING_EFFECT_JOB = "disputed pairs and ranking"
STALE_AFTER = timedelta(seconds=60)
MAX_PAIRS = 1000
"""Maximum number of disputed pairs whose effects are computed, those with the most distant grades
first."""


@dataclass(frozen=True)
class RankingEffects:
    """Effects of disputed pairs on the system ranking, by row ID. measure: the measure that ranks
    the systems."""

    measure: str
    effects: dict[int, LabelEffect]
    finished_at: datetime

    def could_change(self, pair: int) -> bool:
        """Return whether another grade of the pair changes the order of two systems."""
        return pair in self.effects and self.effects[pair].swaps > 0


class _Dispute(NamedTuple):
    """A disputed pair: its row ID, its topic and document, and the grades that its label could
    become."""

    pair: int
    key: tuple[str, str]
    others: list[int]


def newest_ranking_effects(
    campaign: Campaign, live: CampaignSnapshot
) -> tuple[RankingEffects | None, Job | None]:
    """Return the newest effects of disputed pairs, None if there are none, and a new job to send if
    they are out of date."""
    newest = _find_newest_job(campaign)
    marks = [live.newest, live.audit, _count_adjudications(campaign)]
    marks += runs_marker(campaign.collection)
    is_fresh = newest is not None and (
        newest.parameters.get("marks") == marks
        or (newest.finished_at and timezone.now() - newest.finished_at < STALE_AFTER)
    )
    effects = _read_report(newest) if newest is not None else None
    if (
        is_fresh
        or not any(row.disputed for row in list_pairs(campaign, live))
        or why_unranked(campaign)
        or is_running(campaign)
    ):
        return effects, None
    return effects, jobs.enqueue(
        RANKING_EFFECT_JOB,
        {"marks": marks},
        label=f"Disputed pairs that could change the ranking in {campaign.name}",
        user=None,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


def is_running(campaign: Campaign) -> bool:
    return Job.objects.filter(
        campaign_id=campaign.pk, kind=RANKING_EFFECT_JOB, state__in=Job.ACTIVE
    ).exists()


def get_effects(campaign: Campaign) -> dict[int, LabelEffect]:
    """Return the newest effects of disputed pairs by row ID, even if they are out of date."""
    newest = _find_newest_job(campaign)
    known = _read_report(newest) if newest is not None else None
    return known.effects if known is not None else {}


def _find_newest_job(campaign: Campaign) -> Job | None:
    done = Job.objects.filter(
        campaign_id=campaign.pk, kind=RANKING_EFFECT_JOB, state=Job.State.DONE
    )
    return done.order_by("-finished_at").first()


def why_unranked(campaign: Campaign) -> str:
    """Return why the systems of the campaign cannot be ranked now, or an empty string."""
    return no_rankings_reason(
        campaign, campaign.collection.runs.count()
    ) or describe_prioritised_progress(campaign)


def _count_adjudications(campaign: Campaign) -> int:
    return AuditEvent.objects.filter(
        campaign=campaign,
        action__in=(AuditAction.ADJUDICATED, AuditAction.WITHDREW_AN_ADJUDICATION),
    ).count()


def _read_report(job: Job) -> RankingEffects | None:
    if job.finished_at is None or not job.report.get("measure"):
        return None
    effects = {int(pair): LabelEffect(*given) for pair, given in job.report["effects"].items()}
    return RankingEffects(job.report["measure"], effects, job.finished_at)


@jobs.register_job_kind(RANKING_EFFECT_JOB, unit="runs", figures=True)
def compute_ranking_effects(work: ClaimedJob) -> dict[str, Any]:
    """Compute how disputed pairs could change the system ranking.

    The report has measure, and effects as {row ID: [change, swaps, leader]} of `LabelEffect` for
    the disputed pairs. It is empty if the systems cannot be ranked.
    """
    campaign = Campaign.objects.select_related("collection", "pool").get(pk=work.campaign_id)
    if why_unranked(campaign):
        return {}
    live = get_snapshot(campaign, fresh=0.0)
    choices = LabelChoices(min_judgements=min_judgements_per_pair(campaign))
    qrels = make_labels(campaign, choices, rows=live.rows).qrels("graded")
    row_of = {
        (topic, document.decode()): row
        for number, topic in enumerate(qrels.topics)
        for row, document in zip(
            range(*qrels.rows(number).indices(len(qrels))),
            qrels.documents[qrels.rows(number)].tolist(),
            strict=True,
        )
    }
    disputes = [one for one in _list_disputes(campaign, live) if one.key in row_of]
    if not disputes:
        return {}
    measure = parse_measure(campaign_measures(campaign)[0])
    evaluator = Evaluator(qrels, [measure], min_relevant=campaign.min_relevant)
    packed = []
    for number, run in enumerate(campaign.collection.runs.order_by("tag")):
        work.progress(number, message=f"reading {run.tag}")
        packed.append(evaluator.pack(load_rankings(run)))
    effects = compute_label_effects(
        qrels,
        packed,
        [(row_of[one.key], one.others) for one in disputes],
        measure,
        min_relevant=campaign.min_relevant,
    )
    return {
        "measure": str(measure),
        "effects": {
            str(one.pair): [effect.change, effect.swaps, effect.leader]
            for one, effect in zip(disputes, effects, strict=True)
        },
    }


def _list_disputes(campaign: Campaign, live: CampaignSnapshot) -> list[_Dispute]:
    """Return the disputed pairs, including adjudicated ones. Each has all grades from its lowest to
    its highest vote, except its label."""
    rows = sorted(
        (row for row in list_pairs(campaign, live) if row.disputed), key=lambda row: -row.apart
    )[:MAX_PAIRS]
    votes = get_votes(campaign, live, (row.place for row in rows))
    disputes = []
    for row in rows:
        given = [grade for _name, grade in votes[row.place]]
        others = [g for g in range(min(given), max(given) + 1) if g != row.grade]
        disputes.append(_Dispute(row.pair, (row.topic, row.document), others))
    return disputes
