"""Read the files in tar and zip archives one after the other, in bounded memory.

The path of a member is never used as a path: only its last part names it. `unpack_archive` writes
to disk under names that its caller chooses.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from assay.formats.errors import FormatError
from assay.formats.streams import MAX_DOCUMENT_BYTES, PeekableStream

BLOCK_BYTES = 512
MAX_NAME_BYTES = 1 << 16
COPY_BYTES = 1 << 20
"""Number of bytes unpacked at a time."""
MAX_LIST_BYTES = 1 << 26
"""Maximum size in bytes of a zip archive's directory, which is read whole before anything else. It
is enough for about half a million files."""

ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)
"""Exceptions raised while reading a damaged zip archive. The last two mean an unsupported
compression method or an encrypted member."""


def make_damaged_archive_error(
    file_name: str, error: Exception, expected: str = "a complete archive"
) -> FormatError:
    return FormatError.single(
        file_name, None, f"the zip archive is damaged ({error or 'it ends too early'})", expected
    )


class ArchiveMember(NamedTuple):
    """A file in a tar or zip archive.

    name: last part of the path, printable. number: position in the archive, from 1.
    """

    name: str
    content: bytes
    number: int


def safe_name(path: str) -> str:
    """Return the last part of a path without control characters, or an empty string if nothing is
    left."""
    last = PurePosixPath(path.replace("\\", "/")).name
    return "" if last in (".", "..") else "".join(c for c in last if c.isprintable())


class _BoundedList:
    """An open file that refuses reads larger than the maximum directory size until its archive is
    open."""

    def __init__(self, file: BinaryIO, file_name: str) -> None:
        self.file, self.file_name, self.opening = file, file_name, True
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if self.opening and size > MAX_LIST_BYTES:
            expected = f"at most {MAX_LIST_BYTES} bytes; a tar archive may have more files"
            raise FormatError.single(
                self.file_name, None, f"the zip archive's list of files has {size} bytes", expected
            )
        return self.file.read(size)


@contextmanager
def open_zip(
    source: str | os.PathLike[str] | BinaryIO, file_name: str
) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive and read its directory.

    Raises FormatError if the directory is larger than MAX_LIST_BYTES, and zipfile's own exceptions
    for other faults.
    """
    with (
        open(source, "rb")
        if isinstance(source, (str, os.PathLike))
        else nullcontext(source) as file
    ):
        bound = _BoundedList(file, file_name)
        with zipfile.ZipFile(bound) as archive:  # type: ignore[call-overload]
            bound.opening = False
            yield archive


def is_tar(head: bytes) -> bool:
    return len(head) >= 263 and head[257:262] == b"ustar"


def iterate_tar(stream: PeekableStream) -> Iterator[ArchiveMember]:
    """Yield the regular files of a tar archive. Folders, links and devices are skipped."""
    for path, size, number in _iterate_tar_entries(stream):
        if size > MAX_DOCUMENT_BYTES:
            raise FormatError.single(
                stream.name,
                None,
                f"entry {number} has {size} bytes",
                f"at most {MAX_DOCUMENT_BYTES} bytes per document",
            )
        yield ArchiveMember(safe_name(path), _read_content(stream, size, number), number)


def _iterate_tar_entries(stream: PeekableStream) -> Iterator[tuple[str, int, int]]:
    """Yield (path, size, number) of each regular file of a tar archive.

    The caller must read the content and its padding before it continues.
    """
    number, long_name = 0, ""
    while header := stream.read_exactly(BLOCK_BYTES):
        if len(header) < BLOCK_BYTES:
            raise FormatError.single(
                stream.name, None, "the tar archive is cut off", "a complete archive"
            )
        if header.count(b"\0") == BLOCK_BYTES:
            return
        number += 1
        size = _parse_size(header, stream.name, number)
        kind = header[156:157]
        if kind in (b"L", b"x"):
            if size > MAX_NAME_BYTES:
                raise FormatError.single(
                    stream.name,
                    None,
                    f"entry {number} has a name of {size} bytes",
                    f"at most {MAX_NAME_BYTES} bytes",
                )
            content = _read_content(stream, size, number)
            long_name = (
                _parse_pax_path(content)
                if kind == b"x"
                else content.rstrip(b"\0").decode("utf-8", "replace")
            )
            continue
        if kind not in (b"0", b"\0", b"7"):
            _skip_content(stream, size, number)
            long_name = ""
            continue
        prefix = header[345:500].split(b"\0", 1)[0] if header[257:263] == b"ustar\0" else b""
        path = long_name or (prefix + b"/" + header[:100].split(b"\0", 1)[0]).decode(
            "utf-8", "replace"
        )
        long_name = ""
        yield path, size, number


def unpack_archive(
    source: Path,
    file_name: str,
    *,
    place: Callable[[str], Path | None],
    max_bytes: int | None = None,
    written: Callable[[int], object] | None = None,
) -> None:
    """Copy files from a tar archive (plain or compressed) or zip archive to disk, in bounded
    memory.

    place: maps a member's path to the path to write, or to None to skip the member. Paths in the
    archive are never used themselves. max_bytes: limit on the total unpacked size. written: called
    with the number of bytes so far, for progress. It may raise to stop.
    """
    with open(source, "rb") as file:
        zipped = file.read(4) == b"PK\x03\x04"
    if zipped:
        _unpack_zip(source, file_name, place, max_bytes, written or (lambda n: None))
        return
    stream = PeekableStream(source, name=file_name, max_bytes=max_bytes)
    if not is_tar(stream.head):
        raise FormatError.single(
            file_name, None, "not an archive", "a zip or tar archive of the set's files"
        )
    done = 0
    for path, size, number in _iterate_tar_entries(stream):
        target, left = place(path), size
        with open(target or os.devnull, "wb") as out:
            while left and (part := stream.read(min(left, COPY_BYTES))):
                out.write(part)
                left -= len(part)
                done += len(part)
                (written or (lambda n: None))(done)
        if left:
            raise FormatError.single(
                file_name,
                None,
                f"the tar archive is cut off in entry {number}",
                "a complete archive",
            )
        _skip_content(stream, -size % BLOCK_BYTES, number, padding=True)


def _unpack_zip(
    source: Path,
    file_name: str,
    place: Callable[[str], Path | None],
    max_bytes: int | None,
    written: Callable[[int], object],
) -> None:
    done = 0
    try:
        with open_zip(source, file_name) as archive:
            for number, info in enumerate(archive.infolist(), 1):
                target = None if info.is_dir() else place(info.filename)
                if target is None:
                    continue
                if info.flag_bits & 1:
                    raise FormatError.single(
                        file_name,
                        None,
                        f"entry {number} is encrypted",
                        "an archive without password",
                    )
                with archive.open(info) as member, open(target, "wb") as out:
                    while part := member.read(COPY_BYTES):
                        done += len(part)
                        if max_bytes is not None and done > max_bytes:
                            raise FormatError.single(
                                file_name,
                                None,
                                f"more than {max_bytes} bytes when unpacked",
                                f"at most {max_bytes} bytes",
                            )
                        out.write(part)
                        written(done)
    except (*ARCHIVE_ERRORS, ValueError) as error:
        raise make_damaged_archive_error(file_name, error) from None


def _parse_size(header: bytes, name: str, number: int) -> int:
    field = header[124:136]
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise FormatError.single(
            name, None, f"entry {number} of the tar archive is damaged", "a complete archive"
        ) from None


def _read_content(stream: PeekableStream, size: int, number: int) -> bytes:
    content = stream.read_exactly(size)
    _skip_content(stream, -size % BLOCK_BYTES, number, padding=True)
    if len(content) < size:
        raise FormatError.single(
            stream.name, None, f"the tar archive is cut off in entry {number}", "a complete archive"
        )
    return content


def _skip_content(stream: PeekableStream, size: int, number: int, *, padding: bool = False) -> None:
    size += 0 if padding else -size % BLOCK_BYTES
    while size > 0 and (part := stream.read(min(size, 1 << 20))):
        size -= len(part)


def _parse_pax_path(content: bytes) -> str:
    """Return the path in a pax header, whose records are `length key=value`."""
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


def iterate_zip(
    path: str | Path, file_name: str, *, max_bytes: int | None = None
) -> Iterator[ArchiveMember]:
    """Yield the regular files of a zip archive. Encrypted files are refused."""
    total = 0
    try:
        with open_zip(path, file_name) as archive:
            for number, info in enumerate(archive.infolist(), 1):
                if info.is_dir():
                    continue
                if info.flag_bits & 1:
                    raise FormatError.single(
                        file_name,
                        None,
                        f"entry {number} is encrypted",
                        "an archive without password",
                    )
                with archive.open(info) as member:
                    content = member.read(MAX_DOCUMENT_BYTES + 1)
                if len(content) > MAX_DOCUMENT_BYTES:
                    raise FormatError.single(
                        file_name,
                        None,
                        f"entry {number} has more than {MAX_DOCUMENT_BYTES} bytes",
                        "documents up to this size",
                    )
                total += len(content)
                if max_bytes is not None and total > max_bytes:
                    raise FormatError.single(
                        file_name,
                        None,
                        f"more than {max_bytes} bytes when unpacked",
                        f"at most {max_bytes} bytes",
                    )
                yield ArchiveMember(safe_name(info.filename), content, number)
    except (*ARCHIVE_ERRORS, ValueError) as error:
        raise make_damaged_archive_error(file_name, error) from None
