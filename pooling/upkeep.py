"""Periodic work of every worker besides its jobs: detect dead workers, start work that is due, and
limit the size of SQLite's log."""

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
"""Seconds between two checks for dead processes of running jobs."""
DUE_WORK_SECONDS = 3.0
"""Seconds between two checks for work that is due."""
TRUNCATE_LOG_SECONDS = 60.0
FAULT_PAUSE_SECONDS = 2.0
"""Seconds until the next check after a failed one."""


class Upkeep:
    """Periodic work. step: do what is due. send: notify a broker of a job."""

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
        """Request all periodic work that is due. A failure of one kind of work does not stop the
        others."""
        for look in hooks.upkeep:
            try:
                for job in look():
                    self.send(job)
            except DatabaseError:
                raise
            except Exception:
                log.exception("scheduled jobs could not be requested")


def run_first_job(waiting: Callable[[], list[int]]) -> bool:
    """Run the first of these jobs that no other worker has. Returns whether there was one."""
    return any(jobs.run_job(job_id) for job_id in waiting())


def poll_forever(look: Callable[[], object], *, pause: float, is_over: Callable[[], bool]) -> None:
    """Call `look` repeatedly: immediately after a call that found something, otherwise after a
    pause. Exceptions are logged and do not end the loop."""
    while not is_over():
        wait = pause
        try:
            close_old_connections()
            if look():
                wait = 0.0
        except Exception:  # including a lack of memory or file handles: no job would ever run again without this loop
            wait = max(pause, FAULT_PAUSE_SECONDS)
            _report_idle()
        time.sleep(wait)
    connection.close()


def _report_idle() -> None:
    try:
        log.warning("reading the job table failed", exc_info=True)
        connection.close()
    except Exception:  # logging itself may run out of memory
        return


def require_shared_files() -> None:
    """Raise SystemExit if the worker cannot see the stored files, because every job would fail
    halfway."""
    try:
        missing = missing_files_message()
    except ImproperlyConfigured as error:
        missing = str(error)
    except DatabaseError:
        return  # the next check reports that the database is unavailable, and continues when it is back
    finally:
        connection.close()
    if missing:
        raise SystemExit(f"assay: {missing}")
