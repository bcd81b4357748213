"""A hundred thousand broken lines per reader: nothing but a FormatError with file and line ever
comes out."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import pytest

from assay.formats.answers import (
    read_answers,
    read_nugget_labels,
    read_nuggets,
    read_rubric_labels,
    read_rubrics,
    read_support_labels,
)
from assay.formats.battles import read_battles, read_document_battles
from assay.formats.clicks import read_clicks
from assay.formats.detect import detect_kind
from assay.formats.documents import read_documents
from assay.formats.errors import FormatError
from assay.formats.judgements import read_judgements
from assay.formats.pool import read_pool
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.formats.topics import read_topics

SHOWN = b"query_id\trank\tdoc_id\n1\t1\ta\n1\t2\tb\n"
RUN, QRELS = b"1 Q0 d%d 1 2.5 tag", b"1 0 d%d 1"
JUDGED = b"1,d%d,a,1,2.5,2021-01-01T00:00:00Z,0,1"
ANSWER = b'{"metadata": {"run_id": "r", "topic_id": "%d"}, "answer": [{"text": "a"}]}'
NUGGETS = b'{"qid": "%d", "nuggets": [{"text": "a", "importance": "okay"}]}'
RUBRIC = b'{"qid": "%d", "rubrics": [{"criterion": "a", "weight": 1}]}'
SUPPORT_HEADER = b"topic,system,sentence,citation,label\n"
NUGGET_HEADER = b"topic,system,nugget,assignment\n"
RUBRIC_HEADER = b"topic,system,criterion,verdict\n"
READERS: dict[str, tuple[Callable, bytes, bytes]] = {
    "runs": (read_run, b"", RUN),
    "lenient runs": (lambda f: read_run(f, lenient=True, order="rank", scores="float32"), b"", RUN),
    "three-column runs": (lambda f: read_run(f, lenient=True), b"", b"1 d%d 1"),
    "answers": (read_answers, b"", ANSWER),
    "nuggets": (read_nuggets, b"", NUGGETS),
    "rubrics": (read_rubrics, b"", RUBRIC),
    "support labels": (read_support_labels, SUPPORT_HEADER, b"1,r,%d,0,full"),
    "nugget labels": (read_nugget_labels, NUGGET_HEADER, b"1,r,%d,support"),
    "rubric labels": (read_rubric_labels, RUBRIC_HEADER, b"1,r,%d,met"),
    "battles": (
        read_battles,
        b"topic,system_a,system_b,winner,shown_left,annotator,tokens_a\n",
        b"1,d%d,e,a,b,p,12",
    ),
    "plain battles": (read_battles, b"", b"1 d%d e tie"),
    "pairs of documents": (read_document_battles, b"", b"1 d%d e r s"),
    "qrels": (read_qrels, b"", QRELS),
    "BEIR qrels": (read_qrels, b"query-id\tcorpus-id\tscore\n", b"1\td%d\t1"),
    "judgements": (
        lambda f: read_judgements(f, scale=4),
        b"topic,document,annotator,grade,seconds,judged_at,excluded,gold\n",
        JUDGED,
    ),
    "FiRA judgements": (
        read_judgements,
        b"relevanceLevel\tdocumentId\tqueryId\tuserId\n",
        b"2_GOOD_ANSWER\td%d\tq\tu",
    ),
    "Quepid book": (read_judgements, b"query,docid,Ann,Bob\n", b'"a, b",d%d,1,'),
    "clicks": (read_clicks, b"session\ttopic\tdocument\trank\tclicked\n", b"s%d\t1\ta\t1\t0"),
    "clicks on what was shown": (
        lambda f: read_clicks(f, shown=io.BytesIO(SHOWN)),
        b"session\tquery_id\trank\tdoc_id\n",
        b"s%d\t1\t1\ta",
    ),
    "topics in TSV": (read_topics, b"", b"q%d\tsome text"),
    "topics in JSON": (read_topics, b"", b'{"_id": "q%d", "text": "some text"}'),
    "tagged topics": (
        read_topics,
        b"<top>\n",
        b"<top><num>Number: %d <title> some text <desc> Description: more </top>",
    ),
    "topics in XML": (
        read_topics,
        b"<topics>\n",
        b'<topic number="%d"><title>some &amp; text</title></topic>',
    ),
    "documents in TSV": (lambda f: list(read_documents(f)), b"", b"d%d\tsome text"),
    "documents in JSON": (
        lambda f: list(read_documents(f)),
        b"",
        b'{"_id": "d%d", "text": "some text"}',
    ),
    "TREC documents": (
        lambda f: list(read_documents(f)),
        b"",
        b"<DOC><DOCNO>%d</DOCNO><TEXT>some text</TEXT></DOC>",
    ),
    "SMART documents": (lambda f: list(read_documents(f)), b"", b".I %d\n.W\nsome text"),
    "pools": (read_pool, b"topic\tdocument\tbest_rank\tpriority\truns\n", b"1\td%d\t1\t9\ta:1,b:3"),
}
PIECES = [
    b"",
    b" ",
    b"\t",
    b",",
    b'"',
    b"'",
    b"#",
    b"-",
    b"1e999",
    b"nan",
    b"\r",
    b"\x0b",
    b"\x1f",
    b"\x7f",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x98\x80",
    b"<",
    b">",
    b"</",
    b"&",
    b"&#0;",
    b"&#xD800;",
    b"{",
    b"}",
    b"[",
    b"\\",
    b'\\"',
    b"\\ud800",
    b"9" * 400,
    b"x" * 3000,
    b"%s%n",
    b"../../etc/passwd",
    b"=cmd|x",
    b"all",
    b"0x10",
    b"1_0",
    b"\xd9\xa1",
    b"<!ENTITY a 'b'>",
    b"<![CDATA[",
    b".I",
    b"Q0",
    b"-1",
    b"2147483648",
]
RAW = [b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80"]


def broken_line(rng: random.Random, pattern: bytes, number: int, *, raw: bool) -> bytes:
    line = bytearray(pattern % number if b"%d" in pattern else pattern)
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        at = rng.randrange(len(line) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            line[at:at] = rng.choice(PIECES)
        elif kind == 1:
            del line[at : at + rng.randrange(1, 6)]
        elif kind == 2:
            line[at : at + rng.randrange(4)] = rng.choice(PIECES)
        else:
            line[at:at] = line[rng.randrange(len(line) + 1) :][:20]
    if raw and rng.random() < 0.02:
        line[0:0] = rng.choice(RAW)
    return bytes(line)


def refusal(reader: Callable, stream: io.BytesIO) -> FormatError | None:
    """What the reader refused; None if it read the file. Any other exception is the test's
    failure."""
    try:
        reader(stream)
    except FormatError as error:
        return error
    return None


@pytest.mark.parametrize("kind", READERS)
def test_a_hundred_thousand_broken_lines_are_read_or_refused_with_file_and_line(kind):
    reader, header, pattern = READERS[kind]
    rng = random.Random(kind)
    n_lines, n_read, n_refused = 0, 0, 0
    while n_lines < 100_000:
        n = rng.choice([1, 2, 10, 3000])
        raw = rng.random() < 0.1
        content = (header if rng.random() < 0.95 else b"") + b"\n".join(
            broken_line(rng, pattern, n_lines + k, raw=raw) for k in range(n)
        )
        n_lines += n
        stream = io.BytesIO(content)
        stream.name = "given.txt"
        error = refusal(reader, stream)
        n_read += error is None
        if error is not None:
            n_refused += 1
            assert error.file in ("given.txt", "upload")
            assert 1 <= len(error.problems) <= 50
            assert error.count >= len(error.problems)
            n_content_lines = content.count(b"\n") + 1
            assert all(p.line is None or 1 <= p.line <= n_content_lines for p in error.problems), (
                error.problems[:3]
            )
            assert all(
                line.startswith(f"{error.file}:") and line.isprintable() for line in error.lines()
            )
        detect_kind(io.BytesIO(content))
    assert n_read > 1
    assert n_refused > 5


@pytest.mark.parametrize("kind", READERS)
def test_pure_noise_is_refused_by_every_reader(kind):
    reader, _, _ = READERS[kind]
    rng = random.Random(kind)
    for size in (1, 10, 1000, 100_000):
        for noise in (rng.randbytes(size), bytes(rng.choices(range(32, 127), k=size))):
            stream = io.BytesIO(noise)
            stream.name = "noise"
            error = refusal(reader, stream)
            assert error is None or error.file in ("noise", "upload")
