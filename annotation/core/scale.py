"""The grades of a campaign: 2 to 9 of them, each with a name, an explanation, an example, a key and a shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LEAST, MOST = 2, 9
SHAPES = ("cross", "ring", "half", "disc", "square", "triangle", "diamond", "star", "plus")


def problems(scale: Sequence[dict[str, Any]], *, threshold: int) -> list[str]:
    """What is wrong with a scale, as sentences; empty when it can be used. Grades are whole numbers, lowest first."""
    found: list[str] = []
    if not LEAST <= len(scale) <= MOST:
        found.append(f"A scale has {LEAST} to {MOST} grades; this one has {len(scale)}.")
    values: list[Any] = [grade.get("value") for grade in scale]
    if not all(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1000 for value in values):
        found.append("The value of a grade is a whole number from 0 to 999.")
    elif values != sorted(set(values)):
        found.append("The grades are given lowest first, each value once.")
    elif threshold not in values[1:]:
        found.append(
            "The lowest relevant grade must be a grade of the scale other than the lowest, else every judged document is relevant."
        )
    names = [str(grade.get("name", "")).strip() for grade in scale]
    if not all(names):
        found.append("Every grade needs a name.")
    elif len({name.casefold() for name in names}) < len(names):
        found.append("Two grades have the same name.")
    if any(grade.get("shape", "disc") not in SHAPES for grade in scale):
        found.append(f"The shape of a grade is one of {', '.join(SHAPES)}.")
    return found


def values(scale: Sequence[dict[str, Any]]) -> list[int]:
    return [int(grade["value"]) for grade in scale]
