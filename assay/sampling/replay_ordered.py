"""A campaign over an ordered pool, replayed: what is found, how systems rank meanwhile, and when
the rule says stop (SAMPLING 2.2, 4).

    for look in replayed(world, plan, seed): ...           a Look at each budget
    stop = stopped(world, plan, seed)                      the first look at which rule R2 says stop

Pairs are served in the order of service of the real scheduler's core: level by level is the pool's
own order, the other orders are the planned batches of `assay.pools.batches`. Leases, several
annotators at once and time are not replayed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.rankings import tau_b
from assay.measures.measures import Measure
from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, BatchGoal, OrderedPool
from assay.pools.rank_model import make_pool_features
from assay.sampling.replay import PERFECT_ANNOTATORS, AnnotatorErrors, JudgedPool
from assay.sampling.stopping import (
    N_BEST,
    PairOrder,
    can_stop,
    decide_pairs,
    estimate_remaining_relevant,
    make_top_k_matrix,
    no_check_reason,
    simulate_scores,
)

Floats = NDArray[np.float64]

LEVEL_ORDER = "level"
GOALS = {"relevant": BatchGoal.RELEVANT, "equal": BatchGoal.EQUAL}


@dataclass(frozen=True)
class OrderedReplay:
    """order: level, relevant or equal. budgets: shares of the pool, ascending."""

    order: str
    budgets: Sequence[float]
    measures: Sequence[Measure]
    errors: AnnotatorErrors = PERFECT_ANNOTATORS
    batch: int = DEFAULT_SIZE
    audit: float = DEFAULT_AUDIT


class InterimResult(NamedTuple):
    """judged: pairs. recall: share of the relevant that were handed out. tau, rmse: {measure: of
    the runs' means, unjudged as not relevant, to those of the whole pool}. upper_left: of the
    relevant, at most, by the audit pairs of the last finished batch (NaN without); left: the
    truth."""

    judged: int
    recall: float
    tau: dict[str, float]
    rmse: dict[str, float]
    upper_left: float
    left: int


class ReplayedBatch(NamedTuple):
    """rows: int64 (n), in the order of service. audit: bool (n). n_left: pairs not handed out
    before."""

    rows: NDArray[np.int64]
    audit: NDArray[np.bool_]
    n_left: int


def iterate_batches(
    world: JudgedPool, plan: OrderedReplay, seen: NDArray[np.int32], seed: int
) -> Iterator[ReplayedBatch]:
    """Batches until the pool is judged. seen: int32 (n_pairs), what annotators would say of each
    pair, known to the order once served."""
    n = len(world)
    if plan.order == LEVEL_ORDER:
        for begin in range(0, n, plan.batch):
            rows = world.service[begin : begin + plan.batch]
            yield ReplayedBatch(rows, np.zeros(len(rows), bool), n - begin)
        return
    ordered = OrderedPool.of(world.pool)
    labels, handed, stage = np.full(n, np.nan), np.zeros(n, bool), 0
    while not handed.all():
        batch = ordered.batch(
            labels,
            handed,
            stage=stage,
            seed=seed,
            size=plan.batch,
            audit=plan.audit,
            goal=GOALS[plan.order],
        )
        yield ReplayedBatch(batch.rows, batch.audit, batch.n_left)
        handed[batch.rows], labels[batch.rows] = True, seen[batch.rows] >= world.level
        stage += 1


def replay_ordered(world: JudgedPool, plan: OrderedReplay, seed: int) -> list[InterimResult]:
    """What each budget has brought."""
    seen = plan.errors.judged(world.grades, world.level, np.random.default_rng([seed, 1]))
    whole = world.scores(world.grades, plan.measures).mean(axis=1)
    known = np.full(len(world), -1, np.int32)
    wanted = [round(budget * len(world)) for budget in plan.budgets]
    looks: list[InterimResult] = []
    n_handed, audited = 0, NO_AUDIT
    for batch in iterate_batches(world, plan, seen, seed):
        while len(looks) < len(wanted) and wanted[len(looks)] <= n_handed + len(batch.rows):
            rows = batch.rows[: wanted[len(looks)] - n_handed]
            until = known.copy()
            until[rows] = seen[rows]
            n_relevant = int((seen[rows] >= world.level).sum())
            looks.append(
                _interim_result(
                    world,
                    plan,
                    whole,
                    until,
                    audited._replace(found_since=audited.found_since + n_relevant),
                )
            )
        if len(looks) == len(wanted):
            break
        known[batch.rows] = seen[batch.rows]
        n_handed += len(batch.rows)
        drawn = batch.rows[batch.audit]
        n_relevant = int((seen[batch.rows] >= world.level).sum())
        audited = ReplayedAudit(
            batch.n_left, int((seen[drawn] >= world.level).sum()), len(drawn), n_relevant
        )
    return looks


class ReplayedAudit(NamedTuple):
    """Audit pairs of the last finished batch, as `relevant_left` takes them."""

    n_left: int
    relevant: int
    n: int
    found_since: int


NO_AUDIT = ReplayedAudit(0, 0, 0, 0)


def _interim_result(
    world: JudgedPool,
    plan: OrderedReplay,
    whole: Floats,
    known: NDArray[np.int32],
    audited: ReplayedAudit,
) -> InterimResult:
    handed, relevant = known >= 0, world.grades >= world.level
    means = world.scores(known, plan.measures).mean(axis=1)
    tau = {str(m): tau_b(whole[:, k], means[:, k]) for k, m in enumerate(plan.measures)}
    rmse = {
        str(m): float(np.sqrt(((means[:, k] - whole[:, k]) ** 2).mean()))
        for k, m in enumerate(plan.measures)
    }
    upper = (
        estimate_remaining_relevant(*audited[:3], found_since=audited.found_since).upper
        if audited.n
        else math.nan
    )
    return InterimResult(
        int(handed.sum()),
        float((handed & relevant).sum() / max(relevant.sum(), 1)),
        tau,
        rmse,
        upper,
        int((~handed & relevant).sum()),
    )


class OrderedStop(NamedTuple):
    """judged: share of the pool when the rule said stop (1: never before the end). right: whether
    its best system is the whole pool's; loss: by how much the chosen one is worse. pairs: of the
    best systems that were called decided or equal; wrong: by more than .01."""

    judged: float
    right: bool
    loss: float
    pairs: int
    wrong: int


def replay_until_stop(world: JudgedPool, plan: OrderedReplay, seed: int) -> OrderedStop:
    """The first of the looks (at the plan's budgets) at which every pair of the best five is
    decided or equal."""
    seen = plan.errors.judged(world.grades, world.level, np.random.default_rng([seed, 1]))
    features, tops = make_pool_features(world.pool), make_top_k_matrix(world.pool)
    truth = tops.ndcg(world.grades[:, None].astype(np.float64))[:, 0]
    order = np.concatenate(
        [
            batch.rows
            for batch in _take_batches(
                iterate_batches(world, plan, seen, seed), round(max(plan.budgets) * len(world))
            )
        ]
    )
    for number, budget in enumerate(plan.budgets):
        rows = order[: round(budget * len(world))]
        if no_check_reason(len(rows), len(world), world.n_topics) is not None:
            continue
        known = np.full(len(world), -1, np.int32)
        known[rows] = seen[rows]
        completed = simulate_scores(
            features, tops, known, level=world.level, rng=np.random.default_rng([seed, 2, number])
        )
        if completed is None or not can_stop(decisions := decide_pairs(completed, world.tags)):
            continue
        place = {tag: k for k, tag in enumerate(world.tags)}
        wrong = 0
        for decision in decisions:
            difference = truth[place[decision.a]] - truth[place[decision.b]]
            wrong += (
                difference < -0.01 if decision.order is PairOrder.BEFORE else abs(difference) > 0.02
            )
        first = place[decisions[0].a]
        return OrderedStop(
            budget,
            bool(truth[first] >= truth.max() - 1e-12),
            float(truth.max() - truth[first]),
            len(decisions),
            int(wrong),
        )
    return OrderedStop(1.0, True, 0.0, N_BEST * (N_BEST - 1) // 2, 0)


def _take_batches(batches: Iterator[ReplayedBatch], n: int) -> Iterator[ReplayedBatch]:
    done = 0
    for batch in batches:
        yield batch
        done += len(batch.rows)
        if done >= n:
            return
