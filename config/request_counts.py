"""Counters of the requests that all processes of the web server have answered and refused."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator

JUDGEMENT, API, PAGE, OTHER = KINDS = ("judgement", "api", "page", "other")
CLASSES = ("2xx", "3xx", "4xx", "5xx")
MAX_PROCESSES = 256
"""Maximum number of processes at a time."""
_REFUSED, _MICROSECONDS = len(CLASSES), len(CLASSES) + 1
_WIDTH = len(CLASSES) + 2


class RequestCounts:
    """Counters of requests in memory that is shared by all processes of the web server.

    They are created before the master process forks, so any process can report all counters. Each
    process writes to its own slot, and a later process with the same slot continues its counts.
    """

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, MAX_PROCESSES * len(KINDS) * _WIDTH * 8)
        self.numbers = memoryview(self.memory).cast("q")
        self.place = 0
        self.lock = threading.Lock()

    def claim_slot(self, age: int) -> None:
        """Assign a slot of the counters to this process. age: gunicorn's unique number of the
        process."""
        self.place = age % MAX_PROCESSES

    def _add(self, kind: str, column: int, n: int) -> None:
        at = (self.place * len(KINDS) + KINDS.index(kind)) * _WIDTH + column
        with self.lock:
            self.numbers[at] += n

    def record_response(self, kind: str, status: int, waited_s: float) -> None:
        """Count a response. waited_s: seconds that the request waited in the queue before a thread
        took it."""
        self._add(kind, min(max(status // 100 - 2, 0), len(CLASSES) - 1), 1)
        self._add(kind, _MICROSECONDS, round(waited_s * 1_000_000))

    def record_refusal(self, kind: str) -> None:
        self._add(kind, _REFUSED, 1)

    def _total(self, kind: str, column: int) -> int:
        first = KINDS.index(kind) * _WIDTH + column
        return sum(self.numbers[first :: len(KINDS) * _WIDTH])

    def answers(self) -> Iterator[tuple[str, str, int]]:
        """Yield the counts of responses as (kind of request, class of the status, count)."""
        for kind in KINDS:
            for column, name in enumerate(CLASSES):
                yield kind, name, self._total(kind, column)

    def refusals(self) -> Iterator[tuple[str, int]]:
        for kind in KINDS:
            yield kind, self._total(kind, _REFUSED)

    def queue_seconds(self) -> Iterator[tuple[str, float]]:
        for kind in KINDS:
            yield kind, self._total(kind, _MICROSECONDS) / 1_000_000


COUNTS = RequestCounts()
