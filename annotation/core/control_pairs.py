"""Known grades from elsewhere: whether they are of the campaign's scale, and which pairs become
gold and which teach.

Pairs are drawn evenly over the grades, and the same again for the same seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.core.scale import Scale


def is_scale_uncertain(grades: Iterable[int], scale: Scale) -> bool:
    """Return whether these grades may be of another scale: the campaign's lacks one of them, or
    goes on above the highest.

    So binary qrels (0, 1, or 1 alone) are in doubt on a scale of four grades, and grades 0 and 3
    are not."""
    given = set(grades)
    return bool(given) and (not given <= set(scale.values) or max(given) != scale.values[-1])


def suggest_grades(grades: Iterable[int], scale: Scale) -> dict[int, int]:
    """Return what to propose for grades in doubt: binary ones are the lowest grade and the lowest
    relevant one, lower ones stay, higher ones have none."""
    given = set(grades)
    if given <= {0, 1}:
        return {grade: (scale.values[0], scale.threshold)[grade] for grade in given}
    return (
        {grade: grade for grade in given & set(scale.values)}
        if max(given) < scale.values[-1]
        else {}
    )


def map_grades(
    rows: Iterable[Mapping[str, Any]], counts_as: Mapping[int, int | None]
) -> list[dict[str, Any]]:
    """Return the rows with their grades replaced; rows whose grade counts as None are left out,
    rows without a grade stay."""
    kept = (row for row in rows if row.get("grade") is None or counts_as[row["grade"]] is not None)
    return [
        {**row, "grade": counts_as[row["grade"]]} if row.get("grade") is not None else dict(row)
        for row in kept
    ]


def format_grades(grades: Iterable[int]) -> str:
    """Return “1”, “0–3” or “0, 2, 7”."""
    given = sorted(set(grades))
    if len(given) > 1 and given == list(range(given[0], given[-1] + 1)):
        return f"{given[0]}–{given[-1]}"
    return ", ".join(map(str, given[:10])) + (", …" if len(given) > 10 else "")


def draw_over_grades(
    pairs: Iterable[tuple[str, str, int]], n: int, *, seed: int = 0
) -> list[tuple[str, str, int]]:
    """n of the pairs (topic, document, grade), or all where there are no more: one of each grade in
    turn, the lowest first, within a grade by a hash of seed, topic and document, so that the choice
    does not depend on the order of the file."""
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
    """-> (qualification, gold): both spread over the grades, no pair in both. Qualification comes
    first where there are too few."""
    both = draw_over_grades(pairs, max(n_qualification, 0) + max(n_gold, 0), seed=seed)
    qualification = draw_over_grades(both, n_qualification, seed=seed)
    taken = set(qualification)
    return qualification, [pair for pair in both if pair not in taken]


def _draw_key(seed: int, pair: tuple[str, str, int]) -> bytes:
    return hashlib.sha256(f"{seed}\0{pair[0]}\0{pair[1]}".encode()).digest()
