"""Whose turn it is to write. SQLite has one writer at a time and no line in front of him: whoever
finds the database locked sleeps, each time for longer, and whoever comes by at the right moment
goes first. So the threads of a process stand in a line of their own, and only the first of them
asks SQLite."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections import deque

ASK_AGAIN_S = 0.0003


class Turns:
    """A lock that is handed on in the order of asking, and a gate that a file stands for. gate: its
    path; empty for one process alone."""

    def __init__(self, gate: str = "") -> None:
        self.gate_file: int | None = None
        with contextlib.suppress(
            OSError
        ):  # a folder that nobody may write: then SQLite will not write either
            self.gate_file = (
                os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) if gate else None
            )
        self.guard = threading.Lock()
        self.is_taken = False
        self.waiting: deque[threading.Lock] = (
            deque()
        )  # one for each who waits, released when it is his turn

    def take(self, seconds: float) -> bool:
        """Wait for one's turn for so long, and stand in the gate then. -> whether it has come"""
        end = time.monotonic() + seconds
        if not self._is_first(seconds):
            return False
        while not self._enter_gate():
            if time.monotonic() > end:
                self.give()
                return False
            time.sleep(ASK_AGAIN_S)
        return True

    def _enter_gate(self) -> bool:
        if self.gate_file is None:
            return True
        try:
            fcntl.flock(self.gate_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def leave_gate(self) -> None:
        """For the next process: this one has what it stood there for."""
        if self.gate_file is not None:
            fcntl.flock(self.gate_file, fcntl.LOCK_UN)

    def _is_first(self, seconds: float) -> bool:
        own = threading.Lock()
        own.acquire()
        with self.guard:
            if not self.is_taken:
                self.is_taken = True
                return True
            self.waiting.append(own)
        if own.acquire(timeout=seconds):
            return True
        with self.guard:
            if own not in self.waiting:
                return True  # it came just now
            self.waiting.remove(own)
            return False

    def give(self) -> None:
        """To the next in the line."""
        with self.guard:
            if self.waiting:
                self.waiting.popleft().release()
            else:
                self.is_taken = False


_turns_of: dict[str, Turns] = {}
_making = threading.Lock()


def turns_of(database: str) -> Turns:
    """Those of this process for the database of this name."""
    turns = _turns_of.get(database)
    if turns is None:
        gate = "" if database.startswith((":memory:", "file:")) else f"{database}-line"
        with _making:
            turns = _turns_of.get(database) or _turns_of.setdefault(database, Turns(gate))
    return turns


def _begin_anew() -> None:
    """In a process that was forked: what the parent's threads hold they hold there."""
    global _making
    for turns in _turns_of.values():
        if turns.gate_file is not None:
            os.close(turns.gate_file)
    _turns_of.clear()
    _making = threading.Lock()


os.register_at_fork(after_in_child=_begin_anew)
