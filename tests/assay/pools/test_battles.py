"""Battles as they are drawn: every system meets two others per topic and round."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.pools.battles import DocumentBattle, DrawnBattle, draw_battles, pair_documents
from tests.analysis.commands.called import answer, refused

SYSTEMS = {"1": ["a", "b", "c", "d", "e"], "2": ["a", "b", "c"], "3": ["b", "e"], "4": ["c"]}


def drawn(rounds: int = 2, repeated: float = 0.0, seed: int = 0) -> list[DrawnBattle]:
    rng = np.random.default_rng(seed)
    return draw_battles(SYSTEMS, rounds=rounds, repeated=repeated, rng=rng)


def test_every_system_meets_two_others_per_topic_and_round() -> None:
    for seed in range(20):
        battles = drawn(seed=seed)
        for number in (1, 2):
            for topic, names in (("1", "abcde"), ("2", "abc")):
                met: dict[str, set[str]] = {name: set() for name in names}
                for one in battles:
                    if (one.round, one.topic) == (number, topic):
                        met[one.left].add(one.right)
                        met[one.right].add(one.left)
                assert [len(others) for others in met.values()] == [2] * len(names)
                reached, waiting = set(), ["a"]
                while waiting:
                    name = waiting.pop()
                    if name not in reached:
                        reached.add(name)
                        waiting.extend(met[name])
                assert reached == set(names)  # one cycle, so that all abilities are comparable
        assert Counter(one.topic for one in battles) == {"1": 10, "2": 6, "3": 2}


def test_a_round_covers_all_topics_before_the_next() -> None:
    battles = drawn()
    assert [one.round for one in battles] == [1] * 9 + [2] * 9
    assert [one.number for one in battles] == list(range(1, 19))
    for number in (1, 2):
        of_round = [one.topic for one in battles if one.round == number]
        changes = sum(a != b for a, b in pairwise(of_round))
        assert changes == 2  # the battles of a topic follow each other


def test_sides_and_topics_are_random() -> None:
    many = [one for seed in range(400) for one in drawn(1, seed=seed) if one.topic == "3"]
    left = sum(one.left == "b" for one in many)
    assert abs(left - 200) < 4 * 10  # four standard deviations of 400 fair draws
    assert len({drawn(1, seed=seed)[0].topic for seed in range(40)}) == 3


def test_repeated_battles_end_their_round_with_exchanged_sides() -> None:
    battles = drawn(repeated=0.3)
    assert [bool(one.repeat_of) for one in battles] == ([False] * 9 + [True] * 3) * 2
    first = {one.number: one for one in battles}
    for one in battles:
        if one.repeat_of:
            other = first[one.repeat_of]
            assert (one.left, one.right, one.topic, one.round) == (
                other.right,
                other.left,
                other.topic,
                other.round,
            )
    repeated = [one.repeat_of for one in battles if one.repeat_of]
    assert len(set(repeated)) == len(repeated)
    assert drawn(repeated=0.3) == battles != drawn(repeated=0.3, seed=1)


def write_answers(path: Path) -> Path:
    lines = [
        {
            "metadata": {"run_id": name, "topic_id": topic},
            "references": ["d1", "d2"],
            "answer": [{"text": "word " * (ord(name) - 95), "citations": [0]}],
        }
        for topic, names in SYSTEMS.items()
        for name in names
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_the_file_is_read_as_battles_once_winners_are_filled_in(tmp_path: Path) -> None:
    answers, out = write_answers(tmp_path / "answers.jsonl"), tmp_path / "battles.tsv"
    values, warnings = answer(
        "draw_battles", answers, "--rounds", 3, "--repeated", 0.2, "--output", out
    )
    assert values["by_round"] == {"1": 11, "2": 11, "3": 11}
    assert (values["battles"], values["repeated"], values["topics"]) == (33, 6, 3)
    assert sum(values["by_system"].values()) == 66
    assert "1 topic has an answer from only one system and therefore no battle" in warnings
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {row["winner"] for row in rows} == {""}
    for row in rows:
        assert int(row["tokens_a"]) == ord(row["system_a"]) - 95
        assert row["citations_b"] == "1"
        assert row["shown_left"] == ("b" if row["repeat_of"] else "a")
        if row["repeat_of"]:
            first = rows[int(row["repeat_of"]) - 1]
            assert (row["system_a"], row["system_b"]) == (first["system_a"], first["system_b"])
    assert "'' is not a winner" in refused("compare_preferences", out)
    for place, row in enumerate(rows):
        row["winner"] = ("tie", "a", "b")[place % 3]
    with out.open("w", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    compared, _ = answer("compare_preferences", out, "--adjust", "length")
    assert (compared["battles"], compared["topics"]) == (33, 3)
    with pytest.warns(UserWarning, match="only one system"):
        assert assay.draw_battles(str(answers), rounds=3, repeated=0.2).to_dict() == values


def test_one_system_gives_no_battles(tmp_path: Path) -> None:
    line = {"metadata": {"run_id": "a", "topic_id": "1"}, "references": [], "answer": []}
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    assert "no topic has answers from two systems" in refused("draw_battles", path)
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    again = tmp_path / "again.jsonl"
    again.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert "duplicate answer of a to topic 1, expected one per topic" in refused(
        "draw_battles", path, again
    )


def test_battles_between_the_same_documents_share_a_pair_and_repeats_exchange_it() -> None:
    """By hand: systems a and c answer with d1, b and d with d2, e with d3. The third battle is the
    first pair seen from the other side, the fourth repeats it, and the fifth has one document."""
    document_of = {("a", "1"): "d1", ("b", "1"): "d2", ("c", "1"): "d1"}
    document_of |= {("d", "1"): "d2", ("e", "1"): "d3"}
    battles = [
        DrawnBattle(1, 1, "1", "a", "b"),
        DrawnBattle(2, 1, "1", "e", "a"),
        DrawnBattle(3, 1, "1", "d", "c"),
        DrawnBattle(4, 1, "1", "c", "d", repeat_of=3),
        DrawnBattle(5, 1, "1", "a", "c"),
        DrawnBattle(6, 2, "1", "a", "b"),
    ]
    assert pair_documents(battles, document_of) == [
        DocumentBattle("1", "d1", "d2", 1, (("a", "b"), ("c", "d"))),
        DocumentBattle("1", "d3", "d1", 1, (("e", "a"),)),
        DocumentBattle("1", "d2", "d1", 1, (("d", "c"),)),
    ]
