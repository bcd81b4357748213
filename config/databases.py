"""The database as Django's settings describe it: how long is waited for it, and how a dead
connection is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url

CONNECT_SECONDS = 5
SQLITE_WAIT_SECONDS = 20
"""For the one writer before."""
KEEPALIVE_OPTIONS = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""libpq's options: a connection whose other end is silent for about 25 seconds is over (seconds;
the last in milliseconds). They cannot end the wait for a PostgreSQL process that is frozen on a
machine that runs: its operating system still answers."""
CONNECTION_MAX_AGE = 60
"""For which a thread keeps its connection."""
WAL_BYTES = 64_000_000
"""To which SQLite cuts its write-ahead log after a checkpoint."""


def database_settings(
    url: str, data_dir: Path, *, query_seconds: int, pooler: bool
) -> dict[str, Any]:
    """Django's DATABASES["default"]. query_seconds: how long one statement may take, 0 for as long
    as it likes (everybody but the web server, whose threads keep their connections)."""
    database: dict[str, Any] = dict(
        dj_database_url.parse(url or f"sqlite:///{data_dir / 'assay.sqlite3'}")
    )
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["ENGINE"] = "config.sqlite"
        # each of the web server's threads has a cache
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
        if (
            query_seconds and not pooler
        ):  # a pooler gives the session to others, and may refuse what it does not know
            ms = query_seconds * 1000
            limits["options"] = (
                f"-c statement_timeout={ms} -c lock_timeout={ms // 2} -c idle_in_transaction_session_timeout={ms * 2}"
            )
        database["OPTIONS"] = {**limits, **database.get("OPTIONS", {})}
    return database
