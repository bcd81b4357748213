"""Writing of reproducible zip files: equal parts produce equal bytes. Times and permissions are
fixed, and parts are sorted by name."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import IO, BinaryIO, Protocol

ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
PartWriter = Callable[[IO[str]], object]


class LastPartWriter(Protocol):
    """A function that writes a part that depends on the other parts. digests: their SHA-256 digests
    by name."""

    def __call__(self, text: IO[str], *, digests: Mapping[str, str]) -> object: ...


class _HashingWriter(io.RawIOBase):
    """A writer that forwards bytes and computes their digest."""

    def __init__(self, target: IO[bytes]) -> None:
        self.target, self.sum = target, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.sum.update(data)
        return self.target.write(data)


def write_zip(
    out: BinaryIO,
    parts: Mapping[str, PartWriter],
    *,
    last: Mapping[str, LastPartWriter] = MappingProxyType({}),
    step: Callable[[str], object] = lambda name: None,
) -> None:
    """Write a reproducible zip file. Each part's function writes its text. last: parts written
    after all others, in this order. step: called with each name before it is written."""
    digests: dict[str, str] = {}
    with zipfile.ZipFile(out, "w") as archive:
        for name in sorted(parts):
            step(name)
            digests[name] = _add_part(archive, name, parts[name])
        for name, write in last.items():
            step(name)
            earlier = dict(sorted(digests.items()))
            digests[name] = _add_part(archive, name, partial(write, digests=earlier))


def _add_part(archive: zipfile.ZipFile, name: str, write: PartWriter) -> str:
    info = zipfile.ZipInfo(name, ZIP_EPOCH)
    info.compress_type, info.create_system, info.external_attr = (
        zipfile.ZIP_DEFLATED,
        3,
        0o644 << 16,
    )
    with archive.open(info, "w", force_zip64=True) as member:
        hashed = _HashingWriter(member)
        buffered = io.BufferedWriter(hashed, 1 << 18)
        text = io.TextIOWrapper(buffered, encoding="utf-8", newline="\n", write_through=True)
        write(text)
        text.flush()
        text.detach()
        buffered.flush()
        buffered.detach()
    return hashed.sum.hexdigest()
