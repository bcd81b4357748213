"""The kind of a pool, which determines which of its pairs are judged, and when.

describe_pool(PoolKind.DEPTH, depth=10)        "depth 10"
get_stage_priority(2)                             priority of the second stage's (or batch's) pairs
compute_level(kind, priority, depth=10)        the rank, batch or stage of a priority
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class PoolKind(StrEnum):
    """The kind of a pool, which determines the order of judging. DEPTH: by rank, the best ranks of
    all runs first. ORDERED: in planned batches, most likely relevant pairs first. SAMPLED: pairs
    sampled from strata, in stages. GIVEN: pairs from a file.
    BATTLES: two documents of a topic, compared side by side."""

    DEPTH = "depth"
    ORDERED = "ordered"
    SAMPLED = "sampled"
    GIVEN = "given"
    BATTLES = "battles"


class SelectionMethod(StrEnum):
    """How a pair was selected for judging: sampled from its stratum, or selected with certainty by
    a model or a person."""

    CHANCE = "chance"
    CHOICE = "choice"


TYPE_CHOICES = [(kind.value, kind.value) for kind in PoolKind]
SELECTION_CHOICES = [(how.value, how.value) for how in SelectionMethod]
RUN_KINDS = (PoolKind.DEPTH, PoolKind.ORDERED, PoolKind.SAMPLED)
"""Kinds of pools of runs, of which a manager selects one."""
STAGED_KINDS = (PoolKind.ORDERED, PoolKind.SAMPLED)
"""Kinds that are judged stage by stage. Only pairs with a stage become pairs of a campaign."""
LEVEL_WORDS = {
    PoolKind.DEPTH: "rank",
    PoolKind.ORDERED: "batch",
    PoolKind.SAMPLED: "stage",
    PoolKind.GIVEN: "priority",
    PoolKind.BATTLES: "round",
}
"""Name of one step of priority."""
MAX_IN_BATCH = 100_000
MAX_AUDIT = 0.5
"""Maximum random share of a batch. A sampled pool is better for larger shares."""
MAX_STAGE = 10_000
"""Highest number of a stage or batch."""
PRIORITY_STEP = 100
"""Difference between the priorities of two stages, larger than any rank window of a campaign, so
that no window mixes stages."""


def describe_pool(kind: str, *, depth: int | None, source: str = "") -> str:
    """Describe how the pairs were selected in a few words. source: the file with its pairs."""
    if kind == PoolKind.GIVEN:
        return f"pairs from {source}" if source else "pairs from a file"
    if kind == PoolKind.BATTLES:
        return f"battles from {source}" if source else "battles of runs"
    deep = "" if depth is None else f"depth {depth}"
    return {
        PoolKind.DEPTH: deep,
        PoolKind.ORDERED: f"most likely relevant first, {deep}",
        PoolKind.SAMPLED: f"sampled, {deep}",
    }[PoolKind(kind)].removesuffix(", ")


def kind_from_parameters(parameters: Mapping[str, Any]) -> PoolKind:
    """Return the kind of a pool of runs with these parameters."""
    if "batch" in parameters:
        return PoolKind.ORDERED
    return PoolKind.SAMPLED if parameters else PoolKind.DEPTH


def get_stage_priority(stage: int) -> int:
    """Return the priority of a stage's or batch's pairs. Stages count from 1. Raises ValueError
    beyond MAX_STAGE."""
    if not 1 <= stage <= MAX_STAGE:
        raise ValueError(f"stage {stage} must be between 1 and {MAX_STAGE}")
    return (MAX_STAGE - stage) * PRIORITY_STEP


def compute_level(kind: str, priority: int, *, depth: int | None) -> int:
    """Return the rank (batch, stage) of pairs with this priority. For pairs from a file without
    ranks, it is the priority itself."""
    if kind in (*STAGED_KINDS, PoolKind.BATTLES):
        return MAX_STAGE - priority // PRIORITY_STEP
    return priority if depth is None else depth - priority


def get_level_word(kind: str, *, depth: int | None) -> str:
    """Return the name of what `compute_level` counts. For a file with ranks it is the rank."""
    return (
        LEVEL_WORDS[PoolKind.DEPTH]
        if kind == PoolKind.GIVEN and depth is not None
        else LEVEL_WORDS[PoolKind(kind)]
    )
