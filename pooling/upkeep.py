"""What every worker does beside its jobs, with a broker or without: it looks for the dead, for work
that is due by itself, and at the size of SQLite's log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, close_old_connections, connection

from pooling import hooks
from pooling.models import Job
from pooling.platform import jobs, sqlite_log
from pooling.services.shared_folder import missing_files_message

log = logging.getLogger(__name__)

POLL_URGENT_SECONDS = 1.0
DEAD_WORKERS_SECONDS = 2.0
"""Seconds between two looks at whether the processes of running jobs are still there."""
DUE_WORK_SECONDS = 3.0
"""Seconds between two looks at whether work is due by itself."""
TRUNCATE_LOG_SECONDS = 60.0
FAULT_PAUSE_SECONDS = 2.0
"""Seconds until the next look, after one that did not succeed."""


class Upkeep:
    """step: does what is due by now. send: tells a broker of a job."""

    def __init__(self, send: Callable[[Job], object] = lambda job: None) -> None:
        self.send = send
        self.looked_at = self.shortened_at = self.kept_up_at = 0.0

    def step(self) -> None:
        now = time.monotonic()
        if now - self.looked_at >= DEAD_WORKERS_SECONDS:
            self.looked_at = now
            jobs.release_jobs_of_dead_workers()
        if now - self.kept_up_at >= DUE_WORK_SECONDS:
            self.kept_up_at = now
            self.run_upkeep()
        if now - self.shortened_at >= TRUNCATE_LOG_SECONDS:
            self.shortened_at = now
            sqlite_log.truncate_log()

    def run_upkeep(self) -> None:
        """Ask for the work that is due by itself. What is wrong with one kind of it does not stop
        the others."""
        for look in hooks.upkeep:
            try:
                for job in look():
                    self.send(job)
            except DatabaseError:
                raise
            except Exception:
                log.exception("work that is due by itself could not be asked for")


def run_first_job(waiting: Callable[[], list[int]]) -> bool:
    """Do the first of these jobs that is there to be had. -> whether there was one"""
    return any(jobs.run_job(job_id) for job_id in waiting())


def poll_forever(look: Callable[[], object], *, pause: float, is_over: Callable[[], bool]) -> None:
    """Look again and again: at once after a look that found something, else after so many seconds.
    What goes wrong is told and does not end it."""
    while not is_over():
        wait = pause
        try:
            close_old_connections()
            if look():
                wait = 0.0
        except (
            Exception
        ):  # want of memory or of a file handle, too: without this no job would ever be done again
            wait = max(pause, FAULT_PAUSE_SECONDS)
            _report_idle()
        time.sleep(wait)
    connection.close()


def _report_idle() -> None:
    try:
        log.warning("a look at the job table failed", exc_info=True)
        connection.close()
    except Exception:  # memory was wanting for that, too
        return


def require_shared_files() -> None:
    """SystemExit for a worker that cannot see the files: it would take jobs and fail in the middle
    of each."""
    try:
        missing = missing_files_message()
    except ImproperlyConfigured as error:
        missing = str(error)
    except DatabaseError:
        return  # the next look says that the database is away, and goes on when it is back
    finally:
        connection.close()
    if missing:
        raise SystemExit(f"assay: {missing}")
