"""Store uploads, columns and releases in a folder, which machines may share, or in an object store.

All files of an installation go through Django's default storage, which is one of these two
(`ASSAY_STORAGE`). Every file is written once under a unique name and never changed. Files of an
object store may therefore be cached in a local folder while there is room, and a name identifies
the content.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage

IN_USE_SECONDS = 3600
"""Files requested within this time are not evicted from the cache, because a process may be about
to open them."""
SPOOLED_BYTES = 10_000_000
NO_PACKAGE = (
    "ASSAY_STORAGE names an object store, for which django-storages[s3] has to be installed: pip "
    "install 'django-storages[s3]'"
)
CONNECT_SECONDS, READ_SECONDS = 3, 30


class StoredFile(NamedTuple):
    """A file in the file storage. changed_at: seconds since 1970."""

    name: str
    n_bytes: int
    changed_at: float


class FolderStorage(FileSystemStorage):
    """File storage in the folder MEDIA_ROOT."""

    is_cache = False
    """Whether the folder only holds copies."""
    where = "set ASSAY_DATA_DIR to the folder that all machines share, or ASSAY_STORAGE to their object store"

    @property
    def called(self) -> str:
        """Return a description of the storage for display."""
        return str(self.location)

    def place(self, name: str) -> Path:
        """Return the local path at which to write a new file of this name. Its folder exists. Call
        `keep` when the file is complete."""
        path = Path(super().path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def keep(self, name: str) -> None:
        """Store the file that was written at the path returned by `place`."""

    def each(self) -> Iterator[StoredFile]:
        """Yield all stored files, ordered by path, without the folders in which jobs unpack
        uploads."""
        folder = Path(self.location)
        for path in sorted(folder.rglob("*")) if folder.exists() else []:
            with contextlib.suppress(FileNotFoundError):  # deleted in the meantime
                if path.is_file():
                    status = path.stat()
                    yield StoredFile(
                        path.relative_to(folder).as_posix(), status.st_size, status.st_mtime
                    )

    def problem(self) -> str:
        """Return the reason why files cannot be stored here, or an empty string."""
        return find_folder_problem(Path(self.location))


def find_folder_problem(folder: Path) -> str:
    """Return the reason why the folder is not writable, or an empty string."""
    probe = folder / f".probe-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"assay")
        probe.unlink()
    except OSError as error:
        return f"{folder} cannot be written: {error.strerror}"
    return ""


class ObjectStorage(FolderStorage):
    """File storage in a bucket of an S3-compatible object store. MEDIA_ROOT is this machine's
    cache.

    Raises OSError (EREMOTEIO) if the store does not respond.
    """

    is_cache = True
    where = "set ASSAY_STORAGE to the bucket that all machines share"

    @property
    def called(self) -> str:
        return f"the bucket {self.bucket_name}{f'/{self.prefix}' if self.prefix else ''}"

    def __init__(
        self,
        *,
        bucket_name: str,
        prefix: str = "",
        addressing_style: str | None = None,
        cache_bytes: int,
    ) -> None:
        super().__init__()
        self.bucket_name, self.prefix, self.addressing_style, self.cache_bytes = (
            bucket_name,
            prefix,
            addressing_style,
            cache_bytes,
        )

    @cached_property
    def remote(self) -> Any:
        """Return the client of the store.

        Keys and address come from the standard environment variables of S3 clients
        (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL_S3, AWS_REGION, ...).
        """
        try:
            from botocore.config import Config
            from storages.backends.s3 import S3Storage
        except ImportError:
            raise ImproperlyConfigured(NO_PACKAGE) from None
        client = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": 2},
            s3={"addressing_style": self.addressing_style},
        )
        return S3Storage(
            bucket_name=self.bucket_name,
            location=self.prefix,
            client_config=client,
            max_memory_size=SPOOLED_BYTES,
            file_overwrite=True,
        )

    @contextlib.contextmanager
    def _asked(self) -> Iterator[Any]:
        remote = self.remote  # must precede the handlers of the client's package
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield remote
        except (BotoCoreError, ClientError, Boto3Error) as error:
            raise OSError(
                errno.EREMOTEIO, f"the object store is not responding ({error})"
            ) from error

    def path(self, name: str) -> str:
        """Return the path of the file in this machine's cache, downloading it if necessary. Files
        missing in the store do not exist."""
        path = Path(super().path(name))
        if path.exists():
            os.utime(path)
        else:
            self._fetch(name, path)
        return str(path)

    def _fetch(self, name: str, path: Path) -> None:
        part = path.with_name(f"{path.name}.part-{secrets.token_hex(6)}")
        try:
            with self._asked() as remote, remote.open(name, "rb") as source:
                self._make_room(source.size)
                path.parent.mkdir(parents=True, exist_ok=True)
                with part.open("xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            part.replace(path)
        except FileNotFoundError:
            return
        finally:
            part.unlink(missing_ok=True)

    def _make_room(self, n_bytes: int) -> None:
        """Evict the least recently used files until `n_bytes` more fit into the cache."""
        kept = sorted(super().each(), key=lambda one: one.changed_at)
        over, young = (
            sum(one.n_bytes for one in kept) + n_bytes - self.cache_bytes,
            time.time() - IN_USE_SECONDS,
        )
        for one in kept:
            if over <= 0 or one.changed_at > young:
                return
            Path(self.location, one.name).unlink(missing_ok=True)
            over -= one.n_bytes

    def keep(self, name: str) -> None:
        path = Path(super().path(name))
        try:
            with path.open("rb") as source, self._asked() as remote:
                remote.save(name, File(source))
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def _save(self, name: str, content: Any) -> str:
        name = super()._save(name, content)  # type: ignore[misc]
        self.keep(name)
        return name

    def exists(self, name: str) -> bool:
        with self._asked() as remote:
            return bool(remote.exists(name))

    def delete(self, name: str) -> None:
        with self._asked() as remote:
            remote.delete(name)
        Path(super().path(name)).unlink(missing_ok=True)

    def size(self, name: str) -> int:
        with self._asked() as remote:
            return int(remote.size(name))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with self._asked() as remote:
            folders, names = remote.listdir(path)
        return folders, names

    def get_modified_time(self, name: str) -> datetime:
        with self._asked() as remote:
            return remote.get_modified_time(name)  # type: ignore[no-any-return]

    def each(self) -> Iterator[StoredFile]:
        head = f"{self.prefix}/" if self.prefix else ""
        with self._asked() as remote:
            for one in remote.bucket.objects.filter(Prefix=head):
                yield StoredFile(
                    one.key.removeprefix(head), one.size, one.last_modified.timestamp()
                )

    def problem(self) -> str:
        if sentence := super().problem():
            return sentence
        try:
            with self._asked() as remote:
                remote.bucket.meta.client.head_bucket(Bucket=self.bucket_name)
        except OSError as error:
            return f"bucket {self.bucket_name}: {error.strerror}"
        except ImproperlyConfigured as error:
            return str(error)
        return ""


file_storage = cast(FolderStorage, default_storage)
"""The installation's file storage."""
