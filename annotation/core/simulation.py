"""Simulated annotators: what they answer and how long they take. For demonstrations, load and
tests; never data about people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

ANNOTATOR_KINDS = ("reliable", "clicker", "speeder", "contrarian", "confuser", "dropout")
# spread of the log of the seconds: the middle half lies between 0.67 and 1.5 times the median
LOG_TIME_SIGMA = 0.6
NEIGHBOUR_SHARE = 0.75  # share of a reliable annotator's mistakes that are one grade off


MAX_PASSAGE_WORDS = 20
"""Words (runs without white space) of a passage that a simulated annotator marks."""


class SimulatedAnswer(NamedTuple):
    """One answer: the grade, and the active milliseconds it took."""

    grade: int
    active_ms: int


def parse_mixture(text: str) -> dict[str, float]:
    """Weights of kinds from `reliable:8,clicker:1`; a kind without a number has weight 1.
    ValueError for what it does not know."""
    weights: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        kind, _, weight = part.partition(":")
        if kind not in ANNOTATOR_KINDS:
            raise ValueError(
                f"{kind!r} is not a kind of annotator; the kinds are {', '.join(ANNOTATOR_KINDS)}"
            )
        weights[kind] = float(weight or 1)
    if not weights or min(weights.values()) < 0 or sum(weights.values()) <= 0:
        raise ValueError(f"{text!r} names no annotators; write for instance reliable:8,clicker:1")
    return weights


def assign_kinds(n: int, weights: Mapping[str, float]) -> list[str]:
    """The kind of each of n annotators, in the proportions of the weights, by largest remainders;
    ties in the order of `weights`."""
    total = sum(weights.values())
    exact = {kind: n * weight / total for kind, weight in weights.items()}
    counts = {kind: int(share) for kind, share in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: counts[kind] - exact[kind])
    for kind in by_remainder[: n - sum(counts.values())]:
        counts[kind] += 1
    return [kind for kind in weights for _ in range(counts[kind])]


def draw_passage(text: str, rng: np.random.Generator) -> tuple[int, int] | None:
    """[start, end) in code points of a run of words of the text, of LONGEST_PASSAGE at most; None
    where there is no word to mark."""
    words = [word.span() for word in re.finditer(r"\S+", text)]
    if not words:
        return None
    first = int(rng.integers(len(words)))
    last = min(len(words), first + 1 + int(rng.integers(MAX_PASSAGE_WORDS))) - 1
    return words[first][0], words[last][1]


def map_to_scale(grade: int | None, values: Sequence[int]) -> int:
    """The grade of the scale that stands for a grade of the qrels: the highest that is not above
    it.

    A pair that the qrels do not know, or of a negative grade, is taken for the lowest grade: in a
    simulation somebody has to answer."""
    if grade is None:
        return values[0]
    return max((value for value in values if value <= grade), default=values[0])


def simulate_answer(
    kind: str,
    true_grade: int,
    values: Sequence[int],
    *,
    reliability: float,
    seconds: float,
    rng: np.random.Generator,
) -> SimulatedAnswer:
    """One answer of an annotator of a kind.

    reliable and dropout: the true grade with probability `reliability`, else mostly a neighbouring
    one. clicker: any grade, in a quarter of the time. speeder: any grade, in under a second.
    contrarian: the scale upside down. confuser: takes the two middle grades for each other. Times
    are log-normal with median `seconds`."""
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
        if low == high:  # an odd scale: the middle and the one above
            high = min(low + 1, len(values) - 1)
        place = {low: high, high: low}.get(place, place)
    if rng.random() >= reliability:
        others = [i for i in range(len(values)) if i != place]
        near = [i for i in others if abs(i - place) == 1]
        chosen = near if rng.random() < NEIGHBOUR_SHARE else others
        place = chosen[int(rng.integers(len(chosen)))]
    return SimulatedAnswer(int(values[place]), max(1, round(taken * 1000)))
