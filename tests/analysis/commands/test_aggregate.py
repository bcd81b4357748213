"""`manage.py aggregate`."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from assay.labels.aggregation.dawid_skene import MAX_ROUNDS_BY_RULE, StoppingRule
from tests.analysis.commands.judged_file import ROWS, refused, run, written
from tests.commands import call_command


def test_labels_decisions_and_dropped_rows_by_hand(tmp_path):
    result = run("aggregate", written(tmp_path))
    assert result["pairs"] == 3
    assert result["dropped"] == {
        "too_few": 1,
        "too_fast": 1,
        "excluded": 1,
        "repeated": 1,
        "gold": 0,
        "emptied_pairs": 0,
    }
    assert result["labels"] == {"0": 1, "1": 1, "2": 1, "3": 0}
    assert result["decisions"] == {"unanimous": 0, "majority": 1, "lowest_grade": 2}
    assert result["cross"]["0"] == {"unanimous": 0, "majority": 1, "lowest_grade": 0}
    assert result["graded"] == {name: result[name] for name in ("labels", "decisions", "cross")}
    assert result["binary"]["labels"] == {"0": 2, "1": 1}
    assert result["binary"]["decisions"] == {"unanimous": 1, "majority": 1, "lowest_grade": 1}
    assert result["seed"] == 0


def test_the_first_figures_are_those_of_the_grades_asked_for(tmp_path):
    result = run("aggregate", written(tmp_path), "--labels", "binary")
    assert result["labels"] == result["binary"]["labels"] == {"0": 2, "1": 1}


@pytest.mark.parametrize(
    ("arguments", "qrels"),
    [
        ([], "t1 0 d1 0\nt1 0 d2 1\nt2 0 d1 2\n"),
        (["--labels", "binary"], "t1 0 d1 0\nt1 0 d2 0\nt2 0 d1 1\n"),
        (["--min-judgements", "1"], "t1 0 d1 0\nt1 0 d2 1\nt2 0 d1 2\nt2 0 d3 1\n"),
        (["--min-judgements", "3"], "t1 0 d1 0\n"),
        (["--no-gold"], "t1 0 d1 0\nt1 0 d2 1\n"),
        (["--min-seconds", "0"], "t1 0 d1 0\nt1 0 d2 2\nt2 0 d1 2\n"),
        (["--method", "median"], "t1 0 d1 0\nt1 0 d2 1\nt2 0 d1 2\n"),
        (["--labels", "binary", "--min-relevant", "1"], "t1 0 d1 0\nt1 0 d2 1\nt2 0 d1 1\n"),
    ],
)
def test_the_qrels_written_are_those_by_hand(tmp_path, arguments, qrels):
    target = tmp_path / "qrels.txt"
    run("aggregate", written(tmp_path), "--output", str(target), *arguments)
    assert target.read_text(encoding="utf-8") == qrels


def test_the_order_of_rows_changes_no_byte_of_the_qrels(tmp_path):
    header, *rows = ROWS.replace("t1,d1,a,3,20,2021-02-15T01:00:00Z,0,0\n", "").splitlines()
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    run("aggregate", written(tmp_path, "\n".join([header, *rows])), "--output", str(one))
    run("aggregate", written(tmp_path, "\n".join([header, *rows[::-1]])), "--output", str(two))
    assert one.read_bytes() == two.read_bytes()


def test_methods_without_decisions_have_none(tmp_path):
    for method in ("median", "dawid-skene"):
        result = run("aggregate", written(tmp_path), "--method", method)
        assert result["decisions"] is None
        assert result["cross"] is None
        assert result["graded"]["decisions"] is None
        assert sum(result["labels"].values()) == 3


def test_dawid_skene_gives_the_labels_of_the_function(tmp_path):
    found = run("aggregate", written(tmp_path), "--method", "dawid-skene")
    assert found["rule"] == "penalised"
    for scale in ("graded", "binary"):
        assert found[scale]["rounds"] >= 1
        assert found[scale]["converged"] is True
        assert found[scale]["log_likelihood"] < 0
    theirs = run("aggregate", written(tmp_path), "--method", "dawid-skene", "--rule", "crowd-kit")[
        "graded"
    ]
    assert theirs["rounds"] >= 1
    assert theirs["log_likelihood"] is None


def test_rounds_that_run_out_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.setitem(MAX_ROUNDS_BY_RULE, StoppingRule.PENALISED, 1)
    status, out, err = refused("aggregate", written(tmp_path), "--method", "dawid-skene")
    assert status == 0
    assert json.loads(out)["graded"]["converged"] is False
    assert "dawid-skene did not converge on the graded scale within 1 round." in err


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "judgements.csv.gz"
    path.write_bytes(gzip.compress(ROWS.encode()))
    assert run("aggregate", str(path))["pairs"] == 3


def test_a_grade_outside_the_scale_is_refused_with_its_line_and_nothing_is_written(tmp_path):
    target = tmp_path / "qrels.txt"
    path = written(tmp_path, "topic,document,annotator,grade\nt,d,a,3\nt,d,b,4\n")
    status, out, err = refused("aggregate", path, "--output", str(target))
    assert (status, out) == (2, "")
    assert f"{path}:3:" in err
    assert not target.exists()


def test_a_threshold_above_the_scale_is_refused(tmp_path):
    status, out, err = refused("aggregate", written(tmp_path), "--min-relevant", "4")
    assert (status, out) == (2, "")
    assert "--min-relevant 4 is above the highest of 4 grades" in err


def test_two_grades_need_no_threshold(tmp_path):
    path = written(tmp_path, "topic,document,annotator,grade\nt,d,a,1\nt,d,b,0\nt,e,a,1\nt,e,b,1\n")
    result = run("aggregate", path, "--grades", "2")
    assert result["labels"] == result["binary"]["labels"] == {"0": 1, "1": 1}
    assert result["min_relevant"] == 1


def test_the_readable_table_has_a_row_for_each_label(tmp_path):
    out = io.StringIO()
    call_command("aggregate", written(tmp_path), stdout=out, stderr=io.StringIO())
    lines = out.getvalue().splitlines()
    assert "3 labelled pairs from 8 judgements by majority" in out.getvalue()
    assert "lowest grade" in out.getvalue()
    assert sum(line.startswith("all") for line in lines) == 2


def test_judgements_come_from_a_file_or_from_a_campaign_and_not_from_both_or_neither(tmp_path):
    for arguments in ([], [written(tmp_path), "--campaign", "demo"]):
        status, out, err = refused("aggregate", *arguments)
        assert (status, out) == (2, "")
        assert "give either a file of judgements or" in err


def test_no_label_at_all_is_said(tmp_path, capsys):
    call_command(
        "aggregate", written(tmp_path), "--min-judgements", "9", "--json", stdout=io.StringIO()
    )
    assert "no pair has the required 9 counted judgements" in capsys.readouterr().err
