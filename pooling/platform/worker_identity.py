"""Who holds a job: a token that says which process of which machine, so that a neighbour sees when
it is gone."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path


@cache
def machine_id() -> str:
    """Of this boot of this machine, and of this space of process numbers: two containers do not see
    each other's processes."""
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
    """Whether the process is there, as far as this machine can tell; True of another machine's."""
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
    try:  # ended, and only waiting for its parent to ask how
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True
