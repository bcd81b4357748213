"""The database for commands on files that meet --campaign: imported only then."""

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
    """Django, ready for queries. Raises BadInput."""
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
    """The module that reads campaigns in the place of files. Raises BadInput."""
    open_database()
    return importlib.import_module("analysis.commandline.stored_campaigns")


@contextmanager
def open_database_snapshot() -> Iterator[None]:
    """The database as of one moment. Raises BadInput where it cannot be reached."""
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
        with suppress(DatabaseError):  # it went away while the answer was computed, which is there
            opened.__exit__(None, None, None)
