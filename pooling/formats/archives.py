"""The files inside tar and zip archives, one after the other, in bounded memory and without ever writing to disk.

A member's path is never used as a path: only its last part names it.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pooling.formats.errors import FormatError
from pooling.formats.opening import LONGEST_DOCUMENT, Peeked

BLOCK = 512
LONGEST_NAME = 1 << 16


class Member(NamedTuple):
    """name: the last part of the path, printable. number: position in the archive, from 1."""

    name: str
    content: bytes
    number: int


def safe_name(path: str) -> str:
    """The last part of a path, without control characters; `` where nothing is left."""
    last = PurePosixPath(path.replace("\\", "/")).name
    return "" if last in (".", "..") else "".join(c for c in last if c.isprintable())


def is_tar(head: bytes) -> bool:
    return len(head) >= 263 and head[257:262] == b"ustar"


def tar_members(stream: Peeked) -> Iterator[Member]:
    """Regular files of a tar archive; folders, links and devices are passed over."""
    number, long_name = 0, ""
    while header := stream.exactly(BLOCK):
        if len(header) < BLOCK:
            raise FormatError.single(stream.name, None, "the tar archive is cut off", "a whole archive")
        if header.count(b"\0") == BLOCK:
            return
        number += 1
        size = _size(header, stream.name, number)
        kind = header[156:157]
        if kind in (b"L", b"x"):
            if size > LONGEST_NAME:
                raise FormatError.single(stream.name, None, f"entry {number} has a name of {size} bytes", "shorter names")
            content = _content(stream, size, number)
            long_name = _pax_path(content) if kind == b"x" else content.rstrip(b"\0").decode("utf-8", "replace")
            continue
        if kind not in (b"0", b"\0", b"7"):
            _skip(stream, size, number)
            long_name = ""
            continue
        prefix = header[345:500].split(b"\0", 1)[0] if header[257:263] == b"ustar\0" else b""
        path = long_name or (prefix + b"/" + header[:100].split(b"\0", 1)[0]).decode("utf-8", "replace")
        long_name = ""
        if size > LONGEST_DOCUMENT:
            raise FormatError.single(stream.name, None, f"entry {number} has {size} bytes", f"at most {LONGEST_DOCUMENT} bytes a document")
        yield Member(safe_name(path), _content(stream, size, number), number)


def _size(header: bytes, name: str, number: int) -> int:
    field = header[124:136]
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise FormatError.single(name, None, f"entry {number} of the tar archive is damaged", "a whole archive") from None


def _content(stream: Peeked, size: int, number: int) -> bytes:
    content = stream.exactly(size)
    _skip(stream, -size % BLOCK, number, padding=True)
    if len(content) < size:
        raise FormatError.single(stream.name, None, f"the tar archive is cut off in entry {number}", "a whole archive")
    return content


def _skip(stream: Peeked, size: int, number: int, *, padding: bool = False) -> None:
    size += 0 if padding else -size % BLOCK
    while size > 0 and (part := stream.read(min(size, 1 << 20))):
        size -= len(part)


def _pax_path(content: bytes) -> str:
    """The path in a pax header: records `length key=value`."""
    at = 0
    while at < len(content):
        length, _, _ = content[at : at + 20].partition(b" ")
        if not length.isdigit() or int(length) == 0:
            return ""
        record = content[at : at + int(length)]
        key, _, value = record[len(length) + 1 : -1].partition(b"=")
        if key == b"path":
            return value.decode("utf-8", "replace")
        at += int(length)
    return ""


def zip_members(path: str | Path, called: str, *, max_bytes: int | None = None) -> Iterator[Member]:
    """Regular files of a zip archive; encrypted ones are refused."""
    total = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for number, info in enumerate(archive.infolist(), 1):
                if info.is_dir():
                    continue
                if info.flag_bits & 1:
                    raise FormatError.single(called, None, f"entry {number} is encrypted", "an archive without password")
                with archive.open(info) as member:
                    content = member.read(LONGEST_DOCUMENT + 1)
                if len(content) > LONGEST_DOCUMENT:
                    raise FormatError.single(called, None, f"entry {number} has more than {LONGEST_DOCUMENT} bytes", "smaller documents")
                total += len(content)
                if max_bytes is not None and total > max_bytes:
                    raise FormatError.single(called, None, f"more than {max_bytes} bytes when unpacked", f"at most {max_bytes} bytes")
                yield Member(safe_name(info.filename), content, number)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise FormatError.single(called, None, f"the zip archive is damaged ({error})", "a whole archive") from None
