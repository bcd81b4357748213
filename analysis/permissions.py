"""Who may see the background work of campaigns: their managers, whoever asked for it."""

from __future__ import annotations

from typing import Any

from annotation.models import Membership
from pooling import permissions
from pooling.models import Job


def manages_the_campaign(user: Any, job: Job) -> bool:
    return (
        job.campaign_id is not None
        and Membership.objects.filter(campaign=job.campaign_id, user=user, role=Membership.Role.MANAGER).exists()
    )


if manages_the_campaign not in permissions.job_readers:
    permissions.job_readers.append(manages_the_campaign)
