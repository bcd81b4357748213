"""Evaluate one topic's rankings under a batch of sub-collections.

Arrays have the axes (place, run, sample). A *place* is a position in a run's list of assessed
documents, or of those with at least some grade, from the top down. Shorter lists are padded with a
row that no sample contains. Formulas and conventions are those of `evaluation`, of which this is
the batch version.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.measures.evaluation import exponential_gains, stopping_probability
from assay.measures.measures import Measure

Flags = NDArray[np.uint8]
Counts = NDArray[Any]
"""Unsigned integers as narrow as the depth of the rankings allows."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedTopic:
    """A topic's assessments and the rankings of all runs.

    grades: int32 (n_assessments). documents: int64 (n_assessments), the ascending numbers of the
    assessed documents. lengths: int64 (n_runs), the number of documents retrieved. retrieved: int64
    (depth, n_runs), their numbers, padded with the number after the last document's. highest: the
    highest grade in the whole qrels.
    """

    grades: NDArray[np.int32]
    documents: NDArray[np.int64]
    lengths: NDArray[np.int64]
    retrieved: NDArray[np.int64]
    highest: int
    _places: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(
        default_factory=dict, repr=False
    )
    _places_among_judged: dict[int, NDArray[np.int64]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_rankings(
        cls,
        grades: NDArray[np.int32],
        documents: NDArray[np.int64],
        rankings: list[NDArray[np.int64]],
        n_documents: int,
        highest: int,
    ) -> PackedTopic:
        """Pack a topic. rankings: for each run, the numbers of its documents, best first."""
        order = np.argsort(documents)
        lengths = np.array([len(ranking) for ranking in rankings], np.int64)
        return cls(
            grades[order], documents[order], lengths, _pad_lists(rankings, n_documents), highest
        )

    def compute_gains(self, grade: NDArray[np.integer[Any]] | int, exponential: bool) -> Floats:
        return (
            exponential_gains(grade, self.grades.max(initial=0))
            if exponential
            else np.asarray(grade, np.float64)
        )

    def find_places(self, min_grade: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the assessed documents of at least this grade in each ranking, from the top down:
        two int64 (n_places, n_runs).

        The first has the rows of `grades`, or n_assessments as padding. The second has the
        positions in `retrieved` as flat indices.
        """
        if min_grade not in self._places:
            n_runs = len(self.lengths)
            rows, at = [], []
            for run, length in enumerate(self.lengths):
                ranking = self.retrieved[:length, run]
                row = np.minimum(np.searchsorted(self.documents, ranking), len(self.documents) - 1)
                place = np.flatnonzero(
                    (self.documents[row] == ranking) & (self.grades[row] >= min_grade)
                )
                rows.append(row[place])
                at.append(place * n_runs + run)
            self._places[min_grade] = _pad_lists(rows, len(self.grades)), _pad_lists(at, 0)
        return self._places[min_grade]

    def find_places_among_judged(self, min_grade: int) -> NDArray[np.int64]:
        """Return the position of each document of at least this grade among the judged documents
        (grade 0 and up) of its ranking, as flat indices in the shape of `find_places`."""
        if min_grade not in self._places_among_judged:
            (judged, judged_at), (rows, at) = self.find_places(0), self.find_places(min_grade)
            n_runs = len(self.lengths)
            place = np.zeros_like(at)
            for run in range(n_runs):  # `at` ascends down a column, except for the padding
                length = np.count_nonzero(rows[:, run] < len(self.grades))
                until = np.count_nonzero(judged[:, run] < len(self.grades))
                place[:length, run] = np.searchsorted(judged_at[:until, run], at[:length, run])
            self._places_among_judged[min_grade] = place * n_runs + np.arange(n_runs)
        return self._places_among_judged[min_grade]


def _pad_lists(lists: list[NDArray[np.int64]], filling: int) -> NDArray[np.int64]:
    """Return the lists as columns of one array with at least one row."""
    columns = np.full((max(1, *map(len, lists)), len(lists)), filling, np.int64)
    for number, column in enumerate(lists):
        columns[: len(column), number] = column
    return columns


class SampledTopic:
    """A topic in a batch of sub-collections.

    kept: uint8 (n_documents + 1, n_samples) with a last row of 0, or None for all documents.
    assessed: uint8 (n_assessments, n_samples), or None for all assessments.
    """

    def __init__(
        self, topic: PackedTopic, kept: Flags | None, assessed: Flags | None, n_samples: int
    ) -> None:
        self.topic, self.kept, self.n_samples = topic, kept, n_samples
        self.count_type = (
            np.uint16 if max(len(topic.retrieved), len(topic.grades)) < 2**16 else np.uint32
        )
        flags = np.zeros((len(topic.grades) + 1, n_samples), np.uint8)
        flags[:-1] = 1 if assessed is None else assessed
        if kept is not None:
            flags[:-1] &= kept.take(topic.documents, axis=0)
        self.flags = flags
        self._selections: dict[int, RankSelection] = {}
        self._n_assessed: dict[int, NDArray[np.int64]] = {}

    def select_hits(self, min_grade: int) -> RankSelection:
        """Return the places of assessed documents with at least this grade in the rankings."""
        if min_grade not in self._selections:
            self._selections[min_grade] = RankSelection(self, min_grade)
        return self._selections[min_grade]

    def release_memory(self) -> None:
        """Drop cached arrays at once. Selections and this object refer to each other, so the
        garbage collector would free them late."""
        self._selections.clear()

    def n_assessed(self, min_grade: int) -> NDArray[np.int64]:
        """Return int64 (n_samples), the number of assessments of at least this grade."""
        if min_grade not in self._n_assessed:
            chosen = self.flags[:-1][self.topic.grades >= min_grade]
            self._n_assessed[min_grade] = np.add.reduce(chosen, axis=0, dtype=np.uint32).astype(
                np.int64
            )
        return self._n_assessed[min_grade]

    @cached_property
    def ranks_in_sample(self) -> Counts:
        """Return (depth x n_runs, n_samples), the rank of every retrieved document after the
        documents missing from the sample are removed."""
        assert self.kept is not None
        flags = self.kept.take(self.topic.retrieved.ravel(), axis=0)
        return cumulate_by_run(flags, len(self.topic.lengths), self.count_type).reshape(
            -1, self.n_samples
        )

    @cached_property
    def n_retrieved(self) -> NDArray[np.int64]:
        """Return int64 (n_runs, n_samples or 1), the number of documents retrieved."""
        if self.kept is None:
            return self.topic.lengths[:, None]
        return self.ranks_in_sample[-len(self.topic.lengths) :].astype(np.int64)

    def ideal_dcg(self, exponential: bool, cutoff: int | None) -> Floats:
        """Return float64 (n_samples), the discounted gain of all assessed documents in ideal
        order."""
        discounts = np.concatenate(
            [[0.0], np.cumsum(log_discount(np.arange(1, len(self.topic.grades) + 1)))]
        )
        limit = len(self.topic.grades) if cutoff is None else cutoff
        better, total = np.zeros(self.n_samples, np.int64), np.zeros(self.n_samples)
        for grade in np.unique(self.topic.grades[self.topic.grades > 0])[::-1].tolist():
            until = self.n_assessed(grade)
            total += self.topic.compute_gains(grade, exponential) * (
                discounts[np.minimum(until, limit)] - discounts[np.minimum(better, limit)]
            )
            better = until
        return total


class RankSelection:
    """The ranks of a topic's rankings at which an assessed document has at least a given grade.

    hits: uint8 (n_places, n_runs, n_samples), 1 if the sample has document and assessment.
    n_hits_down_to: same shape, the number of hits down to and including a place.
    """

    def __init__(self, sampled: SampledTopic, min_grade: int) -> None:
        self.sampled, self.min_grade = sampled, min_grade
        self.rows, self.at = sampled.topic.find_places(min_grade)
        self.hits: Flags = sampled.flags.take(self.rows, axis=0)
        self._ranks: dict[bool, Counts] = {}

    @cached_property
    def n_hits_down_to(self) -> Counts:
        counts = cumulate_by_run(
            self.hits.reshape(-1, self.sampled.n_samples),
            self.hits.shape[1],
            self.sampled.count_type,
        )
        return counts.reshape(self.hits.shape)

    @cached_property
    def n_judged_down_to(self) -> Counts:
        """Return the number of judged documents down to each place, including the place if the
        sample has it."""
        judged = self.sampled.select_hits(0)
        if judged is self:
            return self.n_hits_down_to
        return judged.n_hits_down_to.reshape(-1, self.sampled.n_samples).take(
            self.sampled.topic.find_places_among_judged(self.min_grade), axis=0
        )

    def compute_ranks(self, condensed: bool) -> Counts:
        """Return (n_places, n_runs, n_samples or 1), the ranks from 1 of hits. Other values are
        arbitrary."""
        if condensed not in self._ranks:
            if condensed:
                rank = np.maximum(self.n_judged_down_to, 1)
            elif self.sampled.kept is None:
                rank = (self.at // self.at.shape[1] + 1).astype(self.sampled.count_type)[:, :, None]
            else:
                rank = np.maximum(self.sampled.ranks_in_sample.take(self.at, axis=0), 1)
            self._ranks[condensed] = rank
        return self._ranks[condensed]

    def hits_down_to(self, limit: int | NDArray[np.int64] | None, condensed: bool) -> Flags:
        """Return `hits` with 0 if the rank exceeds the limit (one for all, or one per sample)."""
        if limit is None:
            return self.hits
        if not isinstance(limit, int):
            limit = limit.astype(self.sampled.count_type)
        return self.hits & (self.compute_ranks(condensed) <= limit)


def cumulate_by_run(flags: Flags, n_runs: int, count_type: type[np.unsignedinteger[Any]]) -> Counts:
    """Return cumulative sums of flags (n_places x n_runs, n_samples) over places: (n_places, n_runs
    x n_samples).

    Sums are formed within groups of places for all groups at once, then across groups, with a few
    dozen additions of long rows. `np.cumsum` along the first axis accesses memory in strides and is
    many times slower.
    """
    counts = flags.astype(count_type).reshape(len(flags) // n_runs, -1)
    step = math.isqrt(len(counts))
    grouped = len(counts) // step * step
    groups = counts[:grouped].reshape(-1, step, counts.shape[1])
    for place in range(1, step):
        groups[:, place] += groups[:, place - 1]
    for above, below in pairwise(groups):
        below += above[-1]
    for place in range(grouped, len(counts)):
        counts[place] += counts[place - 1]
    return counts


def log_discount(rank: NDArray[np.int64]) -> Floats:
    return 1 / np.log2(rank + 1)


def ratio_or_zero(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    """Return the quotient, or 0 if the denominator is 0, that is nothing is relevant or nothing is
    retrieved (as trec_eval does)."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(
        numerator,
        denominator,
        out=np.zeros(numerator.shape),
        where=denominator != 0,
        dtype=np.float64,
    )


def sum_over_ranks(counts: Counts | Flags) -> NDArray[np.uint32]:
    """Return the sum over places: (n_runs, n_samples)."""
    return np.add.reduce(counts, axis=0, dtype=np.uint32)


def score_topic(sampled: SampledTopic, measure: Measure, min_relevant: int) -> Floats:
    """Return one measure of every run in every sub-collection: float64 (n_runs, n_samples)."""
    min_grade = min_relevant if measure.min_relevant is None else measure.min_relevant
    own = {
        name: value
        for name, value in (("persistence", measure.persistence), ("highest", measure.highest))
        if value is not None
    }
    return FORMULAS[measure.family](sampled, min_grade, measure.cutoff, measure.condensed, **own)


def _average_precision(
    sampled: SampledTopic, min_grade: int, cutoff: int | None, condensed: bool
) -> Floats:
    relevant = sampled.select_hits(min_grade)
    hits = relevant.n_hits_down_to * relevant.hits_down_to(cutoff, condensed)
    precision = np.divide(hits, relevant.compute_ranks(condensed), dtype=np.float64)
    return ratio_or_zero(precision.sum(axis=0), sampled.n_assessed(min_grade))


def _dcg(
    sampled: SampledTopic,
    min_grade: int,
    cutoff: int | None,
    condensed: bool,
    exponential: bool = False,
) -> Floats:
    gaining = sampled.select_hits(1)
    rank = gaining.compute_ranks(condensed)
    is_hit = gaining.hits_down_to(cutoff, condensed)
    gains = sampled.topic.compute_gains(_grades_by_place(sampled, gaining), exponential)
    if rank.shape[2] == 1:
        discounted = np.multiply(is_hit, log_discount(rank.astype(np.int64)))
    else:
        table = np.concatenate(
            [[0.0], log_discount(np.arange(1, len(sampled.topic.retrieved) + 1))]
        )
        # rank 0 means not found and has discount 0
        discounted = table.take(np.multiply(rank, is_hit, dtype=np.intp))
    return np.asarray(np.einsum("prs,pr->rs", discounted, gains))


def _ndcg(
    sampled: SampledTopic,
    min_grade: int,
    cutoff: int | None,
    condensed: bool,
    exponential: bool = False,
) -> Floats:
    return ratio_or_zero(
        _dcg(sampled, min_grade, cutoff, condensed, exponential),
        sampled.ideal_dcg(exponential, cutoff),
    )


def _ndcg_exponential(
    sampled: SampledTopic, min_grade: int, cutoff: int | None, condensed: bool
) -> Floats:
    return _ndcg(sampled, min_grade, cutoff, condensed, exponential=True)


def _reciprocal_rank(
    sampled: SampledTopic, min_grade: int, cutoff: int | None, condensed: bool
) -> Floats:
    relevant = sampled.select_hits(min_grade)
    is_first = relevant.hits_down_to(cutoff, condensed)
    return np.divide(is_first, relevant.compute_ranks(condensed), dtype=np.float64).max(axis=0)


def _grades_by_place(sampled: SampledTopic, gaining: RankSelection) -> NDArray[np.int32]:
    """Return (n_places, n_runs), the grades, with 0 after the end of a run's list."""
    return np.append(sampled.topic.grades, 0)[gaining.rows]


def _normalised_cumulative_gain(
    sampled: SampledTopic, min_grade: int, cutoff: int, condensed: bool
) -> Floats:
    gaining = sampled.select_hits(1)
    gained = np.einsum(
        "prs,pr->rs",
        gaining.hits_down_to(cutoff, condensed).astype(np.float64),
        _grades_by_place(sampled, gaining).astype(np.float64),
    )
    best, better = np.zeros(sampled.n_samples), np.zeros(sampled.n_samples, np.int64)
    for grade in np.unique(sampled.topic.grades[sampled.topic.grades > 0])[::-1].tolist():
        until = np.minimum(sampled.n_assessed(grade), cutoff)
        best += grade * (until - better)
        better = until
    return ratio_or_zero(gained, best)


def _rank_biased_precision(
    sampled: SampledTopic,
    min_grade: int,
    cutoff: int | None,
    condensed: bool,
    *,
    persistence: float,
) -> Floats:
    relevant = sampled.select_hits(min_grade)
    weight = (1 - persistence) * persistence ** (relevant.compute_ranks(condensed) - 1.0)
    return np.asarray((relevant.hits_down_to(cutoff, condensed) * weight).sum(axis=0))


def _expected_reciprocal_rank(
    sampled: SampledTopic,
    min_grade: int,
    cutoff: int | None,
    condensed: bool,
    *,
    highest: int | None = None,
) -> Floats:
    gaining = sampled.select_hits(1)
    chance = stopping_probability(
        _grades_by_place(sampled, gaining), sampled.topic.highest if highest is None else highest
    )
    stops = gaining.hits_down_to(cutoff, condensed) * chance[:, :, None]
    before = np.ones_like(stops)
    np.cumprod(1 - stops[:-1], axis=0, out=before[1:])
    return np.asarray((stops * before / gaining.compute_ranks(condensed)).sum(axis=0))


def _count_hits(
    sampled: SampledTopic, min_grade: int, limit: int | NDArray[np.int64], condensed: bool
) -> NDArray[np.uint32]:
    return sum_over_ranks(sampled.select_hits(min_grade).hits_down_to(limit, condensed))


def _precision(sampled: SampledTopic, min_grade: int, cutoff: int, condensed: bool) -> Floats:
    return _count_hits(sampled, min_grade, cutoff, condensed) / cutoff


def _recall(sampled: SampledTopic, min_grade: int, cutoff: int, condensed: bool) -> Floats:
    return ratio_or_zero(
        _count_hits(sampled, min_grade, cutoff, condensed), sampled.n_assessed(min_grade)
    )


def _success(sampled: SampledTopic, min_grade: int, cutoff: int, condensed: bool) -> Floats:
    return (_count_hits(sampled, min_grade, cutoff, condensed) > 0).astype(np.float64)


def _r_precision(sampled: SampledTopic, min_grade: int, cutoff: None, condensed: bool) -> Floats:
    n_relevant = sampled.n_assessed(min_grade)
    return ratio_or_zero(_count_hits(sampled, min_grade, n_relevant, condensed), n_relevant)


def _bpref(sampled: SampledTopic, min_grade: int, cutoff: None, condensed: bool) -> Floats:
    """Return Bpref, the sum of 1 - min(above, R) / min(R, N) over the relevant documents: their
    number minus the sum of min(above, R) / min(R, N)."""
    relevant, n_relevant = sampled.select_hits(min_grade), sampled.n_assessed(min_grade)
    bound = np.minimum(n_relevant, sampled.n_assessed(0) - n_relevant)
    above = relevant.n_judged_down_to - relevant.n_hits_down_to
    np.minimum(above, n_relevant.astype(above.dtype), out=above)
    above *= relevant.hits
    return ratio_or_zero(
        sum_over_ranks(relevant.hits) - ratio_or_zero(sum_over_ranks(above), bound), n_relevant
    )


def _judged_share(sampled: SampledTopic, min_grade: int, cutoff: int, condensed: bool) -> Floats:
    n_judged = _count_hits(sampled, 0, cutoff, condensed)
    n_retrieved = sum_over_ranks(sampled.select_hits(0).hits) if condensed else sampled.n_retrieved
    return ratio_or_zero(n_judged, np.minimum(n_retrieved, cutoff))


def _judged_by_cutoff(
    sampled: SampledTopic, min_grade: int, cutoff: int, condensed: bool
) -> Floats:
    return np.asarray(_count_hits(sampled, 0, cutoff, condensed) / cutoff)


FORMULAS: dict[str, Callable[..., Floats]] = {
    "AP": _average_precision,
    "nDCG": _ndcg,
    "nDCG-exp": _ndcg_exponential,
    "DCG": _dcg,
    "NCG": _normalised_cumulative_gain,
    "RBP": _rank_biased_precision,
    "ERR": _expected_reciprocal_rank,
    "RR": _reciprocal_rank,
    "P": _precision,
    "R": _recall,
    "Rprec": _r_precision,
    "Bpref": _bpref,
    "Judged": _judged_share,
    "J": _judged_by_cutoff,
    "Success": _success,
}
"""(sub-collections, minimum relevant grade, cutoff or None, condensed) -> float64 (n_runs,
n_samples)."""
