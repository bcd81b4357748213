"""Runs and qrels as columnar files of the project's storage: written under fresh names, and gone
again where their row is not made."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import IntegrityError
from django.utils import timezone

from pooling.platform.file_storage import file_storage
from pooling.platform.jobs import Refused


def store_columns(folder: str, write: Callable[[Path], str]) -> tuple[str, str]:
    """Write a columnar file under a fresh name. -> (name in the storage, digest)"""
    name = file_storage.generate_filename(
        timezone.now().strftime(f"{folder}/%Y/%m/{uuid.uuid4().hex}.npz")
    )
    path = file_storage.place(name)
    try:
        digest = write(path)
        file_storage.keep(name)
        return name, digest
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def store_columns_for_row(
    folder: str, write: Callable[[Path], str], *, taken: str
) -> Iterator[tuple[str, str]]:
    """The same for a block that makes the file's row: the file is deleted where the block raises.

    taken: what is Refused where another row with the same name has come first.
    """
    name, digest = store_columns(folder, write)
    try:
        yield name, digest
    except IntegrityError:
        file_storage.delete(name)
        raise Refused(taken) from None
    except BaseException:
        file_storage.delete(name)
        raise
