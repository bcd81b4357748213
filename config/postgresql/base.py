"""Django's PostgreSQL backend, whose connections do not wait for ever for a database that has
stopped answering.

The server's own limits (statement_timeout, lock_timeout) end what takes too long; they cannot end
anything where the server itself stands still, a machine is frozen or a network swallows what is
sent. The waiting is then ended here, and the connection with it.

Before each request Django asks a kept connection whether it still works: a trip to the database for
every request. A server that ends a connection (a restart, `pg_terminate_backend`) says so, which
can be seen without a trip: there is something to read. So the database is asked only where there
is, after an error, and where it has not been asked for a while."""

from __future__ import annotations

import select
import time
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import IsolationLevel, errors

SPARE_SECONDS = 3.0
"""Beyond the server's own limit, which answers with a better reason."""


ASK_AFTER_SECONDS = 10.0
"""A firewall between may have forgotten a connection without a word."""


class Connection(psycopg.Connection[Any]):
    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        limit = settings.QUERY_SECONDS
        if timeout is not None or not limit:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, limit + SPARE_SECONDS)
        except errors._WaitTimeout:
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the database has not answered within {limit + SPARE_SECONDS:.0f} seconds"
            ) from None


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        self.isolation_level = IsolationLevel.READ_COMMITTED
        self.asked_at = time.monotonic()
        return Connection.connect(**conn_params)

    asked_at = float("-inf")
    """By time.monotonic: when the database last answered whether the connection works."""

    def is_usable(self) -> bool:
        recently = time.monotonic() - self.asked_at < ASK_AFTER_SECONDS
        if recently and not self.errors_occurred and self._is_silent():
            return True
        usable: bool = super().is_usable()
        self.asked_at = time.monotonic() if usable else float("-inf")
        return usable

    def _is_silent(self) -> bool:
        """Whether there is nothing to read, so no word of an end."""
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not poll.poll(0)
