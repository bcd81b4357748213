"""The Celery side of jobs: one task, and the reconciler that makes the broker's losses harmless.
Only the worker's processes import it.

Worker: `celery -A config worker`. Without ASSAY_BROKER_URL nothing travels between processes: the
reconciler of the worker reads the Job table five times a second and feeds the worker's own
in-memory queue."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from typing import Any

import billiard
from celery import shared_task
from celery.signals import worker_init, worker_process_init, worker_ready, worker_shutting_down
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from pooling.models import Job
from pooling.platform import interruptions, jobs, owners, signs_of_life, sqlite_log
from pooling.services.shared_folder import what_is_missing
from pooling.tasks import RUN_JOB, hint, send

log = logging.getLogger(__name__)

POLL_EMBEDDED, POLL_BROKER = 0.2, 5.0
POLL_URGENT = 1.0
RESEND = 60.0
"""Seconds after which a job that nobody has taken is sent once more."""
LOOK_FOR_DEAD = 2.0
"""Seconds between two looks at whether the processes of running jobs are still there."""
LOOK_FOR_DUE = 3.0
"""Seconds between two looks at whether work is due by itself."""
SHORTEN_LOG = 60.0
AFTER_A_FAULT = 2.0
"""Seconds until the next look, after one that did not succeed."""
IN_VAIN = 90.0
"""Seconds for which sent jobs may wait while this machine does none and takes none: longer than
RESEND, so that they were sent twice."""
LOOKED_AWAY = 10.0
"""Seconds without a look (the database was away, the machine stood still), after which IN_VAIN
begins anew."""
_stopping = threading.Event()


@worker_process_init.connect
def can_be_replaced(**_: Any) -> None:
    """Celery begins another process for one of its own that ends."""
    interruptions.is_expendable = True


@shared_task(name=RUN_JOB)
def run_job(job_id: int) -> None:
    jobs.run_job(job_id)


class UrgentJobs(threading.Thread):
    """Does urgent jobs in the worker's own process: all others may be at long ones."""

    def __init__(self) -> None:
        super().__init__(name="urgent jobs", daemon=True)

    def run(self) -> None:
        while not _stopping.wait(POLL_URGENT):
            try:
                close_old_connections()
                self.step()
            except Exception:  # the reconciler says so
                connection.close()
        connection.close()

    def step(self) -> None:
        for job_id in jobs.waiting_urgently():
            jobs.run_job(job_id)


class Reconciler(threading.Thread):
    """Sends queued jobs and jobs of dead workers to this worker's queue, each attempt once a minute
    at most."""

    def __init__(self, poll: float) -> None:
        super().__init__(name="reconciler", daemon=True)
        self.poll = poll
        self.sent: dict[tuple[int, int], float] = {}
        self.looked_at = self.shortened_at = self.kept_up_at = 0.0
        self.untaken: set[tuple[int, int]] = set()
        self.untaken_since = self.untaken_seen = 0.0

    def run(self) -> None:
        pause = self.poll
        while not _stopping.wait(pause):
            pause = self.poll
            try:
                close_old_connections()
                self.step()
            except Exception:  # want of memory or of a file handle, too: without this thread no job would ever be done again
                pause = max(self.poll, AFTER_A_FAULT)
                self._tell()
        connection.close()

    def _tell(self) -> None:
        try:
            log.warning("the job table could not be read", exc_info=True)
            connection.close()
        except Exception:  # memory was wanting for that, too
            return

    def step(self) -> int:
        """Send what is waiting. -> how many were sent."""
        now = time.monotonic()
        if now - self.looked_at >= LOOK_FOR_DEAD:
            self.looked_at = now
            jobs.release_those_of_the_dead()
        if now - self.kept_up_at >= LOOK_FOR_DUE:
            self.kept_up_at = now
            keep_up()
        if now - self.shortened_at >= SHORTEN_LOG:
            self.shortened_at = now
            sqlite_log.shorten()
        waiting = jobs.waiting()
        self.sent = {key: at for key, at in self.sent.items() if key in set(waiting)}
        due = [key for key in waiting if now - self.sent.get(key, -RESEND) >= RESEND]
        for key in due:
            if hint(RUN_JOB, key[0]):
                self.sent[key] = now
        if not settings.BROKER_URL and self.nothing_is_taken(now):
            end_this_worker()
        return len(due)

    def nothing_is_taken(self, now: float) -> bool:
        """Whether jobs that were sent have waited for IN_VAIN seconds in which none was taken and
        none was done on this machine.

        The processes of the embedded queue share one pipe and its lock. One that is killed while it
        waits there takes the lock with it, and no process that takes its place ever gets a job."""
        sent = set(self.sent)
        looked_away = now - self.untaken_seen > LOOKED_AWAY
        if looked_away or not sent or self.untaken - sent or done_here():
            self.untaken_since = now
        self.untaken, self.untaken_seen = sent, now
        return now - self.untaken_since >= IN_VAIN


def done_here() -> bool:
    """Whether a living process of this machine is doing a job."""
    mine = Job.objects.filter(state=Job.State.RUNNING, owner__endswith=f"-{owners.machine()}")
    return mine.exclude(jobs.without_heartbeat(timezone.now())).exists()


def end_this_worker() -> None:
    """At once and with all its processes, none of which does a job; whoever started it (`up`,
    systemd) starts it again."""
    log.error(
        "jobs have waited for %.0f s and no process of this worker takes them; it ends, to be started again",
        IN_VAIN,
    )
    for process in billiard.active_children():
        with contextlib.suppress(OSError):
            os.kill(process.pid, signal.SIGKILL)
    os._exit(1)


def keep_up() -> None:
    """Ask for the work that is due by itself. What is wrong with one kind of it does not stop the
    others."""
    for look in jobs.upkeep:
        try:
            for job in look():
                send(job)
        except DatabaseError:
            raise
        except Exception:
            log.exception("work that is due by itself could not be asked for")


@worker_init.connect
def look_for_files(**_: Any) -> None:
    """A worker that cannot see the files would take jobs and fail in the middle of each."""
    try:
        missing = what_is_missing()
    except ImproperlyConfigured as error:
        missing = str(error)
    except DatabaseError:
        return  # the reconciler says that the database is away, and goes on when it is back
    finally:
        connection.close()
    if missing:
        raise SystemExit(f"assay: {missing}")


@worker_ready.connect
def start_reconciler(**_: Any) -> None:
    _stopping.clear()
    signs_of_life.begin(signs_of_life.WORKER)
    Reconciler(POLL_BROKER if settings.BROKER_URL else POLL_EMBEDDED).start()
    UrgentJobs().start()


@worker_shutting_down.connect
def stop_reconciler(**_: Any) -> None:
    _stopping.set()
