"""Notify the worker of jobs, for views, API and commands.

The worker's side is pooling.worker. Celery is imported with the first notification to a broker, not
when a web process or a command starts.
"""

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
"""Name of the task for worker and senders."""


def send(job: Job) -> None:
    """Notify the worker after the transaction has committed. An unavailable broker delays the call
    by seconds, but the job is not lost."""
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
    """Create a job and notify the worker."""
    job = jobs.enqueue(
        kind, parameters, label=label, user=user, collection=collection, campaign_id=campaign_id
    )
    send(job)
    return job


def queue_task(task: str, row: int) -> bool:
    """Put a task for this row into the broker's queue. Returns False if the broker does not accept
    it. The row remains."""
    from kombu.exceptions import OperationalError

    try:
        import_string(settings.WORKER_APP).send_task(task, [row], retry=False)
    except (OperationalError, OSError):
        log.warning(
            "the broker did not accept %s of %s; a worker will find its row in the database",
            task,
            row,
            exc_info=True,
        )
        return False
    return True
