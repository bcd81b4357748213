"""Unpooled runs in a sampled pool: their pairs form separate strata, which a separate stage
samples.

Earlier samples do not change: stratum sizes are those of the draw, and a pair of the pool stays in
its stratum whatever rank the new run gives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs
from assay.pools.pool_kinds import SelectionMethod
from assay.pools.stages import (
    MAX_STAGES,
    STRATA_MAKERS,
    allocate_stages,
    arrange_in_stages,
    assign_stages,
    service_order,
)
from assay.pools.strata import UNPOOLED_PREFIX, Strata, rate_spreads, shuffle_strata
from pooling.models import Pool, PoolEntry, Stratum
from pooling.platform.jobs import Refused
from pooling.services import pool_pairs, sampling


@dataclass(frozen=True, eq=False)
class LateStrata:
    """Strata of the pairs that unpooled runs add to a sampled pool.

    pairs: all pairs in judging order. stage: the stage that samples from the new strata. draw_by_pair:
    (topic, document) -> stratum's number, place, stage or None.
    """

    pool: Pool
    pairs: PooledPairs
    stage: int
    strata: list[Stratum]
    draw_by_pair: Mapping[tuple[str, str], tuple[int, int, int | None]]
    topics: Mapping[int, str]

    @property
    def n_drawn(self) -> int:
        return sum(stage is not None for _, _, stage in self.draw_by_pair.values())

    def mark(self, entries: Sequence[PoolEntry]) -> None:
        for entry in entries:
            entry.stratum, entry.place, entry.stage = self.draw_by_pair[
                self.topics[entry.topic_id], entry.docno
            ]
            entry.entered = SelectionMethod.CHANCE.value if entry.stage else ""

    def write(self) -> None:
        if not self.strata:
            return
        shares = self.pool.parameters["stages"]
        for one in self.pool.strata.all():
            Stratum.objects.filter(pk=one.pk).update(drawn=[*one.drawn, one.drawn[-1]])
        Stratum.objects.bulk_create(self.strata, batch_size=sampling.AT_ONCE)
        Pool.objects.filter(pk=self.pool.pk).update(
            parameters={**self.pool.parameters, "stages": [*shares, shares[-1]]}
        )


def make_late_strata(
    pool: Pool, pairs: PooledPairs, entry_of: Mapping[tuple[str, str], int]
) -> LateStrata:
    """Sample from the new pairs by the pool's own rank windows, at its current cumulative share.
    Raises Refused after the last stage.

    The draw depends only on the pool's seed, the stage and the pairs.
    """
    topics = {pk: topic for topic, pk in pool.collection.topics.values_list("topic_id", "pk")}
    stage = len(pool.parameters["stages"]) + 1
    new = np.array(
        [k for k, pair in enumerate(pairs) if (pair.topic, pair.document) not in entry_of], np.int64
    )
    if not len(new):
        return LateStrata(pool, order_by_stages(pool, pairs, entry_of), stage, [], {}, topics)
    if stage > MAX_STAGES:
        says = _(
            "%(pool)s has the maximum of %(most)s stages, and an unpooled run needs another one. "
            "Build a new pool from all runs."
        )
        raise Refused(says % {"pool": pool.name, "most": MAX_STAGES})
    if pool.parameters["strata"] not in STRATA_MAKERS:
        raise Refused(
            _(
                "The strata of %(pool)s need an LLM label for every pair before the draw. Build a new "
                "pool from all runs."
            )
            % {"pool": pool.name}
        )
    fresh = pairs.select_rows(new)
    made = STRATA_MAKERS[pool.parameters["strata"]](fresh)
    place = shuffle_strata(
        made,
        np.random.default_rng([pool_pairs.get_seed(pool), stage]),
        fresh.documents,
        fresh.topic,
    )
    counts = allocate_stages(made.sizes, rate_spreads(made.rates), [pool.parameters["stages"][-1]])
    own = assign_stages(made.stratum, place, counts)
    first = 1 + max(pool.strata.values_list("number", flat=True), default=-1)
    drawn_as = {
        (pair.topic, pair.document): (
            first + int(made.stratum[k]),
            int(place[k]),
            stage if own[k] else None,
        )
        for k, pair in enumerate(fresh)
    }
    return LateStrata(
        pool,
        _arrange_pairs(pool, pairs, entry_of, drawn_as),
        stage,
        _make_strata(pool, made, counts[0], stage, first),
        drawn_as,
        topics,
    )


def _make_strata(
    pool: Pool, new_strata: Strata, counts: NDArray[np.int64], stage: int, first: int
) -> list[Stratum]:
    """Make unsaved strata of new pairs, from which the earlier stages sampled nothing."""
    return [
        Stratum(
            pool=pool,
            number=first + k,
            name=f"{name}{UNPOOLED_PREFIX}{stage}"[:300],
            size=int(new_strata.sizes[k]),
            drawn=[0] * (stage - 1) + [int(counts[k])],
        )
        for k, name in enumerate(new_strata.names)
    ]


def order_by_stages(
    pool: Pool, pairs: PooledPairs, entry_of: Mapping[tuple[str, str], int]
) -> PooledPairs:
    """Return the pairs in judging order of the stored stages."""
    return _arrange_pairs(pool, pairs, entry_of, {})


def _arrange_pairs(
    pool: Pool,
    pairs: PooledPairs,
    entry_of: Mapping[tuple[str, str], int],
    draw_by_pair: Mapping[tuple[str, str], tuple[int, int, int | None]],
) -> PooledPairs:
    stored: dict[int, int | None] = dict(pool.entries.values_list("pk", "stage"))
    keys = [(pair.topic, pair.document) for pair in pairs]
    stage = np.array(
        [(stored[entry_of[key]] if key in entry_of else draw_by_pair[key][2]) or 0 for key in keys],
        np.int32,
    )
    return arrange_in_stages(
        pairs, stage, service_order(pairs, stage, seed=pool_pairs.get_seed(pool))
    )


def undo_late_strata(pool: Pool, earlier_state: Mapping[str, Any]) -> None:
    """Remove the strata and the stage of the last extension, whose entries are deleted."""
    n = earlier_state["n_stages"]
    pool.strata.filter(name__endswith=f"{UNPOOLED_PREFIX}{n + 1}").delete()
    for one in pool.strata.all():
        Stratum.objects.filter(pk=one.pk).update(drawn=one.drawn[:n])
    Pool.objects.filter(pk=pool.pk).update(
        parameters={**pool.parameters, "stages": pool.parameters["stages"][:n]}
    )
