"""Open untrusted files, plain or compressed (detected by content), in bounded memory, with errors
that name the file.

    iterate_pieces(source)   unpacked bytes as they are read
    iterate_blocks(source)   whole lines as bytes: UTF-8, without byte order mark, line ends LF
    iterate_lines(source)    (line number, text)
    read_json(stream)        a whole JSON file

Truncated or damaged archives, an unpacked size or a line beyond its limit, NUL bytes and text that
is not UTF-8 raise FormatError.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from assay.formats.errors import FormatError
from assay.formats.packaged import dataset_id

Source = str | os.PathLike[str] | BinaryIO | io.RawIOBase
"""A path, `-` for standard input, or an open binary file."""

PIECE_BYTES = 1 << 19
"""Number of bytes unpacked at a time. Arrays over the lines of one piece stay in the processor's
cache."""

MAX_LINE_BYTES = 1 << 20
"""Maximum length in bytes of a line in tables."""

MAX_DOCUMENT_BYTES = 1 << 26
"""Maximum length in bytes of a line in files with texts."""

MAX_JSON_BYTES = 4 * MAX_DOCUMENT_BYTES
"""Maximum size in bytes of a JSON file that is read whole."""

MAX_DICTIONARY_BYTES = 1 << 28
"""Maximum memory in bytes that an archive may request for its dictionary."""


class UnreadableKind(NamedTuple):
    """A kind of file that is not text. problem: what it is. expected: what to upload instead."""

    problem: str
    expected: str


ZIP_ARCHIVE = UnreadableKind(
    "a zip archive",
    (
        "plain text, or one file packed by gzip, bzip2, xz or zstandard. Unpack the archive "
        "and upload its files together"
    ),
)
OFFICE_DOCUMENT = UnreadableKind(
    "a spreadsheet or office document",
    "plain text: save it as text with tabs (.tsv) or as CSV UTF-8",
)
PDF_DOCUMENT = UnreadableKind(
    "a PDF",
    "text. Upload the documents as JSONL, as `id<TAB>text`, or as an archive of .txt or .html files",
)


def detect_unreadable(begin: bytes) -> UnreadableKind | None:
    """Return the kind of a file that no text reader can read, detected from its start, or None."""
    if begin.startswith(b"PK\x03\x04"):
        return (
            OFFICE_DOCUMENT
            if b"[Content_Types].xml" in begin[:4096] or begin[30:38] == b"mimetype"
            else ZIP_ARCHIVE
        )
    if begin.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return OFFICE_DOCUMENT
    return PDF_DOCUMENT if begin.startswith(b"%PDF-") else None


def display_name(source: Source, name: str | None = None) -> str:
    """Return the file's name for messages: `name`, or the path as given."""
    if name is not None:
        return name
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "upload"))


def get_stored_size(source: Source) -> int:
    """Return the size of a file on disk (the compressed size for archives), or 0 if unknown."""
    if isinstance(source, (str, os.PathLike)) and os.path.isfile(source):
        return os.path.getsize(source)
    return 0


def strip_suffixes(path: str | os.PathLike[str]) -> str:
    """Return the file name without folder, compression and format suffix, or the ID in
    `irds:ID`."""
    if identifier := dataset_id(path):
        return identifier
    name = Path(path).name
    for suffix in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(suffix) if name != suffix else name
    for suffix in (
        ".txt",
        ".tsv",
        ".csv",
        ".qrels",
        ".qrel",
        ".run",
        ".prel",
        ".prels",
        ".jsonl",
        ".json",
        ".npz",
    ):
        name = name.removesuffix(suffix) if name != suffix else name
    return name


def iterate_pieces(
    source: Source, *, name: str | None = None, max_bytes: int | None = None
) -> Iterator[bytes]:
    """Yield the unpacked bytes, at most PIECE_BYTES at a time and at most `max_bytes` in total."""
    name = display_name(source, name)
    if isinstance(source, (str, os.PathLike)):
        if os.fspath(source) == "-":
            yield from _iterate_bounded(_iterate_unpacked(sys.stdin.buffer, name), name, max_bytes)
            return
        with open(source, "rb", buffering=0) as stream:
            yield from _iterate_bounded(_iterate_unpacked(stream, name), name, max_bytes)
    else:
        yield from _iterate_bounded(_iterate_unpacked(source, name), name, max_bytes)


def _iterate_bounded(stream: Iterator[bytes], name: str, max_bytes: int | None) -> Iterator[bytes]:
    total = 0
    for piece in stream:
        total += len(piece)
        if max_bytes is not None and total > max_bytes:
            raise FormatError.single(
                name,
                None,
                f"more than {max_bytes} bytes when unpacked",
                f"at most {max_bytes} bytes",
            )
        yield piece


def _read_bytes(stream: BinaryIO | io.RawIOBase, size: int) -> bytes:
    return stream.read(size) or b""


def _iterate_unpacked(stream: Any, name: str) -> Iterator[bytes]:
    first = _read_bytes(stream, PIECE_BYTES)
    while len(first) < 10 and (more := _read_bytes(stream, PIECE_BYTES)):
        first += more
    if first.startswith(b"\x1f\x8b"):
        yield from _iterate_members(
            stream, first, name, "gzip", lambda: _ZlibDecompressor(), (zlib.error,)
        )
    elif first[:3] == b"BZh" and first[4:10] == b"1AY&SY":
        yield from _iterate_members(
            stream, first, name, "bzip2", bz2.BZ2Decompressor, (OSError, ValueError)
        )
    elif first.startswith(b"\xfd7zXZ\x00"):
        yield from _iterate_members(
            stream,
            first,
            name,
            "xz",
            lambda: lzma.LZMADecompressor(memlimit=MAX_DICTIONARY_BYTES),
            (lzma.LZMAError,),
        )
    elif first.startswith(b"\x28\xb5\x2f\xfd"):
        from zstandard import (
            ZstdError,
        )  # imported here because few files need it and every command reads files

        yield from _iterate_members(
            stream, first, name, "zstandard", lambda: _ZstdDecompressor(), (ZstdError,)
        )
    else:
        if what := detect_unreadable(first):
            raise FormatError.single(name, None, what.problem, what.expected)
        if first.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise FormatError.single(name, 1, "text in UTF-16", "UTF-8")
        while first:
            yield first
            first = _read_bytes(stream, PIECE_BYTES)


class _ZlibDecompressor:
    """zlib's decompressor with the interface of bz2's and lzma's."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._inner.decompress(self._waiting + data, max_length)
        self._waiting = self._inner.unconsumed_tail
        return out


class _ZstdDecompressor:
    """zstandard's decompressor with the interface of bz2's and lzma's. It unpacks all of its input,
    so it is fed small pieces."""

    MAX_FED_BYTES = 512

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor(
            max_window_size=MAX_DICTIONARY_BYTES
        ).decompressobj()
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + self._waiting

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        waiting = memoryview(self._waiting + data)
        out, size, at = [], 0, 0
        while at < len(waiting) and size < max_length and not self._inner.eof:
            out.append(self._inner.decompress(waiting[at : at + self.MAX_FED_BYTES]))
            size += len(out[-1])
            at += self.MAX_FED_BYTES
        self._waiting = bytes(waiting[at:])
        return b"".join(out)


def _iterate_members(
    stream: Any, first: bytes, name: str, kind: str, make: Any, errors: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    """Yield the content of an archive with one or more members. Raises FormatError if the file ends
    inside a member."""
    waiting, unpacker, line = first, make(), 1
    try:
        while True:
            if unpacker.eof:
                waiting = (
                    unpacker.unused_data.lstrip(b"\0")
                    if kind in ("gzip", "xz")
                    else unpacker.unused_data
                )
                while not waiting:
                    waiting = _read_bytes(stream, PIECE_BYTES)
                    if not waiting:
                        return
                    if kind in ("gzip", "xz"):
                        waiting = waiting.lstrip(b"\0")
                unpacker = make()
            elif unpacker.needs_input and not waiting:
                waiting = _read_bytes(stream, PIECE_BYTES)
                if not waiting:
                    raise FormatError.single(
                        name, line, f"the {kind} archive is cut off", "a complete archive"
                    )
            out = unpacker.decompress(waiting, PIECE_BYTES)
            waiting = b""
            for at in range(0, len(out), PIECE_BYTES):
                yield out if len(out) <= PIECE_BYTES else out[at : at + PIECE_BYTES]
            line += count_lines(out)
    except errors as error:
        raise FormatError.single(
            name, line, f"the {kind} archive is damaged ({error})", "a complete archive"
        ) from None


def iterate_blocks(
    source: Source,
    *,
    name: str | None = None,
    max_bytes: int | None = None,
    max_line: int = MAX_LINE_BYTES,
    size: int = PIECE_BYTES,
) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number of the first line, number of lines, whole lines). Every line ends with LF,
    including the last one.

    `max_line` and `size` bound the memory. A line longer than `max_line` bytes is refused without
    reading its rest.
    """
    name = display_name(source, name)
    line, carry, waiting, unfinished = 1, [], 0, 0
    for piece in iterate_pieces(source, name=name, max_bytes=max_bytes):
        carry.append(piece)
        waiting += len(piece)
        end = piece.rfind(b"\n") + 1
        unfinished = len(piece) - end if end else unfinished + len(piece)
        if unfinished > max_line:
            at = line + sum(part.count(b"\n") for part in carry)
            raise FormatError.single(
                name, at, "the line is too long", f"at most {max_line} bytes per line"
            )
        if waiting < size or unfinished == waiting:
            continue
        whole = b"".join(carry)
        block = whole[: waiting - unfinished]
        carry, waiting = [whole[waiting - unfinished :]], unfinished
        n_lines = count_lines(block)
        yield line, n_lines, _decode_block(block, line, name)
        line += n_lines
    rest = b"".join(carry)
    if rest:
        if not rest.endswith(b"\n"):
            rest += b"\n"
        yield line, count_lines(rest), _decode_block(rest, line, name)


def count_lines(block: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))


def _decode_block(block: bytes, line: int, name: str) -> bytes:
    if line == 1:
        block = block.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in block:
        at = line + block.count(b"\n", 0, block.index(b"\0"))
        raise FormatError.single(name, at, "a NUL byte", "text")
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            at = line + block.count(b"\n", 0, error.start)
            start = block.rfind(b"\n", 0, error.start) + 1
            text = block[start : block.index(b"\n", error.start)].decode("utf-8", "replace")
            raise FormatError.single(
                name, at, f"a byte that is not UTF-8 (0x{block[error.start]:02x})", "UTF-8", text
            ) from None
    return block.replace(b"\r\n", b"\n") if b"\r" in block else block


def iterate_lines(
    source: Source,
    *,
    name: str | None = None,
    max_bytes: int | None = None,
    max_line: int = MAX_DOCUMENT_BYTES,
) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end)."""
    name = display_name(source, name)
    for number, _, block in iterate_blocks(
        source, name=name, max_bytes=max_bytes, max_line=max_line
    ):
        for offset, raw in enumerate(block[:-1].split(b"\n")):
            if len(raw) > max_line:
                raise FormatError.single(
                    name,
                    number + offset,
                    "the line is too long",
                    f"at most {max_line} bytes per line",
                )
            yield number + offset, raw.decode("utf-8")


class PeekableStream(io.RawIOBase):
    """Stream of unpacked content that can be read from its start after its head was inspected."""

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        max_bytes: int | None = None,
        size: int = 1 << 16,
    ) -> None:
        self.name = display_name(source, name)
        self._pieces = iterate_pieces(source, name=self.name, max_bytes=max_bytes)
        self._waiting = b""
        while len(self._waiting) < size and (piece := next(self._pieces, b"")):
            self._waiting += piece
        self.head = self._waiting[:size].removeprefix(b"\xef\xbb\xbf")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, and at least one unless the content has ended."""
        if size is None or size < 0:
            raise ValueError("content of unknown size is read in parts")
        if not self._waiting:
            self._waiting = next(self._pieces, b"")
        given, self._waiting = self._waiting[:size], self._waiting[size:]
        return given

    def read_exactly(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end of the content."""
        parts = []
        while size and (part := self.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def read_json(stream: PeekableStream, file_name: str) -> Any:
    """Parse a whole JSON file of at most MAX_JSON_BYTES. Errors are raised as FormatError."""
    raw = stream.read_exactly(MAX_JSON_BYTES + 1)
    if len(raw) > MAX_JSON_BYTES:
        raise FormatError.single(
            file_name, None, "the JSON file is too large", f"at most {MAX_JSON_BYTES} bytes"
        )
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError.single(
            file_name, raw.count(b"\n", 0, error.start) + 1, "a byte that is not UTF-8", "UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise FormatError.single(
            file_name, error.lineno, f"invalid JSON ({error.msg})", "valid JSON"
        ) from None
    except (RecursionError, ValueError):
        raise FormatError.single(
            file_name, 1, "JSON nested too deeply or with too long a number", "plain JSON"
        ) from None


def is_valid_id(value: object) -> bool:
    """Return whether a JSON value is a valid ID. JSON can write half of a surrogate pair, which
    neither files nor databases can store."""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        return False
    text = str(value)
    return bool(text.strip()) and (
        text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
    )
