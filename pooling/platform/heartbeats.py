"""Send heartbeats from a process that is inside one long step of a job."""

from __future__ import annotations

import _thread
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
"""Seconds between two heartbeats."""


@contextmanager
def heartbeat_thread(sign: Callable[[], bool], what: str) -> Iterator[None]:
    """Call `sign` repeatedly in a separate thread until it returns False.

    It is not called inside a test's transaction, where another connection would wait for it. The
    thread is not started by `Thread.start`, which waits until the thread reports that it runs, and
    forever if it dies at once for lack of memory. Without heartbeats the work continues until
    another worker takes it over.
    """
    stop, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def beat() -> None:
        begun.set()
        try:
            while not stop.wait(HEARTBEAT_SECONDS):
                try:
                    if not sign():
                        return
                except (DatabaseError, MemoryError, OSError):
                    log.warning("%s: the heartbeat could not be written", what, exc_info=True)
                    connection.close()
        finally:
            connection.close()
            ended.set()

    if not connection.in_atomic_block:
        try:
            _thread.start_new_thread(beat, ())
        except (RuntimeError, MemoryError):
            log.warning("%s: the heartbeat thread could not be started", what, exc_info=True)
    try:
        yield
    finally:
        stop.set()
        if begun.is_set():
            ended.wait(HEARTBEAT_SECONDS)
