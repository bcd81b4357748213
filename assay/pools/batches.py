"""Plan batches of a prioritised pool: most likely relevant pairs first, with audit pairs mixed in
(Assay-specific).

    ordered = OrderedPool.from_pool(pool)
    batch = ordered.plan_batch(labels, assigned, stage=0, seed=7)   the next pairs, their order, and which of them are
                                                          random

Batches are planned instead of single documents, because annotators calibrate on what they see.
Within a batch, topics are in random order and pairs in random order within their topic, and a share
of the batch is sampled at random from all remaining pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs
from assay.pools.rank_model import (
    DECIMALS,
    RankFeatures,
    RankModelFit,
    fit_rank_model,
    make_pool_features,
    score_pairs,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

DEFAULT_SIZE = 250
DEFAULT_AUDIT = 0.1


class BatchGoal(StrEnum):
    RELEVANT = "relevant"
    """The pairs most likely relevant, regardless of topic."""
    EQUAL = "equal"
    """The same share of pairs of each topic."""


@dataclass(frozen=True, eq=False)
class Batch:
    """A planned batch of pairs to judge.

    rows: int64 (n), the pool's rows in judging order. audit: bool (n), sampled at random. n_left:
    number of pairs not yet assigned to a batch when it was planned, the stratum of which the audit
    pairs are a sample. by_model: False for the first batches, which are ordered by reciprocal rank
    fusion.
    """

    rows: Ints
    audit: Flags
    n_left: int
    by_model: bool


@dataclass(eq=False)
class OrderedPool:
    """A prioritised pool, from which batches are planned. Arrays of labels and flags are in the
    order of the pool's rows."""

    features: RankFeatures
    last_fit: RankModelFit | None = field(default=None)
    """Starting point of the next fit, which affects its speed but not its result."""

    @classmethod
    def from_pool(cls, pool: PooledPairs) -> OrderedPool:
        return cls(make_pool_features(pool))

    def plan_batch(
        self,
        labels: Floats,
        assigned: Flags,
        *,
        stage: int,
        seed: int,
        size: int = DEFAULT_SIZE,
        audit: float = DEFAULT_AUDIT,
        goal: BatchGoal = BatchGoal.RELEVANT,
    ) -> Batch:
        """Return the next batch of `size` pairs. The first batch is larger if there are more topics
        than that, and the last may be smaller.

        labels: float64 (n_pairs), 1 relevant, 0 not, NaN without a label, also if the pair could
        not be judged. assigned: bool (n_pairs), pairs of earlier batches. The same labels, stage
        and seed give the same batch on every machine.
        """
        features = self.features
        own, assigned = labels[features.rows], assigned[features.rows]
        chance = np.random.default_rng([seed, stage])
        left = np.flatnonzero(~assigned)
        by_lot = chance.permutation(left)[: round(audit * min(size, len(left)))]
        assigned = assigned.copy()
        assigned[by_lot] = True
        self.last_fit = fit_rank_model(features, own, start=self.last_fit)
        value = np.round(score_pairs(features, own, self.last_fit), DECIMALS)
        room = min(size, len(left)) - len(by_lot)
        if self.last_fit is None:
            chosen = _equal_topic_quotas(features, value, assigned, room)
        elif goal is BatchGoal.EQUAL:
            chosen = _equal_share_quotas(features, value, assigned, room)
        else:
            free = np.flatnonzero(~assigned)
            chosen = free[np.argsort(-value[free], kind="stable")[:room]]
        picked = np.concatenate([chosen, by_lot])
        drawn = np.concatenate([np.zeros(len(chosen), bool), np.ones(len(by_lot), bool)])
        order = _shuffle_topic_blocks(features.topic[picked], picked, chance)
        return Batch(
            features.rows[picked[order]], drawn[order], len(left), self.last_fit is not None
        )


def _rank_within_topics(
    features: RankFeatures, value: Floats, assigned: Flags
) -> tuple[Ints, Ints]:
    """Return the remaining pairs by topic, best first with ties by document, and the position of
    each in its topic from 0."""
    free = np.flatnonzero(~assigned)
    free = free[np.lexsort((free, -value[free], features.topic[free]))]
    counts = np.bincount(features.topic[free], minlength=features.n_topics)
    return free, np.arange(len(free)) - np.repeat(np.cumsum(counts) - counts, counts)


def _equal_topic_quotas(features: RankFeatures, value: Floats, assigned: Flags, room: int) -> Ints:
    """Return the best remaining pairs of each topic, the same number per topic and at least one."""
    free, place = _rank_within_topics(features, value, assigned)
    return free[place < max(1, room // max(features.n_topics, 1))]


def _equal_share_quotas(features: RankFeatures, value: Floats, assigned: Flags, room: int) -> Ints:
    """Return the best remaining pairs, chosen so that all topics have nearly the same share of
    their pairs: the next pair comes from the topic with the smallest share."""
    free, place = _rank_within_topics(features, value, assigned)
    sizes = np.bincount(features.topic, minlength=features.n_topics)
    had = np.bincount(features.topic[assigned], minlength=features.n_topics)
    topic = features.topic[free]
    # the middle of the step, so that small topics neither lead nor lag
    share = (had[topic] + place + 0.5) / sizes[topic]
    return free[np.lexsort((free, share))[:room]]


def _shuffle_topic_blocks(topic: Ints, picked: Ints, chance: np.random.Generator) -> Ints:
    """Return the positions of the pairs with topics in random order, and pairs in random order
    within their topic."""
    by_pair = np.argsort(picked)
    topics = np.unique(topic)
    block = np.empty(len(topics), np.int64)
    block[chance.permutation(len(topics))] = np.arange(len(topics))
    lot = np.empty(len(picked))
    lot[by_pair] = chance.random(len(picked))
    return np.lexsort((lot, block[np.searchsorted(topics, topic)]))
