"""The worker of an installation with a broker, using Celery: one task, and a reconciler that sends
jobs again if the broker loses them. Without a broker it is pooling.worker_processes."""

from __future__ import annotations

import threading
import time
from typing import Any

from celery import shared_task
from celery.signals import worker_init, worker_process_init, worker_ready, worker_shutting_down
from django.conf import settings

from pooling import upkeep
from pooling.platform import interruptions, jobs, liveness
from pooling.tasks import RUN_JOB, queue_task, send

POLL_SECONDS = 5.0
RESEND_SECONDS = 60.0
"""Seconds after which a job that no worker has claimed is sent again."""
_stopping = threading.Event()


@worker_process_init.connect
def mark_replaceable(**_: Any) -> None:
    """Mark this process as replaceable, because Celery replaces processes that end."""
    interruptions.is_expendable = True


@shared_task(name=RUN_JOB)
def run_job(job_id: int) -> None:
    jobs.run_job(job_id)


def run_urgent_job() -> bool:
    """Run an urgent job in the worker's main process, because all others may run long jobs."""
    return upkeep.run_first_job(jobs.list_urgent_jobs)


class Reconciler:
    """Sender of waiting jobs to the broker: queued jobs and jobs of dead workers. It sends each
    attempt of a job at most once per minute."""

    def __init__(self) -> None:
        self.upkeep = upkeep.Upkeep(send)
        self.sent: dict[tuple[int, int], float] = {}

    def step(self) -> int:
        """Send waiting jobs to the broker. Returns their number."""
        self.upkeep.step()
        now = time.monotonic()
        waiting = jobs.list_waiting_jobs()
        self.sent = {key: at for key, at in self.sent.items() if key in set(waiting)}
        due = [
            key for key in waiting if now - self.sent.get(key, -RESEND_SECONDS) >= RESEND_SECONDS
        ]
        for key in due:
            if queue_task(RUN_JOB, key[0]):
                self.sent[key] = now
        return len(due)


@worker_init.connect
def check_broker_and_files(**_: Any) -> None:
    if not settings.BROKER_URL:
        raise SystemExit("assay: ASSAY_BROKER_URL is not set; start `assay worker` instead")
    upkeep.require_shared_files()


@worker_ready.connect
def start_threads(**_: Any) -> None:
    _stopping.clear()
    liveness.start_heartbeats(liveness.WORKER)
    for look, pause in (
        (Reconciler().step, POLL_SECONDS),
        (run_urgent_job, upkeep.POLL_URGENT_SECONDS),
    ):
        threading.Thread(
            target=upkeep.poll_forever,
            args=(look,),
            kwargs={"pause": pause, "is_over": _stopping.is_set},
            name=look.__name__,
            daemon=True,
        ).start()


@worker_shutting_down.connect
def stop_threads(**_: Any) -> None:
    _stopping.set()
