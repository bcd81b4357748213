"""manage.py build_pool on plain files."""

from __future__ import annotations

import gzip
import io
import json
import os

import pytest

from tests.commands import call_command

A = "1 Q0 a 1 9 A\n1 Q0 b 2 8 A\n1 Q0 c 3 7 A\n2 Q0 x 1 5 A\n"
B = "1 Q0 b 1 3 B\n1 Q0 d 2 2 B\n1 Q0 a 3 1 B\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.run").write_text(A)
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(B.encode()))
    return tmp_path


def run(*arguments) -> tuple[dict, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("build_pool", *map(str, arguments), "--json", stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


def refused(*arguments) -> str:
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as stop:
        call_command("build_pool", *map(str, arguments), stdout=out, stderr=err)
    assert stop.value.code == 2
    assert out.getvalue() == ""
    return err.getvalue()


def test_the_contracts_keys_by_hand(files):
    result, err = run(files / "a.run", files / "b.run.gz", "--depth", 2)
    assert err == ""
    assert (result["pairs"], result["topics"], result["seed"]) == (4, 2, 0)
    assert result["by_depth"] == {"1": 3, "2": 4}
    assert result["unique"] == {"A": 2, "B": 1}
    assert result["overlap"] == {"A": {"A": 1.0, "B": 1 / 3}, "B": {"A": 0.5, "B": 1.0}}


def test_the_pool_file(files):
    run(files / "a.run", files / "b.run.gz", "--depth", 2, "--output", files / "pool.tsv")
    lines = (files / "pool.tsv").read_text().splitlines()
    assert lines[0] == "topic\tdocument\tbest_rank\tpriority\truns"
    assert set(lines[1:4]) == {"1\ta\t1\t1\tA:1", "1\tb\t1\t1\tA:2,B:1", "2\tx\t1\t1\tA:1"}
    assert lines[4] == "1\td\t2\t0\tB:2"


def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_files(files):
    many = "".join(f"{t} Q0 d{t} 1 1 M\n" for t in range(50))
    (files / "m.run").write_text(many)
    run(files / "m.run", files / "a.run", "--output", files / "1.tsv")
    run(files / "m.run", files / "a.run", "--output", files / "2.tsv")
    run(files / "m.run", files / "a.run", "--output", files / "3.tsv", "--seed", 5)
    assert (files / "1.tsv").read_bytes() == (files / "2.tsv").read_bytes()
    assert (files / "1.tsv").read_bytes() != (files / "3.tsv").read_bytes()
    assert sorted((files / "1.tsv").read_text().splitlines()) == sorted(
        (files / "3.tsv").read_text().splitlines()
    )


def test_runs_of_one_tag_are_told_apart_with_a_warning(files):
    result, err = run(files / "a.run", files / "a.run", files / "a.run", "--depth", 1)
    assert list(result["unique"]) == ["A", "A#2", "A#3"]
    assert "two runs have the tag A; the second is called A#2" in err


def test_only_the_given_topics_are_pooled_and_the_rest_is_counted(files):
    (files / "topics.tsv").write_text("1\tone\n9\tnine\n")
    result, err = run(files / "a.run", "--only-topics", files / "topics.tsv")
    assert (result["pairs"], result["topics"]) == (3, 1)
    assert "left out 1 topic that is not in the topic file" in err
    assert "1 topic has no document in any run" in err


def test_the_rank_column_orders_on_request(files):
    (files / "r.run").write_text("1 Q0 a 2 9 R\n1 Q0 b 1 8 R\n")
    run(files / "r.run", "--depth", 1, "--output", files / "by_score.tsv")
    run(files / "r.run", "--depth", 1, "--sort-by", "rank", "--output", files / "by_rank.tsv")
    assert "\ta\t" in (files / "by_score.tsv").read_text()
    assert "\tb\t" in (files / "by_rank.tsv").read_text()


def test_three_columns_need_lenient(files):
    (files / "msmarco.tsv").write_text("1\ta\t1\n1\tb\t2\n")
    assert "3 columns, expected 6 columns" in refused(files / "msmarco.tsv")
    result, _ = run(files / "msmarco.tsv", "--lenient")
    assert result["unique"] == {"msmarco": 2}


def test_one_bad_file_leaves_no_pool(files):
    (files / "bad.run").write_text("1 Q0 a 1 x T\n")
    err = refused(files / "a.run", files / "bad.run", "--output", files / "pool.tsv")
    assert err.startswith(f"{files / 'bad.run'}:1: 'x' is not a finite number, expected")
    assert not (files / "pool.tsv").exists()
    assert not [name for name in os.listdir(files) if name.endswith(".part")]


def test_options_that_cannot_be_are_refused(files):
    assert "at most 32767" in refused(files / "a.run", "--depth", 40_000)
    assert "only once" in refused("-", "-")


def test_without_json_a_person_reads_tables(files):
    out = io.StringIO()
    call_command(
        "build_pool", str(files / "a.run"), str(files / "b.run.gz"), "--depth", "2", stdout=out
    )
    assert "4 pairs of 2 topics, depth 2, seed 0." in out.getvalue()
