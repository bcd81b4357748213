"""Sampled pools drawn in stages. Each stratum is shuffled once, and each stage takes a longer
prefix of it.

    draw = draw_stages(pool, strata="rank", budgets=[0.1, 0.2], seed=7)
    draw.stage                                  stage that samples each pair, 0 for none
    service_order(pool, draw.stage, seed=7)     order in which pairs are assigned
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs
from assay.pools.pool_kinds import get_stage_priority
from assay.pools.strata import (
    Strata,
    allocate_sample,
    complete_small_strata,
    make_llm_strata,
    make_rank_strata,
    make_vote_strata,
    rate_spreads,
    shuffle_strata,
)

STRATA_MAKERS: dict[str, Callable[[PooledPairs], Strata]] = {
    "rank": make_rank_strata,
    "votes": make_vote_strata,
}
LLM_STRATA = "llm"
"""Strata by votes and an LLM judge's grades, which need its labels of every pair."""
STRATA_KINDS = (*STRATA_MAKERS, LLM_STRATA)
MAX_STAGES = 10
"""Maximum number of stages. With more interim checks of the results, chance findings become likely.
"""


@dataclass(frozen=True, eq=False)
class StagedDraw:
    """A staged sample. place: int64 (n_pairs), position from 0 in the shuffle of its stratum.
    counts: int64 (n_stages, n_strata), pairs sampled by the end of each stage (n_h). stage: int32
    (n_pairs), from 1, or 0 if not sampled."""

    strata: Strata
    place: NDArray[np.int64]
    counts: NDArray[np.int64]
    stage: NDArray[np.int32]


def check_budgets(budgets: Sequence[float]) -> list[float]:
    """Return the budgets as a list. Raises ValueError unless they are increasing shares of the
    pool."""
    given = list(budgets)
    if (
        not given
        or not all(0 < share <= 1 for share in given)
        or any(a >= b for a, b in pairwise(given))
    ):
        raise ValueError("stages must be ascending shares of the pool above 0 and up to 1")
    if len(given) > MAX_STAGES:
        raise ValueError(
            f"stages must be at most {MAX_STAGES}, because more checks make false positives likely"
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
    """Sample a pool in stages. The same pairs, runs and seed give the same sample for any order of
    files.

    budgets: shares of the pool by the end of each stage. grades, n_grades: for LLM_STRATA, int
    (n_pairs) of an LLM judge, and the number of grades on its scale.
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
    """Return int64 (n_stages, n_strata), the pairs sampled from each stratum by the end of each
    stage (n_h). A count never falls below that of an earlier stage or below `least`.

    spreads: float64 (n_strata), expected standard deviation within each stratum. A stratum with
    less than 15% left is sampled completely, because the few left would estimate its spread badly.
    """
    before, rows = np.zeros(len(sizes), np.int64) if least is None else least, []
    for budget in budgets:
        wanted = allocate_sample(sizes, spreads, round(budget * int(sizes.sum())))
        # with a larger budget the largest remainder may belong to another stratum
        before = np.maximum(before, complete_small_strata(sizes, wanted))
        rows.append(before)
    return np.array(rows, np.int64).reshape(len(rows), len(sizes))


def assign_stages(
    stratum: NDArray[np.int32], place: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return int32 (n_pairs), the first stage whose n_h exceeds the pair's position, or 0 if none
    does."""
    taken = place[None, :] < counts[:, stratum]
    return np.where(taken.any(axis=0), 1 + taken.argmax(axis=0), 0).astype(np.int32)


def service_order(pool: PooledPairs, stage: NDArray[np.int32], *, seed: int) -> NDArray[np.int64]:
    """Return the rows in the order of assignment: by stage, then by topic in random order, then in
    random order within the topic, so that the next pair does not reveal its stratum. Pairs that are
    not sampled come last. Independent of ties and of the order of files."""
    # not the generator of the sample: a pair's position in its stratum must not show
    rng = np.random.default_rng([seed, 1])
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
    """Return the pairs in this order, with their stages as priorities."""
    priority = np.array(
        [get_stage_priority(int(one)) if one else 0 for one in stage.tolist()], np.int32
    )
    return replace(pairs.select_rows(order), priority=priority[order])
