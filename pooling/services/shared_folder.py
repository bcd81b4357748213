"""Check that this machine sees the files that the database refers to, because workers and web
servers share one data folder."""

from __future__ import annotations

from pooling.models import DocumentFile, Qrels, Run, Upload
from pooling.platform.file_storage import file_storage

N_CHECKED = 3
"""Number of newest files of each kind that are checked. One may be missing, but not all."""


def missing_files_message() -> str:
    """Return a message if none of the newest files exists, otherwise an empty string, also if there
    are no files yet."""
    names = [
        name
        for model, field in (
            (Run, "columns"),
            (Qrels, "columns"),
            (DocumentFile, "file"),
            (Upload, "file"),
        )
        for name in model._default_manager.order_by("-pk").values_list(field, flat=True)[:N_CHECKED]
        if name
    ]
    if not names or any(file_storage.exists(name) for name in names):
        return ""
    return (
        f"this machine does not see the files of the installation (for example {names[0]}): "
        + file_storage.where
    )
