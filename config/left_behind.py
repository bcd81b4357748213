"""Programs that `up` began and that outlived it, because it was killed: they are known again by
their number and the moment they began.

A number alone would name another process some day. Where the system does not tell when a process
began, none is remembered."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

WORD = "began"
LOOK_S = 0.1


def remembered(pid: int) -> str:
    """A line by which `end_all` knows this process; empty where it is gone or the system does not
    tell."""
    moment = _began(pid)
    return f"{WORD} {pid} {moment}" if moment else ""


def end_all(text: str, *, grace_seconds: float) -> int:
    """End those of the lines of `remembered` that run still: in order, and with force what has not
    ended by then. -> how many"""
    left = [line for line in text.splitlines() if _runs(line)]
    for line in left:
        _signal(line, signal.SIGTERM)
    until = time.monotonic() + grace_seconds
    while any(map(_runs, left)) and time.monotonic() < until:
        time.sleep(LOOK_S)
    for line in left:
        _signal(line, signal.SIGKILL)
    return len(left)


def _began(pid: int) -> str:
    """In ticks since the machine's start; empty of a process that is gone, or ended and only waits
    for its parent to ask how."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19] if len(fields) > 19 and fields[0] != "Z" else ""


def _runs(line: str) -> bool:
    word, _, rest = line.partition(" ")
    pid, _, moment = rest.partition(" ")
    return word == WORD and pid.isdigit() and moment != "" and _began(int(pid)) == moment


def _signal(line: str, number: int) -> None:
    """By force to all that it has begun, too: each of our programs leads a group of its own."""
    if not _runs(line):
        return
    pid = int(line.split()[1])
    with contextlib.suppress(ProcessLookupError):
        if number == signal.SIGKILL and os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
