"""Campaigns on prioritised pools: the labels so far, and when to plan the next batch
(docs/reference/methods/sampling.md)."""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.selectors.pairs import get_kept_pairs
from assay.labels.annotator_types import LABELLING_TYPES
from assay.pools.pool_kinds import PoolKind
from pooling.models import Job, Pool
from pooling.platform.jobs import Refused
from pooling.services.ordering import request_batch

LOW_SHARE = 0.2
"""Share of a batch. The next batch is planned when a smaller share of pairs has neither judgement
nor lease, so that annotators need not wait for it."""


def get_current_labels(pool: Pool) -> dict[int, bool]:
    """Return whether each judged pool entry is relevant, by entry.

    The label is the manager's decision or else the most frequent grade of the counted judgements
    (the lowest of ties). One judgement is sufficient. Pairs that cannot be judged have no label.
    """
    is_relevant: dict[int, bool] = {}
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        grades: dict[
            int, tuple[int, int]
        ] = {}  # entry -> (number of judgements with its most frequent grade, minus that grade)
        given = Judgement.objects.filter(
            pair__campaign=campaign,
            current=True,
            status=Judgement.Status.COUNTED,
            membership__annotator_type__in=LABELLING_TYPES,
            grade__isnull=False,
        ).exclude(pair__kind=Pair.Kind.QUALIFICATION)
        for entry, grade, n in (
            given.order_by().values_list("pair__entry", "grade").annotate(n=Count("pk"))
        ):
            assert grade is not None  # not None because of the filter
            grades[entry] = max(grades.get(entry, (0, 0)), (n, -grade))
        ruled = Pair.objects.filter(campaign=campaign, adjudicated_grade__isnull=False).values_list(
            "entry", "adjudicated_grade"
        )
        is_relevant |= {
            entry: -grade >= campaign.min_relevant for entry, (_, grade) in grades.items()
        }
        is_relevant |= {
            entry: grade >= campaign.min_relevant for entry, grade in ruled if grade is not None
        }
    return is_relevant


def plan_low_batches() -> list[Job]:
    """Start jobs for the next batch of every open campaign with few waiting pairs, and return them.
    Campaigns are skipped while such a job is active, and after one that failed until a manager
    acts."""
    asked = []
    campaigns = (
        Campaign.objects.filter(state=Campaign.State.OPEN, pool__kind=PoolKind.ORDERED.value)
        .select_related("pool")
        .order_by("pk")
    )
    for campaign in campaigns:
        pool = campaign.pool
        assert pool is not None  # not None because of the filter
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
            continue  # no documents are left, or another job uses the pool
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
