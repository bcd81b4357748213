"""Of which kind a new pool is, and what it keeps of how it was made: the one place where the kinds part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pooling.core.batches import AUDIT, SIZE, Goal
from pooling.core.pool_kinds import PoolKind
from pooling.jobs import Refused
from pooling.services import ordering, sampling


def parameters_of(
    kind: str, *, strata: str = "rank", stages: Sequence[float] = sampling.USUAL_STAGES, goal: str = Goal.RELEVANT, batch: int = SIZE, audit: float = AUDIT
) -> dict[str, Any]:
    """strata, stages: of a sampled pool; goal, batch (pairs of each), audit (share of them by chance): of an ordered one. Refused for what is no way
    to make one."""
    if kind == PoolKind.DEPTH:
        return {}
    if kind == PoolKind.SAMPLED:
        return sampling.parameters_of(strata, stages)
    if kind == PoolKind.ORDERED:
        return ordering.parameters_of(goal, batch=batch, audit=audit)
    raise Refused("a pool is made by depth, ordered or sampled")
