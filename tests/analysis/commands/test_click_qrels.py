from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.base import WrongArguments
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import files, printed

LOG = "session\ttopic\tdocument\trank\tclicked\ns1\tt\ta\t1\t0\ns1\tt\tb\t2\t1\ns1\tt\tc\t3\t0\ns2\tt\ta\t1\t0\ns2\tt\td\t2\t0\n"
CLICKS = "session\tquery_id\trank\tdoc_id\ns1\tt\t2\tb\ns2\tt\t0\t\n"
SHOWN = "query_id\trank\tdoc_id\nt\t1\ta\nt\t2\tb\nt\t3\tc\n"


def test_dctr_labels_everything_shown(tmp_path: Path) -> None:
    target = tmp_path / "qrels.txt"
    result = run("click_qrels", *files(tmp_path, log=LOG), "--output", str(target))
    assert (result["pairs"], result["labels"]) == (4, {"0": 3, "1": 0, "2": 0, "3": 1})
    assert target.read_text() == "t 0 a 0\nt 0 b 3\nt 0 c 0\nt 0 d 0\n"


def test_raw_labels_what_was_clicked_or_passed_over(tmp_path: Path) -> None:
    target = tmp_path / "qrels.txt"
    result = run(
        "click_qrels", *files(tmp_path, log=LOG), "--click-model", "raw", "--output", str(target)
    )
    assert (result["pairs"], result["labels"]) == (2, {"0": 1, "1": 1})
    assert target.read_text() == "t 0 a 0\nt 0 b 1\n"


def test_clicks_and_rankings_shown_may_be_two_files(tmp_path: Path) -> None:
    clicks, shown = files(tmp_path, clicks=CLICKS, shown=SHOWN)
    target = tmp_path / "qrels.txt"
    run(
        "click_qrels", clicks, "--shown", shown, "--thresholds", "0.04,0.6", "--output", str(target)
    )
    assert target.read_text() == "t 0 a 0\nt 0 b 2\nt 0 c 0\n"


def test_the_table_shows_grades_and_shares(tmp_path: Path) -> None:
    out, _ = printed("click_qrels", *files(tmp_path, log=LOG))
    assert out.startswith("Click labels by dctr\n")
    assert "4 pairs of 1 topic from 1 click in 2 sessions." in out
    assert ["0", "3", "0.7500"] in [line.split() for line in out.splitlines()]


@pytest.mark.parametrize("rates", ["0.3,0.04", "0.04,0.04", "x", "", "0,-1", "nan", "inf"])
def test_thresholds_must_be_ascending_rates(tmp_path: Path, rates: str) -> None:
    with pytest.raises(WrongArguments, match="ascending rates"):
        run("click_qrels", *files(tmp_path, log=LOG), "--thresholds", rates)


def test_a_wrong_row_is_refused_with_its_line_and_no_file_is_left(tmp_path: Path) -> None:
    (log,) = files(tmp_path, log=LOG + "s3\tt\ta\tfirst\t1\n")
    target = tmp_path / "qrels.txt"
    status, out, err = refused("click_qrels", log, "--output", str(target))
    assert (status, out) == (2, "")
    assert err.startswith(f"{log}:7: ")
    assert not target.exists()


@pytest.mark.data
@pytest.mark.parametrize(
    ("model", "labels"),
    [("dctr", {"0": 1094, "1": 757, "2": 612, "3": 163}), ("raw", {"0": 648, "1": 1532})],
)
def test_the_simulated_log_of_nfcorpus_gives_the_expected_labels(
    data_folder: Path, tmp_path: Path, model: str, labels: dict[str, int]
) -> None:
    folder = data_folder / "nfcorpus" / "sim-clicks"
    target = tmp_path / "qrels.txt"
    arguments = [
        str(folder / "clicks.tsv.gz"),
        "--shown",
        str(folder / "shown.tsv.gz"),
        "--click-model",
        model,
        "--output",
        str(target),
    ]
    result = run("click_qrels", *arguments)
    assert (result["labels"], result["topics"], result["sessions"]) == (labels, 277, 30_000)
    assert sorted(target.read_text().splitlines()) == sorted(
        (folder / f"expected.qrels.{model}.txt").read_text().splitlines()
    )


QUERIES = "q1\tStroke prevention\nq2\tasthma\n"


def record(session: str, query: str, documents: list[object], clicked: object) -> str:
    """With a field that is not read, as in TripClick's log."""
    said = {
        "DateCreated": "/Date(1357004977650)/",
        "SessionId": session,
        "DocumentId": clicked,
        "Keywords": query,
        "Documents": documents,
    }
    return json.dumps(said) + "\n"


def test_tripclicks_log_is_counted_by_the_texts_of_topics(tmp_path: Path) -> None:
    log = (
        record("s1", "stroke  Prevention", ["11", "12", "13"], 12)
        + record(
            "s1", "stroke prevention", ["11", "12", "13"], 12
        )  # the same list again: one impression
        + record("s2", "stroke prevention", ["11", "12"], 11)
        + record("s3", "asthma", [7, 8], 8)
        + record("s3", "gout", ["1"], 1)
        + record("s4", "asthma", [], 8)
        + record("s4", "asthma", ["8"], 9)
    )
    clicks, queries = files(tmp_path, log=log, queries=QUERIES)
    target = tmp_path / "qrels.txt"
    # by hand, clicks / impressions: 11 1/2, 12 1/2, 13 0/1; 7 0/1, 8 1/1
    found = run(
        "click_qrels",
        clicks,
        "--queries",
        queries,
        "--thresholds",
        "0.04,0.5",
        "--output",
        str(target),
    )
    assert target.read_text() == "q1 0 11 2\nq1 0 12 2\nq1 0 13 0\nq2 0 7 0\nq2 0 8 3\n"
    assert (found["sessions"], found["clicks"]) == (3, 3)
    run(
        "click_qrels", clicks, "--queries", queries, "--click-model", "raw", "--output", str(target)
    )
    assert target.read_text() == "q1 0 11 1\nq1 0 12 1\nq2 0 7 0\nq2 0 8 1\n"
    err = printed("click_qrels", clicks, "--queries", queries)[1]
    assert "1 record whose query is not a topic, left out" in err
    assert "1 record without a list of results, left out" in err
    assert "1 record of a click on a document missing from its result list, left out" in err


def test_a_line_that_is_no_record_and_two_topics_of_one_text_are_refused_with_their_lines(
    tmp_path: Path,
) -> None:
    good = record("s", "asthma", ["8"], 8)
    clicks, queries, twice = files(
        tmp_path,
        log=good + "[1]\n" + record("s", "asthma", [None], 8),
        queries=QUERIES,
        twice=QUERIES + "q3\tASTHMA\n",
    )
    status, out, err = refused("click_qrels", clicks, "--queries", queries)
    assert (status, out) == (2, "")
    assert [line.split(": ")[0].rsplit(":")[-1] for line in err.strip().splitlines()] == ["2", "3"]
    status, _, err = refused("click_qrels", clicks, "--queries", twice)
    assert status == 2
    assert "topic q3 has the text of topic q2" in err
    assert refused("click_qrels", clicks, "--queries", queries, "--shown", queries)[0] == 2


UBI_QUERIES = {"q1": "Red  shoes", "q2": "red shoes", "q3": "hats"}


def ubi_events(*rows: tuple[str, str, str, int]) -> str:
    """(action, query ID, document, position) as UBI events."""
    return "".join(
        json.dumps(
            {
                "action_name": action,
                "query_id": query,
                "user_query": UBI_QUERIES[query],
                "event_attributes": {
                    "object": {"object_id": document},
                    "position": {"ordinal": position},
                    "dwell_time": 10 * position,
                },
            }
        )
        + "\n"
        for action, query, document, position in rows
    )


EVENTS = ubi_events(
    ("impression", "q1", "a", 1),
    ("impression", "q1", "b", 2),
    ("click", "q1", "b", 2),
    ("impression", "q2", "a", 1),
    ("click", "q2", "a", 1),
    ("impression", "q3", "c", 1),
)


TURNED = ubi_events(
    *(
        (action, query, document, place)
        for query, order in (("q1", "ab"), ("q2", "ba"))
        for place, document in enumerate(order, 1)
        for action in ("impression", "click")
    ),
    ("impression", "q3", "c", 1),
)


def test_ubi_events_are_labelled_under_their_queries_or_under_topics(tmp_path: Path) -> None:
    events, topics = files(tmp_path, events=EVENTS, topics="7\tred shoes\n")
    target = tmp_path / "qrels.txt"
    found = run("click_qrels", events, "--output", str(target))
    assert target.read_text() == "hats 0 c 0\nred_shoes 0 a 3\nred_shoes 0 b 3\n"
    assert (found["sessions"], found["clicks"]) == (3, 2)
    run("click_qrels", events, "--queries", topics, "--output", str(target))
    assert target.read_text() == "7 0 a 3\n7 0 b 3\n"
    run("click_qrels", events, "--min-dwell", "15", "--output", str(target))
    assert target.read_text() == "hats 0 c 0\nred_shoes 0 a 0\nred_shoes 0 b 3\n"


@pytest.mark.parametrize(
    ("model", "labels", "thresholds"),
    [
        # clicks / expected clicks: a 1 / (2 x 1/3), b 1 / 1, c 0
        ("coec", "hats 0 c 0\nred_shoes 0 a 2\nred_shoes 0 b 1\n", [1.0, 2.0]),
        # last clicks / examinations: a 1 / 2, b 1 / 1, c never examined
        ("sdbn", "red_shoes 0 a 3\nred_shoes 0 b 3\n", [0.04, 0.3]),
        # a and b in turn at ranks 1 and 2, each clicked once at both
        ("pbm", "hats 0 c 0\nred_shoes 0 a 3\nred_shoes 0 b 3\n", [0.04, 0.3]),
    ],
)
def test_each_click_model_gives_qrels(
    tmp_path: Path, model: str, labels: str, thresholds: list[float]
) -> None:
    (events,) = files(tmp_path, events=TURNED if model == "pbm" else EVENTS)
    target = tmp_path / "qrels.txt"
    found = run("click_qrels", events, "--click-model", model, "--output", str(target))
    assert target.read_text() == labels
    assert (found["click_model"], found["thresholds"]) == (model, thresholds)


def test_options_that_a_log_or_model_does_not_have_are_refused(tmp_path: Path) -> None:
    log, events, shown = files(tmp_path, log=LOG + "s3\tt\ta\t1\t1\n", events=EVENTS, shown=SHOWN)
    for arguments, says in [
        ([log, "--min-dwell", "3"], "so --ubi-queries and --min-dwell do not apply"),
        ([events, "--shown", shown], "which include the rankings shown; omit --shown"),
        ([log, "--click-model", "pbm"], "choose another click model"),
        ([log, "--thresholds", "0.5,2"], "a threshold of 2 for dctr, expected rates from 0 to 1"),
    ]:
        status, out, err = refused("click_qrels", *arguments)
        assert (status, out) == (2, "")
        assert says in err


def test_two_queries_with_one_topic_id_need_topics(tmp_path: Path) -> None:
    (events,) = files(tmp_path, events=EVENTS.replace("hats", "red_shoes"))
    status, _, err = refused("click_qrels", events)
    assert status == 2
    assert "two queries have the topic ID red_shoes; give a topic file with --queries" in err
