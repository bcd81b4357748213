"""Django's SQLite backend, whose connections notice that their file was replaced or may be written
again, and whose writers wait for each other in a line.

Opening SQLite's file for every request costs more than the request: pragmas, functions of Django's,
an empty cache, and at the end a checkpoint by whoever closes last. So the web server's threads keep
theirs. A kept connection would go on writing into a file that has been deleted (the data folder
wiped, a backup put back); before each request it is asked whether the name still means its file.

The line is that of `turns`; the first in it asks SQLite again every few tenths of a millisecond.
SQLite's own way, sleeps of up to a tenth of a second, lets a busy process keep others out for
seconds."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from config.sqlite.turns import turns_of

ASK_AGAIN_S, AT_MOST_S = 0.0003, 0.005
"""Between two questions whether the database is free: at first, and after a while."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)
"""Not SQLITE_BUSY_SNAPSHOT, which waiting does not mend."""


class Cursor(base.SQLiteCursorWrapper):
    patience_s = 0.0
    """How long is waited for other processes, and for who reads a log anew that was left by one
    that died."""

    def execute(self, query: str, params: Any = None) -> Any:
        return self._patiently(partial(super().execute, query, params))

    def executemany(self, query: str, param_list: Any) -> Any:
        return self._patiently(partial(super().executemany, query, list(param_list)))

    def _patiently(self, work: Callable[[], Any]) -> Any:
        end, pause = 0.0, ASK_AGAIN_S
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                now = time.monotonic()
                end = end or now + self.patience_s
                if error.sqlite_errorcode not in BUSY or now >= end:
                    raise
            time.sleep(pause)
            pause = min(pause * 1.02, AT_MOST_S)


class DatabaseWrapper(base.DatabaseWrapper):
    transaction_mode: str | None  # Django's, which the stubs do not know
    opened: tuple[int, int] | None = None
    only_reads = False
    patience_s = 5.0
    has_turn = False

    def _file(self) -> tuple[int, int] | None:
        """(device, inode) of the file of this name; None where there is none, as for a database in
        memory."""
        try:
            status = os.stat(self.settings_dict["NAME"])
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        self.patience_s = params.get("timeout", self.patience_s)
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        connection.execute("PRAGMA busy_timeout = 0")  # from now on the waiting is ours
        self.opened, self.only_reads = self._file(), not self._may_be_written()
        return connection

    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.patience_s = self.patience_s
        return cursor

    def _may_be_written(self) -> bool:
        return os.access(self.settings_dict["NAME"], os.W_OK)

    def is_usable(self) -> bool:
        return self._file() == self.opened and not (self.only_reads and self._may_be_written())

    def _start_transaction_under_autocommit(self) -> None:
        if (
            self.transaction_mode == "DEFERRED"
        ):  # only reads (pooling.platform.snapshot): no writer waits for it
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # which the stubs do not know
            return
        turns = turns_of(str(self.settings_dict["NAME"]))
        if not turns.take(self.patience_s):
            raise OperationalError("database is locked")
        self.has_turn = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._give_turn()
            raise
        finally:
            turns.leave_gate()

    def _give_turn(self) -> None:
        if self.has_turn:
            self.has_turn = False
            turns_of(str(self.settings_dict["NAME"])).give()

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._give_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._give_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._give_turn()

    def __del__(self) -> None:
        self._give_turn()  # of a thread that ended in the middle
