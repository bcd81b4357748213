"""Selection of gold and qualification pairs from known grades, and mapping of the grades to the
campaign's scale.

Pairs are drawn evenly over the grades. The same seed gives the same pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.core.scale import Scale


def is_scale_uncertain(grades: Iterable[int], scale: Scale) -> bool:
    """Return whether the grades may come from another scale than the campaign's: the campaign's
    scale lacks one of them, or has grades above the highest of them.

    On a scale of four grades, binary qrels (0, 1, or 1 alone) are uncertain, and grades 0 and 3 are
    not.
    """
    given = set(grades)
    return bool(given) and (not given <= set(scale.values) or max(given) != scale.values[-1])


def suggest_grades(grades: Iterable[int], scale: Scale) -> dict[int, int]:
    """Suggest a grade of the campaign's scale for each grade of another scale. Binary grades become
    the lowest grade and the lowest relevant one. Otherwise grades of the scale are kept, and higher
    ones have no suggestion."""
    given = set(grades)
    if given <= {0, 1}:
        return {grade: (scale.values[0], scale.min_relevant)[grade] for grade in given}
    return (
        {grade: grade for grade in given & set(scale.values)}
        if max(given) < scale.values[-1]
        else {}
    )


def map_grades(
    rows: Iterable[Mapping[str, Any]], counts_as: Mapping[int, int | None]
) -> list[dict[str, Any]]:
    """Return the rows with mapped grades. Rows whose grade maps to None are omitted, and rows
    without a grade are unchanged."""
    kept = (row for row in rows if row.get("grade") is None or counts_as[row["grade"]] is not None)
    return [
        {**row, "grade": counts_as[row["grade"]]} if row.get("grade") is not None else dict(row)
        for row in kept
    ]


def format_grades(grades: Iterable[int]) -> str:
    """Format grades as “1”, “0–3” or “0, 2, 7”."""
    given = sorted(set(grades))
    if len(given) > 1 and given == list(range(given[0], given[-1] + 1)):
        return f"{given[0]}–{given[-1]}"
    return ", ".join(map(str, given[:10])) + (", …" if len(given) > 10 else "")


def draw_over_grades(
    pairs: Iterable[tuple[str, str, int]], n: int, *, seed: int = 0
) -> list[tuple[str, str, int]]:
    """Draw n of the pairs (topic, document, grade), or all if there are fewer.

    Takes one pair of each grade in turn, the lowest grade first. The order within a grade is a hash
    of seed, topic and document, so the result does not depend on the order of the input.
    """
    of_grade: dict[int, list[tuple[str, str, int]]] = {}
    for pair in sorted(pairs, key=lambda pair: _draw_key(seed, pair)):
        of_grade.setdefault(pair[2], []).append(pair)
    chosen: list[tuple[str, str, int]] = []
    for turn in range(max(map(len, of_grade.values()), default=0)):
        chosen += [
            of_grade[grade][turn] for grade in sorted(of_grade) if turn < len(of_grade[grade])
        ]
    return chosen[: max(n, 0)]


def split_known_pairs(
    pairs: Sequence[tuple[str, str, int]], *, n_qualification: int, n_gold: int, seed: int = 0
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Return disjoint (qualification, gold) pairs, both balanced across grades. If there are too
    few pairs, qualification takes precedence."""
    both = draw_over_grades(pairs, max(n_qualification, 0) + max(n_gold, 0), seed=seed)
    qualification = draw_over_grades(both, n_qualification, seed=seed)
    taken = set(qualification)
    return qualification, [pair for pair in both if pair not in taken]


def _draw_key(seed: int, pair: tuple[str, str, int]) -> bytes:
    return hashlib.sha256(f"{seed}\0{pair[0]}\0{pair[1]}".encode()).digest()
