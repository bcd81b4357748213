"""Store runs and qrels as columns in one zip file of numpy arrays (npz), without pickled
objects."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.formats.errors import FormatError
from assay.formats.streams import Source, display_name

STORAGE_VERSION = 1


def compute_digest(kind: str, about: dict[str, Any], columns: dict[str, NDArray]) -> str:
    """Return the sha256 (hexadecimal) of the topics and all columns. Equal content gives an equal
    digest."""
    total = hashlib.sha256(
        json.dumps([kind, about.get("tag"), about["topics"]], ensure_ascii=False).encode("utf-8")
    )
    for name in sorted(columns):
        column = np.ascontiguousarray(columns[name])
        total.update(f"{name} {column.dtype.str} {column.shape}\n".encode())
        total.update(column.view(np.uint8).reshape(-1).data if column.size else b"")
    return total.hexdigest()


def save_columns(
    path: Source, *, kind: str, about: dict[str, Any], columns: dict[str, NDArray]
) -> str:
    """Write the columns. Returns their digest."""
    checksum = compute_digest(kind, about, columns)
    text = json.dumps(
        {"kind": kind, "version": STORAGE_VERSION, "digest": checksum, **about}, ensure_ascii=False
    )
    np.savez(path, about=np.frombuffer(text.encode("utf-8"), np.uint8), **columns)  # type: ignore[arg-type]
    return checksum


def load_columns(
    path: Source, *, kind: str, names: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Load what `save_columns` wrote. Returns (about, columns)."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = json.loads(archive["about"].tobytes().decode("utf-8"))
            columns = {name: archive[name] for name in names}
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError.single(
            display_name(path),
            None,
            f"not a stored {kind} ({error})",
            "a file stored by Assay",
        ) from None
    if about.get("kind") != kind:
        raise FormatError.single(
            display_name(path), None, f"a stored {about.get('kind')}", f"a stored {kind}"
        )
    return about, columns
