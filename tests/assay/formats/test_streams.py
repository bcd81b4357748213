"""Opening files: compressions by content, damage, bounds, encodings."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import tracemalloc
import zlib

import pytest
import zstandard

from assay.formats.errors import FormatError
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.formats.streams import (
    PeekableStream,
    iterate_blocks,
    iterate_lines,
    iterate_pieces,
    strip_suffixes,
)

TEXT = "".join(f"{k} Q0 d{k} 1 {k}.5 t\n" for k in range(20_000)).encode()
PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(content),
}


@pytest.mark.parametrize("kind", PACKERS)
def test_archives_are_opened_by_their_content_whatever_their_name(tmp_path, kind):
    path = tmp_path / "run.txt"
    path.write_bytes(PACKERS[kind](TEXT))
    assert b"".join(iterate_pieces(path)) == TEXT


@pytest.mark.parametrize("kind", PACKERS)
def test_archives_of_several_members_are_read_as_one(kind):
    pack = PACKERS[kind]
    assert (
        b"".join(
            iterate_pieces(
                io.BytesIO(pack(b"1\n") + pack(b"") + pack(b"2\n" * 100_000) + pack(b"3\n"))
            )
        )
        == b"1\n" + b"2\n" * 100_000 + b"3\n"
    )


def test_a_plain_file_called_gz_is_read_as_it_is(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(TEXT)
    assert b"".join(iterate_pieces(path)) == TEXT


def test_padding_after_a_gzip_archive_is_no_damage():
    assert b"".join(iterate_pieces(io.BytesIO(gzip.compress(b"x\n") + b"\0" * 600))) == b"x\n"


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9, 0.999])
def test_an_archive_that_is_cut_off_is_a_format_error(kind, share):
    packed = PACKERS[kind](TEXT)
    with pytest.raises(
        FormatError,
        match=f"x.run:[0-9]+: the {kind} archive is cut off, expected a complete archive",
    ):
        read_run(io.BytesIO(packed[: max(int(len(packed) * share), 11)]), name="x.run")


@pytest.mark.parametrize("kind", PACKERS)
def test_a_damaged_archive_is_a_format_error(kind):
    packed = bytearray(PACKERS[kind](os.urandom(50_000).hex().encode()))
    packed[len(packed) // 2] ^= 0xFF
    packed[len(packed) // 2 + 1] ^= 0xFF
    with pytest.raises(FormatError):
        list(iterate_pieces(io.BytesIO(bytes(packed)), name="x"))


def test_rubbish_after_an_archive_is_a_format_error():
    with pytest.raises(FormatError, match="damaged"):
        list(
            iterate_pieces(
                io.BytesIO(gzip.compress(b"x\n") + b"rubbish that is no archive"), name="x"
            )
        )


def bomb(kind: str, n_bytes: int) -> bytes:
    """An archive of line ends."""
    block = b"\n" * (1 << 20)
    if kind == "gzip":
        packer = zlib.compressobj(9, wbits=31)
        return b"".join(packer.compress(block) for _ in range(n_bytes >> 20)) + packer.flush()
    if kind == "zstandard":
        packer = zstandard.ZstdCompressor(level=3).compressobj()
        return b"".join(packer.compress(block) for _ in range(n_bytes >> 20)) + packer.flush()
    packer = bz2.BZ2Compressor() if kind == "bzip2" else lzma.LZMACompressor(preset=1)
    return b"".join(packer.compress(block) for _ in range(n_bytes >> 20)) + packer.flush()


@pytest.mark.long
@pytest.mark.parametrize("kind", PACKERS)
def test_an_archive_bomb_is_refused_at_the_bound_and_never_unpacked_whole(kind):
    packed = bomb(kind, 160 << 20)
    assert len(packed) < 300_000
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="more than 50000000 bytes when unpacked"):
            read_run(io.BytesIO(packed), name="bomb", max_bytes=50_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 << 20


class EndlessLine(io.RawIOBase):
    """A line of a gigabyte that nobody has to store."""

    name = "x"

    def __init__(self, n_bytes: int, begin: bytes = b"") -> None:
        self.left, self.begin, self.given = n_bytes, begin, 0

    def read(self, size: int = -1) -> bytes:
        if self.begin:
            begin, self.begin = self.begin, b""
            return begin
        n = min(size, self.left)
        self.left -= n
        self.given += n
        return b"a" * n


@pytest.mark.parametrize("reader", [read_run, read_qrels])
def test_a_line_of_a_gigabyte_is_refused_after_a_few_megabytes(reader):
    line = EndlessLine(1 << 30, b"# first\n# second\n")
    with pytest.raises(
        FormatError, match="x:3: the line is too long, expected at most 1048576 bytes"
    ):
        reader(line)
    assert line.given < 8 << 20


def test_lines_up_to_the_bound_are_read_however_they_are_cut_into_pieces():
    class Drops(io.RawIOBase):
        def __init__(self, content: bytes) -> None:
            self.content = io.BytesIO(content)

        def read(self, size: int = -1) -> bytes:
            return self.content.read(7)

    content = b"".join(b"x" * k + b"\n" for k in (0, 1, 500, 3, 700, 0, 2))
    assert [len(text) for _, text in iterate_lines(Drops(content), max_line=700)] == [
        0,
        1,
        500,
        3,
        700,
        0,
        2,
    ]
    assert (
        b"".join(block for _, _, block in iterate_blocks(Drops(content), max_line=700, size=100))
        == content
    )
    with pytest.raises(FormatError, match=":5: the line is too long, expected at most 600"):
        list(iterate_lines(Drops(content), name="x", max_line=600))


def test_standard_input_is_read_for_a_dash(monkeypatch):
    class Standard:
        buffer = io.BytesIO(gzip.compress(b"1 Q0 d 1 1 t\n"))

    monkeypatch.setattr(sys, "stdin", Standard())
    run = read_run("-")
    assert run.name == "standard input"
    assert len(run) == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf16_is_named_as_such(encoding):
    mark = "\ufeff".encode(encoding)
    with pytest.raises(FormatError, match="text in UTF-16, expected UTF-8"):
        read_run(io.BytesIO(mark + "1 Q0 d 1 1 t\n".encode(encoding)))


def test_a_zip_archive_where_a_table_is_expected_is_refused():
    with pytest.raises(FormatError, match="a zip archive, expected plain text"):
        read_run(io.BytesIO(b"PK\x03\x04" + b"x" * 100))


def test_a_missing_file_is_an_operating_system_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "none")


def test_a_path_in_a_file_name_is_a_name_and_nothing_more(tmp_path):
    with pytest.raises(FormatError, match=r"^\.\./\.\./etc/passwd:1: 1 column"):
        read_run(io.BytesIO(b"x\n"), name="../../etc/passwd")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/b/qrels.txt.gz", "qrels"),
        ("x.run", "x"),
        ("x.tsv.zst", "x"),
        (".txt", ".txt"),
        ("qrels.covid-round1.txt", "qrels.covid-round1"),
    ],
)
def test_names_lose_folder_compression_and_format(path, name):
    assert strip_suffixes(path) == name


def test_peeked_content_is_read_from_its_begin():
    stream = PeekableStream(io.BytesIO(b"\xef\xbb\xbf" + TEXT), size=10)
    assert stream.head.startswith(TEXT[:7])
    assert [n for n, _ in iterate_lines(stream)][-1] == 20_000
