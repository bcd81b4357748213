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

START_MARK = "began"
POLL_SECONDS = 0.1


def describe_process(pid: int) -> str:
    """A line by which `terminate_orphans` knows this process; empty where it is gone or the system does not
    tell."""
    moment = _start_ticks(pid)
    return f"{START_MARK} {pid} {moment}" if moment else ""


def terminate_orphans(text: str, *, grace_seconds: float) -> int:
    """End those of the lines of `remembered` that run still: in order, and with force what has not
    ended by then. -> how many"""
    left = [line for line in text.splitlines() if _is_running(line)]
    for line in left:
        _send_signal(line, signal.SIGTERM)
    until = time.monotonic() + grace_seconds
    while any(map(_is_running, left)) and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    for line in left:
        _send_signal(line, signal.SIGKILL)
    return len(left)


def _start_ticks(pid: int) -> str:
    """In ticks since the machine's start; empty of a process that is gone, or ended and only waits
    for its parent to ask how."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19] if len(fields) > 19 and fields[0] != "Z" else ""


def _is_running(line: str) -> bool:
    word, _, rest = line.partition(" ")
    pid, _, moment = rest.partition(" ")
    return (
        word == START_MARK and pid.isdigit() and moment != "" and _start_ticks(int(pid)) == moment
    )


def _send_signal(line: str, number: int) -> None:
    """By force to all that it has begun, too: each of our programs leads a group of its own."""
    if not _is_running(line):
        return
    pid = int(line.split()[1])
    with contextlib.suppress(ProcessLookupError):
        if number == signal.SIGKILL and os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
