"""File storage settings for Django's STORAGES, from one environment variable."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured


def storage_settings(address: str, *, cache_gigabytes: int) -> dict[str, Any]:
    """Return an entry of Django's STORAGES for this address.

    address: empty for the data folder, or s3://BUCKET[/PREFIX][?addressing=path]. Raises
    ImproperlyConfigured.
    """
    if not address:
        return {"BACKEND": "pooling.platform.file_storage.FolderStorage"}
    parts = urlsplit(address)
    style = parse_qs(parts.query).get("addressing", [None])[0]
    if (
        parts.scheme != "s3"
        or not parts.hostname
        or parts.username
        or style not in (None, "path", "virtual")
        or set(parse_qs(parts.query)) - {"addressing"}
    ):
        raise ImproperlyConfigured(
            f"ASSAY_STORAGE={address!r} must be empty (files in ASSAY_DATA_DIR), s3://BUCKET "
            f"or s3://BUCKET/PREFIX, optionally with ?addressing=path"
        )
    options = {
        "bucket_name": parts.netloc,
        "prefix": parts.path.strip("/"),
        "addressing_style": style,
        "cache_bytes": cache_gigabytes * 1_000_000_000,
    }
    return {"BACKEND": "pooling.platform.file_storage.ObjectStorage", "OPTIONS": options}
