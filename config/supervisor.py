"""Supervision of a few child processes: a child that died is restarted, and one signal ends all."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

log = logging.getLogger("assay.up")
GRACE_SECONDS = 15.0
"""Seconds for children to end before they are killed."""
MAX_RESTARTS = 5
"""A child that dies more often than this, each time within HEALTHY_SECONDS of its start, is
considered broken, and everything stops."""
HEALTHY_SECONDS = 60.0


@dataclass
class SupervisedProcess:
    """A supervised child process. `early_deaths`: consecutive times it ended soon after its
    start."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    shows_output: bool = True  # otherwise its standard error, which is not the log, is discarded
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    early_deaths: int = 0

    def start(self) -> None:
        # A session of its own, so that Ctrl-C in the terminal reaches only the supervisor, which
        # then ends the children in order.
        self.started_at = time.monotonic()
        out = None if self.shows_output else subprocess.DEVNULL
        self.process = subprocess.Popen(
            self.command, env={**os.environ, **self.environment}, stdout=out, start_new_session=True
        )


class Supervisor:
    """A supervisor of several child processes. on_start: called after each start of a child."""

    def __init__(
        self,
        children: list[SupervisedProcess],
        on_start: Callable[[list[SupervisedProcess]], object] = lambda children: None,
    ) -> None:
        self.children, self.on_start = children, on_start
        self.stopping = False

    def run(self) -> int:
        """Start and supervise all children until SIGINT or SIGTERM. Returns the exit status: 0
        after a signal, 1 if a child keeps dying."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        for child in self.children:
            child.start()
        self.on_start(self.children)
        status = 0
        try:
            while not self.stopping:
                time.sleep(0.2)
                if not all(self._is_running(child) for child in self.children):
                    status = 1
                    break
            sys.stdout.write("\nStopping …\n")
            sys.stdout.flush()
        finally:
            self._terminate()
        return status

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _is_running(self, child: SupervisedProcess) -> bool:
        """Return whether the child runs, after restarting it if it has died. False if it dies too
        often."""
        assert child.process is not None
        if self.stopping or child.process.poll() is None:
            return True
        lived = time.monotonic() - child.started_at
        child.early_deaths = child.early_deaths + 1 if lived < HEALTHY_SECONDS else 1
        if child.early_deaths > MAX_RESTARTS:
            log.error(
                "the %s ended %d times soon after its start; stopping",
                child.name,
                child.early_deaths,
            )
            return False
        log.error(
            "the %s ended with status %s; starting it again", child.name, child.process.returncode
        )
        child.start()
        self.on_start(self.children)
        return True

    def _terminate(self) -> None:
        for child in self.children:
            if child.process and child.process.poll() is None:
                child.process.terminate()
        until = time.monotonic() + GRACE_SECONDS
        for child in self.children:
            if child.process is None:
                continue
            try:
                child.process.wait(timeout=max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(child.process.pid, signal.SIGKILL)
                child.process.wait()
