"""Documents in all their forms, archives among them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tracemalloc
import zipfile

import pytest

from assay.formats.archives import safe_name
from assay.formats.documents import DocumentRecord, read_documents
from assay.formats.errors import FormatError
from assay.formats.markup import extract_html_text


def given(content: str | bytes, **options) -> list[DocumentRecord]:
    return list(
        read_documents(
            io.BytesIO(content if isinstance(content, bytes) else content.encode()),
            name="docs",
            **options,
        )
    )


def problems(content: str | bytes) -> list[tuple[int | None, str]]:
    with pytest.raises(FormatError) as error:
        given(content)
    return [(p.line, p.problem) for p in error.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        '{"_id": "1", "title": "T", "text": "a b"}\n{"_id": "2", "text": "c"}\n',
        '{"docno": 1, "title": "T", "contents": "a b"}\n\n{"docno": "2", "title": null, "contents": "c"}\n',
        "1\tT\ta b\n2\t\tc\n",
        "doc_id\ttitle\tdoc_text\n1\tT\ta b\n2\t\tc\n",
        "document_id,title,text\n1,T,a b\n2,,c\n",
        "<DOC>\n<DOCNO> 1 </DOCNO>\n<TITLE>T</TITLE>\n<TEXT>\na b\n</TEXT>\n</DOC>\n<doc><docno>2</docno>c</doc>\n",
        ".I 1\n.T\nT\n.W\na b\n.I 2\n.W\nc\n",
    ],
)
def test_all_forms_give_the_same_documents(text):
    assert [d[:3] for d in given(text)] == [("1", "T", "a b"), ("2", "", "c")]


RAW = "A &amp; B &#233; **bold** $x^2$ \\alpha <b>mark-up</b> [1](http://e.org)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps({"_id": "1", "title": RAW, "text": RAW}) + "\n", RAW),
        (f"1\t{RAW}\t{RAW}\n", RAW),
        (f'docno,title,text\n1,"{RAW}","{RAW}"\n', RAW),
        (
            f"<DOC>\n<DOCNO>1</DOCNO>\n<TITLE>T</TITLE>\n<TEXT>\n{RAW[:38]}\n</TEXT>\n</DOC>\n",
            "A & B é **bold** $x^2$ \\alpha",
        ),
    ],
    ids=["JSONL", "TSV", "CSV", "TREC"],
)
def test_text_without_a_markup_format_is_kept_as_it_is_and_mark_up_is_read(text, said):
    """Who published JSONL or TSV published these very characters: systems have ranked them and
    others judge them. Only a format that is mark-up says that its entities and elements are not
    text; Markdown and LaTeX are text in every form."""
    (found,) = given(text)
    assert found.text == said
    assert found.title in (said, "T")


def test_further_fields_are_kept():
    (found,) = given('{"id": "1", "text": "a", "Year": 1999, "tags": ["x"], "none": null}\n')
    assert found.fields == {"Year": "1999", "tags": '["x"]'}
    (found,) = given("<DOC><DOCNO>1</DOCNO><AUTHOR>me</AUTHOR><TEXT>a</TEXT></DOC>")
    assert found.fields == {"author": "me"}
    (found,) = given("D1\thttp://x\tT\tbody\n")
    assert found == DocumentRecord("D1", "T", "body", {"url": "http://x"}, 1)


def test_paragraph_tags_inside_trec_text_are_paragraphs():
    (found,) = given(
        "<DOC>\n<DOCNO>FT-1</DOCNO>\n<TEXT>\n<P>one &amp; two</P>\n<P>three\n</TEXT>\n</DOC>\n"
    )
    assert found.text == "one & two\n\nthree"


def test_firas_documents_are_read_without_quoting():
    assert given('doc_id\tdoc_text\n7\t"open quote\n')[0][:3] == ("7", "", '"open quote')


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '{"_id": "1", "text": "a"}\n{"text": "b"}\nnot json\n[]\n',
            [(2, "a document without ID"), (3, "invalid JSON"), (4, "JSON, but not an object")],
        ),
        ("1\ta\n2\n3\tb\tc\n", [(2, "1 columns"), (3, "3 columns")]),
        ("1\ta\n2\tb\n1\tc\n", [(3, "duplicate document ID (first in line 1)")]),
        ("<DOC><DOCNO>1</DOCNO>a</DOC>\n<DOC><DOCNO>2</DOCNO>b", [(2, "<DOC> without </DOC>")]),
        ("<DOC>a</DOC>", [(1, "a document without ID")]),
        ("just some words\n", [(1, "documents in an unknown format")]),
        ("a\tb\tc\td\te\n", [(1, "5 columns without a header")]),
        ("doc_id\ttext\n", [(None, "no documents")]),
        ("", [(None, "the file is empty")]),
        ("x" * 1025 + "\ttext\n", [(1, "the document ID is too long")]),
    ],
)
def test_mistakes_are_refused_with_their_line(content, expected):
    assert problems(content) == expected


def test_good_documents_come_before_the_error_so_that_nothing_is_held_back():
    stream = read_documents(io.BytesIO(b"1\ta\nbroken\n"), name="docs")
    assert next(stream).document == "1"
    with pytest.raises(FormatError, match="docs:2"):
        list(stream)


PAGE = b"<html><head><title>A &amp; B</title><script>alert(1)</script></head><body><h1>Hi</h1><p>x &lt;b&gt;<br>y</body></html>"


def tar_of(
    files: dict[str, bytes], *, mode: str = "w:gz", kinds: dict[str, bytes] | None = None
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if kinds and name in kinds:
                info.type, info.size, info.linkname = kinds[name], 0, "/etc/passwd"
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zip_of(files: dict[str, bytes], path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


FILES = {
    "a/CACM-1.html": PAGE,
    "a/note.txt": b"plain\r\ntext",
    "../../../etc/evil.txt": b"x",
    "/abs.txt": b"y",
    "a/.hidden": b"no",
    "ü" * 120 + ".txt": b"z",
}
EXPECTED = [
    ("CACM-1", "A & B", "Hi\n\nx <b>\ny"),
    ("note", "", "plain\ntext"),
    ("evil", "", "x"),
    ("abs", "", "y"),
    ("ü" * 120, "", "z"),
]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_archives_give_a_document_for_each_file_and_never_a_path(mode):
    assert [d[:3] for d in given(tar_of(FILES, mode=mode))] == EXPECTED


def test_zip_archives_do_too(tmp_path):
    zip_of(FILES, tmp_path / "docs.zip")
    assert [d[:3] for d in read_documents(tmp_path / "docs.zip")] == EXPECTED


def test_links_folders_and_devices_in_a_tar_are_passed_over():
    content = tar_of(
        {"link.txt": b"", "hard.txt": b"", "dir": b"", "dev": b"", "a.txt": b"a"},
        kinds={
            "link.txt": tarfile.SYMTYPE,
            "hard.txt": tarfile.LNKTYPE,
            "dir": tarfile.DIRTYPE,
            "dev": tarfile.CHRTYPE,
        },
    )
    assert [d.document for d in given(content)] == ["a"]


def test_one_name_in_two_folders_is_one_id_twice():
    assert problems(tar_of({"a/x.txt": b"1", "b/x.txt": b"2"})) == [
        (2, "duplicate document ID (first in line 1)")
    ]


def test_files_in_archives_that_are_no_text_are_named():
    found = problems(tar_of({"a.txt": b"caf\xe9", "b.txt": b"\0", "c.txt": b"ok"}))
    assert found == [(1, "a.txt has a byte that is not UTF-8 (0xe9)"), (2, "b.txt has a NUL byte")]


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_archives_cut_off_are_format_errors(share, tmp_path):
    packed = tar_of({f"{k}.txt": bytes(str(k) * 5000, "ascii") for k in range(20)})
    with pytest.raises(FormatError):
        given(packed[: int(len(packed) * share)])
    plain = gzip.decompress(packed)
    with pytest.raises(FormatError, match="cut off"):
        given(plain[: int(len(plain) * share) + 100])
    zip_of({f"{k}.txt": bytes(str(k) * 5000, "ascii") for k in range(20)}, tmp_path / "x.zip")
    whole = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(FormatError, match="damaged"):
        list(read_documents(tmp_path / "x.zip"))


def test_an_archive_of_huge_members_is_refused_in_bounded_memory(tmp_path):
    header = tarfile.TarInfo("big.txt")
    header.size = 1 << 33
    packed = gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + b"x" * 1000)
    with pytest.raises(FormatError, match="entry 1 has 8589934592 bytes"):
        given(packed)
    with (
        zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("big.txt", "w") as member,
    ):
        for _ in range(80):
            member.write(b" " * (1 << 20))
    assert (tmp_path / "bomb.zip").stat().st_size < 200_000
    with pytest.raises(FormatError, match="more than 67108864 bytes"):
        list(read_documents(tmp_path / "bomb.zip"))


def test_an_extended_header_of_gigabytes_is_refused_unread():
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 1 << 32
    with pytest.raises(FormatError, match="entry 1 has a name of 4294967296 bytes"):
        given(header.tobuf() + b"x" * 2000)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/b.txt", "b.txt"),
        ("..\\..\\c.txt", "c.txt"),
        ("/etc/passwd", "passwd"),
        ("..", ""),
        ("a/..", ""),
        ("", ""),
        ("a\n\x1bb.txt", "ab.txt"),
    ],
)
def test_of_a_path_only_the_printable_last_part_is_left(path, name):
    assert safe_name(path) == name


def test_pages_become_text_as_a_reader_sees_it():
    title, text = extract_html_text(
        "<!DOCTYPE html><title>T</title><style>p{}</style><nav>menu</nav><p>one\n "
        "two<br>three<ul><li>a<li>b</ul><!-- no -->"
        "<img src=x onerror=alert(1)><pre>x\n  y</pre>1 < 2 &amp; 3<script>if (a<b) alert('</p>')</script> end"
    )
    assert title == "T"
    assert [line for line in text.split("\n") if line] == [
        "menu",
        "one two",
        "three",
        "a",
        "b",
        "x",
        "  y",
        "1 < 2 & 3 end",
    ]


@pytest.mark.parametrize(
    "part", ["<!--", "<div>", "<a ", "<![CDATA[", "<title>", "<script>", "<title></", "&lt", "<p"]
)
def test_hostile_markup_takes_no_more_than_linear_time(part):
    extract_html_text(part * 200_000)


@pytest.mark.long
def test_sixty_thousand_documents_stream_in_bounded_memory():
    class Lines(io.RawIOBase):
        """60,000 documents of 500 characters, made as they are read."""

        def __init__(self) -> None:
            self.k, self.rest = 0, b""

        def read(self, size: int = -1) -> bytes:
            while len(self.rest) < min(size, 1 << 16) and self.k < 60_000:
                self.rest += b'{"_id": "%d", "text": "%s"}\n' % (self.k, b"word " * 100)
                self.k += 1
            given, self.rest = self.rest[:size], self.rest[size:]
            return given

    tracemalloc.start()
    try:
        n = sum(1 for _ in read_documents(Lines(), name="big"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n == 60_000
    assert peak < 15 << 20
