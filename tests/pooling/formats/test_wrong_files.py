"""Files of another kind, or saved by another program: refused by line, with what a person can do about it, and never by accident."""

from __future__ import annotations

import gzip
import io
import random
import zipfile

import pytest

from pooling.formats.bundles import read_bundle
from pooling.formats.detect import mistaken
from pooling.formats.documents import read_documents
from pooling.formats.errors import FormatError
from pooling.formats.leaderboards import read_leaderboard
from pooling.formats.qrels import read_qrels
from pooling.formats.quepid import read_ratings, read_snapshot
from pooling.formats.runs import read_run
from pooling.formats.sets import read_fira_config
from pooling.formats.topics import read_topics
from tests.pooling.formats.test_detect import EXAMPLES
from tests.pooling.formats.test_hostile import PIECES, READERS


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", ".").replace("TYPES", "[Content_Types].xml"), content)
    return out.getvalue()


XLSX = zipped(TYPES=b"<Types/>", workbook__xml=b"<workbook/>")
OTHERS = {
    "html": b"<html><body><p>x</p></body></html>",
    "page": b"<!doctype html><html><head><title>a</title></head><body>1 0 d 1</body></html>",
    "xml": b"<?xml version='1.0' encoding='utf-99'?><a/>",
    "elements": b"<a><b/></a>",
    "entities": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "pdf": b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n",
    "xlsx": XLSX,
    "zip": zipped(a__run=b"1 Q0 d 1 2 t\n"),
    "list": b'[{"id": 1}]',
    "deep": b'{"a":' * 20_000,
    "commas": b",\n,,\n",
}
MORE = {
    "bundle": lambda f: read_bundle(f, None),
    "leaderboard": read_leaderboard,
    "ratings": lambda f: read_ratings(f, name="x"),
    "snapshot": read_snapshot,
    "settings": read_fira_config,
}
ALL_READERS = {name: reader for name, (reader, _, _) in READERS.items()} | MORE


@pytest.mark.parametrize("kind", ALL_READERS)
def test_every_reader_reads_or_refuses_the_files_of_all_the_others_and_pieces_of_them(kind):
    reader, rng = ALL_READERS[kind], random.Random(kind)
    files = [text.encode() for texts in EXAMPLES.values() for text in texts] + list(OTHERS.values())
    n_refused = 0
    for content in [*files, *map(gzip.compress, files)] + [mixed(rng, rng.choice(files), files) for _ in range(1500)]:
        stream = io.BytesIO(content)
        stream.name = "given"
        try:
            reader(stream)
        except FormatError:
            n_refused += 1
    assert n_refused > 100


def mixed(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    changed = bytearray(content[:5000])
    for _ in range(rng.choice([1, 2, 4])):
        at = rng.randrange(len(changed) + 1)
        if rng.random() < 0.4:
            del changed[at : at + rng.randrange(1, 6)]
        else:
            changed[at:at] = rng.choice(PIECES) if rng.random() < 0.5 else rng.choice(others)[:50]
    return bytes(changed)


def refusal(reader, content: bytes) -> str:
    with pytest.raises(FormatError) as error:
        list(reader(io.BytesIO(content)))
    return str(error.value)


@pytest.mark.parametrize(
    ("reader", "content", "way_out"),
    [
        (read_topics, OTHERS["html"], "an HTML page, expected <top> or <topic> records"),
        (read_run, OTHERS["zip"], "unpack the archive and bring its files"),
        (read_run, XLSX, "save it as text with tabs"),
        (read_qrels, OTHERS["pdf"], "a PDF, expected text: bring the documents as"),
        (read_run, b"1,Q0,d,1,2.5,t\n", "white space between the columns, not commas"),
        (read_run, b"qid Q0 docno rank score tag\n1 Q0 d 1 2 t\n", "the line is a header: Lenient (--lenient) skips it"),
        (read_qrels, b"topic iter document grade\n1 0 d 1\n", "the line is a header: remove it"),
        (read_run, b"1 Q0 d 1 2,5 t\n", "a decimal point, not a comma"),
        (read_run, b"1 d 1 2.5\n", "Lenient (--lenient) takes three, `topic document rank`, and four, `topic document rank score`"),
        (read_run, b"1 Q0 d 1 2.5 t x\n", "Lenient (--lenient) ignores further columns"),
        (read_documents, b'{"name": "d", "text": "x"}\n', "an id under one of the names _id, id, docno"),
        (read_topics, b'{"name": "d", "query": "x"}\n', "an id under one of the names topic, topic_id"),
    ],
)
def test_the_way_out_is_said(reader, content, way_out):
    assert way_out in refusal(reader, content)


def test_documents_are_neither_a_spreadsheet_nor_an_archive_in_an_archive(tmp_path):
    for content, says in ((XLSX, "a spreadsheet"), (zipped(inner__zip=OTHERS["zip"], b__txt=b"x"), "inner.zip is a zip archive")):
        path = tmp_path / "given.zip"
        path.write_bytes(content)
        with pytest.raises(FormatError, match=says):
            list(read_documents(path))


def test_four_columns_are_a_lenient_run():
    run = read_run(io.BytesIO(b"qid docid rank score\n7 b 1 0.5\n7 a 2 0.75\n"), lenient=True, name="folder/mine.tsv")
    assert (run.tag, run.documents.tolist(), run.scores.tolist(), run.ranks.tolist()) == ("mine", [b"a", b"b"], [0.75, 0.5], [2, 1])
    assert "header" in run.warnings[0]


TITLED = b'{"_id": "d1", "title": "One", "text": "first text"}\n'
SURE = {
    "topics": b"".join(b"%d\tred shoes for a child\n" % n for n in range(6)),
    "documents": TITLED * 2,
    "run": b"1 Q0 d 1 2.5 t\n1 Q0 e 2 1.5 t\n",
    "qrels": b"1 0 d 1\n1 0 e 0\n",
}


@pytest.mark.parametrize("is_a", SURE)
@pytest.mark.parametrize("brought_as", SURE)
def test_every_pair_of_kinds_is_told_apart(is_a, brought_as):
    assert mistaken(io.BytesIO(SURE[is_a]), brought_as) == (None if is_a == brought_as else is_a)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"1\tshort text\n", "documents"),  # too few to tell
        (b"1 Q0 d 1\n1 Q0\n", "run"),  # a broken run is told its lines
        (b"1 Q0 d 1 2.5\n" * 9, "run"),
        (b'{"_id": "1", "text": "red shoes"}\n' * 3, "documents"),
        (b"<DOC>\n<DOCNO>1</DOCNO>x</DOC>", "documents"),
    ],
)
def test_what_may_be_of_the_kind_is_not_asked_about(content, kind):
    assert mistaken(io.BytesIO(content), kind) is None


def test_most_lines_decide_so_that_one_broken_line_does_not_hide_the_kind():
    assert mistaken(io.BytesIO(SURE["run"] * 20 + b"1 Q0 d\n"), "topics") == "run"
