"""Default names of pools, derived from depth and runs."""

from __future__ import annotations

import re

from assay.pools.pool_kinds import PoolKind, describe_pool
from pooling.models import Pool


def default_name(depth: int, n_runs: int, *, kind: str = PoolKind.DEPTH) -> str:
    """Return a pool's default name, derived from its depth and runs."""
    words = describe_pool(kind, depth=depth)
    return f"{words[:1].upper()}{words[1:]}, {n_runs} run{'s' if n_runs != 1 else ''}"


def name_after_change(pool: Pool, depth: int, n_runs: int) -> str:
    """Return the pool's name after a change of depth or runs. Default names are updated, others are
    kept."""
    if re.fullmatch(r"Depth \d+, \d+ runs?( \(\d+\))?", pool.name) is None:
        return pool.name
    others = set(pool.collection.pools.exclude(pk=pool.pk).values_list("name", flat=True))
    wanted = default_name(depth, n_runs)
    return next(
        name
        for number in range(1, len(others) + 2)
        if (name := wanted if number == 1 else f"{wanted} ({number})") not in others
    )
