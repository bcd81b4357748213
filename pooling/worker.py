"""The worker of an installation with a broker, by Celery: one task, and the reconciler that makes
the broker's losses harmless. Without one it is pooling.worker_processes."""

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
"""Seconds after which a job that nobody has taken is sent once more."""
_stopping = threading.Event()


@worker_process_init.connect
def mark_replaceable(**_: Any) -> None:
    """Celery begins another process for one of its own that ends."""
    interruptions.is_expendable = True


@shared_task(name=RUN_JOB)
def run_job(job_id: int) -> None:
    jobs.run_job(job_id)


def run_urgent_job() -> bool:
    """In the worker's own process: all others may be at long ones."""
    return upkeep.run_first_job(jobs.list_urgent_jobs)


class Reconciler:
    """Sends queued jobs and jobs of dead workers to the broker, each attempt once a minute at
    most."""

    def __init__(self) -> None:
        self.upkeep = upkeep.Upkeep(send)
        self.sent: dict[tuple[int, int], float] = {}

    def step(self) -> int:
        """Send what is waiting. -> how many were sent."""
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
