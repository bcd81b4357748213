"""Which pairs become gold and qualification: evenly over the grades, whatever the order of the
file."""

from __future__ import annotations

import pytest

from annotation.core.control_pairs import (
    draw_over_grades,
    format_grades,
    is_scale_uncertain,
    map_grades,
    split_known_pairs,
    suggest_grades,
)
from annotation.core.scale import Scale

PAIRS = [("t1", f"d{n}", grade) for n, grade in enumerate([0, 0, 0, 0, 0, 0, 1, 1, 2])]


def grades(pairs: list[tuple[str, str, int]]) -> list[int]:
    return [grade for _, _, grade in pairs]


def test_one_of_each_grade_in_turn() -> None:
    assert grades(draw_over_grades(PAIRS, 5)) == [0, 1, 2, 0, 1]
    assert grades(draw_over_grades(PAIRS, 7)) == [0, 1, 2, 0, 1, 0, 0]
    assert sorted(draw_over_grades(PAIRS, 99)) == sorted(PAIRS)
    assert draw_over_grades(PAIRS, 0) == draw_over_grades([], 3) == []


def test_the_order_of_the_file_changes_nothing_and_the_seed_does() -> None:
    assert draw_over_grades(PAIRS[::-1], 6) == draw_over_grades(PAIRS, 6)
    assert len({tuple(draw_over_grades(PAIRS, 6, seed=seed)) for seed in range(20)}) > 1


def test_no_pair_is_both() -> None:
    qualification, gold = split_known_pairs(PAIRS, n_qualification=3, n_gold=4)
    assert grades(qualification) == [0, 1, 2]
    assert len(gold) == 4
    assert not set(qualification) & set(gold)
    assert set(gold) <= set(PAIRS)
    qualification, gold = split_known_pairs(PAIRS[:2], n_qualification=3, n_gold=4)
    assert (len(qualification), gold) == (2, [])


FOUR = Scale([{"value": value, "name": str(value)} for value in range(4)], 2)
TWO = Scale([{"value": value, "name": str(value)} for value in range(2)], 1)


@pytest.mark.parametrize(
    ("grades", "scale", "in_doubt", "suggested"),
    [
        ({0, 1}, FOUR, True, {0: 0, 1: 2}),
        ({1}, FOUR, True, {1: 2}),
        ({0, 1, 2}, FOUR, True, {0: 0, 1: 1, 2: 2}),
        ({0, 1, 2, 3}, FOUR, False, None),
        ({0, 3}, FOUR, False, None),
        ({0, 3, 7}, FOUR, True, {}),
        ({-1, 0, 3}, FOUR, True, {}),
        ({0, 1}, TWO, False, None),
        ({0, 1, 2}, TWO, True, {}),
        (set(), FOUR, False, None),
    ],
)
def test_grades_of_another_scale_are_in_doubt_and_only_binary_and_lower_ones_have_a_suggestion(
    grades, scale, in_doubt, suggested
):
    assert is_scale_uncertain(grades, scale) is in_doubt
    if in_doubt:
        assert suggest_grades(grades, scale) == suggested


def test_rows_take_the_grade_that_theirs_counts_as_or_are_left_out():
    rows = [
        {"document": "a", "grade": 1},
        {"document": "b", "grade": 0},
        {"document": "c", "kind": "everyone"},
    ]
    assert map_grades(rows, {0: None, 1: 2}) == [
        {"document": "a", "grade": 2},
        {"document": "c", "kind": "everyone"},
    ]


@pytest.mark.parametrize(
    ("grades", "words"), [({1}, "1"), ({0, 1, 2}, "0–2"), ({0, 2, 7}, "0, 2, 7")]
)
def test_grades_are_named_as_a_range_where_they_are_one(grades, words):
    assert format_grades(grades) == words
