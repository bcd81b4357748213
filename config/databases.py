"""Database settings for Django, with timeouts and the detection of dead connections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url

CONNECT_SECONDS = 5
SQLITE_WAIT_SECONDS = 20
"""Maximum wait for SQLite's write lock."""
KEEPALIVE_OPTIONS = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""libpq's options, in seconds (the last one in milliseconds): a connection whose other end is
silent for about 25 seconds is closed. They cannot detect a frozen PostgreSQL process on a running
machine, because its operating system still answers."""
CONNECTION_MAX_AGE = 60
"""Seconds for which a thread keeps its connection."""
WAL_BYTES = 64_000_000
"""Size to which SQLite truncates its write-ahead log after a checkpoint."""


def database_settings(
    url: str, data_dir: Path, *, query_seconds: int, pooler: bool
) -> dict[str, Any]:
    """Return Django's DATABASES["default"].

    query_seconds: maximum duration of a statement, or 0 for no limit (every process except the web
    server, whose threads keep their connections).
    """
    database: dict[str, Any] = dict(
        dj_database_url.parse(url or f"sqlite:///{data_dir / 'assay.sqlite3'}")
    )
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["ENGINE"] = "config.sqlite"
        # the cache is per connection, and each of the web server's threads has one
        kept_s, cache_kb = (CONNECTION_MAX_AGE, 8_000) if query_seconds else (0, 32_000)
        database.update(CONN_MAX_AGE=kept_s, CONN_HEALTH_CHECKS=True)
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": min(query_seconds or SQLITE_WAIT_SECONDS, SQLITE_WAIT_SECONDS),
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=268435456; "
            f"PRAGMA cache_size=-{cache_kb}; PRAGMA journal_size_limit={WAL_BYTES};",
        }
    elif database["ENGINE"] == "django.db.backends.postgresql":
        database.update(
            CONN_MAX_AGE=CONNECTION_MAX_AGE,
            CONN_HEALTH_CHECKS=True,
            DISABLE_SERVER_SIDE_CURSORS=pooler,
        )
        limits: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, **KEEPALIVE_OPTIONS}
        if query_seconds and not pooler:  # a pooler shares sessions and may refuse unknown options
            ms = query_seconds * 1000
            limits["options"] = (
                f"-c statement_timeout={ms} -c lock_timeout={ms // 2} -c idle_in_transaction_session_timeout={ms * 2}"
            )
        database["OPTIONS"] = {**limits, **database.get("OPTIONS", {})}
    return database
