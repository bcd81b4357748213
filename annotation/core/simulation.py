"""Simulated annotators: their answers and times. Used for demonstrations and tests, never
as data about people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annotation.core.preferences import BOTH_BAD, LEFT, RIGHT, TIE

ANNOTATOR_KINDS = ("reliable", "clicker", "speeder", "contrarian", "confuser", "dropout")
# Standard deviation of the log seconds: half of the times are 0.67 to 1.5 times the median.
LOG_TIME_SIGMA = 0.6
NEIGHBOUR_SHARE = 0.75  # Share of a reliable annotator's errors that are off by one grade.


MAX_PASSAGE_WORDS = 20
"""Maximum number of words in a passage that a simulated annotator marks."""


class SimulatedAnswer(NamedTuple):
    """The answer of a simulated annotator: the grade and the active time in milliseconds."""

    grade: int
    active_ms: int


def parse_mixture(text: str) -> dict[str, float]:
    """Parse weights of annotator kinds from `reliable:8,clicker:1`. A kind without a number has
    weight 1. Raises ValueError for unknown kinds and invalid weights."""
    weights: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        kind, _, weight = part.partition(":")
        if kind not in ANNOTATOR_KINDS:
            raise ValueError(
                f"unknown kind of annotator {kind!r}; choose from {', '.join(ANNOTATOR_KINDS)}"
            )
        weights[kind] = float(weight or 1)
    if not weights or min(weights.values()) < 0 or sum(weights.values()) <= 0:
        raise ValueError(
            f"{text!r} names no annotators, expected kinds with numbers such as reliable:8,clicker:1"
        )
    return weights


def assign_kinds(n: int, weights: Mapping[str, float]) -> list[str]:
    """Return the kind of each of n annotators, in proportion to the weights (largest remainders).
    Ties follow the order of `weights`."""
    total = sum(weights.values())
    exact = {kind: n * weight / total for kind, weight in weights.items()}
    counts = {kind: int(share) for kind, share in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: counts[kind] - exact[kind])
    for kind in by_remainder[: n - sum(counts.values())]:
        counts[kind] += 1
    return [kind for kind in weights for _ in range(counts[kind])]


def draw_passage(text: str, rng: np.random.Generator) -> tuple[int, int] | None:
    """Draw a passage of at most MAX_PASSAGE_WORDS words and return its [start, end) in code points,
    or None if the text has no words."""
    words = [word.span() for word in re.finditer(r"\S+", text)]
    if not words:
        return None
    first = int(rng.integers(len(words)))
    last = min(len(words), first + 1 + int(rng.integers(MAX_PASSAGE_WORDS))) - 1
    return words[first][0], words[last][1]


def map_to_scale(grade: int | None, values: Sequence[int]) -> int:
    """Map a grade of the qrels to the scale: the highest value that is not above it.

    Negative grades and pairs without a grade are mapped to the lowest value, because a simulated
    annotator needs a true grade for every pair.
    """
    if grade is None:
        return values[0]
    return max((value for value in values if value <= grade), default=values[0])


def prefer(left: int | None, right: int | None) -> int:
    """Derive the preference between two documents from their grades in the qrels: the one with the
    higher grade. Equal grades are a tie or, without a grade above 0, both bad. Documents without a
    grade have 0."""
    left, right = max(left or 0, 0), max(right or 0, 0)
    if left == right:
        return TIE if left else BOTH_BAD
    return LEFT if left > right else RIGHT


def simulate_answer(
    kind: str,
    true_grade: int,
    values: Sequence[int],
    *,
    reliability: float,
    seconds: float,
    rng: np.random.Generator,
) -> SimulatedAnswer:
    """Simulate an answer of an annotator of the given kind.

    reliable and dropout: the true grade with probability `reliability`, otherwise mostly an
    adjacent one. clicker: a random grade in a quarter of the time. speeder: a random grade in less
    than a second. contrarian: the reversed scale. confuser: swaps the two middle grades. Times are
    log-normal with median `seconds`.
    """
    place = values.index(true_grade)
    pace = {"clicker": 0.25}.get(kind, 1.0)
    taken = float(np.exp(np.log(seconds * pace) + LOG_TIME_SIGMA * rng.standard_normal()))
    if kind == "speeder":
        taken = float(rng.uniform(0.2, 0.9))
    if kind in ("clicker", "speeder"):
        return SimulatedAnswer(int(values[int(rng.integers(len(values)))]), round(taken * 1000))
    if kind == "contrarian":
        place = len(values) - 1 - place
    if kind == "confuser":
        low, high = (len(values) - 1) // 2, len(values) // 2
        if low == high:  # With an odd number of grades: the middle one and the one above.
            high = min(low + 1, len(values) - 1)
        place = {low: high, high: low}.get(place, place)
    if rng.random() >= reliability:
        others = [i for i in range(len(values)) if i != place]
        near = [i for i in others if abs(i - place) == 1]
        chosen = near if rng.random() < NEIGHBOUR_SHARE else others
        place = chosen[int(rng.integers(len(chosen)))]
    return SimulatedAnswer(int(values[place]), max(1, round(taken * 1000)))
