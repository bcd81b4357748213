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
from pooling.platform import interruptions, jobs, signs_of_life
from pooling.tasks import RUN_JOB, hint, send

POLL = 5.0
RESEND = 60.0
"""Seconds after which a job that nobody has taken is sent once more."""
_stopping = threading.Event()


@worker_process_init.connect
def can_be_replaced(**_: Any) -> None:
    """Celery begins another process for one of its own that ends."""
    interruptions.is_expendable = True


@shared_task(name=RUN_JOB)
def run_job(job_id: int) -> None:
    jobs.run_job(job_id)


def do_urgent_job() -> bool:
    """In the worker's own process: all others may be at long ones."""
    return upkeep.do_one(jobs.waiting_urgently)


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
        waiting = jobs.waiting()
        self.sent = {key: at for key, at in self.sent.items() if key in set(waiting)}
        due = [key for key in waiting if now - self.sent.get(key, -RESEND) >= RESEND]
        for key in due:
            if hint(RUN_JOB, key[0]):
                self.sent[key] = now
        return len(due)


@worker_init.connect
def look_for_broker_and_files(**_: Any) -> None:
    if not settings.BROKER_URL:
        raise SystemExit("assay: ASSAY_BROKER_URL is not set; start `assay worker` instead")
    upkeep.refuse_without_files()


@worker_ready.connect
def start_threads(**_: Any) -> None:
    _stopping.clear()
    signs_of_life.begin(signs_of_life.WORKER)
    for look, pause in ((Reconciler().step, POLL), (do_urgent_job, upkeep.POLL_URGENT)):
        threading.Thread(
            target=upkeep.keep_looking,
            args=(look,),
            kwargs={"pause": pause, "is_over": _stopping.is_set},
            name=look.__name__,
            daemon=True,
        ).start()


@worker_shutting_down.connect
def stop_threads(**_: Any) -> None:
    _stopping.set()
