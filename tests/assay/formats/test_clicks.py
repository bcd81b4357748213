"""Click logs in one file and in two."""

from __future__ import annotations

import io

import pytest

from assay.formats.clicks import ClickCounts, read_clicks
from assay.formats.errors import FormatError


def stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())


def counts(found: ClickCounts) -> dict[tuple[str, str], tuple[int, int, int]]:
    columns = (
        found.topic,
        found.document,
        found.impressions.tolist(),
        found.clicks.tolist(),
        found.skipped.tolist(),
    )
    return {
        (found.topics[t], found.documents[d]): (n, c, s)
        for t, d, n, c, s in zip(*columns, strict=True)
    }


ONE = "session\ttopic\tdocument\trank\tclicked\n"


def test_one_file_is_counted_by_pair():
    found = read_clicks(
        stream(
            ONE
            + "s1\t1\ta\t1\t0\ns1\t1\tb\t2\t1\ns1\t1\tc\t3\t0\ns2\t1\ta\t1\t1\ns2\t1\tb\t2\t0\ns3\t2\tz\t1\t0\n"
        )
    )
    assert counts(found) == {
        ("1", "a"): (2, 1, 1),
        ("1", "b"): (2, 1, 0),
        ("1", "c"): (1, 0, 0),
        ("2", "z"): (1, 0, 0),
    }
    assert found.n_sessions == 3


SHOWN = "query_id\trank\tdoc_id\n1\t1\ta\n1\t2\tb\n1\t3\tc\n2\t1\tz\n9\t1\tq\n"
TWO = "session\tquery_id\trank\tdoc_id\n"


def test_two_files_are_counted_alike():
    found = read_clicks(
        stream(TWO + "s1\t1\t2\tb\ns2\t1\t1\ta\ns2\t1\t1\ta\ns3\t2\t0\t\n"), shown=stream(SHOWN)
    )
    assert counts(found) == {
        ("1", "a"): (2, 1, 1),
        ("1", "b"): (2, 1, 0),
        ("1", "c"): (2, 0, 0),
        ("2", "z"): (1, 0, 0),
    }
    assert found.n_sessions == 3
    assert found.warnings == ["1 topic of the rankings shown has no session and is left out"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("s\t1\ta\tx\t0", "rank 'x' is not a whole number"),
        ("s\t1\ta\t0\t0", "invalid rank 0 or clicked '0'"),
        ("s\t1\ta\t1\t2", "invalid rank 1 or clicked '2'"),
        ("s\t1\t\t1\t0", "an empty ID"),
        ("s\t1\ta\t1", "4 columns"),
        ("s0\t1\td\t2\t0", "duplicate document or rank in session s0"),
        ("s0\t1\te\t1\t0", "duplicate document or rank in session s0"),
    ],
)
def test_mistakes_in_one_file_are_refused_with_their_line(line, problem):
    with pytest.raises(FormatError) as error:
        read_clicks(stream(f"{ONE}s0\t1\td\t1\t1\n{line}\n"))
    assert [(p.line, p.problem) for p in error.value.problems] == [(3, problem)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("s\t7\t1\ta", "topic 7 was not shown"),
        ("s\t1\t2\ta", "document 'a' was not shown at rank 2 of topic 1"),
        ("s\t1\t1\tx", "document 'x' was not shown at rank 1 of topic 1"),
        ("s\t1\t0\ta", "rank 0 with a document"),
    ],
)
def test_mistakes_in_two_files_are_refused_with_their_line(line, problem):
    with pytest.raises(FormatError) as error:
        read_clicks(stream(f"{TWO}s0\t1\t1\ta\n{line}\n"), shown=stream(SHOWN))
    assert [(p.line, p.problem) for p in error.value.problems] == [(3, problem)]


@pytest.mark.parametrize("line", ["1\t1\tx", "1\t4\ta", "1\t0\tx", "1\tx\ty", "1\t4"])
def test_mistakes_in_the_rankings_shown_are_refused(line):
    with pytest.raises(FormatError, match=r"shown\.tsv:7"):
        read_clicks(
            stream(TWO + "s\t1\t1\ta\n"), shown=stream(f"{SHOWN}{line}\n"), shown_name="shown.tsv"
        )


def test_missing_columns_and_empty_logs_are_refused():
    with pytest.raises(FormatError, match="no column document, clicked"):
        read_clicks(stream("session,topic,rank\n1,1,1\n"))
    with pytest.raises(FormatError, match="no session"):
        read_clicks(stream(ONE))
    with pytest.raises(FormatError, match="no ranking"):
        read_clicks(stream(TWO), shown=stream("query_id\trank\tdoc_id\n"))


def test_a_session_with_two_topics_counts_for_each_of_them_and_once_as_a_session():
    log = "session\ttopic\tdocument\trank\tclicked\ns\t1\ta\t1\t0\ns\t1\tb\t2\t1\ns\t2\ta\t1\t1\n"
    counts = read_clicks(stream(log))
    assert counts.n_sessions == 1
    assert counts.impressions.tolist() == [1, 1, 1]
    assert counts.clicks.tolist() == [0, 1, 1]
    assert counts.skipped.tolist() == [1, 0, 0]
