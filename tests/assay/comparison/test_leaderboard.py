from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.comparison.leaderboard import (
    BoardEntry,
    list_board_points,
    list_comparisons,
    list_records,
    order_by_displacement,
)

BOARD = [
    BoardEntry("organisers", "2020-08-11", 0.30, is_baseline=True),
    BoardEntry("weak", "2020-08-12", 0.25),
    BoardEntry("equal", "2020-08-13", 0.30),
    BoardEntry("first", "2020-08-20", 0.35, description="BERT reranker"),
    BoardEntry("lower", "2020-08-21", 0.34, description="DistilBERT"),
    BoardEntry("same day b", "2020-09-01", 0.37),
    BoardEntry("same day a", "2020-09-01", 0.38),
    BoardEntry("late baseline", "2020-09-02", 0.50, is_baseline=True),
]


def test_the_chain_starts_with_the_first_run_above_the_baselines_and_takes_each_new_top():
    assert list_records(entry for entry in BOARD if entry.tag != "late baseline") == [
        "first",
        "same day a",
    ]


def test_a_baseline_sets_the_mark_from_its_own_date_on_and_is_never_a_record():
    later = [BoardEntry("between", "2020-09-03", 0.45), BoardEntry("above", "2020-09-04", 0.55)]
    assert list_records([*BOARD, *later]) == ["first", "same day a", "above"]


def test_without_baselines_the_first_run_is_a_record():
    assert list_records(entry for entry in BOARD if not entry.is_baseline) == [
        "weak",
        "equal",
        "first",
        "same day a",
    ]


def test_a_run_that_is_beaten_on_its_own_day_is_no_record():
    day = [
        BoardEntry("a", "2020-01-01", 0.5),
        BoardEntry("b", "2020-01-02", 0.6),
        BoardEntry("c", "2020-01-02", 0.7),
        BoardEntry("d", "2020-01-02", 0.7),
    ]
    assert list_records(day) == list_records(reversed(day)) == ["a", "c"]
    timed = [
        BoardEntry("a", "2020-01-01", 0.5),
        BoardEntry("b", "2020-01-02T10:00", 0.6),
        BoardEntry("c", "2020-01-02T11:00", 0.7),
    ]
    assert list_records(timed) == ["a", "b", "c"]


def test_an_equal_score_displaces_nobody():
    assert list_records(
        [BoardEntry("a", "2020-01-01", 0.5), BoardEntry("b", "2020-01-02", 0.5)]
    ) == ["a"]


def test_the_picture_has_every_run_by_date_with_records_and_a_word_marked():
    found = list_board_points(BOARD[:-1], highlight="bert")
    assert [point.entry.tag for point in found] == [
        "organisers",
        "weak",
        "equal",
        "first",
        "lower",
        "same day a",
        "same day b",
    ]
    assert [point.entry.tag for point in found if point.is_sota] == ["first", "same day a"]
    assert [point.entry.tag for point in found if point.is_highlighted] == ["first", "lower"]
    assert not any(point.is_highlighted for point in list_board_points(BOARD))


def test_comparisons_are_those_of_the_papers_tables():
    """Lin et al.: R2 to R13 against R1, and R11 to R13 among each other."""
    tags = [f"R{i}" for i in range(1, 14)]
    found = list_comparisons(tags)
    assert found["vs_first"] == [("R1", f"R{i}") for i in range(2, 14)]
    assert found["vs_previous"] == [(f"R{i}", f"R{i + 1}") for i in range(1, 13)]
    assert found["vs_last"] == [("R11", "R12"), ("R11", "R13"), ("R12", "R13")]


def test_a_chain_of_one_has_no_comparisons():
    assert list_comparisons(["R1"]) == {"vs_first": [], "vs_previous": [], "vs_last": []}


def ordered(tags: str, wins: str):
    """`wins` lists who displaces whom, as in "ba cb"."""
    return order_by_displacement(list(tags), lambda a, b: a + b in wins.split())


def test_a_run_takes_the_place_of_the_highest_that_it_displaces():
    assert ordered("abc", "ca").tags == ["c", "a", "b"]
    assert ordered("abc", "").tags == ["a", "b", "c"]
    assert ordered("abc", "ba ca cb").tags == ["c", "b", "a"]


def test_a_run_stands_below_one_that_displaces_it():
    """c displaces a and is displaced by b, which did not displace a: b, c, a contradicts nobody."""
    found = ordered("abc", "ca bc")
    assert found.tags == ["b", "c", "a"]
    assert found.against == []


def test_a_circle_is_reported_and_keeps_the_order_of_entry():
    found = ordered("abcd", "ba cb ac da db dc")
    assert found.tags == ["d", "c", "b", "a"]
    assert found.cycles == [["c", "b", "a"]]
    assert found.against == [("c", "a")]


@given(st.integers(1, 6), st.data())
def test_the_order_holds_every_run_and_contradicts_nobody_outside_circles(n, data):
    tags = "abcdef"[:n]
    pairs = ["".join(p) for p in itertools.permutations(tags, 2)]
    wins = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    found = ordered(tags, " ".join(wins))
    assert sorted(found.tags) == sorted(tags)
    circles = [set(cycle) for cycle in found.cycles]
    for above, below in found.against:
        assert any({above, below} <= circle for circle in circles)
    for above, below in itertools.combinations(found.tags, 2):
        assert (below + above in wins) == ((above, below) in found.against)


@pytest.mark.parametrize("n", [0, 1])
def test_an_order_of_hardly_any_runs(n):
    assert order_by_displacement(["a"][:n], lambda a, b: True).tags == ["a"][:n]
