"""Django's SQLite backend, with a health check for connections that outlive a request.

Django considers every open SQLite connection usable. A kept connection would continue to write to a
file that has been deleted (a wiped data folder, a restored backup), and would stay read-only after
the file becomes writable. Before each request its file is compared with the file of that name.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    opened: tuple[int, int] | None = None
    is_read_only = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        self.opened, self.is_read_only = self._file(), not self._is_writable()
        return connection

    def is_usable(self) -> bool:
        return self._file() == self.opened and not (self.is_read_only and self._is_writable())

    def _file(self) -> tuple[int, int] | None:
        """Return (device, inode) of the database file. None if it does not exist, as for a database
        in memory."""
        try:
            status = os.stat(self.settings_dict["NAME"])
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _is_writable(self) -> bool:
        return os.access(self.settings_dict["NAME"], os.W_OK)
