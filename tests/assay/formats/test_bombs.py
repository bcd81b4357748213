"""Archives and markup that are small and would fill memory or disk, or that name places outside:
refused with the bound that they break."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.publishing.release.reading import open_release
from assay.formats.archives import MAX_LIST_BYTES, iterate_zip, unpack_archive
from assay.formats.clicks import find_packed_clicks
from assay.formats.detect import FileKind, detect_kind
from assay.formats.documents import read_documents
from assay.formats.errors import FormatError
from assay.formats.topics import read_topics

MIB = 1 << 20


def unpacked(
    path: Path,
    *,
    max_bytes: int | None = None,
    place: Callable[[str], Path | None] = lambda name: None,
) -> None:
    unpack_archive(path, path.name, place=place, max_bytes=max_bytes)


def released(path: Path) -> None:
    with open_release(path, name=path.name):
        pass


def zip_with_long_list(path: Path, n_bytes: int) -> Path:
    """An archive that says its list of files has so many bytes, and has them (a sparse file: nobody
    stores them)."""
    with open(path, "wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(4 + n_bytes)
        file.seek(4 + n_bytes)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, n_bytes, 4, 0))
    return path


DOORS = {
    "documents": lambda path: list(read_documents(path)),
    "sets": unpacked,
    "releases": released,
    "members": lambda p: list(iterate_zip(p, "x")),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_zip_archive_of_too_many_files_is_refused_before_its_list_is_read(door, tmp_path):
    path = zip_with_long_list(tmp_path / "many.zip", MAX_LIST_BYTES + 1)
    tracemalloc.start()
    try:
        with pytest.raises(
            FormatError,
            match=r"the zip archive's list of files has 67108865 bytes, expected at most 67108864 bytes; a tar archive",
        ):
            DOORS[door](path)
        assert tracemalloc.get_traced_memory()[1] < 10 * MIB
    finally:
        tracemalloc.stop()


def test_what_such_an_archive_is_is_not_guessed(tmp_path):
    path = zip_with_long_list(tmp_path / "many.zip", MAX_LIST_BYTES + 1)
    assert find_packed_clicks(path) is None
    assert detect_kind(path) is FileKind.UNKNOWN


def test_a_list_at_the_bound_is_looked_at(tmp_path):
    with pytest.raises(FormatError, match="damaged"):
        unpacked(zip_with_long_list(tmp_path / "many.zip", MAX_LIST_BYTES))


def overlapping_zip(path: Path, n_names: int) -> Path:
    """One packed mebibyte under many names: the files of a list may lie over each other."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("000.txt", b"\n" * MIB)
    whole = out.getvalue()
    at = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry = whole[at:end]
    entries = b"".join(entry.replace(b"000.txt", b"%03d.txt" % number) for number in range(n_names))
    path.write_bytes(
        whole[:at]
        + entries
        + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n_names, n_names, len(entries), at, 0)
    )
    return path


def test_files_that_lie_over_each_other_are_no_way_around_the_bound(tmp_path):
    path = overlapping_zip(tmp_path / "over.zip", 900)
    assert path.stat().st_size < 60_000
    with pytest.raises(FormatError, match=r"damaged|more than 20000000 bytes when unpacked"):
        list(read_documents(path, max_bytes=20_000_000))
    target = tmp_path / "out"
    with pytest.raises(FormatError, match=r"damaged|more than 20000000 bytes when unpacked"):
        unpacked(path, max_bytes=20_000_000, place=lambda name: target)
    assert target.stat().st_size <= 20_000_000


def tar_of(path: Path, names: list[str], content: bytes) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_a_packed_tar_is_unpacked_to_the_bound_and_no_further(tmp_path):
    path = tar_of(tmp_path / "bomb.tar.gz", [f"{number}.txt" for number in range(60)], b" " * MIB)
    assert path.stat().st_size < 200_000
    with pytest.raises(FormatError, match="more than 20000000 bytes when unpacked"):
        list(read_documents(path, max_bytes=20_000_000))
    written = []

    def place(name: str) -> Path:
        written.append(tmp_path / f"part{len(written)}")
        return written[-1]

    with pytest.raises(FormatError, match="more than 20000000 bytes when unpacked"):
        unpacked(path, max_bytes=20_000_000, place=place)
    assert sum(part.stat().st_size for part in written) <= 20_000_000


def test_headers_without_content_are_counted_too(tmp_path):
    member = tarfile.TarInfo("folder")
    member.type = tarfile.DIRTYPE
    path = tmp_path / "folders.tar.gz"
    path.write_bytes(gzip.compress(member.tobuf(tarfile.USTAR_FORMAT) * 50_000, 6))
    assert path.stat().st_size < 200_000
    with pytest.raises(FormatError, match="more than 20000000 bytes when unpacked"):
        list(read_documents(path, max_bytes=20_000_000))


@pytest.mark.parametrize(
    "name", ["../../out.txt", "/out.txt", "a/../../../out.txt", "..\\..\\out.txt", "C:\\out.txt"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_are_never_places(name, kind, tmp_path):
    outer = tmp_path / "outer"
    inner = outer / "a" / "b"
    inner.mkdir(parents=True)
    if kind == "tar":
        path = tar_of(tmp_path / "x.tar.gz", [name], b"text\n")
    else:
        path = tmp_path / "x.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, "text\n")
    asked = []

    def place(given: str) -> Path:
        asked.append(given)
        return inner / "part"

    unpacked(path, place=place)
    assert len(asked) == 1
    assert [p for p in outer.rglob("*") if p.is_file()] == [inner / "part"]
    (document,) = read_documents(path)
    assert document.document == "out"


def test_a_link_in_a_tar_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            member = tarfile.TarInfo(f"link{kind.decode()}.txt")
            member.type, member.linkname = kind, str(secret)
            archive.addfile(member)
    asked: list[str] = []
    unpacked(tmp_path / "x.tar", place=asked.append)  # type: ignore[arg-type]
    assert asked == []


def test_an_archive_in_an_archive_is_unpacked_once(tmp_path):
    inner = gzip.compress(b"1 a question\n" * 1000)
    with pytest.raises(FormatError):
        read_topics(io.BytesIO(gzip.compress(inner)), name="twice.gz")
    path = tmp_path / "nested.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.zip", overlapping_zip(tmp_path / "inner.zip", 3).read_bytes())
    with pytest.raises(FormatError, match=r"entry 1 of the archive|zip archive"):
        list(read_documents(path))


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
XML_BOMBS = {
    "a billion laughs": (
        f'<!DOCTYPE t [<!ENTITY l0 "ha">{LAUGHS}]><topics><topic '
        f'number="1"><title>&l9;</title></topic></topics>'
    ),
    "one long entity, often": (
        f'<!DOCTYPE t [<!ENTITY a "{"a" * 50_000}">]><topics><topic '
        f'number="1"><title>{"&a;" * 5_000}</title></topic></topics>'
    ),
    "entities of parameters": (
        '<!DOCTYPE t [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]><topics><topic '
        'number="1"><title>a</title></topic></topics>'
    ),
}


@pytest.mark.parametrize("text", XML_BOMBS.values(), ids=XML_BOMBS)
def test_markup_that_unfolds_is_refused(text):
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="expected plain XML without entities"):
            read_topics(io.BytesIO(text.encode()), name="bomb.xml")
        assert tracemalloc.get_traced_memory()[1] < 20 * MIB
    finally:
        tracemalloc.stop()


def test_a_hundred_thousand_tags_in_each_other_end_in_an_answer():
    deep = (
        "<topics><topic number='1'><title>a</title>"
        + "<a>" * 100_000
        + "</a>" * 100_000
        + "</topic></topics>"
    )
    try:
        (topic,) = read_topics(io.BytesIO(deep.encode()), name="deep.xml")
        assert topic.topic == "1"
    except FormatError:
        pass
