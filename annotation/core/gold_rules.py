"""Rules for whether a judgement of a pair with a known grade counts as correct."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from annotation.core.scale import Scale


class GoldRule(StrEnum):
    """The rule that decides whether a grade is correct. side: both grades are relevant or both are not. near: the same or an
    adjacent grade of the scale. exact: the same grade."""

    SIDE = "side"
    NEAR = "near"
    EXACT = "exact"


def right_grades(rule: str, gold: int, scale: Scale) -> list[int]:
    """Return the grades that count as correct on a pair with the known grade `gold`, lowest first."""
    values = scale.values
    if rule == GoldRule.EXACT or gold not in values:
        return [gold]
    if rule == GoldRule.NEAR:
        at = values.index(gold)
        return values[max(at - 1, 0) : at + 2]
    return [
        value for value in values if (value >= scale.min_relevant) == (gold >= scale.min_relevant)
    ]


def is_right(rule: str, grade: int | None, gold: int, scale: Scale) -> bool:
    """Return whether an annotator's grade counts as correct on a pair with a known grade. False for
    None ("cannot judge")."""
    return grade is not None and grade in right_grades(rule, gold, scale)


def best_single_key(rule: str, golds: Sequence[int], scale: Scale) -> tuple[int, int]:
    """Return (grade, n): the grade that counts as correct for the largest number n of known grades.
    n is the score of an annotator who always gives the same grade. The lowest grade wins ties."""
    right = {
        grade: sum(is_right(rule, grade, gold, scale) for gold in golds) for grade in scale.values
    }
    best = max(scale.values, key=lambda grade: right[grade])
    return best, right[best]
