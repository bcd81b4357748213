"""Names of pools: made of depth and runs unless somebody gives one."""

from __future__ import annotations

import re

from assay.pools.pool_kinds import PoolKind, describe_pool
from pooling.models import Pool


def default_name(depth: int, n_runs: int, *, kind: str = PoolKind.DEPTH) -> str:
    """The name of a pool that nobody has named."""
    words = describe_pool(kind, depth=depth)
    return f"{words[:1].upper()}{words[1:]}, {n_runs} run{'s' if n_runs != 1 else ''}"


def renamed_default(pool: Pool, depth: int, n_runs: int) -> str:
    """The pool's name once it has another depth or other runs: one that was made of these follows,
    one that was given stays."""
    if re.fullmatch(r"Depth \d+, \d+ runs?( \(\d+\))?", pool.name) is None:
        return pool.name
    others = set(pool.collection.pools.exclude(pk=pool.pk).values_list("name", flat=True))
    wanted = default_name(depth, n_runs)
    return next(
        name
        for number in range(1, len(others) + 2)
        if (name := wanted if number == 1 else f"{wanted} ({number})") not in others
    )
