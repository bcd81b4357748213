"""Which pairs of a file of known grades become gold and which teach: evenly over the grades, and the same again for the same seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def spread_over_grades(pairs: Iterable[tuple[str, str, int]], n: int, *, seed: int = 0) -> list[tuple[str, str, int]]:
    """n of the pairs (topic, document, grade), or all where there are no more: one of each grade in turn, the lowest first, within a grade
    by a hash of seed, topic and document, so that the choice does not depend on the order of the file."""
    of_grade: dict[int, list[tuple[str, str, int]]] = {}
    for pair in sorted(pairs, key=lambda pair: _draw(seed, pair)):
        of_grade.setdefault(pair[2], []).append(pair)
    chosen: list[tuple[str, str, int]] = []
    for turn in range(max(map(len, of_grade.values()), default=0)):
        chosen += [of_grade[grade][turn] for grade in sorted(of_grade) if turn < len(of_grade[grade])]
    return chosen[: max(n, 0)]


def parted(
    pairs: Sequence[tuple[str, str, int]], *, n_qualification: int, n_gold: int, seed: int = 0
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """-> (qualification, gold): both spread over the grades, no pair in both. Qualification comes first where there are too few."""
    both = spread_over_grades(pairs, max(n_qualification, 0) + max(n_gold, 0), seed=seed)
    qualification = spread_over_grades(both, n_qualification, seed=seed)
    taken = set(qualification)
    return qualification, [pair for pair in both if pair not in taken]


def _draw(seed: int, pair: tuple[str, str, int]) -> bytes:
    return hashlib.sha256(f"{seed}\0{pair[0]}\0{pair[1]}".encode()).digest()
