"""What campaigns do when pooling has news for them; registered when the app is ready, since pooling may not import this app."""

from __future__ import annotations

from typing import Any

from annotation.models import Campaign, Membership
from annotation.services.pairs import extend, take_up_texts
from pooling.jobs import Work
from pooling.models import Job, Pool


def follow_pool(pool: Pool, work: Work) -> None:
    """Every campaign on a pool that has grown takes up its new pairs and its new order."""
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        work.progress(message=f"new pairs for {campaign.name}", now=True)
        extend(campaign, actor=work.job.created_by)


def follow_texts(pool: Pool, work: Work) -> None:
    """Every campaign on a pool whose documents have come serves the pairs that it held back."""
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        take_up_texts(campaign)


def manages_campaign_of(user: Any, job: Job) -> bool:
    """Whether the job belongs to a campaign that the person manages."""
    if job.campaign_id is None:
        return False
    return Membership.objects.filter(campaign=job.campaign_id, user=user, role=Membership.Role.MANAGER).exists()
