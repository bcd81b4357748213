"""`manage.py campaign_stats`."""

from __future__ import annotations

import io

from tests.analysis.commands.judged_file import POOL, refused, run, written
from tests.commands import call_command


def test_table_1_of_a_small_campaign_by_hand(tmp_path):
    pool = written(tmp_path, POOL, "pool.tsv")
    result = run("campaign_stats", written(tmp_path), "--pool", pool, "--n-documents", "500")
    assert (result["topics"], result["documents"], result["pairs"], result["labelled_pairs"]) == (
        2,
        500,
        4,
        3,
    )
    assert (result["judgements"], result["annotators"], result["per_pair"]) == (8, 3, 2.0)
    assert result["per_labelled_pair"] == 7 / 3
    assert result["per_annotator"] == 8 / 3
    assert result["mean_seconds"] == (25 + 30 + 40 + 10 + 50 + 60 + 60) / 7
    assert result["grades"]["0"] == {
        "n": 2,
        "share": 0.25,
        "mean_seconds": 27.5,
        "median_seconds": 27.5,
    }
    assert result["grades"]["1"] == {
        "n": 2,
        "share": 0.25,
        "mean_seconds": 50.0,
        "median_seconds": 50.0,
    }
    assert result["complete_depth"] == 2
    assert result["coverage"]["3"] == {"pairs": 1, "judged": 1, "labelled": 0}
    assert result["relevant_share"] == 1 / 3
    assert result["relevant_share_per_topic"] == {"t1": 0.0, "t2": 1.0}


def test_half_days_and_days_are_in_utc_and_empty_half_days_are_there(tmp_path):
    result = run("campaign_stats", written(tmp_path))
    assert result["per_12h"] == [
        ["2021-02-15T00:00:00Z", 1],
        ["2021-02-15T12:00:00Z", 2],
        ["2021-02-16T00:00:00Z", 2],
        ["2021-02-16T12:00:00Z", 2],
        ["2021-02-17T00:00:00Z", 1],
    ]
    assert result["daily_seconds"] == [
        ["2021-02-15", {"0": 27.5, "1": None, "2": 40.0, "3": None}],
        ["2021-02-16", {"0": None, "1": 50.0, "2": 35.0, "3": 60.0}],
    ]


def test_what_was_not_given_is_null(tmp_path):
    result = run(
        "campaign_stats", written(tmp_path, "topic,document,annotator,grade\nt,d,a,0\nt,d,b,1\n")
    )
    for name in ("documents", "per_12h", "daily_seconds", "complete_depth", "coverage"):
        assert result[name] is None
    assert result["grades"]["0"]["mean_seconds"] is None
    assert result["mean_seconds"] is None
    assert result["grades"]["3"] == {
        "n": 0,
        "share": 0.0,
        "mean_seconds": None,
        "median_seconds": None,
    }


def test_a_high_relevant_share_is_warned_about_on_standard_error(tmp_path):
    path = written(tmp_path, "topic,document,annotator,grade\nt,d,a,3\nt,d,b,3\nt,e,a,0\n")
    status, out, err = refused("campaign_stats", path)
    assert status == 0
    assert "more than the usual third to half" in err
    assert "more than the usual third to half" in out


def test_a_pool_file_that_is_none_is_refused_with_its_line(tmp_path):
    judgements = written(tmp_path)
    pool = written(tmp_path, "a b c\n", "pool.tsv")
    status, out, err = refused("campaign_stats", judgements, "--pool", pool)
    assert (status, out) == (2, "")
    assert "pool.tsv:1:" in err
    pool = written(tmp_path, POOL.replace("\t3\t7", "\tx\t7"), "pool.tsv")
    status, out, err = refused("campaign_stats", judgements, "--pool", pool)
    assert (status, out) == (2, "")
    assert "pool.tsv:5:" in err


def test_a_pool_file_without_ranks_is_refused(tmp_path):
    pool = written(tmp_path, "query_id\tdoc_id\tpriority\nt1\td1\t9\n", "pairs.tsv")
    status, out, err = refused("campaign_stats", written(tmp_path), "--pool", pool)
    assert (status, out) == (2, "")
    assert "some pairs have no best rank" in err


def test_the_readable_table_has_counts_and_grades(tmp_path):
    out = io.StringIO()
    call_command("campaign_stats", written(tmp_path), stdout=out, stderr=io.StringIO())
    assert "judgements per labelled pair" in out.getvalue()
    assert "median seconds" in out.getvalue()


def test_the_mean_time_of_each_topic_by_hand(tmp_path):
    # t1: 25, 30, 40, 10, 50 (the repeated and the fast one do not count); t2: 60, 60 and one
    # without a time
    assert run("campaign_stats", written(tmp_path))["topic_seconds"] == {
        "t1": {"n": 5, "mean_seconds": 31.0},
        "t2": {"n": 2, "mean_seconds": 60.0},
    }
    unknown = written(tmp_path, "topic,document,annotator,grade\nt,d,a,1\n", "untimed.csv")
    assert run("campaign_stats", unknown)["topic_seconds"] == {"t": {"n": 0, "mean_seconds": None}}
