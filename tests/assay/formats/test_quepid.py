"""Grades and runs from search-tuning tools."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime

import pytest

from assay.column_types import QrelsColumns
from assay.formats.errors import FormatError
from assay.formats.exports import write_quepid_snapshot
from assay.formats.quepid import detect_query_form, read_ratings, read_snapshot

RATINGS = 'query,docid,rating\n"red, shoes",d1,3\n"red, shoes",d2,0.0\nblue,d1,\nblue,,\nblue,d9,1\nblue,d9,1\n'
LTR = "3 qid:1 # d1 red, shoes\n0 qid:1 # d2 red, shoes\n\n1 qid:7 1:0.5 2:3 # d9 blue\n"
RRE = """{"queries": [{"placeholders": {"$query": "red, shoes"}, "relevant_documents": {"d1": {"gain": 3}, "d2": {"gain": "0"}}},
 {"placeholders": {"$query": "blue"}, "relevant_documents": {"d9": {"gain": 1}}}]}"""


LTR_WITH_QUERIES = (
    "# grade query document title\n# qid:1: red, shoes\n# qid:7: blue\n#\n"
    "3\tqid:1 #\td1\tA title\n0 qid:1 # d2\n1 qid:7 # d9 Another\n"
)
OPENSEARCH = """{"name": "mine", "type": "IMPORT_JUDGMENT", "judgmentRatings": [
 {"query": "red, shoes", "ratings": [{"docId": "d1", "rating": "3.000"}, {"docId": "d2", "rating": "0"}]},
 {"query": "blue", "ratings": [{"docId": "d9", "rating": 1.0}]}]}"""
OPENSEARCH_ANSWER = '{"took": 1, "hits": {"hits": [{"_id": "x", "_source": ' + OPENSEARCH + "}]}}"


def grades(qrels: QrelsColumns) -> dict[tuple[str, str], int]:
    return {
        (topic, d.decode()): g
        for i, topic in enumerate(qrels.topics)
        for d, g in zip(
            qrels.documents[qrels.rows(i)].tolist(),
            qrels.grades[qrels.rows(i)].tolist(),
            strict=True,
        )
    }


@pytest.mark.parametrize(
    "text",
    [
        RATINGS,
        RATINGS.replace("docid", "doc_id"),
        LTR,
        LTR_WITH_QUERIES,
        RRE,
        OPENSEARCH,
        OPENSEARCH_ANSWER,
    ],
)
def test_each_form_gives_the_same_grades(text):
    assert detect_query_form(text.encode()) == "ratings"
    assert grades(read_ratings(io.BytesIO(text.encode()))) == {
        ("red, shoes", "d1"): 3,
        ("red, shoes", "d2"): 0,
        ("blue", "d9"): 1,
    }


def test_rows_that_say_nothing_are_counted():
    assert read_ratings(io.BytesIO(RATINGS.encode())).warnings == [
        "1 pair appears more than once with the same grade",
        "2 rows without rating or document were skipped",
    ]


def test_query_texts_are_mapped_to_ids_and_unknown_ones_refused():
    assert ("7", "d9") in grades(
        read_ratings(io.BytesIO(LTR.encode()), topics={"red, shoes": "1", "blue": "7"})
    )
    with pytest.raises(FormatError, match="query 'blue' is not among the topics"):
        read_ratings(io.BytesIO(LTR.encode()), topics={"red, shoes": "1"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("query,docid,rating\na,d,x\n", ":2: invalid rating 'x'"),
        ("query,docid,rating\na,d\n", ":2: 2 columns"),
        (
            "query,docid,rating\na,d,1\na,d,2\n",
            ":3: document d of 'a' has grade 2 here and 1 before",
        ),
        ("query,docid,rating\n", "no rating"),
        ("a,b,c\n", "unknown format of ratings"),
        ("1 qid:1 # d a\n1 qid:1 d a\n", ":2: not an LTR line"),
        (
            '{"placeholders": {"$query": "a"}, "relevant_documents": {"d": {"gain": "x"}}}',
            "has no gain",
        ),
        ("{}", "no rating"),
    ],
)
def test_mistakes_are_refused(text, problem):
    with pytest.raises(FormatError) as error:
        read_ratings(io.BytesIO(text.encode()))
    assert problem in str(error.value)


def test_a_snapshot_that_we_write_is_read_back_as_a_run():
    out = io.StringIO(newline="")
    write_quepid_snapshot(
        [("red, shoes", "d2", 1), ("red, shoes", "d1", 2), ("blue", "d9", 1)],
        out,
        name="My try",
        time=datetime(2021, 1, 1, tzinfo=UTC),
    )
    run = read_snapshot(io.BytesIO(out.getvalue().encode()), name="s.csv")
    assert (run.tag, run.topics) == ("My_try", ["red, shoes", "blue"])
    assert run.documents.tolist() == [b"d2", b"d1", b"d9"]
    assert run.ranks.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "line", ["S,t,1,q,d,x", "S,t,1,q,,1", "S,t,1,q,d0,2", "S,t,1,q,d", "S,t,1,other,d,1"]
)
def test_mistakes_in_a_snapshot_are_refused(line):
    header = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position"
    with pytest.raises(FormatError, match=r"s\.csv:3"):
        read_snapshot(
            io.BytesIO(f"{header}\nS,t,1,q,d0,1\n{line}\n".encode()),
            name="s.csv",
            topics={"q": "1"},
        )
    with pytest.raises(FormatError, match="not a Quepid snapshot"):
        read_snapshot(io.BytesIO(b"a,b\n1,2\n"))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            '{"query": "a", "ratings": [{"docId": "d", "rating": "0.6"}]}',
            "rating '0.6' of 'd' for 'a', expected a whole number; grades are not rounded",
        ),
        ('{"query": "a", "ratings": [{"docId": "d"}]}', "rating None of 'd' for 'a'"),
        ('{"query": "a", "ratings": [{"rating": "1"}]}', "a rating of 'a' without docId"),
        ('{"query": " ", "ratings": []}', "judgmentRatings without query or ratings"),
        ("3", "judgmentRatings without query or ratings"),
    ],
)
def test_each_mistake_in_a_judgement_list_is_refused(entry, problem):
    with pytest.raises(FormatError, match=problem):
        read_ratings(io.BytesIO(b'{"judgmentRatings": [%s]}' % entry.encode()))


def test_a_judgement_list_without_ratings_is_refused():
    with pytest.raises(FormatError, match="no ratings"):
        read_ratings(io.BytesIO(b'{"judgmentRatings": []}'))


@pytest.mark.data
def test_the_judgement_list_of_opensearch_is_read_as_json_reads_it(data_folder):
    path = data_folder / "ubi/import_judgment.json.gz"
    told = json.loads(gzip.decompress(path.read_bytes()))["judgmentRatings"]
    expected = {
        (entry["query"].strip(), rated["docId"]): int(float(rated["rating"]))
        for entry in told
        for rated in entry["ratings"]
    }
    assert grades(read_ratings(path)) == expected
