"""When the fault lies with what we stand on (database, disk) and will pass, so that trying again is
the right thing to do."""

from __future__ import annotations

import errno
import random

from django.db import Error, InterfaceError, OperationalError
from django.utils.translation import gettext as _

FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT}
READ_ONLY_ERRORS = {errno.EROFS, errno.EACCES, errno.EPERM}
"""The disk, or a folder of it for us."""
OPEN_FILES_ERRORS = {errno.EMFILE, errno.ENFILE}
READ_ONLY_SQLSTATE = "25006"
"""PostgreSQL's code, which is not among its operational errors: a standby, or a disk that is nearly
full."""
OTHER_TABLES_CODES, OTHER_TABLES_WORDS = (
    {"42703", "42P01"},
    ("no such column", "no such table", "has no column named"),
)
"""Of PostgreSQL and of SQLite: the tables are those of another version, while an upgrade goes
on."""
FIRST_S, SPREAD_S = 3, 5
"""Seconds after which to try again: at least so many, and a random share of the spread, lest all
come back at once."""


class ProcessBusy(Exception):
    """More of this was asked for than the process does at once; nothing was done. The message is a
    sentence for people."""


def unavailable_reason(error: BaseException) -> str:
    """What is missing, as a sentence for people; empty where the error is another one."""
    if isinstance(error, ProcessBusy):
        return str(error)
    if _has_other_tables(error):
        return _("The server is being brought up to date.")
    if isinstance(error, OperationalError | InterfaceError) or (
        isinstance(error, Error) and get_sqlstate(error) == READ_ONLY_SQLSTATE
    ):
        text = str(error).lower()
        if "disk is full" in text or get_sqlstate(error) == "53100":
            return _("The server's disk is full.")
        if "readonly" in text or get_sqlstate(error) == READ_ONLY_SQLSTATE:
            return _("The server cannot write to its database.")
        return _("The database does not answer.")
    if isinstance(error, OSError):
        if error.errno in FULL_ERRORS:
            return _("The server's disk is full.")
        if error.errno in READ_ONLY_ERRORS:
            return _("The server's disk cannot be written.")
        if error.errno in OPEN_FILES_ERRORS:
            return _("The server has too much to do.")
    return _("The server has too much to do.") if isinstance(error, MemoryError) else ""


def _has_other_tables(error: BaseException) -> bool:
    return isinstance(error, Error) and (
        get_sqlstate(error) in OTHER_TABLES_CODES
        or any(words in str(error) for words in OTHER_TABLES_WORDS)
    )


def get_sqlstate(error: BaseException) -> str:
    """PostgreSQL's code of a database error, else empty."""
    return str(getattr(error.__cause__, "sqlstate", None) or "")


def is_retryable_conflict(error: OperationalError) -> bool:
    """Whether the database chose this transaction as a victim, so that it will do at once what it
    did not do now."""
    return get_sqlstate(error) in {"40P01", "40001"}


def retry_after_seconds() -> int:
    return FIRST_S + round(random.random() * SPREAD_S)
