"""The number of pairs that each annotator is expected to judge, limited to those available."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Q

from annotation.models import Membership, Pair
from assay.pools.pool_kinds import STAGED_KINDS

MAX_TERMS = 1000
"""Pairs are counted only up to this number above the target. More qualification pairs than this are
not expected."""


def annotator_quotas(annotators: Sequence[Membership]) -> list[int | None]:
    """Return each annotator's target, limited to the pairs that one person can judge, or None
    without a target. annotators: with `campaign` loaded.

    In pools with batches or stages the target is not limited, because they grow. Needs one query
    for all annotators, plus one for each annotator restricted to topics.
    """
    small = [
        one.campaign_id
        for one in annotators
        if one.goal is not None and not one.topic_rows and _may_exceed_pairs(one)
    ]
    known = _count_judgeable_pairs(Q(campaign__in=small)) if small else {}
    return [_compute_quota(one, known) for one in annotators]


def annotator_quota(annotator: Membership) -> int | None:
    return annotator_quotas([annotator])[0]


def _may_exceed_pairs(annotator: Membership) -> bool:
    campaign = annotator.campaign
    return (
        campaign.least_priority is not None or campaign.n_pairs < (annotator.goal or 0) + MAX_TERMS
    )


def _compute_quota(annotator: Membership, n_judgeable: dict[int, int]) -> int | None:
    goal, campaign = annotator.goal, annotator.campaign_id
    if goal is None:
        return None
    if annotator.topic_rows:
        n_judgeable = _count_judgeable_pairs(
            Q(campaign=campaign, topic_row__in=annotator.topic_rows)
        )
    return (
        min(goal, max(n_judgeable[campaign], annotator.n_judged))
        if n_judgeable.get(campaign)
        else goal
    )


def _count_judgeable_pairs(which: Q) -> dict[int, int]:
    """Return the number of pairs that one person can judge, by campaign: without qualification
    pairs and pairs beyond the judging depth."""
    pairs = (
        Pair.objects.filter(which, removed=False)
        .exclude(kind=Pair.Kind.QUALIFICATION)
        .exclude(beyond_depth=True, counted=0)
    )
    return dict(
        pairs.exclude(campaign__pool__kind__in=STAGED_KINDS)
        .values_list("campaign")
        .annotate(n=Count("pk"))
        .order_by()
    )
