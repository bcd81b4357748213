"""A sampled pool drawn in stages: each stratum is shuffled once, and a later stage takes a longer
prefix of it (SAMPLING 3.1).

draw = staged(pool, strata="rank", budgets=[0.1, 0.2], seed=7)
draw.stage                                  of each pair the stage that draws it; 0: none has
order_of(pool, draw.stage, seed=7)          in which order pairs are handed out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs
from assay.pools.pool_kinds import staged_priority
from assay.pools.strata import (
    Strata,
    allocate_sample,
    make_llm_strata,
    make_rank_strata,
    make_vote_strata,
    rate_spreads,
    shuffle_strata,
    take_small_strata_whole,
)

STRATA_MAKERS: dict[str, Callable[[PooledPairs], Strata]] = {
    "rank": make_rank_strata,
    "votes": make_vote_strata,
}
LLM_STRATA = "machine"
"""Strata of votes and a machine's grades, which need its labels of every pair."""
STRATA_KINDS = (*STRATA_MAKERS, LLM_STRATA)
MAX_STAGES = 10
"""More looks at the results than this would find something by chance (SAMPLING 4)."""


@dataclass(frozen=True, eq=False)
class StagedDraw:
    """strata; place: int64 (n_pairs), in the shuffle of its stratum, from 0; counts: int64
    (n_stages, n_strata), n_h by the end of each stage; stage: int32 (n_pairs), from 1 on; 0: not
    drawn."""

    strata: Strata
    place: NDArray[np.int64]
    counts: NDArray[np.int64]
    stage: NDArray[np.int32]


def check_budgets(budgets: Sequence[float]) -> list[float]:
    """Shares of the pool, each more than the one before; ValueError for others."""
    given = list(budgets)
    if (
        not given
        or not all(0 < share <= 1 for share in given)
        or any(a >= b for a, b in pairwise(given))
    ):
        raise ValueError(
            "stages are shares of the pool above 0 and up to 1, each more than the one before"
        )
    if len(given) > MAX_STAGES:
        raise ValueError(
            f"more than {MAX_STAGES} stages; who looks so often finds something by chance"
        )
    return given


def draw_stages(
    pool: PooledPairs,
    *,
    strata: str,
    budgets: Sequence[float],
    seed: int,
    grades: NDArray[np.integer] | None = None,
    n_grades: int = 0,
) -> StagedDraw:
    """budgets: shares of the pool by the end of each stage. The same pairs, runs and seed give the
    same draw, whatever the order of files.

    grades: int (n_pairs), by a machine whose scale has n_grades, for strata of MACHINE.
    """
    if strata == LLM_STRATA:
        assert grades is not None
        made, spreads = make_llm_strata(pool, grades, n_grades=n_grades)
    else:
        made = STRATA_MAKERS[strata](pool)
        spreads = rate_spreads(made.rates)
    place = shuffle_strata(made, np.random.default_rng(seed), pool.documents, pool.topic)
    counts = allocate_stages(made.sizes, spreads, budgets)
    return StagedDraw(made, place, counts, assign_stages(made.stratum, place, counts))


def allocate_stages(
    sizes: NDArray[np.int64],
    spreads: NDArray[np.float64],
    budgets: Sequence[float],
    *,
    least: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """n_h by the end of each stage, int64 (n_stages, n_strata). No stage takes back what one before
    has drawn, nor `least`.

    spreads: float64 (n_strata), the standard deviation expected within each.

    A stratum of which less than 15 % would be left is finished: the few left would tell its spread
    badly."""
    before, rows = np.zeros(len(sizes), np.int64) if least is None else least, []
    for budget in budgets:
        wanted = allocate_sample(sizes, spreads, round(budget * int(sizes.sum())))
        before = np.maximum(
            before, take_small_strata_whole(sizes, wanted)
        )  # the largest remainder of a larger budget can be another's
        rows.append(before)
    return np.array(rows, np.int64).reshape(len(rows), len(sizes))


def assign_stages(
    stratum: NDArray[np.int32], place: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int32]:
    """int32 (n_pairs): the first stage whose n_h exceeds the pair's place; 0 where none does."""
    taken = place[None, :] < counts[:, stratum]
    return np.where(taken.any(axis=0), 1 + taken.argmax(axis=0), 0).astype(np.int32)


def service_order(pool: PooledPairs, stage: NDArray[np.int32], *, seed: int) -> NDArray[np.int64]:
    """Rows in the order of service: stage by stage; in each the topics in random order and a
    topic's pairs in random order, so that the strata cannot be read off what comes next; what is
    not drawn last. Ties and files do not matter."""
    rng = np.random.default_rng(
        [seed, 1]
    )  # not the generator of the draw: a pair's place in its stratum must not show
    by_id = np.lexsort((pool.documents, pool.topic))
    chance = np.empty(len(pool))
    chance[by_id] = rng.random(len(pool))
    late = np.where(stage > 0, stage, np.iinfo(np.int32).max)
    turn = np.empty((int(stage.max(initial=0)) + 1, len(pool.topics)), np.int64)
    for row in turn:
        row[:] = rng.permutation(len(pool.topics))
    return np.lexsort((chance, turn[stage, pool.topic], late))


def arrange_in_stages(
    pairs: PooledPairs, stage: NDArray[np.int32], order: NDArray[np.int64]
) -> PooledPairs:
    """In this order, with the priorities of their stages."""
    priority = np.array(
        [staged_priority(int(one)) if one else 0 for one in stage.tolist()], np.int32
    )
    return replace(pairs.at(order), priority=priority[order])
