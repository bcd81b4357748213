"""Django's SQLite backend, whose connections notice that their file was replaced.

Opening SQLite's file for every request costs more than the request: pragmas, functions of Django's, an empty cache, and at the end a
checkpoint by whoever closes last. So the web server's threads keep theirs. A kept connection would go on writing into a file that
has been deleted (the data folder wiped, a backup put back); before each request it is asked whether the name still means its file.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    opened: tuple[int, int] | None = None

    def _file(self) -> tuple[int, int] | None:
        """(device, inode) of the file of this name; None where there is none, as for a database in memory."""
        try:
            status = os.stat(self.settings_dict["NAME"])
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        self.opened = self._file()
        return connection

    def is_usable(self) -> bool:
        return self._file() == self.opened
