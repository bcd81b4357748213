"""Termination of processes that `assay up` started and that survived because it was killed. They
are identified by process ID and start time.

The process ID alone might belong to another process by then. If the system does not report start
times, processes are not recorded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

START_MARK = "began"
POLL_SECONDS = 0.1


def describe_process(pid: int) -> str:
    """Return a line that identifies this process for `terminate_orphans`, or an empty string if the
    process is gone or its start time unknown."""
    moment = _start_ticks(pid)
    return f"{START_MARK} {pid} {moment}" if moment else ""


def terminate_orphans(text: str, *, grace_seconds: float) -> int:
    """Terminate the recorded processes that still run, in order, and kill those that have not ended
    after the grace period. Returns their number."""
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
    """Return the start time of a process in clock ticks since boot, or an empty string if the
    process is gone or a zombie."""
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
    """Send a signal to a process. SIGKILL goes to its whole process group, which each of Assay's
    programs leads."""
    if not _is_running(line):
        return
    pid = int(line.split()[1])
    with contextlib.suppress(ProcessLookupError):
        if number == signal.SIGKILL and os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
