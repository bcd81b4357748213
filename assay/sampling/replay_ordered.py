"""Replay a campaign over a prioritised pool: relevant documents found, ranking of systems over
time, and the time at which the stopping rule applies.

    for result in replay_ordered(judged_pool, plan, seed): ...    an InterimResult per budget
    stop = replay_until_stop(judged_pool, plan, seed)             the first check that advises stopping

Pairs are served in the order of the real scheduler: the pool's own order, or the planned batches of
`assay.pools.batches`. Leases, simultaneous annotators and time are not replayed.
"""

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
    """Settings for replaying a campaign over a prioritised pool. order: level, relevant or equal.
    budgets: shares of the pool, ascending."""

    order: str
    budgets: Sequence[float]
    measures: Sequence[Measure]
    errors: AnnotatorErrors = PERFECT_ANNOTATORS
    batch: int = DEFAULT_SIZE
    audit: float = DEFAULT_AUDIT


class InterimResult(NamedTuple):
    """State of a replayed campaign when a budget is spent. judged: number of pairs. recall: share
    of relevant pairs that were assigned. tau, rmse: by measure, of the runs' means (unjudged as not
    relevant) compared with those of the whole pool. upper_left: upper bound of the remaining
    relevant pairs from the audit pairs of the last finished batch, NaN without any. left: their
    true number."""

    judged: int
    recall: float
    tau: dict[str, float]
    rmse: dict[str, float]
    upper_left: float
    left: int


class ReplayedBatch(NamedTuple):
    """A batch of a replayed campaign. rows: int64 (n), in the order of service. audit: bool (n),
    audit pairs. n_left: pairs not assigned before."""

    rows: NDArray[np.int64]
    audit: NDArray[np.bool_]
    n_left: int


def iterate_batches(
    judged_pool: JudgedPool, plan: OrderedReplay, annotator_labels: NDArray[np.int32], seed: int
) -> Iterator[ReplayedBatch]:
    """Yield the batches in which a campaign judges the pool. seen: int32 (n_pairs), annotators'
    label of each pair, which influences the order once the pair is served."""
    n = len(judged_pool)
    if plan.order == LEVEL_ORDER:
        for begin in range(0, n, plan.batch):
            rows = judged_pool.service[begin : begin + plan.batch]
            yield ReplayedBatch(rows, np.zeros(len(rows), bool), n - begin)
        return
    ordered = OrderedPool.from_pool(judged_pool.pool)
    labels, assigned, stage = np.full(n, np.nan), np.zeros(n, bool), 0
    while not assigned.all():
        batch = ordered.plan_batch(
            labels,
            assigned,
            stage=stage,
            seed=seed,
            size=plan.batch,
            audit=plan.audit,
            goal=GOALS[plan.order],
        )
        yield ReplayedBatch(batch.rows, batch.audit, batch.n_left)
        assigned[batch.rows], labels[batch.rows] = (
            True,
            annotator_labels[batch.rows] >= judged_pool.min_relevant,
        )
        stage += 1


def replay_ordered(judged_pool: JudgedPool, plan: OrderedReplay, seed: int) -> list[InterimResult]:
    """Replay a campaign and return its state at each budget."""
    annotator_labels = plan.errors.apply(
        judged_pool.grades, judged_pool.min_relevant, np.random.default_rng([seed, 1])
    )
    whole = judged_pool.scores(judged_pool.grades, plan.measures).mean(axis=1)
    known = np.full(len(judged_pool), -1, np.int32)
    wanted = [round(budget * len(judged_pool)) for budget in plan.budgets]
    looks: list[InterimResult] = []
    n_handed, audited = 0, NO_AUDIT
    for batch in iterate_batches(judged_pool, plan, annotator_labels, seed):
        while len(looks) < len(wanted) and wanted[len(looks)] <= n_handed + len(batch.rows):
            rows = batch.rows[: wanted[len(looks)] - n_handed]
            until = known.copy()
            until[rows] = annotator_labels[rows]
            n_relevant = int((annotator_labels[rows] >= judged_pool.min_relevant).sum())
            looks.append(
                _interim_result(
                    judged_pool,
                    plan,
                    whole,
                    until,
                    audited._replace(found_since=audited.found_since + n_relevant),
                )
            )
        if len(looks) == len(wanted):
            break
        known[batch.rows] = annotator_labels[batch.rows]
        n_handed += len(batch.rows)
        drawn = batch.rows[batch.audit]
        n_relevant = int((annotator_labels[batch.rows] >= judged_pool.min_relevant).sum())
        audited = ReplayedAudit(
            batch.n_left,
            int((annotator_labels[drawn] >= judged_pool.min_relevant).sum()),
            len(drawn),
            n_relevant,
        )
    return looks


class ReplayedAudit(NamedTuple):
    """Audit pairs of the last finished batch of a replay, as arguments of
    `estimate_remaining_relevant`."""

    n_left: int
    relevant: int
    n: int
    found_since: int


NO_AUDIT = ReplayedAudit(0, 0, 0, 0)


def _interim_result(
    judged_pool: JudgedPool,
    plan: OrderedReplay,
    whole: Floats,
    known: NDArray[np.int32],
    audited: ReplayedAudit,
) -> InterimResult:
    assigned, relevant = known >= 0, judged_pool.grades >= judged_pool.min_relevant
    means = judged_pool.scores(known, plan.measures).mean(axis=1)
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
        int(assigned.sum()),
        float((assigned & relevant).sum() / max(relevant.sum(), 1)),
        tau,
        rmse,
        upper,
        int((~assigned & relevant).sum()),
    )


class OrderedStop(NamedTuple):
    """Outcome of stopping when the rule advises it. judged: share of the pool at that time, 1 if it
    never does. right: whether the best system is that of the whole pool. loss: difference between
    them. pairs: number of pairs of the best systems that were called decided or equal. wrong:
    number of these that are off by more than 0.01."""

    judged: float
    right: bool
    loss: float
    pairs: int
    wrong: int


def replay_until_stop(judged_pool: JudgedPool, plan: OrderedReplay, seed: int) -> OrderedStop:
    """Replay until the first interim check (at the plan's budgets) at which every pair of the best
    five systems is decided or equal."""
    annotator_labels = plan.errors.apply(
        judged_pool.grades, judged_pool.min_relevant, np.random.default_rng([seed, 1])
    )
    features, tops = make_pool_features(judged_pool.pool), make_top_k_matrix(judged_pool.pool)
    truth = tops.ndcg(judged_pool.grades[:, None].astype(np.float64))[:, 0]
    order = np.concatenate(
        [
            batch.rows
            for batch in _take_batches(
                iterate_batches(judged_pool, plan, annotator_labels, seed),
                round(max(plan.budgets) * len(judged_pool)),
            )
        ]
    )
    for number, budget in enumerate(plan.budgets):
        rows = order[: round(budget * len(judged_pool))]
        if no_check_reason(len(rows), len(judged_pool), judged_pool.n_topics) is not None:
            continue
        known = np.full(len(judged_pool), -1, np.int32)
        known[rows] = annotator_labels[rows]
        completed = simulate_scores(
            features,
            tops,
            known,
            min_relevant=judged_pool.min_relevant,
            rng=np.random.default_rng([seed, 2, number]),
        )
        if completed is None or not can_stop(
            decisions := decide_pairs(completed, judged_pool.tags)
        ):
            continue
        place = {tag: k for k, tag in enumerate(judged_pool.tags)}
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
