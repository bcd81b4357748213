"""Recognise temporary failures of the database or the disk, after which a request should be
repeated."""

from __future__ import annotations

import errno
import random

from django.db import Error, InterfaceError, OperationalError
from django.utils.translation import gettext as _

FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT}
READ_ONLY_ERRORS = {errno.EROFS, errno.EACCES, errno.EPERM}
"""Errors if the disk, or a folder, is not writable."""
OPEN_FILES_ERRORS = {errno.EMFILE, errno.ENFILE}
READ_ONLY_SQLSTATE = "25006"
"""PostgreSQL's code for a read-only database (a standby, or a nearly full disk), which is not an
OperationalError."""
OTHER_TABLES_CODES, OTHER_TABLES_WORDS = (
    {"42703", "42P01"},
    ("no such column", "no such table", "has no column named"),
)
"""PostgreSQL's codes and SQLite's words for tables of another version during an upgrade."""
FIRST_S, SPREAD_S = 3, 5
"""Minimum seconds until a retry, and the range of a random addition that keeps clients from
returning simultaneously."""


class ProcessBusy(Exception):
    """Raised if the process already executes the maximum number of such operations. Nothing was
    done. The message is for users."""


def unavailable_reason(error: BaseException) -> str:
    """Return what is unavailable as a sentence for users, or an empty string for any other error."""
    if isinstance(error, ProcessBusy):
        return str(error)
    if _has_other_tables(error):
        return _("The server is being updated.")
    if isinstance(error, OperationalError | InterfaceError) or (
        isinstance(error, Error) and get_sqlstate(error) == READ_ONLY_SQLSTATE
    ):
        text = str(error).lower()
        if "disk is full" in text or get_sqlstate(error) == "53100":
            return _("The server's disk is full.")
        if "readonly" in text or get_sqlstate(error) == READ_ONLY_SQLSTATE:
            return _("The server can't write to its database.")
        return _("The database isn't responding.")
    if isinstance(error, OSError):
        if error.errno in FULL_ERRORS:
            return _("The server's disk is full.")
        if error.errno in READ_ONLY_ERRORS:
            return _("The server can't write to its disk.")
        if error.errno in OPEN_FILES_ERRORS:
            return _("The server is busy.")
    return _("The server is busy.") if isinstance(error, MemoryError) else ""


def _has_other_tables(error: BaseException) -> bool:
    return isinstance(error, Error) and (
        get_sqlstate(error) in OTHER_TABLES_CODES
        or any(words in str(error) for words in OTHER_TABLES_WORDS)
    )


def get_sqlstate(error: BaseException) -> str:
    """Return PostgreSQL's code of a database error, or an empty string."""
    return str(getattr(error.__cause__, "sqlstate", None) or "")


def is_retryable_conflict(error: OperationalError) -> bool:
    """Return whether the database aborted this transaction because of a conflict, so that an
    immediate retry can succeed."""
    return get_sqlstate(error) in {"40P01", "40001"}


def retry_after_seconds() -> int:
    return FIRST_S + round(random.random() * SPREAD_S)
