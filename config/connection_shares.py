"""Which process of the web server takes the next connection. The kernel asks all of them at once
and lets the quickest have it; pages keep their connections, so whoever was quicker at the beginning
has more to do for ever, and people wait there while another process is idle."""

from __future__ import annotations

import mmap
import os
import struct

from config.request_counts import PLACES

LEAD = 4
"""So many connections more than another process one may hold and still take the next."""
FRESH_SECONDS = 2.5
"""For which it counts what a process has told: each tells at least once a second, and nobody waits
for one that is frozen."""
_ROW = struct.Struct("qqd")
_TAKES_NOBODY = -1


class ConnectionShares:
    """Made before the master forks. Times are those of time.monotonic, which is one for all
    processes of a machine."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, PLACES * _ROW.size)

    def tell(self, age: int, n: int | None, now: float) -> None:
        """How many connections this process holds; None where it takes no other at the moment. age:
        gunicorn's number of it."""
        _ROW.pack_into(
            self.memory,
            age % PLACES * _ROW.size,
            os.getpid(),
            _TAKES_NOBODY if n is None else n,
            now,
        )

    def is_ahead(self, n: int, now: float) -> bool:
        """Whether another process should have the next connection, where this one holds n."""
        return any(
            _TAKES_NOBODY < held < n - LEAD and now - told < FRESH_SECONDS and _lives(process)
            for process, held, told in _ROW.iter_unpack(self.memory)
            if process != os.getpid()
        )


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's by now: what it told will soon be old
    return True


SHARES = ConnectionShares()
