"""Nearly identical runs, by hand."""

from __future__ import annotations

import io

import pytest

from assay.column_types import RunColumns
from assay.comparison.near_identical import find_similar_runs
from assay.formats.runs import read_run


def run_of(tag: str, **topics: str) -> RunColumns:
    lines = [
        f"{topic} Q0 {document} {rank} {99 - rank} {tag}\n"
        for topic, documents in topics.items()
        for rank, document in enumerate(documents, 1)
    ]
    return read_run(io.BytesIO("".join(lines).encode()), name=tag)


def test_runs_that_share_nine_of_ten_first_documents_are_nearly_identical() -> None:
    """a and b: topic 1 the same ten, topic 2 eight of ten and two more: 0.9. The eleventh document
    does not count. c: another order of the same ten on both topics of a."""
    a = run_of("a", t1="abcdefghijx", t2="abcdefghij")
    b = run_of("b", t1="abcdefghijz", t2="abcdefghyz")
    c = run_of("c", t1="bacdefghij", t2="abcdefghij")
    found = find_similar_runs([a, b, c])
    assert [(one.a, one.b) for one in found] == [("a", "c"), ("a", "b"), ("b", "c")]
    assert found[0].overlap == 1.0
    assert found[0].same == 0.5
    assert found[1].overlap == pytest.approx((1 + 0.8) / 2)
    assert (found[1].same, found[2].same, found[1].topics) == (0.5, 0.0, 2)
    assert [(one.a, one.b) for one in find_similar_runs([a, b, c], min_overlap=0.95)] == [
        ("a", "c")
    ]


def test_a_topic_of_only_one_run_counts_as_no_overlap() -> None:
    a, b = run_of("a", t1="ab", t2="cd"), run_of("b", t1="ab")
    assert find_similar_runs([a, b]) == []
    assert find_similar_runs([a, b], min_overlap=0.5)[0].overlap == 0.5
    assert find_similar_runs([run_of("a", t1="ab"), b])[0].same == 1.0
