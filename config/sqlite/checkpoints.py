"""SQLite's log is brought into the database by a thread apart, so that no request does it: some
hundred pages are written and waited for.

Nothing rests on it but time: what was committed stands in the log, and is on the disk. In a process
that is killed another one goes on, or whoever opens the database next."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EVERY_S = 1.0


def begin(database: Mapping[str, Any]) -> None:
    """For an entry of DATABASES; nothing where it is not SQLite's, or in memory."""
    if "sqlite" in database["ENGINE"] and not str(database["NAME"]).startswith(
        (":memory:", "file:")
    ):
        threading.Thread(target=_go_on, args=(str(database["NAME"]),), daemon=True).start()


def _go_on(name: str) -> None:
    done = 0
    while True:
        time.sleep(EVERY_S)
        with contextlib.suppress(
            OSError, MemoryError, sqlite3.Error
        ):  # a full disk, a folder that was wiped: whoever writes will say so
            written = os.stat(f"{name}-wal").st_mtime_ns
            if written != done:
                checkpoint(name)
                done = written


def checkpoint(name: str) -> tuple[int, int]:
    """Bring into the database what no reader needs to find in the log; waits for nobody. -> (pages
    in the log, of them in the database)"""
    with contextlib.closing(
        sqlite3.connect(f"{Path(name).absolute().as_uri()}?mode=rw", uri=True, timeout=0)
    ) as connection:
        _, in_log, done = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return in_log, done
