"""What is written for other tools is what our readers and theirs expect."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from assay.formats.delimited import escape_formula
from assay.formats.exports import (
    FIRA_COLUMNS,
    RAW_COLUMNS,
    BookPair,
    RawJudgement,
    write_crowdkit,
    write_fira_judgements,
    write_quepid_book,
    write_quepid_snapshot,
    write_raw_judgements,
    write_removed_topics,
    write_topics,
)
from assay.formats.judgements import read_judgements
from assay.formats.topics import TopicRecord, read_topics
from assay.pools.topic_checks import ProposedRemoval

AT = datetime(2021, 3, 4, 10, 0, 0, 250_000, tzinfo=UTC)
JUDGEMENTS = [
    RawJudgement(
        "c",
        "1",
        "d1",
        "ann",
        3,
        "Perfect",
        spans=((0, 6), (9, 13)),
        active_ms=2500,
        total_ms=4000,
        served_at=AT,
        judged_at=AT,
        guideline_version="2",
    ),
    RawJudgement(
        "c",
        "1",
        "d2",
        "=bob",
        0,
        'Wrong "really"',
        active_ms=900,
        excluded=True,
        exclusion_reason="too\tfast",
    ),
    RawJudgement("c", "2", "d1", "ann", None, cannot_judge_reason="language"),
]


def written(write, *args, **options) -> str:
    out = io.StringIO(newline="")
    write(*args, out, **options)
    return out.getvalue()


def read(text: str):
    found = read_judgements(io.BytesIO(text.encode()))
    return [
        (found.topics[t], found.documents[d], found.annotators[a], g)
        for t, d, a, g in zip(
            found.topic, found.document, found.annotator, found.grade.tolist(), strict=True
        )
    ], found


def test_the_raw_table_has_every_column_and_reads_back():
    text = written(write_raw_judgements, JUDGEMENTS)
    rows = list(csv.reader(io.StringIO(text), delimiter="\t"))
    assert tuple(rows[0]) == RAW_COLUMNS
    assert [len(row) for row in rows] == [27] * 4
    first = dict(zip(rows[0], rows[1], strict=True))
    assert (first["spans"], first["judged_at"], first["active_ms"], first["excluded"]) == (
        "0-6;9-13",
        "2021-03-04T10:00:00.250Z",
        "2500",
        "0",
    )
    assert rows[2][RAW_COLUMNS.index("exclusion_reason")] == "too\tfast"
    triples, found = read(text)
    assert triples == [("1", "d1", "ann", 3), ("1", "d2", "=bob", 0)]
    assert found.seconds.tolist() == [2.5, 0.9]
    assert found.excluded.tolist() == [False, True]
    assert found.judged_at[0] == AT.timestamp()


def test_firas_export_reads_back_and_has_inclusive_ranges():
    text = written(write_fira_judgements, JUDGEMENTS)
    rows = list(csv.reader(io.StringIO(text), delimiter="\t"))
    assert tuple(rows[0]) == FIRA_COLUMNS
    assert rows[1] == [
        "1",
        "3_PERFECT_ANSWER",
        "0-5;9-12",
        "false",
        "SCORING_AND_SELECT_SPANS",
        "2500",
        "1614852000",
        "d1",
        "1",
        "ann",
    ]
    assert rows[2][2] == "<no ranges selected>"
    triples, found = read(text)
    assert triples == [("1", "d1", "ann", 3), ("1", "d2", "=bob", 0)]
    assert found.seconds[0] == 2.5


def test_what_fira_cannot_say_is_counted():
    assert (
        write_fira_judgements([*JUDGEMENTS, RawJudgement("c", "1", "d", "a", 4)], io.StringIO())
        == 2
    )


def test_crowdkits_table_reads_back():
    text = written(write_crowdkit, JUDGEMENTS)
    assert text.splitlines()[0] == "task,worker,label"
    assert read(text)[0] == [("1", "d1", "ann", 3), ("1", "d2", "=bob", 0)]


def test_a_quepid_book_reads_back():
    pairs = [
        BookPair(
            "red, shoes", "d1", 1, {"title": "T"}, judgements=[("a@b", 2, "why"), ("c@d", None, "")]
        )
    ]
    out = io.StringIO()
    write_quepid_book("book", pairs, out, grades=["Wrong", "Topic", "Partial", "Perfect"])
    book = json.loads(out.getvalue())
    assert (book["scale"], book["scale_with_labels"]["3"]) == ([0, 1, 2, 3], "Perfect")
    assert book["query_doc_pairs"][0]["judgements"][1]["unrateable"] is True
    triples, found = read(out.getvalue())
    assert triples == [("red, shoes", "d1", "a@b", 2)]
    assert "1 judgement is unrateable" in found.warnings[0]


def test_a_quepid_snapshot_has_its_columns():
    text = written(write_quepid_snapshot, [("=red", "d1", 1)], name="BM25", time=AT, case=7)
    assert text == (
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc "
        "Position\nBM25,2021-03-04T10:00:00.250Z,7,=red,d1,1\n"
    )
    assert ",'=red," in written(
        write_quepid_snapshot, [("=red", "d1", 1)], name="BM25", time=AT, spreadsheet=True
    )


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("x=1", "x=1"),
        ("", ""),
    ],
)
def test_cells_that_a_spreadsheet_would_execute_are_made_harmless(cell, safe):
    assert escape_formula(cell) == safe


def test_cells_are_made_harmless_on_request_only():
    assert "'=bob" not in written(write_raw_judgements, JUDGEMENTS)
    assert "'=bob" in written(write_raw_judgements, JUDGEMENTS, spreadsheet=True)


def test_topics_kept_read_back_and_removed_have_their_reasons():
    text = written(write_topics, [TopicRecord("1", "red\tshoes"), TopicRecord("2", '"quoted')])
    assert text == '1\tred shoes\n2\t"quoted\n'
    assert [t.text for t in read_topics(io.BytesIO(text.encode()))] == ["red shoes", '"quoted']
    assert written(
        write_removed_topics,
        [
            ProposedRemoval("3", "#1", "no text", ""),
            ProposedRemoval("4", "Red shoes", "duplicate", "1"),
        ],
    ) == ("topic\ttext\treason\tsame_as\n3\t#1\tno text\t\n4\tRed shoes\tduplicate\t1\n")
