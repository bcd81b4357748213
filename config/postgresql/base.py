"""Django's PostgreSQL backend, whose connections do not wait for ever for a database that has stopped answering.

The server's own limits (statement_timeout, lock_timeout) end what takes too long; they cannot end anything where the server itself
stands still, a machine is frozen or a network swallows what is sent. The waiting is then ended here, and the connection with it.
"""

from __future__ import annotations

from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import IsolationLevel, errors

SPARE_SECONDS = 3.0
"""Beyond the server's own limit, which answers with a better reason."""


class Connection(psycopg.Connection[Any]):
    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        limit = settings.QUERY_SECONDS
        if timeout is not None or not limit:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, limit + SPARE_SECONDS)
        except errors._WaitTimeout:
            self.pgconn.finish()
            raise psycopg.OperationalError(f"the database has not answered within {limit + SPARE_SECONDS:.0f} seconds") from None


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        self.isolation_level = IsolationLevel.READ_COMMITTED
        return Connection.connect(**conn_params)
