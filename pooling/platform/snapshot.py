"""Read a consistent snapshot of the database.

    with snapshot():
        campaign = Campaign.objects.get(pk=pk)      # reload rows that were loaded before
        ...

Commits of other transactions are not visible inside, and nothing can be written. Writers do not
wait. While a snapshot is open, SQLite cannot truncate its write-ahead log, and PostgreSQL keeps old
versions of rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

_state = threading.local()


def is_in_snapshot() -> bool:
    """Return whether this thread is inside a snapshot, so that its connection cannot write."""
    return getattr(_state, "is_open", False)


@contextmanager
def snapshot() -> Iterator[None]:
    """Open a snapshot, or continue the enclosing one. Raises RuntimeError inside a transaction,
    which may have read something already."""
    if is_in_snapshot():
        yield
        return
    with _sqlite_snapshot() if connection.vendor == "sqlite" else _postgresql_snapshot():
        _state.is_open = True
        try:
            yield
        finally:
            _state.is_open = False


@contextmanager
def _sqlite_snapshot() -> Iterator[None]:
    """Open a deferred transaction, which takes no lock. The default mode, IMMEDIATE, takes the
    write lock."""
    database: Any = connection
    database.ensure_connection()  # this resets the mode to the default
    usual, database.transaction_mode = database.transaction_mode, "DEFERRED"
    database.cursor().execute("PRAGMA query_only = ON")
    try:
        with transaction.atomic(durable=True):
            yield
    finally:
        database.transaction_mode = usual
        database.cursor().execute("PRAGMA query_only = OFF")


@contextmanager
def _postgresql_snapshot() -> Iterator[None]:
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            if connection.savepoint_ids:
                # inside the transaction of a test it is too late to set the isolation level
                cursor.execute("SET TRANSACTION READ ONLY")
            else:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                # time passes between queries for computation
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield
