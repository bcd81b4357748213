"""Which grades count as right for a known one."""

from __future__ import annotations

import pytest

from annotation.core.gold_rules import best_single_key, is_right, right_grades
from annotation.core.scale import Scale

FOUR = Scale([{"value": value, "name": str(value)} for value in range(4)], 2)
WITH_A_GAP = Scale([{"value": value, "name": str(value)} for value in (0, 1, 3)], 1)


@pytest.mark.parametrize(
    ("rule", "scale", "right"),
    [
        ("exact", FOUR, {0: [0], 1: [1], 2: [2], 3: [3]}),
        ("near", FOUR, {0: [0, 1], 1: [0, 1, 2], 2: [1, 2, 3], 3: [2, 3]}),
        ("side", FOUR, {0: [0, 1], 1: [0, 1], 2: [2, 3], 3: [2, 3]}),
        ("near", WITH_A_GAP, {0: [0, 1], 1: [0, 1, 3], 3: [1, 3]}),
        ("side", WITH_A_GAP, {0: [0], 1: [1, 3], 3: [1, 3]}),
    ],
)
def test_each_rule_says_which_grades_are_right(rule, scale, right):
    assert {gold: right_grades(rule, gold, scale) for gold in scale.values} == right


def test_no_grade_is_never_right_and_a_known_grade_off_the_scale_only_itself():
    assert not is_right("near", None, 0, FOUR)
    assert right_grades("side", 7, FOUR) == [7]


@pytest.mark.parametrize(
    ("rule", "golds", "best"),
    [
        ("exact", [0, 1, 1, 3], (1, 2)),
        ("side", [0, 1, 1, 3], (0, 3)),
        ("near", [0, 1, 1, 3], (0, 3)),
        ("side", [2, 3], (2, 2)),
        ("exact", [], (0, 0)),
    ],
)
def test_what_pressing_one_key_would_reach(rule, golds, best):
    assert best_single_key(rule, golds, FOUR) == best
