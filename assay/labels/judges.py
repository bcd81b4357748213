"""Types of annotators (human, simulated, LLM) and which of them give labels by default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum


class JudgeKind(StrEnum):
    """The type of an annotator, stored with each membership of a campaign."""

    HUMAN = "human"
    SIMULATED = "simulated"
    LLM = "llm"


KIND_LABELS = {
    JudgeKind.HUMAN: "people",
    JudgeKind.SIMULATED: "simulated annotators",
    JudgeKind.LLM: "LLM judges",
}
"""Names for sentences such as "judged by people only"."""
KIND_CHOICES = [(kind.value, kind.value) for kind in JudgeKind]
"""Choices of a model's field."""
LABELLING_KINDS = (JudgeKind.HUMAN.value, JudgeKind.SIMULATED.value)
"""Types whose judgements are used for labels, agreement and statistics by default. LLM labels are
stored separately and used only alone, because mixing them with human labels would hide how often
the two differ."""


def sort_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct types in the order of the enumeration, followed by unknown ones, which
    `check_kinds` reports."""
    given = set(kinds)
    known = [kind.value for kind in JudgeKind if kind in given]
    return (*known, *sorted(given - set(known)))


def check_kinds(kinds: Sequence[str]) -> str:
    """Return the problem with a choice of types as a sentence, or an empty string."""
    known = [kind.value for kind in JudgeKind]
    if not kinds or not set(kinds) <= set(known):
        return f"Unknown annotator type. Choose one or more of {', '.join(known)}."
    if JudgeKind.LLM in kinds and len(kinds) > 1:
        return "Labels by LLM judges are stored separately and never mixed with human labels. Select llm alone, or without the other types."
    return ""


def describe_kinds(kinds: Sequence[str]) -> str:
    """Describe a choice of types for users, such as "judged by people only"."""
    return f"judged by {' and '.join(KIND_LABELS[JudgeKind(kind)] for kind in kinds)} only"
