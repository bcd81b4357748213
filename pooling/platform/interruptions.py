"""End a job that makes no progress: first by an exception in its thread, as Celery's soft time
limit does, and then by ending its process.

    watch = JobWatch(why=..., give_up=...)
    with watch.running():           # in the thread of the job
        ...
    watch.look()                    # in another thread, every few seconds
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

log = logging.getLogger(__name__)
KILL_SECONDS = 30.0
"""Seconds after an unsuccessful interruption until the process ends."""
SIGNAL = signal.SIGUSR2
is_expendable = False
"""Whether this process is replaced when it ends. True for a worker's processes, not for a command.
"""


class JobWatch:
    """Watchdog that interrupts one job, and ends its process if the interruption fails.

    why: returns the exception that must end the job, or None while it may continue. give_up: called
    with that exception before the process ends.
    """

    def __init__(
        self, why: Callable[[], Exception | None], give_up: Callable[[Exception], object]
    ) -> None:
        self.why, self.give_up = why, give_up
        self.reason: Exception | None = None
        self.interrupted_at = 0.0
        self.is_running = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch the job while the context is open. Only the main thread can be interrupted. A job
        in another thread ends at its next step."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(SIGNAL, self._interrupt)
        self.is_running = True
        try:
            yield
        finally:
            self.is_running = False
            signal.signal(SIGNAL, before)

    def _interrupt(self, *_: Any) -> None:
        if self.is_running and self.reason is not None:
            raise self.reason

    def look(self) -> None:
        if self.is_running and self.reason is None and (reason := self.why()) is not None:
            self.reason, self.interrupted_at = reason, time.monotonic()
            signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)
        elif (
            self.is_running
            and self.reason is not None
            and is_expendable
            and time.monotonic() - self.interrupted_at > KILL_SECONDS
        ):
            try:
                self.give_up(self.reason)
            finally:
                log.error(
                    "a job did not end when it was interrupted (%r), so its process does",
                    self.reason,
                )
                os.kill(os.getpid(), signal.SIGKILL)
