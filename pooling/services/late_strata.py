"""A late run in a sampled pool: its pairs form strata of their own, drawn in a stage of their own
(SAMPLING 3.1).

Nothing that was drawn changes: sizes are those of the draw, and a pair of the pool stays in its
stratum whatever rank the late run gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs
from assay.pools.pool_kinds import Entered, PoolKind
from assay.pools.stages import MOST_STAGES, STRATA, counts_of, in_stages, order_of, stages_of
from assay.pools.strata import LATE, Strata, shuffled, spreads_of
from pooling.models import Pool, PoolEntry, Stratum
from pooling.platform.jobs import Refused
from pooling.services import pools, sampling
from pooling.services.growing import growers, shrinkers


@dataclass(frozen=True, eq=False)
class LateStrata:
    """pairs: all, in the order of service. stage: that draws from the new strata. drawn_as: (topic,
    document) -> stratum's number, place, stage or None."""

    pool: Pool
    pairs: PooledPairs
    stage: int
    strata: list[Stratum]
    drawn_as: Mapping[tuple[str, str], tuple[int, int, int | None]]
    topics: Mapping[int, str]

    @property
    def n_asked(self) -> int:
        return sum(stage is not None for _, _, stage in self.drawn_as.values())

    def mark(self, entries: Sequence[PoolEntry]) -> None:
        for entry in entries:
            entry.stratum, entry.place, entry.stage = self.drawn_as[
                self.topics[entry.topic_id], entry.docno
            ]
            entry.entered = Entered.CHANCE.value if entry.stage else ""

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


def late_strata(
    pool: Pool, pairs: PooledPairs, entry_of: Mapping[tuple[str, str], int]
) -> LateStrata:
    """The draw from what came new, by the pool's own bands, at the share that the pool has been
    drawn to. Refused beyond the last stage.

    The draw depends on the pool's seed, the stage and the pairs alone.
    """
    topics = {pk: topic for topic, pk in pool.collection.topics.values_list("topic_id", "pk")}
    stage = len(pool.parameters["stages"]) + 1
    new = np.array(
        [k for k, pair in enumerate(pairs) if (pair.topic, pair.document) not in entry_of], np.int64
    )
    if not len(new):
        return LateStrata(pool, keep_draw(pool, pairs, entry_of), stage, [], {}, topics)
    if stage > MOST_STAGES:
        says = _(
            "%(pool)s has %(most)s stages, and a late run needs one of its own; pool all runs anew"
        )
        raise Refused(says % {"pool": pool.name, "most": MOST_STAGES})
    if pool.parameters["strata"] not in STRATA:
        raise Refused(
            _(
                "the strata of %(pool)s need a machine's label of every pair before the draw; pool all runs anew"
            )
            % {"pool": pool.name}
        )
    fresh = pairs.at(new)
    made = STRATA[pool.parameters["strata"]](fresh)
    place = shuffled(
        made, np.random.default_rng([pools.seed_of(pool), stage]), fresh.documents, fresh.topic
    )
    counts = counts_of(made.sizes, spreads_of(made.rates), [pool.parameters["stages"][-1]])
    own = stages_of(made.stratum, place, counts)
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
        _arranged(pool, pairs, entry_of, drawn_as),
        stage,
        _strata(pool, made, counts[0], stage, first),
        drawn_as,
        topics,
    )


def _strata(
    pool: Pool, made: Strata, counts: NDArray[np.int64], stage: int, first: int
) -> list[Stratum]:
    """Nothing of them was drawn in the stages before."""
    return [
        Stratum(
            pool=pool,
            number=first + k,
            name=f"{name}{LATE}{stage}"[:300],
            size=int(made.sizes[k]),
            drawn=[0] * (stage - 1) + [int(counts[k])],
        )
        for k, name in enumerate(made.names)
    ]


def keep_draw(
    pool: Pool, pairs: PooledPairs, entry_of: Mapping[tuple[str, str], int]
) -> PooledPairs:
    """The pairs in the order of service of the stages that are stored."""
    return _arranged(pool, pairs, entry_of, {})


def _arranged(
    pool: Pool,
    pairs: PooledPairs,
    entry_of: Mapping[tuple[str, str], int],
    drawn_as: Mapping[tuple[str, str], tuple[int, int, int | None]],
) -> PooledPairs:
    stored: dict[int, int | None] = dict(pool.entries.values_list("pk", "stage"))
    keys = [(pair.topic, pair.document) for pair in pairs]
    stage = np.array(
        [(stored[entry_of[key]] if key in entry_of else drawn_as[key][2]) or 0 for key in keys],
        np.int32,
    )
    return in_stages(pairs, stage, order_of(pairs, stage, seed=pools.seed_of(pool)))


def undo(pool: Pool, was: Mapping[str, Any]) -> None:
    """Take back the strata and the stage of the last extension; its entries are gone."""
    n = was["n_stages"]
    pool.strata.filter(name__endswith=f"{LATE}{n + 1}").delete()
    for one in pool.strata.all():
        Stratum.objects.filter(pk=one.pk).update(drawn=one.drawn[:n])
    Pool.objects.filter(pk=pool.pk).update(
        parameters={**pool.parameters, "stages": pool.parameters["stages"][:n]}
    )


growers[PoolKind.SAMPLED] = late_strata
shrinkers[PoolKind.SAMPLED] = undo
pools.arrangers[PoolKind.SAMPLED] = keep_draw
