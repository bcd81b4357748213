"""A completely judged pool that can be judged again in another order or in part, for `simulate
campaign`.

    judged_pool = make_judged_pool(pool, grades, runs, min_relevant=min_relevant)
    seen = errors.apply(judged_pool.grades[rows], min_relevant, rng)    labels by fallible annotators
    resampled = judged_pool.repeat_topics(np.array([0, 0, 2]))       topics with repetition, as new topics

Rows are pairs, sorted by topic and document. A topic that `repeat_topics` draws twice becomes two
topics with the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.measures.evaluation import RecallBase, measure_topics
from assay.measures.measures import Measure
from assay.measures.packing import PackedRun, index_qrels, pack_run
from assay.pools.depth import PooledPairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AnnotatorErrors:
    """Error rates of annotators. A relevant pair is labelled relevant with probability
    `sensitivity`, a non-relevant one not relevant with probability `specificity`.

    judgements: number per pair. The label is their majority, with ties as the lower label.
    """

    sensitivity: float = 1.0
    specificity: float = 1.0
    judgements: int = 1

    def apply(
        self, grades: NDArray[np.integer], min_relevant: int, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Return the grades as labelled. A pair wrongly labelled relevant gets the minimum relevant
        grade, a missed one grade 0."""
        relevant = grades >= min_relevant
        chance = np.where(relevant, self.sensitivity, 1 - self.specificity)
        votes = rng.binomial(self.judgements, chance)
        said = 2 * votes > self.judgements
        return np.where(said == relevant, grades, np.where(said, min_relevant, 0)).astype(np.int32)


PERFECT_ANNOTATORS = AnnotatorErrors()


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """A completely judged pool with its runs.

    pool: sorted by topic and document. grades: int32 (n_pairs). offsets: int64 (n_topics + 1), rows
    of each topic. packed: each run joined with these rows. service: int64 (n_pairs), rows in the
    order in which a campaign assigns them by rank.
    """

    pool: PooledPairs
    grades: NDArray[np.int32]
    offsets: Ints
    packed: list[PackedRun]
    service: Ints
    min_relevant: int

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def n_topics(self) -> int:
        return len(self.offsets) - 1

    @property
    def tags(self) -> list[str]:
        return self.pool.tags

    def scores(self, grades: NDArray[np.int32], measures: Sequence[Measure]) -> Floats:
        """Return float64 (n_runs, n_topics, n_measures), the scores under these grades. Pairs with
        a negative grade are unjudged and so not relevant."""
        base = RecallBase(self.offsets, grades)
        return np.array(
            [
                measure_topics(packed, base, measures, min_relevant=self.min_relevant)
                for packed in self.packed
            ]
        )

    @cached_property
    def topic(self) -> Ints:
        return np.repeat(np.arange(self.n_topics), np.diff(self.offsets))

    def repeat_topics(self, chosen: Ints) -> JudgedPool:
        """Return the pool of these topics, each as often as it is listed."""
        rows = _concatenate_ranges(self.offsets[chosen], self.offsets[chosen + 1])
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        topic = np.repeat(np.arange(len(chosen), dtype=np.int32), sizes)
        pool = replace(
            self.pool.select_rows(rows),
            topics=[f"{k}.{self.pool.topics[t]}" for k, t in enumerate(chosen.tolist())],
            topic=topic,
        )
        shift = offsets[:-1] - self.offsets[chosen]
        packed = [_select_packed_topics(one, chosen, shift) for one in self.packed]
        place = np.empty(len(self), np.int64)
        place[self.service] = np.arange(len(self))
        return JudgedPool(
            pool,
            self.grades[rows],
            offsets,
            packed,
            np.lexsort((topic, place[rows])),
            self.min_relevant,
        )


def _concatenate_ranges(begins: Ints, ends: Ints) -> Ints:
    """Return int64: begins[0], begins[0] + 1, ... ends[0] - 1, begins[1], ..."""
    sizes = ends - begins
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])


def _select_packed_topics(packed: PackedRun, chosen: Ints, shift: Ints) -> PackedRun:
    bounds = np.searchsorted(packed.topic, np.arange(len(packed.has_topic) + 1))
    hits = _concatenate_ranges(bounds[chosen], bounds[chosen + 1])
    topic = np.repeat(np.arange(len(chosen)), (bounds[chosen + 1] - bounds[chosen]))
    return PackedRun(
        packed.tag,
        topic,
        packed.rank[hits],
        packed.ascending_rank[hits],
        packed.row[hits] + shift[topic],
        packed.retrieved[chosen],
        packed.has_topic[chosen],
        0,
    )


def make_judged_pool(
    pool: PooledPairs, grades: NDArray[np.integer], runs: Sequence[RunColumns], *, min_relevant: int
) -> JudgedPool:
    """Create from a pool with every pair judged and its rows in the order of judging by rank. runs:
    those of the pool, in the order of its tags."""
    rows = np.lexsort((pool.documents, pool.topic))
    arranged = pool.select_rows(rows)
    offsets = np.concatenate(
        ([0], np.cumsum(np.bincount(arranged.topic, minlength=len(pool.topics))))
    ).astype(np.int64)
    own = grades[rows].astype(np.int32)
    index = index_qrels(QrelsColumns("pool", pool.topics, offsets, arranged.documents, own))
    service = np.empty(len(rows), np.int64)
    service[rows] = np.arange(len(rows))
    return JudgedPool(
        arranged, own, offsets, [pack_run(run, index) for run in runs], service, min_relevant
    )


def select_part(judged_pool: JudgedPool, topics: Ints, runs: Ints) -> JudgedPool:
    """Return the pool of some topics and runs, with ranks from these runs alone. topics, runs:
    ascending indices."""
    ranks = judged_pool.pool.ranks[:, runs]
    place = np.full(judged_pool.n_topics, -1)
    place[topics] = np.arange(len(topics))
    kept = (ranks > 0).any(axis=1) & (place[judged_pool.topic] >= 0)
    number = np.cumsum(kept) - 1
    best = np.where(ranks > 0, ranks, np.iinfo(np.int16).max).min(axis=1)[kept].astype(np.int32)
    pool = replace(
        judged_pool.pool,
        tags=[judged_pool.tags[k] for k in runs.tolist()],
        topics=[judged_pool.pool.topics[t] for t in topics.tolist()],
        topic=place[judged_pool.topic[kept]].astype(np.int32),
        documents=judged_pool.pool.documents[kept],
        best_rank=best,
        priority=judged_pool.pool.depth - best,
        ranks=ranks[kept],
        everyone=judged_pool.pool.everyone[kept],
    )
    packed = []
    for k in runs.tolist():
        one = judged_pool.packed[k]
        own = kept[one.row]
        packed.append(
            PackedRun(
                one.tag,
                place[one.topic[own]],
                one.rank[own],
                one.ascending_rank[own],
                number[one.row[own]],
                one.retrieved[topics],
                one.has_topic[topics],
                0,
            )
        )
    served = judged_pool.service[kept[judged_pool.service]]
    service = number[served[np.argsort(best[number[served]], kind="stable")]]
    offsets = np.concatenate(
        ([0], np.cumsum(np.bincount(pool.topic, minlength=len(topics))))
    ).astype(np.int64)
    return JudgedPool(
        pool, judged_pool.grades[kept], offsets, packed, service, judged_pool.min_relevant
    )
