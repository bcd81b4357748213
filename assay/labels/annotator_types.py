"""Types of annotators (human, simulated, LLM) and which of them give labels by default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum


class AnnotatorType(StrEnum):
    """The type of an annotator, stored with each membership of a campaign."""

    HUMAN = "human"
    SIMULATED = "simulated"
    LLM = "llm"


TYPE_LABELS = {
    AnnotatorType.HUMAN: "people",
    AnnotatorType.SIMULATED: "simulated annotators",
    AnnotatorType.LLM: "LLM judges",
}
"""Names for sentences such as "judged by people only"."""
TYPE_CHOICES = [(kind.value, kind.value) for kind in AnnotatorType]
"""Choices of a model's field."""
LABELLING_TYPES = (AnnotatorType.HUMAN.value, AnnotatorType.SIMULATED.value)
"""Types whose judgements are used for labels, agreement and statistics by default. LLM labels are
stored separately and used only alone, because mixing them with human labels would hide how often
the two differ."""


def sort_types(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct types in the order of the enumeration, followed by unknown ones, which
    `check_types` reports."""
    given = set(kinds)
    known = [kind.value for kind in AnnotatorType if kind in given]
    return (*known, *sorted(given - set(known)))


def check_types(kinds: Sequence[str]) -> str:
    """Return the problem with a choice of types as a sentence, or an empty string."""
    known = [kind.value for kind in AnnotatorType]
    if not kinds or not set(kinds) <= set(known):
        return f"Unknown annotator type. Choose one or more of {', '.join(known)}."
    if AnnotatorType.LLM in kinds and len(kinds) > 1:
        return "Labels by LLM judges are stored separately and never mixed with human labels. Select llm alone, or without the other types."
    return ""


def describe_types(kinds: Sequence[str]) -> str:
    """Describe a choice of types for users, such as "judged by people only"."""
    return f"judged by {' and '.join(TYPE_LABELS[AnnotatorType(kind)] for kind in kinds)} only"
