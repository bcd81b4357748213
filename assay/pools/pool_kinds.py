"""How a pool was made, as a value: what decides which of its pairs are judged, and when.

described(PoolKind.DEPTH, depth=10)        "depth 10"
staged_priority(2)                         of the pairs of the second stage (or batch): served after
all of the first
level_of(kind, priority, depth=10)         the rank, batch or stage that a priority stands for
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class PoolKind(StrEnum):
    """DEPTH: level by level, the best ranks of all runs first. ORDERED: in planned batches, pairs
    that are probably relevant first (SAMPLING 2). SAMPLED: strata of which pairs are drawn by
    chance, in stages (SAMPLING 3). GIVEN: a file named its pairs."""

    DEPTH = "depth"
    ORDERED = "ordered"
    SAMPLED = "sampled"
    GIVEN = "given"


class SelectionMethod(StrEnum):
    """How a pair came to be judged: drawn from its stratum by chance, or chosen, by a model or a
    person, with certainty."""

    CHANCE = "chance"
    CHOICE = "choice"


KIND_CHOICES = [(kind.value, kind.value) for kind in PoolKind]
SELECTION_CHOICES = [(how.value, how.value) for how in SelectionMethod]
RUN_KINDS = (PoolKind.DEPTH, PoolKind.ORDERED, PoolKind.SAMPLED)
"""Ways to pool runs, of which a manager chooses one."""
STAGED_KINDS = (PoolKind.ORDERED, PoolKind.SAMPLED)
"""Their pairs are judged stage by stage: only pairs that have a stage become pairs of a
campaign."""
LEVEL_WORDS = {
    PoolKind.DEPTH: "rank",
    PoolKind.ORDERED: "batch",
    PoolKind.SAMPLED: "stage",
    PoolKind.GIVEN: "priority",
}
"""What one step of priority is called."""
MAX_IN_BATCH = 100_000
MAX_AUDIT = 0.5
"""Share of a batch drawn at random beyond which it is a sample, and drawn better as one."""
MAX_STAGE = 10_000
"""The number of the last stage or batch to which there are priorities."""
PRIORITY_STEP = 100
"""Between the priorities of two stages: wider than any band of a campaign, so that a band never
mixes two of them."""


def describe_pool(kind: str, *, depth: int | None, source: str = "") -> str:
    """How the pool was made, in a few words. source: the file that named its pairs."""
    if kind == PoolKind.GIVEN:
        return f"pairs from {source}" if source else "pairs from a file"
    deep = "" if depth is None else f"depth {depth}"
    return {
        PoolKind.DEPTH: deep,
        PoolKind.ORDERED: f"relevant first, {deep}",
        PoolKind.SAMPLED: f"sampled, {deep}",
    }[PoolKind(kind)].removesuffix(", ")


def kind_from_parameters(parameters: Mapping[str, Any]) -> PoolKind:
    """The kind of a pool of runs that keeps these parameters of how it was made."""
    if "batch" in parameters:
        return PoolKind.ORDERED
    return PoolKind.SAMPLED if parameters else PoolKind.DEPTH


def staged_priority(stage: int) -> int:
    """The priority of the pairs of a stage or batch, counted from 1. ValueError beyond
    LAST_STAGE."""
    if not 1 <= stage <= MAX_STAGE:
        raise ValueError(f"stage {stage} is not from 1 to {MAX_STAGE}")
    return (MAX_STAGE - stage) * PRIORITY_STEP


def compute_level(kind: str, priority: int, *, depth: int | None) -> int:
    """The rank (batch, stage) of the pairs of this priority; of pairs from a file that gave no
    ranks, the priority itself."""
    if kind in STAGED_KINDS:
        return MAX_STAGE - priority // PRIORITY_STEP
    return priority if depth is None else depth - priority


def get_level_word(kind: str, *, depth: int | None) -> str:
    """What `compute_level` counts. A file that gave ranks has them for levels."""
    return (
        LEVEL_WORDS[PoolKind.DEPTH]
        if kind == PoolKind.GIVEN and depth is not None
        else LEVEL_WORDS[PoolKind(kind)]
    )
