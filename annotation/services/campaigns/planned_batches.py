"""Campaigns on ordered pools: what has been judged so far, for the next batch, and when it is time
for one (SAMPLING 2.1, 2.3)."""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.selectors.pairs import get_kept_pairs
from assay.labels import judges
from assay.pools.pool_kinds import PoolKind
from pooling.models import Job, Pool
from pooling.platform.jobs import Refused
from pooling.services.ordering import request_batch

LOW_SHARE = 0.2
"""Share of a batch: when fewer of its pairs have neither judgement nor lease the next batch is
planned, so that nobody waits for it."""


def get_current_labels(pool: Pool) -> dict[int, bool]:
    """Entry -> whether its label so far is relevant: the most frequent grade of the judgements that
    count, of several the lowest, or what a manager has decided. One judgement is enough. A pair
    that nobody could judge has none."""
    is_relevant: dict[int, bool] = {}
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        grades: dict[
            int, tuple[int, int]
        ] = {}  # entry -> (judgements of its most frequent grade, minus that grade)
        given = Judgement.objects.filter(
            pair__campaign=campaign,
            current=True,
            standing=Judgement.Standing.COUNTED,
            membership__judge_kind__in=judges.LABELLING_KINDS,
            grade__isnull=False,
        ).exclude(pair__kind=Pair.Kind.QUALIFICATION)
        for entry, grade, n in (
            given.order_by().values_list("pair__entry", "grade").annotate(n=Count("pk"))
        ):
            assert grade is not None  # by the filter
            grades[entry] = max(grades.get(entry, (0, 0)), (n, -grade))
        ruled = Pair.objects.filter(campaign=campaign, adjudicated_grade__isnull=False).values_list(
            "entry", "adjudicated_grade"
        )
        is_relevant |= {entry: -grade >= campaign.threshold for entry, (_, grade) in grades.items()}
        is_relevant |= {
            entry: grade >= campaign.threshold for entry, grade in ruled if grade is not None
        }
    return is_relevant


def plan_low_batches() -> list[Job]:
    """Ask for the next batch of every open campaign of which few pairs wait. Nothing while one is
    on its way, or after one that failed: then a manager looks first. -> the jobs"""
    asked = []
    campaigns = (
        Campaign.objects.filter(state=Campaign.State.OPEN, pool__kind=PoolKind.ORDERED.value)
        .select_related("pool")
        .order_by("pk")
    )
    for campaign in campaigns:
        pool = campaign.pool
        assert pool is not None  # by the filter
        if campaign.is_over or not _is_running_low(campaign, pool):
            continue
        last = (
            Job.objects.filter(kind="plan batch", parameters__pool=pool.pk).order_by("-pk").first()
        )
        if last is not None and last.state != Job.State.DONE:
            continue
        try:
            asked.append(request_batch(pool, user=_get_manager(campaign)))
        except Refused:
            continue  # nothing is left, or the pool is being worked on
    return asked


def _is_running_low(campaign: Campaign, pool: Pool) -> bool:
    untouched = (
        get_kept_pairs(campaign)
        .filter(kind=Pair.Kind.NORMAL, started=False, unjudgeable=False, without_text=False)
        .count()
    )
    return untouched < LOW_SHARE * pool.parameters["batch"]


def _get_manager(campaign: Campaign) -> Any:
    member = (
        campaign.memberships.filter(role=Membership.Role.MANAGER)
        .select_related("user")
        .order_by("pk")
        .first()
    )
    return campaign.created_by or (member.user if member else None)
