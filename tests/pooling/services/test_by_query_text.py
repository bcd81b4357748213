"""Files of search-tuning tools name topics by query text: matched to the collection's topics, what
does not match is said."""

from __future__ import annotations

import pytest

from pooling.services.qrels import load_grades
from pooling.services.runs import load_rankings

TOPICS = "7\tred  shoes\n8\tBlue hats\n9\tblue hats\n"
RATINGS = (
    'query,docid,rating\nred shoes,d1,3\n"red shoes",d2,0\nBLUE HATS,d9,1\ngreen socks,d1,2\n,,\n'
)
LTR = "3 qid:1 # d1 red shoes\n0 qid:1 # d2 red shoes\n1 qid:2 # d9 BLUE HATS\n2 qid:3 # d1 green socks\n"
RRE = """{"queries": [{"placeholders": {"$query": "red shoes"}, "relevant_documents": {"d1": {"gain": 3}, "d2": {"gain": 0}}},
 {"placeholders": {"$query": "BLUE HATS"}, "relevant_documents": {"d9": {"gain": 1}}},
 {"placeholders": {"$query": "green socks"}, "relevant_documents": {"d1": {"gain": 2}}}]}"""
HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n"
SNAPSHOT = HEADER + "".join(
    f'My snapshot,2024-01-02T03:04:05.000Z,4,{query},{document},{place},"A, title"\n'
    for query, document, place in (
        ("red shoes", "d2", 1),
        ("red shoes", "d1", 2),
        ("blue hats", "d9", 1),
        ("green socks", "d1", 1),
    )
)


@pytest.mark.parametrize("text", [RATINGS, LTR, RRE])
def test_ratings_become_qrels_under_the_topics_ids(text, collection, bring):
    bring("topics", TOPICS)
    job = bring("qrels", text, name="case.csv", mode="careful")
    assert job.report["stored"] is False  # a person should see what is left out
    assert any(
        "1 of 3 queries" in warning and "“green socks”" in warning
        for warning in job.report["warnings"]
    )
    assert (
        job.report["facts"]["queries matched to topics"],
        job.report["facts"]["queries left out"],
    ) == (2, 1)
    assert bring("qrels", text, name="case.csv").state == "done"
    grades = load_grades(collection.qrels.get())
    assert grades.topics == ["7", "8"]  # the first of two topics that differ in case
    assert grades.documents.tolist() == [b"d1", b"d2", b"d9"]
    assert grades.grades.tolist() == [3, 0, 1]


def test_a_snapshot_becomes_a_run(collection, bring):
    bring("topics", TOPICS)
    job = bring("run", SNAPSHOT, name="snapshot.csv")
    assert job.state == "done", job.message
    run = collection.runs.get()
    assert (run.tag, run.n_rows, run.n_topics) == ("My_snapshot", 3, 2)
    rankings = load_rankings(run)
    assert rankings.topics == ["7", "9"]  # the exact text goes before the one in another case
    assert rankings.documents.tolist() == [b"d2", b"d1", b"d9"]
    assert rankings.ranks.tolist() == [1, 2, 1]


def test_without_any_topic_that_fits_it_is_refused(collection, bring):
    assert "Import the topics first." in bring("run", SNAPSHOT).message
    bring("topics", "1\tsomething else\n")
    assert (
        "None of the 3 queries matches the text of a topic: “red shoes”"
        in bring("qrels", RATINGS).message
    )
    assert not collection.qrels.exists()
    assert not collection.runs.exists()


def test_a_bad_rating_is_refused_with_its_line(collection, bring):
    bring("topics", TOPICS)
    job = bring("qrels", RATINGS + "red shoes,d3,good\n")
    assert job.report["problems"][0]["line"] == 7
    assert "rating 'good'" in job.report["problems"][0]["problem"]
