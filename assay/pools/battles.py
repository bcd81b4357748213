"""Draw battles: pairs of systems whose answers to a topic are compared side by side.

draw_battles({"1": ["a", "b", "c"]}, rounds=1, repeated=0.1, rng=np.random.default_rng(0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class DrawnBattle(NamedTuple):
    """A battle to judge. left, right: systems by side. number: from 1, in order. round: from 1.
    repeat_of: number of the battle that this one shows again with the sides exchanged, or 0."""

    number: int
    round: int
    topic: str
    left: str
    right: str
    repeat_of: int = 0


def draw_battles(
    systems: Mapping[str, Sequence[str]],
    *,
    rounds: int,
    repeated: float,
    rng: np.random.Generator,
) -> list[DrawnBattle]:
    """Draw battles in the order in which to judge them.

    In each round, the systems of a topic form a random cycle, so that each meets two others (with
    two systems: one battle). A round covers all topics, in random order, before the next begins.
    Sides are random.

    systems: those with an answer, by topic. Topics with fewer than two have no battles.
    repeated: share of each round's battles that are shown again at its end with exchanged sides, in
    [0, 1], rounded to a whole number of battles.
    """
    topics = [topic for topic, names in systems.items() if len(names) > 1]
    battles: list[DrawnBattle] = []
    for number in range(1, rounds + 1):
        start = len(battles)
        for place in rng.permutation(len(topics)):
            topic = topics[place]
            for left, right in _draw_cycle(systems[topic], rng):
                battles.append(DrawnBattle(len(battles) + 1, number, topic, left, right))
        n_drawn = len(battles) - start
        again = rng.choice(n_drawn, size=round(repeated * n_drawn), replace=False)
        for place in again:
            first = battles[start + place]
            battles.append(
                first._replace(
                    number=len(battles) + 1,
                    left=first.right,
                    right=first.left,
                    repeat_of=first.number,
                )
            )
    return battles


def _draw_cycle(names: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return the (left, right) pairs of neighbours on a random cycle, in random order."""
    order = [names[place] for place in rng.permutation(len(names))]
    pairs = list(pairwise(order))
    if len(order) > 2:
        pairs.append((order[-1], order[0]))
    exchanged = rng.random(len(pairs)) < 0.5
    shown = [
        (b, a) if exchange else (a, b) for (a, b), exchange in zip(pairs, exchanged, strict=True)
    ]
    return [shown[place] for place in rng.permutation(len(shown))]
