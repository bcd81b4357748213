"""The job that creates the demo after the first start, without delaying the server's start."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from annotation.demo import example
from annotation.demo.accounts import create_demo_accounts
from annotation.models import Campaign
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

CREATE_JOB = "create demo"


def request_demo(*, with_example: bool = True) -> Job:
    """Create the demo's accounts and the job that creates its campaigns."""
    manager = create_demo_accounts()
    return jobs.enqueue(
        CREATE_JOB,
        {"with_example": with_example},
        label="Creating the demo campaigns",
        user=manager,
    )


@jobs.register_job_kind(CREATE_JOB, unit="steps")
def create_in_background(work: ClaimedJob) -> dict[str, Any]:
    """Create the demo's campaigns. An attempt after one that has created them changes nothing."""
    from annotation.demo.campaign import create_campaigns  # reads scipy, which web processes lack

    if not Campaign.objects.filter(slug=example.TO_JUDGE_SLUG).exists():
        assert work.job.created_by is not None, "the demo's manager"
        create_campaigns(
            work.job.created_by,
            lambda sentence: work.progress(message=sentence, now=True),
            with_example=work.parameters["with_example"],
        )
    return {}


def find_creation_job(user: User | AnonymousUser) -> Job | None:
    """Return the user's queued or running job that creates the demo, if there is one."""
    if not user.is_authenticated:
        return None
    return Job.objects.filter(kind=CREATE_JOB, created_by=user, state__in=Job.ACTIVE).first()


def is_being_created() -> bool:
    return Job.objects.filter(kind=CREATE_JOB, state__in=Job.ACTIVE).exists()
