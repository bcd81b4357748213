"""Store runs and qrels as columnar files under new names, and delete them if their row is not
created."""

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
    """Write a columnar file under a new name. Returns (name in the storage, digest)."""
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
    """Write a columnar file for the row that the enclosed block creates. The file is deleted if the
    block raises.

    taken: message of Refused if another row with the same name came first.
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
