"""Draw battles: pairs of systems whose answers to a topic are compared side by side.

draw_battles({"1": ["a", "b", "c"]}, rounds=1, repeated=0.1, rng=np.random.default_rng(0))
pair_documents(battles, {("a", "1"): "d7", ...})      the documents to show, each pair once
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


class DocumentBattle(NamedTuple):
    """Two documents of a topic to show side by side. round: from 1. systems: the (system of left,
    system of right) that the answer compares; empty if unknown."""

    topic: str
    left: str
    right: str
    round: int = 1
    systems: tuple[tuple[str, str], ...] = ()


def pair_documents(
    battles: Sequence[DrawnBattle], document_of: Mapping[tuple[str, str], str]
) -> list[DocumentBattle]:
    """Return the pairs of documents of the battles, in their order.

    document_of: the document with which a system answers a topic, by (system, topic). Battles
    between the same documents share a pair, whatever their sides, except that a repeated battle is
    the pair with exchanged sides. Battles of a document against itself have no pair.
    """
    systems: dict[tuple[str, str, str], dict[tuple[str, str], None]] = {}
    first_round: dict[tuple[str, str, str], int] = {}
    key_of: dict[int, tuple[str, str, str]] = {}
    for one in battles:
        left, right = document_of[one.left, one.topic], document_of[one.right, one.topic]
        if left == right:
            continue
        key, exchanged = (one.topic, left, right), (one.topic, right, left)
        if one.repeat_of:
            first = key_of[one.repeat_of]
            key = (first[0], first[2], first[1])
        elif key not in systems and exchanged in systems:
            key = exchanged
        key_of[one.number] = key
        pair = (one.left, one.right) if key[1] == left else (one.right, one.left)
        systems.setdefault(key, {})[pair] = None
        first_round.setdefault(key, one.round)
    return [DocumentBattle(*key, first_round[key], tuple(named)) for key, named in systems.items()]


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
