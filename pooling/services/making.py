"""Of which kind a new pool is, and what it keeps of how it was made: the one place where the kinds
part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, BatchGoal
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection
from pooling.platform.jobs import MalformedRequest
from pooling.services import ordering, sampling

MAKING_KEYS = ("strata", "stages", "goal", "batch", "audit", "machine")
"""What is said of a pool that is no plain pool of a depth, by forms, the API and commands alike."""


def make_parameters(
    kind: str,
    *,
    strata: str = "rank",
    stages: Sequence[float] = sampling.DEFAULT_STAGES,
    goal: str = BatchGoal.RELEVANT,
    batch: int = DEFAULT_SIZE,
    audit: float = DEFAULT_AUDIT,
    machine: str = "",
    of: Collection | None = None,
    user: Any = None,
) -> dict[str, Any]:
    """strata, stages, machine (the frozen judge by whose grades strata are made, campaign/judge):
    of a sampled pool; goal, batch (pairs of each), audit (share of them by chance): of an ordered
    one. of, user: in whose collection and name it is made, for a machine. Refused for what is no
    way to make one."""
    if kind == PoolKind.DEPTH:
        return {}
    if kind == PoolKind.SAMPLED:
        return sampling.make_sampled_parameters(
            strata,
            stages,
            machine=sampling.get_frozen_labels(of, machine, user)
            if machine and of is not None
            else None,
        )
    if kind == PoolKind.ORDERED:
        return ordering.make_ordered_parameters(goal, batch=batch, audit=audit)
    raise MalformedRequest(_("unknown kind of pool; choose one of depth, ordered, sampled"))
