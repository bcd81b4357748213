"""How much of a campaign is each annotator's: what is asked of them, and no more than there is."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Q

from annotation.models import Membership, Pair
from assay.pools.pool_kinds import STAGED_KINDS

MAX_TERMS = 1000
"""More pairs than this above the target are not counted: that so many are a test of who may judge
is not to be expected."""


def annotator_quotas(annotators: Sequence[Membership]) -> list[int | None]:
    """Of each annotator, with `campaign` loaded: the target, but at most the pairs that one person
    can judge; None without a target.

    A pool in batches or stages grows by itself, so its target stands. In one statement however many
    there are, and one for each annotator with topics of their own."""
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


def _compute_quota(annotator: Membership, known: dict[int, int]) -> int | None:
    goal, campaign = annotator.goal, annotator.campaign_id
    if goal is None:
        return None
    if annotator.topic_rows:
        known = _count_judgeable_pairs(Q(campaign=campaign, topic_row__in=annotator.topic_rows))
    return min(goal, max(known[campaign], annotator.n_judged)) if known.get(campaign) else goal


def _count_judgeable_pairs(which: Q) -> dict[int, int]:
    """Campaign -> pairs that one person can judge: none of the test, and none that waits beyond the
    depth to which is judged."""
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
