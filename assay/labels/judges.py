"""Who judges: the kinds of judges, what each is called, and whose judgements make labels unless
somebody chooses otherwise.

check(["person"])     what is wrong with a choice of kinds, as a sentence; empty when it can be used
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum


class JudgeKind(StrEnum):
    """A judge is a membership of a campaign; this is what stands behind it."""

    PERSON = "person"
    SIMULATED = "simulated"
    MACHINE = "machine"


KIND_LABELS = {
    JudgeKind.PERSON: "people",
    JudgeKind.SIMULATED: "simulated annotators",
    JudgeKind.MACHINE: "machines",
}
"""For sentences: judged by ..."""
KIND_CHOICES = [(kind.value, kind.value) for kind in JudgeKind]
"""Of a model's field."""
LABELLING_KINDS = (JudgeKind.PERSON.value, JudgeKind.SIMULATED.value)
"""Whose judgements make labels, agreement and figures. A machine's are a layer of their own and
enter only where they are asked for alone:
mixed with people's they would hide how often the two differ (SAMPLING 5)."""


def sort_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order of the enumeration; what is no kind comes last, for `check` to
    name."""
    given = set(kinds)
    known = [kind.value for kind in JudgeKind if kind in given]
    return (*known, *sorted(given - set(known)))


def check_kinds(kinds: Sequence[str]) -> str:
    """What is wrong with a choice of kinds, as a sentence; empty when it can be used."""
    known = [kind.value for kind in JudgeKind]
    if not kinds or not set(kinds) <= set(known):
        return f"Judges are of the kinds {', '.join(known)}; choose at least one of them."
    if JudgeKind.MACHINE in kinds and len(kinds) > 1:
        return "A machine's labels are a layer of their own: choose machine alone, or without it."
    return ""


def describe_kinds(kinds: Sequence[str]) -> str:
    """For people: judged by these only."""
    return f"judged by {' and '.join(KIND_LABELS[JudgeKind(kind)] for kind in kinds)} only"
