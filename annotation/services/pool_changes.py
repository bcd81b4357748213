"""What campaigns do when pooling has news for them; registered when the app is ready, since pooling may not import this app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Campaign, Membership, Pair
from annotation.services.pairs import extend, follow_topics, take_up_texts
from annotation.services.slots import BATCH
from pooling.jobs import Refused, Work
from pooling.models import Collection, Job, Pool


def follow_pool(pool: Pool, work: Work) -> None:
    """Every campaign on a pool that has grown takes up its new pairs and its new order."""
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        work.progress(message=f"new pairs for {campaign.name}", now=True)
        extend(campaign, actor=work.job.created_by)


def follow_texts(pool: Pool, work: Work) -> None:
    """Every campaign on a pool whose documents have come serves the pairs that it held back."""
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        take_up_texts(campaign)


def follow_decisions(collection: Collection, user: Any) -> None:
    """Every campaign on the collection leaves the pairs of removed topics out and has those of restored ones again."""
    for campaign in Campaign.objects.filter(collection=collection).order_by("pk"):
        follow_topics(campaign, actor=user)


def give_back_pairs(pool: Pool, entries: Sequence[int]) -> None:
    """Campaigns give the pairs of these entries back, with reservations and skips. Refused where one has been judged or has a known grade."""
    for start in range(0, len(entries), BATCH):
        pairs = Pair.objects.filter(entry__in=entries[start : start + BATCH])
        judged = pairs.filter(judgements__isnull=False).distinct().count()
        if judged:
            raise Refused(f"{judged:,} of the pairs {'has' if judged == 1 else 'have'} been judged already, so the extension stays")
        if pairs.exclude(kind__in=[Pair.Kind.NORMAL, Pair.Kind.EVERYONE]).exists():
            raise Refused("some of the pairs are gold or qualification pairs; make them normal first")
        pairs.delete()


def manages_campaign_of(user: Any, job: Job) -> bool:
    """Whether the job belongs to a campaign that the person manages."""
    if job.campaign_id is None:
        return False
    return Membership.objects.filter(campaign=job.campaign_id, user=user, role=Membership.Role.MANAGER).exists()
