"""Campaigns of preferences: annotators see two documents of a topic side by side and say which is
better.

A pair's first document can be on either side. Judgements store the answer by document, so that
sides do not matter for agreement and exports; the judging page uses answers by side.

    is_swapped(seed=7, topic=3)         whether the first document is on the right
    mirror_answer(LEFT)                 the same answer with exchanged sides
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from typing import Any

LEFT, TIE, RIGHT, BOTH_BAD = 1, 2, 3, 4
"""Answers: the first (on the page, the left) document is better, both are equally good, the second
is better, neither is any good."""
WINNERS = {LEFT: "a", TIE: "tie", RIGHT: "b", BOTH_BAD: "bad"}


class Task(StrEnum):
    """The task of a campaign's annotators. GRADES: grade one document. PREFERENCES: compare two
    documents."""

    GRADES = "grades"
    PREFERENCES = "preferences"


TASK_CHOICES = [(task.value, task.value) for task in Task]
ANSWERS = (
    (LEFT, "Left is better", "The left document answers the query better.", "disc"),
    (TIE, "Equally good", "You would accept either document.", "half"),
    (RIGHT, "Right is better", "The right document answers the query better.", "ring"),
    (BOTH_BAD, "Both bad", "Neither document answers the query.", "cross"),
)


PREFERENCE_SCALE: list[dict[str, Any]] = [
    {"value": value, "name": name, "explanation": explanation, "example": "", "shape": shape}
    for value, name, explanation, shape in ANSWERS
]
"""The answers in the form of a campaign's scale."""


def is_swapped(*, seed: int, topic: int) -> bool:
    """Return whether an annotator sees the second document of a topic's pairs on the left. seed:
    the annotator's seed.

    Pairs of a topic are all shown as drawn or all exchanged. Their sides were drawn at random, and
    a repeated pair was drawn with exchanged sides, which stay exchanged.
    """
    return bool(blake2b(f"{seed} {topic}".encode(), digest_size=1).digest()[0] & 1)


def mirror_answer(answer: int | None) -> int | None:
    """Return a preference with its sides (left, right) exchanged. Other answers are unchanged."""
    return {LEFT: RIGHT, RIGHT: LEFT}.get(answer, answer) if answer is not None else None
