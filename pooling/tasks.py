"""What views, API and commands call to have the worker told of a job.

The worker's own side is pooling.worker. Celery is imported when a broker is told of the first job,
not when a web process or a command starts."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils.module_loading import import_string

from pooling.models import Collection, Job
from pooling.platform import jobs

log = logging.getLogger(__name__)
RUN_JOB = "pooling.run_job"
"""The task's name, as worker and senders know it."""


def send(job: Job) -> None:
    """Tell the worker once the transaction has committed. A broker that does not answer costs
    seconds, never the job."""
    if settings.BROKER_URL:
        transaction.on_commit(lambda: queue_task(RUN_JOB, job.pk))


def enqueue(
    kind: str,
    parameters: dict[str, Any],
    *,
    label: str,
    user: User | AnonymousUser | None,
    collection: Collection | None = None,
    campaign_id: int | None = None,
) -> Job:
    """jobs.enqueue and send in one, for views, API and commands."""
    job = jobs.enqueue(
        kind, parameters, label=label, user=user, collection=collection, campaign_id=campaign_id
    )
    send(job)
    return job


def queue_task(task: str, row: int) -> bool:
    """Put a task for this row into the broker's queue. False if the broker does not take it: the
    row is there all the same."""
    from kombu.exceptions import OperationalError

    try:
        import_string(settings.WORKER_APP).send_task(task, [row], retry=False)
    except (OperationalError, OSError):
        log.warning(
            "the broker did not take %s of %s; the row is still there for the worker to find",
            task,
            row,
            exc_info=True,
        )
        return False
    return True
