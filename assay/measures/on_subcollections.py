"""One topic's rankings under a batch of sub-collections, and the measures on them.

Arrays have the axes (place, run, sample). A *place* is a row of a run's list of assessed documents
from the top down, or of those among them that have at least some grade; lists of different length
are filled up with a row that no sample has. Formulas and conventions are those of `evaluation`, of
which this is the batch form."""

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
"""Unsigned integers, as narrow as the depth of the rankings allows."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedTopic:
    """A topic's assessments and the rankings of all runs.

    grades: int32 (n_assessments), documents: int64 (n_assessments), the numbers of the assessed
    documents, ascending. lengths: int64 (n_runs), how many documents each run retrieves. retrieved:
    int64 (depth, n_runs), their numbers; the number after the last document's fills up. highest:
    the highest grade of the whole qrels, of all topics."""

    grades: NDArray[np.int32]
    documents: NDArray[np.int64]
    lengths: NDArray[np.int64]
    retrieved: NDArray[np.int64]
    highest: int
    _places: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(
        default_factory=dict, repr=False
    )
    _among_judged: dict[int, NDArray[np.int64]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        grades: NDArray[np.int32],
        documents: NDArray[np.int64],
        rankings: list[NDArray[np.int64]],
        n_documents: int,
        highest: int,
    ) -> PackedTopic:
        """rankings: for each run the numbers of its documents, best first."""
        order = np.argsort(documents)
        lengths = np.array([len(ranking) for ranking in rankings], np.int64)
        return cls(
            grades[order], documents[order], lengths, _pad_lists(rankings, n_documents), highest
        )

    def gains(self, grade: NDArray[np.integer[Any]] | int, exponential: bool) -> Floats:
        return (
            exponential_gains(grade, self.grades.max(initial=0))
            if exponential
            else np.asarray(grade, np.float64)
        )

    def places(self, lowest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The assessed documents of at least this grade in each ranking, from the top down: two of
        int64 (n_places, n_runs).

        First the rows of `grades`, n_assessments where a run has fewer; second the places of
        `retrieved`, as flat indices."""
        if lowest not in self._places:
            n_runs = len(self.lengths)
            rows, at = [], []
            for run, length in enumerate(self.lengths):
                ranking = self.retrieved[:length, run]
                row = np.minimum(np.searchsorted(self.documents, ranking), len(self.documents) - 1)
                place = np.flatnonzero(
                    (self.documents[row] == ranking) & (self.grades[row] >= lowest)
                )
                rows.append(row[place])
                at.append(place * n_runs + run)
            self._places[lowest] = _pad_lists(rows, len(self.grades)), _pad_lists(at, 0)
        return self._places[lowest]

    def among_judged(self, lowest: int) -> NDArray[np.int64]:
        """Where the places of this grade stand among those of all judged documents (grade 0 and
        up), as flat indices. As `places`."""
        if lowest not in self._among_judged:
            (judged, judged_at), (rows, at) = self.places(0), self.places(lowest)
            n_runs = len(self.lengths)
            place = np.zeros_like(at)
            for run in range(n_runs):  # `at` ascends down a column, but for what fills it up
                length = np.count_nonzero(rows[:, run] < len(self.grades))
                until = np.count_nonzero(judged[:, run] < len(self.grades))
                place[:length, run] = np.searchsorted(judged_at[:until, run], at[:length, run])
            self._among_judged[lowest] = place * n_runs + np.arange(n_runs)
        return self._among_judged[lowest]


def _pad_lists(lists: list[NDArray[np.int64]], filling: int) -> NDArray[np.int64]:
    """The lists as columns of one array, at least one row long."""
    columns = np.full((max(1, *map(len, lists)), len(lists)), filling, np.int64)
    for number, column in enumerate(lists):
        columns[: len(column), number] = column
    return columns


class SampledTopic:
    """A topic in a batch of sub-collections.

    kept: uint8 (n_documents + 1, n_samples), the last row 0, or None: all documents.
    assessed: uint8 (n_assessments, n_samples) or None: all assessments.
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

    def selection(self, lowest: int) -> RankSelection:
        """The documents of at least this grade."""
        if lowest not in self._selections:
            self._selections[lowest] = RankSelection(self, lowest)
        return self._selections[lowest]

    def forget(self) -> None:
        """Give the memory back at once: selections and this refer to each other, and the collector
        of cycles would come late."""
        self._selections.clear()

    def n_assessed(self, lowest: int) -> NDArray[np.int64]:
        """int64 (n_samples), assessments of at least this grade."""
        if lowest not in self._n_assessed:
            chosen = self.flags[:-1][self.topic.grades >= lowest]
            self._n_assessed[lowest] = np.add.reduce(chosen, axis=0, dtype=np.uint32).astype(
                np.int64
            )
        return self._n_assessed[lowest]

    @cached_property
    def n_kept_until(self) -> Counts:
        """(depth x n_runs, n_samples), the rank of every retrieved document once the others have
        closed up."""
        assert self.kept is not None
        flags = self.kept.take(self.topic.retrieved.ravel(), axis=0)
        return running_count(flags, len(self.topic.lengths), self.count_type).reshape(
            -1, self.n_samples
        )

    @cached_property
    def n_retrieved(self) -> NDArray[np.int64]:
        """int64 (n_runs, n_samples or 1)."""
        if self.kept is None:
            return self.topic.lengths[:, None]
        return self.n_kept_until[-len(self.topic.lengths) :].astype(np.int64)

    def ideal_dcg(self, exponential: bool, cutoff: int | None) -> Floats:
        """float64 (n_samples): the discounted gain of all assessed documents, best first."""
        discounts = np.concatenate(
            [[0.0], np.cumsum(log_discount(np.arange(1, len(self.topic.grades) + 1)))]
        )
        limit = len(self.topic.grades) if cutoff is None else cutoff
        better, total = np.zeros(self.n_samples, np.int64), np.zeros(self.n_samples)
        for grade in np.unique(self.topic.grades[self.topic.grades > 0])[::-1].tolist():
            until = self.n_assessed(grade)
            total += self.topic.gains(grade, exponential) * (
                discounts[np.minimum(until, limit)] - discounts[np.minimum(better, limit)]
            )
            better = until
        return total


class RankSelection:
    """The places of a topic's rankings that hold an assessed document of at least some grade.

    hits: uint8 (n_places, n_runs, n_samples), 1 where the sample has document and assessment.
    n_until: counts of the same shape, how many are found down to a place, itself included.
    """

    def __init__(self, sampled: SampledTopic, lowest: int) -> None:
        self.sampled, self.lowest = sampled, lowest
        self.rows, self.at = sampled.topic.places(lowest)
        self.hits: Flags = sampled.flags.take(self.rows, axis=0)
        self._ranks: dict[bool, Counts] = {}

    @cached_property
    def n_until(self) -> Counts:
        counts = running_count(
            self.hits.reshape(-1, self.sampled.n_samples),
            self.hits.shape[1],
            self.sampled.count_type,
        )
        return counts.reshape(self.hits.shape)

    @cached_property
    def n_judged_until(self) -> Counts:
        """How many judged documents stand down to each place, itself included if the sample has
        it."""
        judged = self.sampled.selection(0)
        if judged is self:
            return self.n_until
        return judged.n_until.reshape(-1, self.sampled.n_samples).take(
            self.sampled.topic.among_judged(self.lowest), axis=0
        )

    def rank(self, condensed: bool) -> Counts:
        """Ranks from 1 of what is found (anything from 1 elsewhere). -> (n_places, n_runs,
        n_samples or 1)"""
        if condensed not in self._ranks:
            if condensed:
                rank = np.maximum(self.n_judged_until, 1)
            elif self.sampled.kept is None:
                rank = (self.at // self.at.shape[1] + 1).astype(self.sampled.count_type)[:, :, None]
            else:
                rank = np.maximum(self.sampled.n_kept_until.take(self.at, axis=0), 1)
            self._ranks[condensed] = rank
        return self._ranks[condensed]

    def hits_until(self, limit: int | NDArray[np.int64] | None, condensed: bool) -> Flags:
        """`hits`, with 0 where the rank is beyond the limit (of all, or of each sample)."""
        if limit is None:
            return self.hits
        if not isinstance(limit, int):
            limit = limit.astype(self.sampled.count_type)
        return self.hits & (self.rank(condensed) <= limit)


def running_count(flags: Flags, n_runs: int, count_type: type[np.unsignedinteger[Any]]) -> Counts:
    """Sums of flags (n_places x n_runs, n_samples) down the places. -> (n_places, n_runs x
    n_samples)

    Within groups of places for all groups at once, then from group to group: a few dozen additions
    of long rows. `np.cumsum` along the first axis walks through memory in strides and takes many
    times as long."""
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
    """Quotient, 0 where there is nothing to divide by: nothing relevant, or nothing retrieved
    (trec_eval)."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(
        numerator,
        denominator,
        out=np.zeros(numerator.shape),
        where=denominator != 0,
        dtype=np.float64,
    )


def sum_over_ranks(counts: Counts | Flags) -> NDArray[np.uint32]:
    """Sum over places. -> (n_runs, n_samples)"""
    return np.add.reduce(counts, axis=0, dtype=np.uint32)


def score_topic(sampled: SampledTopic, measure: Measure, level: int) -> Floats:
    """One measure of every run in every sub-collection. -> float64 (n_runs, n_samples)"""
    lowest = level if measure.level is None else measure.level
    own = {
        name: value
        for name, value in (("persistence", measure.persistence), ("highest", measure.highest))
        if value is not None
    }
    return FORMULAS[measure.family](sampled, lowest, measure.cutoff, measure.condensed, **own)


def _average_precision(
    sampled: SampledTopic, lowest: int, cutoff: int | None, condensed: bool
) -> Floats:
    relevant = sampled.selection(lowest)
    hits = relevant.n_until * relevant.hits_until(cutoff, condensed)
    precision = np.divide(hits, relevant.rank(condensed), dtype=np.float64)
    return ratio_or_zero(precision.sum(axis=0), sampled.n_assessed(lowest))


def _dcg(
    sampled: SampledTopic,
    lowest: int,
    cutoff: int | None,
    condensed: bool,
    exponential: bool = False,
) -> Floats:
    gaining = sampled.selection(1)
    rank = gaining.rank(condensed)
    n_until = gaining.hits_until(cutoff, condensed)
    gains = sampled.topic.gains(_ranked_grades(sampled, gaining), exponential)
    if rank.shape[2] == 1:
        discounted = np.multiply(n_until, log_discount(rank.astype(np.int64)))
    else:
        table = np.concatenate(
            [[0.0], log_discount(np.arange(1, len(sampled.topic.retrieved) + 1))]
        )
        discounted = table.take(
            np.multiply(rank, n_until, dtype=np.intp)
        )  # rank 0 has discount 0: not found
    return np.asarray(np.einsum("prs,pr->rs", discounted, gains))


def _ndcg(
    sampled: SampledTopic,
    lowest: int,
    cutoff: int | None,
    condensed: bool,
    exponential: bool = False,
) -> Floats:
    return ratio_or_zero(
        _dcg(sampled, lowest, cutoff, condensed, exponential),
        sampled.ideal_dcg(exponential, cutoff),
    )


def _ndcg_exponential(
    sampled: SampledTopic, lowest: int, cutoff: int | None, condensed: bool
) -> Floats:
    return _ndcg(sampled, lowest, cutoff, condensed, exponential=True)


def _reciprocal_rank(
    sampled: SampledTopic, lowest: int, cutoff: int | None, condensed: bool
) -> Floats:
    relevant = sampled.selection(lowest)
    is_first = relevant.hits_until(cutoff, condensed)
    return np.divide(is_first, relevant.rank(condensed), dtype=np.float64).max(axis=0)


def _ranked_grades(sampled: SampledTopic, gaining: RankSelection) -> NDArray[np.int32]:
    """(n_places, n_runs), 0 where a run's list has ended."""
    return np.append(sampled.topic.grades, 0)[gaining.rows]


def _normalised_cumulative_gain(
    sampled: SampledTopic, lowest: int, cutoff: int, condensed: bool
) -> Floats:
    gaining = sampled.selection(1)
    gained = np.einsum(
        "prs,pr->rs",
        gaining.hits_until(cutoff, condensed).astype(np.float64),
        _ranked_grades(sampled, gaining).astype(np.float64),
    )
    best, better = np.zeros(sampled.n_samples), np.zeros(sampled.n_samples, np.int64)
    for grade in np.unique(sampled.topic.grades[sampled.topic.grades > 0])[::-1].tolist():
        until = np.minimum(sampled.n_assessed(grade), cutoff)
        best += grade * (until - better)
        better = until
    return ratio_or_zero(gained, best)


def _rank_biased_precision(
    sampled: SampledTopic, lowest: int, cutoff: int | None, condensed: bool, *, persistence: float
) -> Floats:
    relevant = sampled.selection(lowest)
    weight = (1 - persistence) * persistence ** (relevant.rank(condensed) - 1.0)
    return np.asarray((relevant.hits_until(cutoff, condensed) * weight).sum(axis=0))


def _expected_reciprocal_rank(
    sampled: SampledTopic,
    lowest: int,
    cutoff: int | None,
    condensed: bool,
    *,
    highest: int | None = None,
) -> Floats:
    gaining = sampled.selection(1)
    chance = stopping_probability(
        _ranked_grades(sampled, gaining), sampled.topic.highest if highest is None else highest
    )
    stops = gaining.hits_until(cutoff, condensed) * chance[:, :, None]
    before = np.ones_like(stops)
    np.cumprod(1 - stops[:-1], axis=0, out=before[1:])
    return np.asarray((stops * before / gaining.rank(condensed)).sum(axis=0))


def _count_found(
    sampled: SampledTopic, lowest: int, limit: int | NDArray[np.int64], condensed: bool
) -> NDArray[np.uint32]:
    return sum_over_ranks(sampled.selection(lowest).hits_until(limit, condensed))


def _precision(sampled: SampledTopic, lowest: int, cutoff: int, condensed: bool) -> Floats:
    return _count_found(sampled, lowest, cutoff, condensed) / cutoff


def _recall(sampled: SampledTopic, lowest: int, cutoff: int, condensed: bool) -> Floats:
    return ratio_or_zero(
        _count_found(sampled, lowest, cutoff, condensed), sampled.n_assessed(lowest)
    )


def _success(sampled: SampledTopic, lowest: int, cutoff: int, condensed: bool) -> Floats:
    return (_count_found(sampled, lowest, cutoff, condensed) > 0).astype(np.float64)


def _r_precision(sampled: SampledTopic, lowest: int, cutoff: None, condensed: bool) -> Floats:
    n_relevant = sampled.n_assessed(lowest)
    return ratio_or_zero(_count_found(sampled, lowest, n_relevant, condensed), n_relevant)


def _bpref(sampled: SampledTopic, lowest: int, cutoff: None, condensed: bool) -> Floats:
    """The sum of 1 - min(above, R) / min(R, N) over the relevant, as found - sum of min(above, R) /
    min(R, N)."""
    relevant, n_relevant = sampled.selection(lowest), sampled.n_assessed(lowest)
    bound = np.minimum(n_relevant, sampled.n_assessed(0) - n_relevant)
    above = relevant.n_judged_until - relevant.n_until
    np.minimum(above, n_relevant.astype(above.dtype), out=above)
    above *= relevant.hits
    return ratio_or_zero(
        sum_over_ranks(relevant.hits) - ratio_or_zero(sum_over_ranks(above), bound), n_relevant
    )


def _judged_share(sampled: SampledTopic, lowest: int, cutoff: int, condensed: bool) -> Floats:
    n_judged = _count_found(sampled, 0, cutoff, condensed)
    n_retrieved = sum_over_ranks(sampled.selection(0).hits) if condensed else sampled.n_retrieved
    return ratio_or_zero(n_judged, np.minimum(n_retrieved, cutoff))


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
    "Success": _success,
}
"""(sub-collections, lowest relevant grade, cutoff or None, condensed) -> float64 (n_runs,
n_samples)."""
