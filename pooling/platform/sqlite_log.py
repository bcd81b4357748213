"""SQLite's write-ahead log, which can only be truncated up to the oldest reader and grows during
long reads."""

from __future__ import annotations

import logging
from pathlib import Path

from django.db import connection

log = logging.getLogger(__name__)
WARN_BYTES = 256_000_000


def get_log_size_bytes() -> int:
    """Return the size of SQLite's write-ahead log in bytes, or 0 if there is none."""
    path = Path(f"{connection.settings_dict['NAME']}-wal")
    return path.stat().st_size if connection.vendor == "sqlite" and path.exists() else 0


def truncate_log() -> int:
    """Write the log into the database as far as readers allow, and truncate it. Returns the
    remaining bytes."""
    if connection.vendor != "sqlite":
        return 0
    if connection.in_atomic_block:
        return get_log_size_bytes()  # a transaction reads the log itself, which prevents truncation
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
        _, in_log, done = cursor.fetchone()
        if in_log == done:  # no reader uses the old pages, so truncation does not wait long
            cursor.execute("PRAGMA busy_timeout")
            (usual,) = cursor.fetchone()
            cursor.execute("PRAGMA busy_timeout = 200")
            try:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                cursor.fetchone()
            finally:
                cursor.execute(f"PRAGMA busy_timeout = {usual}")
    left = get_log_size_bytes()
    if left > WARN_BYTES:
        log.warning(
            (
                "SQLite's write-ahead log has %.0f MB: another process has been reading for a long time (a shell, a "
                "backup by another program)"
            ),
            left / 1e6,
        )
    return left
