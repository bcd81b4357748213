"""The grades of a campaign: 2 to 9, each with a name, an explanation, an example, a key and a
shape.

    Scale(grades, min_relevant)                    values, names, table size and minimum relevant grade
    find_scale_problems(scale, min_relevant=...)   errors in a scale that a user entered
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

FEWEST_GRADES, MOST_GRADES = 2, 9
SHAPES = ("cross", "ring", "half", "disc", "square", "triangle", "diamond", "star", "plus")


def find_scale_problems(scale: Sequence[Mapping[str, Any]], *, min_relevant: int) -> list[str]:
    """Check a scale and return its problems as sentences, empty if it is valid. Grades are whole
    numbers, lowest first."""
    mistakes: list[str] = []
    if not FEWEST_GRADES <= len(scale) <= MOST_GRADES:
        mistakes.append(
            f"A scale must have {FEWEST_GRADES} to {MOST_GRADES} grades; this one has {len(scale)}."
        )
    values: list[Any] = [grade.get("value") for grade in scale]
    if not all(
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1000
        for value in values
    ):
        mistakes.append("Values of grades must be whole numbers from 0 to 999.")
    elif values != sorted(set(values)):
        mistakes.append("Grades must be listed lowest first, each value once.")
    elif min_relevant not in values[1:]:
        mistakes.append(
            "The minimum relevant grade must be on the scale and above the lowest grade. Otherwise "
            "every judged document would be relevant."
        )
    names = [str(grade.get("name", "")).strip() for grade in scale]
    if not all(names):
        mistakes.append("Every grade must have a name.")
    elif len({name.casefold() for name in names}) < len(names):
        mistakes.append("Two grades have the same name. Give each grade a different name.")
    if any(grade.get("shape", "disc") not in SHAPES for grade in scale):
        mistakes.append(f"The shape of a grade must be one of {', '.join(SHAPES)}.")
    return mistakes


@dataclass(frozen=True)
class Scale:
    """The scale of a campaign. grades: lowest first, as stored in a campaign. min_relevant: lowest
    relevant grade.

    Values may have gaps (0, 1, 3). Weighted kappa uses the differences of the values as distances.
    Tables have a position for every value from 0 to the highest, and positions without a grade
    remain empty.
    """

    grades: Sequence[Mapping[str, Any]]
    min_relevant: int

    @cached_property
    def values(self) -> list[int]:
        return [int(grade["value"]) for grade in self.grades]

    @cached_property
    def size(self) -> int:
        """Number of positions of a table by grade: the highest value plus one."""
        return max(self.values, default=0) + 1

    @cached_property
    def names(self) -> list[str]:
        """Return one name per value from 0 to the highest, with a placeholder for values without a
        grade."""
        named = {int(grade["value"]): str(grade["name"]) for grade in self.grades}
        return [named.get(value, f"({value}: no grade)") for value in range(self.size)]

    def __len__(self) -> int:
        """Return the number of grades."""
        return len(self.grades)
