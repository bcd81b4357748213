from __future__ import annotations

import csv
import json

import pytest

from tests.analysis.commands.called import refused
from tests.analysis.commands.first_rank_files import printed, read, write_qrels, write_run

TOPICS = [f"q{i}" for i in range(40)]
RANKS = {
    "base": [10] * 20 + [0] * 20,
    "one": [4] * 20 + [0] * 20,
    "two": [3] * 20 + [0] * 20,
    "worse": [9] * 20 + [0] * 20,
    "three": [2] * 20 + [0] * 20,
    "four": [2] * 20 + [5] * 20,
}
ORDER = [
    ("base", "2021-01-01", "organisers", "1", "BM25"),
    ("one", "2021-01-02", "x", "0", "neural"),
    ("two", "2021-02-01", "y", "0", "a BERT"),
    ("worse", "2021-02-02", "y", "0", "bert again"),
    ("three", "2021-03-01", "x", "0", "neural"),
    ("four", "2021-04-01", "z", "0", "T5"),
]


@pytest.fixture
def board(tmp_path):
    order = tmp_path / "order.tsv"
    order.write_text(
        "\n".join(
            "\t".join(row) for row in [("tag", "date", "group", "baseline", "description"), *ORDER]
        )
    )
    runs = [
        write_run(tmp_path, tag, dict(zip(TOPICS, ranks, strict=True)))
        for tag, ranks in RANKS.items()
    ]
    return write_qrels(tmp_path, TOPICS), runs, str(order)


def test_the_chain_of_records_and_its_comparisons(board):
    qrels, runs, order = board
    found = printed("leaderboard", qrels, *runs, "--metadata", order)
    assert found["chain"] == ["one", "two", "three", "four"]
    assert [(row["a"], row["b"]) for row in found["vs_first"]] == [
        ("one", "two"),
        ("one", "three"),
        ("one", "four"),
    ]
    assert [(row["a"], row["b"]) for row in found["vs_previous"]] == [
        ("one", "two"),
        ("two", "three"),
        ("three", "four"),
    ]
    assert [(row["a"], row["b"]) for row in found["vs_last"]] == [
        ("two", "three"),
        ("two", "four"),
        ("three", "four"),
    ]
    assert found["vs_first"][0]["esl"]["a"] == 4
    assert (
        found["family_size"] == 6
    )  # one-two, one-three, one-four, two-three, three-four, two-four
    assert found["order"] == ["four", "three", "two", "one", "worse", "base"]
    assert found["cycles"] == []


def test_rows_are_those_of_compare_runs(board):
    qrels, runs, order = board
    found = printed("leaderboard", qrels, *runs, "--metadata", order, "--correction", "none")[
        "vs_previous"
    ][2]
    alone = printed("compare_runs", qrels, runs[4], runs[5])
    assert {"mrr", "esl", "rr", "binomial", "verdict", "corrected", "wsr_method"} <= alone.keys()
    shared = (found.keys() & alone.keys()) - {"family_size"}
    assert {key: found[key] for key in shared} == {key: alone[key] for key in shared}


def test_rows_name_labels_and_groups(board):
    qrels, runs, order = board
    found = printed("leaderboard", qrels, *runs, "--metadata", order)
    assert found["labels"] == {"one": "R1", "two": "R2", "three": "R3", "four": "R4"}
    names = ("a", "a_label", "a_group", "b", "b_label", "b_group")
    assert [tuple(row[name] for name in names) for row in found["vs_previous"]] == [
        ("one", "R1", "x", "two", "R2", "y"),
        ("two", "R2", "y", "three", "R3", "x"),
        ("three", "R3", "x", "four", "R4", "z"),
    ]
    assert "R4 four" in read("leaderboard", qrels, *runs, "--metadata", order)


def test_a_family_may_be_larger_than_the_board_but_not_smaller(board):
    qrels, runs, order = board
    how = ("--metadata", order, "--correction", "bonferroni", "--family-size")
    found = printed("leaderboard", qrels, *runs, *how, "14")
    row = found["vs_previous"][0]
    assert (found["family_size"], row["corrected"]["binomial"]) == (
        14,
        min(1.0, 14 * row["binomial"]),
    )
    assert (
        "--family-size 5 is less than the 6 comparisons of the chain, expected at least 6"
        in refused("leaderboard", qrels, *runs, *how, "5")
    )
    text = read("leaderboard", qrels, *runs, *how, "14")
    assert "binomial p, corrected" in text
    assert "14 comparisons, correction: bonferroni" in text


def test_fewer_than_six_topics_have_no_verdict_and_no_order(tmp_path):
    topics = [f"q{k}" for k in range(5)]
    runs = [
        write_run(tmp_path, tag, dict.fromkeys(topics, rank))
        for tag, rank in (("old", 3), ("new", 1))
    ]
    qrels = write_qrels(tmp_path, topics)
    found = printed("leaderboard", qrels, *runs, "--decide", "t")
    [row] = found["vs_first"]
    assert {row["verdict"][name] for name in ("better", "significantly_better", "do_no_harm")} == {
        None
    }
    assert (
        found["no_verdict"] == row["undefined"]["verdict"] == "5 topics; a verdict needs at least 6"
    )
    assert found["order"] is found["cycles"] is None
    text = read("leaderboard", qrels, *runs)
    assert "No verdict: 5 topics; a verdict needs at least 6." in text
    assert "Order by displacement" not in text


def test_a_board_without_correction_says_what_equal_runs_would_do(board):
    qrels, runs, order = board
    how = ("--metadata", order, "--correction", "none")
    found = printed("leaderboard", qrels, *runs, *how)["equal_boards"]
    assert found["none"]["boards"] >= found["holm"]["boards"] >= found["bonferroni"]["boards"]
    text = read("leaderboard", qrels, *runs, *how)
    assert "\nIs B better than A? along the chain (uncorrected)\n" in text
    assert (
        "6 comparisons, correction: none. If all runs were equal (100 simulated leaderboards"
        in text
    )
    assert "with Holm's correction" in text


def test_the_picture_marks_records_and_a_word(board):
    qrels, runs, order = board
    found = printed("leaderboard", qrels, *runs, "--metadata", order, "--highlight", "bert")["runs"]
    assert [run["tag"] for run in found if run["sota"]] == ["one", "two", "three", "four"]
    assert [run["tag"] for run in found if run["highlighted"]] == ["two", "worse"]
    assert [run["tag"] for run in found if run["baseline"]] == ["base"]


def test_the_order_of_files_changes_nothing(board):
    qrels, runs, order = board
    assert printed("leaderboard", qrels, *runs, "--metadata", order) == printed(
        "leaderboard", qrels, *reversed(runs), "--metadata", order
    )


def holm(p_values):
    """Holm (1979), written out: each p times the number of those not yet passed, never less than
    the one before."""
    result, last = {}, 0.0
    for passed, key in enumerate(sorted(p_values, key=p_values.get)):
        last = result[key] = max(last, min(1.0, p_values[key] * (len(p_values) - passed)))
    return result


@pytest.mark.parametrize("correction", ["bonferroni", "holm"])
def test_a_correction_counts_each_row_once_and_leaves_p_values_raw(board, correction):
    qrels, runs, order = board
    found = printed("leaderboard", qrels, *runs, "--metadata", order, "--correction", correction)
    rows = {
        (row["a"], row["b"]): row
        for name in ("vs_first", "vs_previous", "vs_last")
        for row in found[name]
    }
    raw = {pair: row["binomial"] for pair, row in rows.items()}
    assert len(raw) == found["family_size"] == 6
    expected = (
        holm(raw) if correction == "holm" else {pair: min(1.0, 6 * p) for pair, p in raw.items()}
    )
    assert {pair: row["corrected"]["binomial"] for pair, row in rows.items()} == pytest.approx(
        expected, abs=1e-15
    )


def test_without_dates_the_files_are_in_order(board):
    qrels, runs, _ = board
    assert printed("leaderboard", qrels, *runs)["chain"] == ["base", "one", "two", "three", "four"]
    assert printed("leaderboard", qrels, *runs, "--baselines", "base,two")["chain"] == [
        "three",
        "four",
    ]


def test_scores_alone_give_the_chain(tmp_path):
    scores = tmp_path / "scores.csv"
    scores.write_text(
        'tag,date,group,score,note\nb,2021/01/02,g,0.5,"with, comma"\na,2021/01/01,g,0.4,\nc,2021/01/03,g,0.45,\n'
    )
    found = printed("leaderboard", "--scores", str(scores))
    assert found["chain"] == ["a", "b"]
    assert [run["date"] for run in found["runs"]] == ["2021-01-01", "2021-01-02", "2021-01-03"]
    assert "record" in read("leaderboard", "--scores", str(scores))


def test_a_person_reads_both_tables_and_the_order(board):
    qrels, runs, order = board
    text = read("leaderboard", qrels, *runs, "--metadata", order)
    for title in (
        "Outcomes along the chain (uncorrected)",
        "Mean reciprocal rank along the chain (uncorrected)",
        "Is B better than A? along the chain",
    ):
        assert f"\n{title}\n" in text
    first = text.partition("Order by displacement")[2].splitlines()[3]
    assert first.split()[1] == "four"
    assert "stays high, whatever its score" in text


def test_what_cannot_be_done_is_said(board, tmp_path):
    qrels, runs, order = board
    short = tmp_path / "short.tsv"
    short.write_text("tag\tdate\none\t2021-01-01\n")
    assert "no row for base, two" in refused("leaderboard", qrels, *runs, "--metadata", str(short))
    assert "give QRELS and at least one RUN" in refused("leaderboard")
    assert "--baselines: unknown runs nobody; choose from" in refused(
        "leaderboard", qrels, *runs, "--metadata", order, "--baselines", "nobody"
    )
    wrong = tmp_path / "wrong.tsv"
    wrong.write_text("tag\tdate\tscore\nx\tyesterday\t0.5\ny\t2021-01-01\thigh\n")
    said = refused("leaderboard", "--scores", str(wrong))
    assert f"{wrong}:2: 'yesterday' is not a date" in said
    assert f"{wrong}:3: score 'high' is not a finite number" in said


@pytest.mark.data
@pytest.mark.parametrize(("until", "records"), [("2021-02-15", 10), ("2021-04-30", 13)])
def test_the_records_of_the_ms_marco_document_leaderboard(data_folder, until, records):
    """R1 to R10 of the preprint and R1 to R13 of the SIGIR paper; the organisers' first three runs
    are the baselines."""
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(newline="") as lines:
        first_three = [
            row["id"]
            for row in sorted(csv.DictReader(lines), key=lambda row: (row["date"], row["id"]))[:3]
        ]
    assert first_three == ["20200811a", "20200811b", "20200811c"]
    found = printed(
        "leaderboard", "--scores", str(path), "--baselines", ",".join(first_three), "--until", until
    )
    assert len(found["chain"]) == records
    assert found["chain"][0] == "20200827-bcai-bertb"
    assert found["chain"][9] == "20210210-xyz"
    assert json.dumps(found)


@pytest.mark.data
def test_the_records_of_the_passage_leaderboard_are_those_with_a_trophy(data_folder):
    """Craswell et al. count 20; BERT^2 came on the day of a better run and has no trophy."""
    path = data_folder / "msmarco" / "passage_leaderboard.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        trophies = {
            (row["date"].replace("/", "-"), float(row["eval"]))
            for row in csv.DictReader(lines)
            if "\U0001f3c6" in row[""]
        }
    found = printed("leaderboard", "--scores", str(path))
    assert len(trophies) == 20
    assert {(run["date"], run["score"]) for run in found["runs"] if run["sota"]} == trophies
    assert "BERT^2" not in found["chain"]


@pytest.mark.data
def test_the_passage_leaderboard_has_bert_from_january_2019(data_folder):
    """Craswell et al.: the jump of January 2019 is Nogueira and Cho's BERT."""
    path = data_folder / "msmarco" / "passage_leaderboard.csv"
    found = printed(
        "leaderboard", "--scores", str(path), "--highlight", "BERT", "--baselines", "BM25"
    )
    assert len(found["runs"]) == 168
    first = next(run for run in found["runs"] if run["highlighted"])
    assert (first["date"], first["tag"], first["sota"]) == (
        "2019-01-07",
        "BERT + Small Training",
        True,
    )
