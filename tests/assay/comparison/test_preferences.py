"""Battles read from files, and the analysis, command and library function over them."""

from __future__ import annotations

import gzip
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.analyses.compare_preferences import Options, compute
from assay.column_types import B_WINS
from assay.comparison.preferences import compare_presentations, count_outcomes
from assay.formats.battles import read_battles
from assay.formats.errors import FormatError
from assay.formats.qrels import read_qrels
from tests.analysis.commands.called import answer

HEADER = "topic\tsystem_a\tsystem_b\twinner\tshown_left\tannotator\ttokens_a\ttokens_b\n"
ROWS = """\
1\tx\ty\ta\ta\tp\t100\t200
1\ty\tx\ta\ta\tp\t200\t100
2\tx\ty\ttie\tb\tp\t50\t50
2\tz\tx\tx\ta\tq\t80\t50
3\ty\tz\tb\tb\tq\t10\t20
3\ty\tz\ta\ta\tr\t10\t20
3\tx\tz\tbad\ta\tq\t50\t20
4\tz\tx\ta\tb\tr\t70\t50
4\ty\tx\tb\ta\tr\t70\t50
"""


def read(text: str):
    return read_battles(io.BytesIO(text.encode()), name="battles.tsv")


def test_a_winner_is_a_side_or_the_name_of_a_system() -> None:
    battles = read(HEADER + ROWS)
    assert battles.systems == ["x", "y", "z"]
    assert battles.topics == ["1", "2", "3", "4"]
    assert battles.outcome[3] == B_WINS  # z against x, won by x
    assert battles.left.tolist() == [0, 0, 1, 0, 1, 0, 0, 1, 0]
    assert battles.tokens[0].tolist() == [100, 200]
    assert np.isnan(battles.citations).all()


def test_rows_without_header_have_four_columns() -> None:
    battles = read("1 x y x\n1 x z tie\n")
    assert count_outcomes(battles).wins.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert battles.left.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("topic,system_a,system_b,winner\n", "no battles"),
        ("1 x y\n", "no header and 3 columns"),
        ("topic,system_a,system_b,winner\n1,x,y\n", "3 columns, expected 4"),
        ("topic,system_a,system_b,winner\n1,x,x,a\n", "x against itself"),
        ("topic,system_a,system_b,winner\n1,x,y,c\n", "'c' is not a winner"),
        ("topic,system_a,system_b,winner\n1,x,,a\n", "'' is not the name of a system"),
        (HEADER + "1\tx\ty\ta\tq\tp\t1\t2\n", "'q' is not a side"),
        (HEADER + "1\tx\ty\ta\ta\tp\tlong\t2\n", "tokens_a is 'long'"),
    ],
)
def test_a_wrong_row_is_refused_by_line(text: str, problem: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(text)
    assert problem in str(refused.value)
    assert str(refused.value).startswith("battles.tsv:")


def test_a_pair_shown_both_ways_is_compared() -> None:
    """p saw x against y twice on topic 1, and each time the left answer won."""
    twice = compare_presentations(read(HEADER + ROWS))
    assert twice == (1, 0, 0, 1, 0, 0)


def test_the_result_counts_both_bad_apart_and_ranks_by_ability() -> None:
    result = compute(read(HEADER + ROWS), Options())
    assert (result["battles"], result["counted"], result["both_bad"]) == (9, 8, 1)
    assert result["systems"]["x"] | {"ability": 0, "ci": 0} == {
        **{"ability": 0, "ci": 0, "rank": 1, "wins": 3, "losses": 2, "ties": 1, "both_bad": 1}
    }
    assert result["left"]["wins"], result["left"]["decided"] == (4, 7)
    abilities = [result["systems"][name]["ability"] for name in result["ranking"]]
    assert abilities == sorted(abilities, reverse=True)
    assert sum(abilities) == pytest.approx(0, abs=1e-12)
    leader = result["ranking"][0]
    for row in result["differences"]:
        low, high = row["ci"]
        assert low < row["difference"] < high
        assert row["p_holm"] >= row["p"]
        if row["a"] == leader:
            assert (row["b"] in result["not_separated"]) == (low <= 0)


def test_without_a_maximum_the_reason_is_given_and_counts_remain() -> None:
    result = compute(read("1 x y x\n2 x y x\n"), Options())
    assert "wins or loses all its battles" in result["no_maximum"]
    assert result["ranking"] == []
    assert math.isnan(result["systems"]["x"]["ability"])
    assert result["systems"]["x"]["wins"] == 2


def test_a_system_with_only_bad_answers_has_no_ability() -> None:
    rows = "1 x y x\n1 x y y\n2 x z bad\n"
    result = compute(read(rows), Options())
    assert result["no_maximum"] == ""
    assert math.isnan(result["systems"]["z"]["ability"])
    assert sorted(result["ranking"]) == ["x", "y"]


def test_an_unknown_adjustment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="position is unknown for 2 of 2 battles"):
        compute(read("1 x y x\n2 x y y\n"), Options(adjust="position"))
    with pytest.raises(ValueError, match="'side' is not an adjustment"):
        Options(adjust="side")


def test_command_and_function_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "battles.tsv"
    file.write_text(HEADER + ROWS, encoding="utf-8")
    of_command, _ = answer("compare_preferences", file, "--adjust", "position")
    of_path = assay.compare_preferences(str(file), adjust="position")
    columns = [line.split("\t") for line in (HEADER + ROWS).splitlines()]
    frame = {name: [row[i] for row in columns[1:]] for i, name in enumerate(columns[0])}
    of_frame = assay.compare_preferences(frame, adjust="position")
    assert json.dumps(of_path) == json.dumps(of_command) == json.dumps(of_frame)
    assert of_path["effects"]["position"]["effect"] != 0
    assert [table.key for table in of_path.tables()] == [
        *("systems", "differences", "effects", "wins")
    ]
    assert len(of_path.charts()) == 1


@pytest.mark.data
def test_published_preferences_give_the_published_qrels(data_folder: Path) -> None:
    """The qrels of Clarke et al. grade the five best documents of a topic 50 to 10. Where each two
    documents were compared once, this is their rank by number of wins, and equal numbers share the
    higher grade. These are 69 of 171 topics, as counted by an awk script. The others had several
    rounds, which the file does not distinguish."""
    folder = data_folder / "cast19-preferences"
    qrels = read_qrels(folder / "combined.qrels.gz")
    published: dict[str, dict[str, int]] = {}
    for number, topic in enumerate(qrels.topics):
        rows = qrels.rows(number)
        graded = zip(qrels.documents[rows].tolist(), qrels.grades[rows].tolist(), strict=True)
        published[topic] = {docno.decode(): grade for docno, grade in graded if grade >= 10}
    whole = read_battles(folder / "crowd.pref.gz")
    assert (len(whole), len(whole.topics)) == (14573, 171)
    lines: dict[str, list[bytes]] = {}
    for line in gzip.decompress((folder / "crowd.pref.gz").read_bytes()).splitlines(keepends=True):
        lines.setdefault(line.split()[0].decode(), []).append(line)
    n_repeated = 0
    for topic, own in lines.items():
        battles = read_battles(io.BytesIO(b"".join(own)), name=topic)
        wins = count_outcomes(battles).wins
        n = len(battles.systems)
        if not (wins + wins.T == 1 - np.eye(n)).all():
            continue
        total = wins.sum(axis=1)
        better = (total > total[:, None]).sum(axis=1)
        grades = {battles.systems[i]: 50 - 10 * int(better[i]) for i in range(n) if better[i] < 5}
        assert grades == published[topic]
        n_repeated += 1
    assert n_repeated == 69
