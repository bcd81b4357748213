"""When a judgement of a pair whose grade is known counts as right."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from annotation.core.scale import Scale


class GoldRule(StrEnum):
    """side: both grades relevant, or both not. near: the same grade or a neighbour on the scale.
    exact: the same grade."""

    SIDE = "side"
    NEAR = "near"
    EXACT = "exact"


def right_grades(rule: str, gold: int, scale: Scale) -> list[int]:
    """Return the grades that count as right for a pair whose known grade is `gold`, lowest
    first."""
    values = scale.values
    if rule == GoldRule.EXACT or gold not in values:
        return [gold]
    if rule == GoldRule.NEAR:
        at = values.index(gold)
        return values[max(at - 1, 0) : at + 2]
    return [value for value in values if (value >= scale.threshold) == (gold >= scale.threshold)]


def is_right(rule: str, grade: int | None, gold: int, scale: Scale) -> bool:
    """Return whether the grade counts as right; None, for "cannot judge", never does."""
    return grade is not None and grade in right_grades(rule, gold, scale)


def best_single_key(rule: str, golds: Sequence[int], scale: Scale) -> tuple[int, int]:
    """Return the grade that is right for most of the known grades, and for how many: what pressing
    one key would reach. Of equals the lowest."""
    right = {
        grade: sum(is_right(rule, grade, gold, scale) for gold in golds) for grade in scale.values
    }
    best = max(scale.values, key=lambda grade: right[grade])
    return best, right[best]
