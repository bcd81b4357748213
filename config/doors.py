"""How many pages are made at one time, so that whoever judges finds a thread and a core.

A manager's page of figures takes as long as fifty judgements, and a crowd that arrives asks for its first pages all at once. So pages have doors:
through each only a few requests of a process go at a time, the next ones wait in front of it without a thread, and one page of figures is made
at a time on the whole machine. Judgements, and all else that the judging page asks for, have no door.
"""

from __future__ import annotations

import fcntl
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

FIGURES, PAGES, OPEN = "figures", "pages", ""
MOST = {FIGURES: 1, PAGES: 2}
"""Of a process, at one time."""
LEAST_THREADS = 4
"""With fewer threads there is no door: nobody could say for whom the others are."""
TURN_S, ASK_AGAIN_S = 2.0, 0.005
"""For how long a page of figures waits for that of another process, at most."""
_NO_DOOR = ("/api/", "/static/", "/healthz", "/readyz", "/metrics")
_WITH_FIGURES = ("/campaigns/", "/results/")


def door_of(path: str) -> str:
    """Of a GET or HEAD of this path."""
    if path.startswith(_NO_DOOR):
        return OPEN
    return FIGURES if path.startswith(_WITH_FIGURES) and path not in _WITH_FIGURES else PAGES


def door_of_bytes(beginning: bytes) -> str:
    """Of the request that begins so."""
    method, _, rest = beginning.partition(b" ")
    if method not in (b"GET", b"HEAD") or not rest.startswith(b"/"):
        return OPEN
    return door_of(rest.partition(b" ")[0].partition(b"?")[0].decode("latin-1"))


class Doors:
    """Those of one process, which its main loop alone asks."""

    def __init__(self) -> None:
        self.inside = dict.fromkeys(MOST, 0)
        self.waiting: dict[str, deque[Any]] = {door: deque() for door in MOST}

    def enters(self, one: Any, door: str) -> bool:
        """Whether it may go on at once; else it is given by `leave` when it is its turn."""
        if self.inside[door] >= MOST[door]:
            self.waiting[door].append(one)
            return False
        self.inside[door] += 1
        return True

    def leave(self, door: str) -> Any:
        """-> who enters in its place, None if nobody waits"""
        if self.waiting[door]:
            return self.waiting[door].popleft()
        self.inside[door] -= 1
        return None

    def gives_up(self, one: Any, door: str) -> bool:
        """-> whether it was waiting here"""
        if one not in self.waiting[door]:
            return False
        self.waiting[door].remove(one)
        return True


@contextmanager
def one_on_this_machine() -> Iterator[None]:
    """Waits for a page of figures of another process, so that they work at one core together; TURN_S at most."""
    try:
        lock = (Path(settings.DATA_DIR) / "figures.lock").open("ab")
    except OSError:
        yield
        return
    with lock:
        end = time.monotonic() + TURN_S
        while time.monotonic() < end:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(ASK_AGAIN_S)
        yield
