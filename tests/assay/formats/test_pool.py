"""Pool files, written and read."""

from __future__ import annotations

import io

import numpy as np
import pytest

from assay.formats.errors import FormatError
from assay.formats.pool import read_pool, write_pool
from assay.formats.runs import make_run
from assay.pools.depth import PooledPairs, cut_run, make_depth_pool


def given(text: str) -> PooledPairs:
    return read_pool(io.BytesIO(text.encode()), name="pool.tsv")


def written(pool: PooledPairs) -> str:
    out = io.StringIO()
    write_pool(pool, out)
    return out.getvalue()


def small() -> PooledPairs:
    a = make_run("A", [("1", "x", 3.0), ("1", "y", 2.0), ("2", "z", 1.0)])
    b = make_run("B,1:2", [("1", "y", 3.0), ("1", "w", 2.0)])
    return make_depth_pool([cut_run(a, 2), cut_run(b, 2)], depth=2, rng=np.random.default_rng(0))


def test_a_pool_is_written_best_first_with_its_runs():
    lines = written(small()).splitlines()
    assert lines[0] == "topic\tdocument\tbest_rank\tpriority\truns"
    assert sorted(lines[1:4]) == ["1\tx\t1\t1\tA:1", "1\ty\t1\t1\tA:2,B,1:2:1", "2\tz\t1\t1\tA:1"]
    assert lines[4] == "1\tw\t2\t0\tB,1:2:2"


def test_a_pool_read_back_is_the_same_pool():
    text = written(small())
    pool = given(text)
    assert written(pool) == text
    assert (pool.depth, pool.tags) == (2, ["A", "B,1:2"])
    assert pool.by_depth() == {1: 3, 2: 4}


def test_a_pool_needs_topic_and_document_only():
    pool = given("topic\tdocument\n1\ta\n1\tb\n")
    assert [p[:4] for p in pool] == [("1", "a", 0, 0), ("1", "b", 0, 0)]


def test_the_best_rank_may_come_from_the_runs():
    assert given("topic\tdocument\truns\n1\ta\tr:4,s:2\n").best_rank.tolist() == [2]


def test_firas_pairs_are_read_with_pairs_for_everyone():
    pool = given("query_id\tdoc_id\tpriority\n1\ta\tall\n1\tb\t2\n")
    assert pool.everyone.tolist() == [True, False]
    assert pool.priority.tolist() == [0, 2]


@pytest.mark.parametrize("separator", ["\t", " "])
def test_trectools_pools_are_read(separator):
    pool = given("1 Q0 a 0 0 trectools\n2 Q0 b 0 0 trectools\n".replace(" ", separator))
    assert [(p.topic, p.document) for p in pool] == [("1", "a"), ("2", "b")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1\ta\t1\t1", "4 columns"),
        ("\ta\t1\t1\tr:1", "an empty ID"),
        ("1\ta\tx\t1\tr:1", "the rank or priority is not a whole number in range"),
        ("1\ta\t1\t-1\tr:1", "the rank or priority is not a whole number in range"),
        ("1\ta\t1\t1\tr", "'r' is not a list of runs with ranks"),
        ("1\ta\t1\t1\tr:0", "'r:0' is not a list of runs with ranks"),
        ("1\ta\t1\t1\tr:99999", "'r:99999' is not a list of runs with ranks"),
        ("1\td\t1\t1\tr:1", "duplicate document d for topic 1 (first in line 2)"),
    ],
)
def test_mistakes_are_refused_with_their_line(line, problem):
    with pytest.raises(FormatError) as error:
        given(f"topic\tdocument\tbest_rank\tpriority\truns\n1\td\t1\t9\tr:1\n{line}\n")
    assert [(p.line, p.problem) for p in error.value.problems] == [(3, problem)]


@pytest.mark.parametrize("text", ["", "topic\tdocument\n", "some words\n", "1 2 3\n"])
def test_what_is_no_pool_is_refused(text):
    with pytest.raises(FormatError):
        given(text)
