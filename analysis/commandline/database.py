"""Database access of commands that read files. Django is imported only if --campaign is given."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import django
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from assay.cli.base import BadInput


def open_database() -> None:
    """Set up Django for database queries. Raises BadInput if that is not possible."""
    try:
        if not apps.ready:
            django.setup()
    except ImproperlyConfigured as error:
        raise BadInput(f"assay: {error}") from None


def database_error_message(error: Exception) -> str:
    return (
        f"cannot read the database ({error}). `up` or `migrate` creates one; ASSAY_DATA_DIR "
        "and ASSAY_DATABASE_URL set its location"
    )


def load_campaign_reader() -> Any:
    """Import the module that reads a campaign instead of files. Raises BadInput if there is no
    database."""
    open_database()
    return importlib.import_module("analysis.commandline.stored_campaigns")


@contextmanager
def open_database_snapshot() -> Iterator[None]:
    """Open a consistent snapshot of the database. Raises BadInput if the database cannot be
    reached."""
    open_database()
    from django.db import DatabaseError

    from pooling.platform.snapshot import snapshot

    opened = snapshot()
    try:
        opened.__enter__()
    except DatabaseError as error:
        raise BadInput(database_error_message(error)) from None
    try:
        yield
    finally:
        with suppress(DatabaseError):
            # if the connection was lost during the computation, the result is still complete
            opened.__exit__(None, None, None)
