from __future__ import annotations

import csv
import json
from collections import Counter

import pytest

from tests.analysis.commands.called import refused
from tests.analysis.commands.first_rank_files import printed, read

BOARD = """tag\tdate\tgroup\tpublic score\tprivate score\texpected private rank
a1\t2021-01-03\talpha\t0.40\t0.50\t2.5
a2\t2021-01-10\talpha\t0.42\t0.30\t3.25
a3\t2021-01-31\talpha\t0.41\t0.60\t
b1\t2021-01-05\tbeta\t0.45\t0.40\t3
"""


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.tsv"
    path.write_text(BOARD)
    return str(path)


def test_groups_months_breaches_and_ranks(board):
    found = printed("submissions", board)
    assert found["alpha"] == {
        "submissions": 3,
        "per_month": {"2021-01": 3},
        "breaches": ["2021-01"],
        "best": "a2",
        "best_public_rank": 2,
        "its_private_rank": 4,
        "its_expected_private_rank": 3.25,
    }
    assert found["beta"]["breaches"] == []
    assert printed("submissions", board, "--limit", "3")["alpha"]["breaches"] == []


def test_private_ranks_can_come_from_a_bootstrap(board, tmp_path):
    ranks = tmp_path / "ranks.json"
    observed = {"a1": 0.5, "a2": 0.9, "a3": 0.1, "b1": 0.7}
    ranks.write_text(
        json.dumps(
            {
                "private": {"observed": observed, "expected_rank": dict.fromkeys(observed, 2.0)},
                "seed": 0,
            }
        )
    )
    found = printed("submissions", board, "--ranks", str(ranks))
    assert (found["alpha"]["its_private_rank"], found["alpha"]["its_expected_private_rank"]) == (
        1,
        2,
    )
    assert (found["beta"]["its_private_rank"]) == 2
    assert "unknown condition other" in refused(
        "submissions", board, "--ranks", str(ranks), "--private-condition", "other"
    )
    assert "not the output of" in refused("submissions", board, "--ranks", board)


def test_what_is_unknown_is_null(tmp_path):
    path = tmp_path / "public.csv"
    path.write_text("id,date,team,score\nx,2021/01/01,g,0.5\n")
    found = printed("submissions", str(path))["g"]
    assert (found["its_private_rank"], found["its_expected_private_rank"]) == (None, None)


def test_without_a_header_columns_are_in_the_order_of_the_contract(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("x 2021-01-01 g 0.5 0.2\ny 2021-01-02 g 0.4 0.3\n")
    found = printed("submissions", str(path))["g"]
    assert (found["best"], found["its_private_rank"]) == ("x", 2)


def test_a_person_reads_one_line_a_group(board):
    assert "alpha" in read("submissions", board)


def test_a_missing_column_or_cell_is_refused(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("tag,date,score\nx,2021-01-01,0.5\n")
    assert "no column group" in refused("submissions", str(path))
    path.write_text("tag,date,group,score\nx,2021-01-01,g\ny,2021-13-01,g,\n")
    said = refused("submissions", str(path))
    assert ":2: 3 columns" in said
    assert ":3: '2021-13-01' is not a date" in said


@pytest.mark.data
def test_the_ms_marco_leaderboard_by_team(data_folder):
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    found = printed("submissions", str(path))
    assert {team: one["submissions"] for team, one in found.items()} == Counter(
        row["team"].strip() for row in rows
    )
    assert sum(n for one in found.values() for n in one["per_month"].values()) == 117


def test_submissions_groups_teams_by_institution_and_stops_at_the_until_date(board, tmp_path):
    names = tmp_path / "institutions.tsv"
    names.write_text("group\tinstitution\nalpha\tInstitute\nbeta\tInstitute\n")
    together = printed("submissions", board, "--institutions", str(names))
    assert {group: of["submissions"] for group, of in together.items() if group != "seed"} == {
        "Institute": 4
    }
    assert together["Institute"]["best"] == "b1"
    until = printed("submissions", board, "--until", "2021/01/10")  # a3 came later
    assert {group: until[group]["submissions"] for group in ("alpha", "beta")} == {
        "alpha": 2,
        "beta": 1,
    }
    assert until["alpha"]["its_private_rank"] == 3
    assert "no submission is dated 2020-12-31 or earlier" in refused(
        "submissions", board, "--until", "2020-12-31"
    )
    names.write_text("group\tinstitution\nalpha\tOne\nalpha\tTwo\n")
    assert "alpha belongs to both One and Two" in refused(
        "submissions", board, "--institutions", str(names)
    )
