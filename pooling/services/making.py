"""Parameters of a new pool, which depend on its kind and are stored with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, BatchGoal
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection
from pooling.platform.jobs import MalformedRequest
from pooling.services import ordering, sampling

MAKING_KEYS = ("strata", "stages", "goal", "batch", "audit", "llm_judge")
"""Parameters of sampled and prioritised pools in forms, the API and commands."""


def make_parameters(
    kind: str,
    *,
    strata: str = "rank",
    stages: Sequence[float] = sampling.DEFAULT_STAGES,
    goal: str = BatchGoal.RELEVANT,
    batch: int = DEFAULT_SIZE,
    audit: float = DEFAULT_AUDIT,
    llm_judge: str = "",
    collection: Collection | None = None,
    user: Any = None,
) -> dict[str, Any]:
    """Return the parameters to store with a new pool of this kind.

    strata, stages, llm_judge (the frozen LLM judge whose grades define strata, campaign/judge): of a
    sampled pool. goal, batch (pairs per batch), audit (share sampled at random): of a prioritised
    pool. collection, user: for access to an LLM judge. Raises Refused for
    invalid values.
    """
    if kind == PoolKind.DEPTH:
        return {}
    if kind == PoolKind.SAMPLED:
        return sampling.make_sampled_parameters(
            strata,
            stages,
            llm_judge=sampling.get_frozen_labels(collection, llm_judge, user)
            if llm_judge and collection is not None
            else None,
        )
    if kind == PoolKind.ORDERED:
        return ordering.make_ordered_parameters(goal, batch=batch, audit=audit)
    raise MalformedRequest(_("Unknown kind of pool. Choose one of depth, ordered, sampled."))
