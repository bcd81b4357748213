"""The study of a leaderboard's certainty."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.analysis.studies.made import about, study_of, table

QRELS = "".join(f"{t} 0 r {1 + t % 2}\n" for t in range(20))
RUNS = {
    "best": "".join(f"{t} Q0 r 1 2 best\n" for t in range(20)),
    "half": "".join(f"{t} Q0 {'r' if t % 2 else 'x'} 1 2 half\n" for t in range(20)),
    "worst": "".join(f"{t} Q0 x 1 2 worst\n" for t in range(20)),
}
TOML = """
runs = ["best.txt", "half.txt", "worst.txt"]
measures = "RR@100"
trials = 50
splits = 5
submissions = "submitted.txt"
until = "2021-01-31"
[qrels]
sparse = "qrels.txt"
[topic_lists]
even = "even.txt"
odd = "odd.txt"
[boards]
documents = "board.txt"
[institutions]
"Team B" = "Institute"
"Team C" = "Institute"
"""
SUBMITTED = """tag,date,group,public score,private score
a1,2021-01-01,Team A,.30,.31
a2,2021-01-02,Team A,.32,.30
a3,2021-01-03,Team A,.33,.29
b1,2021-01-04,Team B,.40,.20
c1,2021-01-05,Team C,.20,.40
c2,2021-02-05,Team C,.50,.50
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lists = {"even": "".join(f"{t}\n" for t in range(0, 20, 2)), "odd": "".join(f"{t}\n" for t in range(1, 20, 2))}
    board = "tag,date,score\na,2020-01-01,.3\nb,2020-01-02,.2\nc,2020-01-03,.5\nlate,2021-03-03,.9\n"
    return study_of(tmp_path_factory.mktemp("study"), "leaderboard", TOML, qrels=QRELS, board=board, submitted=SUBMITTED, **lists, **RUNS)


def test_every_part_is_there(out: Path) -> None:
    assert about(out)["left_out"] == {}
    assert [row["run"] for row in table(out, "records-documents")] == ["a", "c"]


def test_ranks_that_no_sample_changes_are_certain(out: Path) -> None:
    """best answers every topic, worst none; half every other."""
    rows = {row["run"]: row for row in table(out, "top-RR-100-sparse")}
    assert float(rows["best"]["1"]) == 1.0
    assert float(rows["worst"]["3"]) == 1.0


def test_conditions_stand_side_by_side(out: Path) -> None:
    """On even topics half answers nothing and is tied with worst at 2.5, on odd ones it is tied with best at 1.5."""
    rows = {row["run"]: row for row in table(out, "figure-4")}
    names = about(out)["parts"]["conditions"]["values"]["conditions"]
    assert len(names) == 3
    even, odd = (next(name for name in names if name.endswith(word)) for word in ("even", "odd"))
    assert (float(rows["half"][even]), float(rows["half"][odd])) == (2.5, 1.5)
    assert (float(rows["half"]["best"]), float(rows["half"]["worst"])) == (1.5, 2.5)


def test_institutions_take_the_place_of_their_teams_up_to_a_date(out: Path) -> None:
    groups = about(out)["parts"]["submissions"]["values"]
    assert {name: found["submissions"] for name, found in groups.items()} == {"Team A": 3, "Institute": 2}
    assert groups["Team A"]["breaches"] == ["2021-01"]
    assert (groups["Institute"]["best"], groups["Institute"]["best_public_rank"], groups["Institute"]["its_private_rank"]) == ("b1", 1, 5)
    svg = (out / "figures" / "every-submission.svg").read_text(encoding="utf-8")
    assert ">Institute<" in svg


def test_every_submission_of_a_group_stands_public_against_private(out: Path) -> None:
    """Public .30 .32 .33 .40 .20, private .31 .30 .29 .20 .40: the best in public is the last in private."""
    rows = [[row[0], *row[1:]] for row in csv.reader((out / "tables" / "submissions-every.csv").open(encoding="utf-8", newline=""))][1:]
    assert [(row[0], row[1], row[4], row[6]) for row in rows] == [
        ("Team A", "a1", "4", "2"), ("Team A", "a2", "3", "3"), ("Team A", "a3", "2", "4"), ("Institute", "b1", "1", "5"), ("Institute", "c1", "5", "1"),
    ]  # fmt: skip
    svg = (out / "figures" / "groups-over-time.svg").read_text(encoding="utf-8")
    for words in ("(a) Team A", "(b) Institute", "public", "private"):
        assert f">{words}<" in svg


def test_figure_4_shows_the_ranks_that_tests_leave_not_percentiles_of_samples(out: Path) -> None:
    values = about(out)["parts"]["certainty"]["values"]
    assert all(low <= one["expected_rank"][tag] <= high for one in values.values() for tag, (low, high) in one["rank_interval"].items())
    assert "the ranks that a run may have" in (out / "report.md").read_text(encoding="utf-8")


def test_halves_have_every_test(out: Path) -> None:
    found = about(out)["parts"]["halves"]["values"]["sparse"]["RR@100"]
    assert set(found["mean"]) == {"sign", "wrs", "wsr", "t"}
    for rates in found["mean"].values():
        assert rates["agree"] + rates["partial"] + rates["disagree"] == pytest.approx(1)


@pytest.mark.data
def test_submissions_of_the_public_leaderboard_up_to_a_day(data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(encoding="utf-8", newline="") as file:
        expected = Counter(row["team"].strip() for row in csv.DictReader(file) if row["date"].strip() <= "2021/02/01")
    text = f'submissions = "{path}"\nscore_column = "MRR@100 (Eval)"\nuntil = "2021-02-01"\n'
    out = study_of(tmp_path, "leaderboard", text)
    assert {name: found["submissions"] for name, found in about(out)["parts"]["submissions"]["values"].items()} == expected
    assert expected.total() > 50


@pytest.mark.data
def test_institutions_of_the_public_leaderboard(data_folder: Path, tmp_path: Path) -> None:
    """Of the three with the most submissions the paper counts 12, 11 and 7: the last two follow from the file."""
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(encoding="utf-8", newline="") as file:
        teams = {row["team"].strip() for row in csv.DictReader(file)}
    words = {"THU-MSR": "THU-MSR", "University of Waterloo": "Waterloo", "Bosch": "Bosch"}
    lines = "".join(f'"{team}" = "{name}"\n' for word, name in words.items() for team in sorted(teams) if word in team)
    text = f'submissions = "{path}"\nscore_column = "MRR@100 (Eval)"\nuntil = "2021-02-01"\n[institutions]\n{lines}'
    groups = about(study_of(tmp_path, "leaderboard", text))["parts"]["submissions"]["values"]
    assert {name: groups[name]["submissions"] for name in words.values()} == {"THU-MSR": 16, "Waterloo": 11, "Bosch": 7}
