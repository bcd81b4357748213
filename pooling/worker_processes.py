"""The worker of an installation without a broker: processes that take jobs from the table, and a
parent that replaces processes that end.

Each job runs in the main thread of a process, so that it can be interrupted, and killed without
affecting others (pooling.platform.interruptions). The processes share nothing but the database.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from multiprocessing.context import ForkProcess

from django.db import connections

from pooling import upkeep
from pooling.platform import interruptions, jobs, liveness

log = logging.getLogger(__name__)

POLL_SECONDS = 0.2
"""Seconds between two reads of the table by any of the processes."""
CHECK_SECONDS = 0.5
"""Seconds between two checks of the processes."""
N_CANDIDATES = 8
"""Number of waiting jobs that a process tries to claim before it reads the table again."""


class StopSignals:
    """Handler that counts the signals that ask the worker to end. n: number of signals so far."""

    def __init__(self) -> None:
        self.n = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._count)

    def _count(self, *_: object) -> None:
        self.n += 1


def run_jobs(*, n_processes: int, only_urgent: bool, parent_pid: int) -> None:
    """Run jobs in a process until it is asked to end or its parent is gone. The current job is
    finished."""
    interruptions.is_expendable = True
    signals = StopSignals()

    def look() -> bool:
        return not signals.n and upkeep.run_first_job(
            jobs.list_urgent_jobs if only_urgent else list_oldest_jobs
        )

    upkeep.poll_forever(
        look,
        pause=upkeep.POLL_URGENT_SECONDS if only_urgent else POLL_SECONDS * n_processes,
        is_over=lambda: signals.n > 0 or os.getppid() != parent_pid,
    )


def list_oldest_jobs() -> list[int]:
    return [job_id for job_id, _ in jobs.list_waiting_jobs()[:N_CANDIDATES]]


def start_process(n_processes: int, *, only_urgent: bool) -> ForkProcess:
    connections.close_all()  # a connection cannot be shared between processes
    process = multiprocessing.get_context("fork").Process(
        target=run_jobs,
        kwargs={
            "n_processes": n_processes,
            "only_urgent": only_urgent,
            "parent_pid": os.getpid(),
        },
    )
    process.start()
    return process


def run_processes(n_processes: int) -> None:
    """Run until SIGTERM or SIGINT, and then until running jobs are finished. A second signal kills
    them.

    One additional process runs urgent jobs only, because all others may run long ones.
    """
    upkeep.require_shared_files()
    signals, care = StopSignals(), upkeep.Upkeep()
    processes: dict[int, ForkProcess] = {}

    def look() -> None:
        liveness.write_heartbeat(liveness.WORKER)
        for place in range(n_processes + 1):
            process = processes.get(place)
            if process is not None and process.is_alive():
                continue
            if process is not None:
                log.error("a worker process ended (%s); starting another one", process.exitcode)
            processes[place] = start_process(n_processes, only_urgent=place == n_processes)
        care.step()

    upkeep.poll_forever(look, pause=CHECK_SECONDS, is_over=lambda: signals.n > 0)
    while alive := [process for process in processes.values() if process.is_alive()]:
        for process in alive:
            process.kill() if signals.n > 1 else process.terminate()
        time.sleep(POLL_SECONDS)
