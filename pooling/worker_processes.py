"""The worker of an installation without a broker: processes that take their jobs from the table,
and one above them that begins another for one that has ended.

Each job is done in the main thread of a process, so that it can be interrupted, and killed without
the others (pooling.platform.interruptions). Nothing is shared by the processes but the database."""

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
"""Seconds between two looks at the table by any of the processes."""
CHECK_SECONDS = 0.5
"""Seconds between two looks at the processes."""
N_CANDIDATES = 8
"""Waiting jobs that a process tries to claim before it looks again at which there are."""


class StopSignals:
    """n: how often the process was asked to end."""

    def __init__(self) -> None:
        self.n = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._count)

    def _count(self, *_: object) -> None:
        self.n += 1


def run_jobs(*, n_processes: int, only_urgent: bool, above: int) -> None:
    """In a process of its own, until it is asked to end, or the one above it is gone. The job that
    it is doing by then it finishes."""
    interruptions.is_expendable = True
    signals = StopSignals()

    def look() -> bool:
        return not signals.n and upkeep.run_first_job(
            jobs.list_urgent_jobs if only_urgent else list_oldest_jobs
        )

    upkeep.poll_forever(
        look,
        pause=upkeep.POLL_URGENT_SECONDS if only_urgent else POLL_SECONDS * n_processes,
        is_over=lambda: signals.n > 0 or os.getppid() != above,
    )


def list_oldest_jobs() -> list[int]:
    return [job_id for job_id, _ in jobs.list_waiting_jobs()[:N_CANDIDATES]]


def start_process(n_processes: int, *, only_urgent: bool) -> ForkProcess:
    connections.close_all()  # a connection cannot be shared with another process
    process = multiprocessing.get_context("fork").Process(
        target=run_jobs,
        kwargs={"n_processes": n_processes, "only_urgent": only_urgent, "above": os.getpid()},
    )
    process.start()
    return process


def run_processes(n_processes: int) -> None:
    """Work until SIGTERM or SIGINT, and then until running jobs are done; a second signal kills
    them. One more process does urgent jobs only: all others may be at long ones."""
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
                log.error("a process of the worker ended (%s); another begins", process.exitcode)
            processes[place] = start_process(n_processes, only_urgent=place == n_processes)
        care.step()

    upkeep.poll_forever(look, pause=CHECK_SECONDS, is_over=lambda: signals.n > 0)
    while alive := [process for process in processes.values() if process.is_alive()]:
        for process in alive:
            process.kill() if signals.n > 1 else process.terminate()
        time.sleep(POLL_SECONDS)
