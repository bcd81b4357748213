"""Identify the process and machine that hold a job, so that others on the machine see when the
process is gone."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path


@cache
def machine_id() -> str:
    """Return an ID of this boot of this machine and of its process namespace, because containers do
    not see each other's processes."""
    known = [socket.gethostname()]
    for read in (
        lambda: Path("/proc/sys/kernel/random/boot_id").read_text(),
        lambda: os.readlink("/proc/self/ns/pid"),
    ):
        try:
            known.append(read())
        except OSError:
            known.append("")
    return hashlib.sha256("|".join(known).encode()).hexdigest()[:10]


def make_token() -> str:
    return f"{secrets.token_hex(8)}-{os.getpid()}-{machine_id()}"


def is_process_alive(token: str) -> bool:
    """Return whether the process exists, as far as this machine can tell. True for processes of
    other machines."""
    _, _, rest = token.partition("-")
    number, _, where = rest.partition("-")
    if where != machine_id() or not number.isdigit():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    try:  # a zombie has ended, but its parent has not read its status
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True
