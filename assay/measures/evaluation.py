"""Evaluate runs under qrels, per topic.

Conventions (reference: trec_eval 10 with -c): documents are in the run's order, which the reader
has converted to trec_eval's. An unjudged document is not relevant, but Bpref ignores it and
condensed measures remove it first. A negative grade means unjudged. Every topic of the qrels
counts, with 0 if the run does not have it or nothing is relevant. Formulas:
docs/reference/methods/measures.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.measures.measures import FAMILIES, Measure, parse_measures, refuse_estimates
from assay.measures.packing import PackedRun, PairIndex, index_qrels, pack_run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of one run under one qrels.

    values: float64 (n_topics, n_measures), NaN if the topic is left out (missing_topics="skip",
    or no relevant documents). has_topic: bool (n_topics), whether the run has the topic.
    with_relevant: bool (n_topics), whether the topic has a document with at least the minimum
    relevant grade. n_ignored: topics of the run that are not in the qrels.
    """

    tag: str
    qrels: str
    topics: list[str]
    measures: list[Measure]
    values: Floats
    has_topic: NDArray[np.bool_]
    with_relevant: NDArray[np.bool_]
    n_ignored: int

    @property
    def n_missing(self) -> int:
        """Return the number of topics of the qrels that the run does not have."""
        return int((~self.has_topic).sum())

    @property
    def n_averaged(self) -> int:
        """Return the number of topics in the means."""
        return int((~np.isnan(self.values[:, 0])).sum())

    def means(self) -> Floats:
        """Return float64 (n_measures), the means over the topics that count, or NaN without topics.
        The order of topics does not matter."""
        return compute_topic_means(self.values)


def compute_topic_means(values: Floats) -> Floats:
    """Return the column means of (n_topics, n) without NaN rows, or NaN for a column without
    numbers. Sums are exactly rounded, so the order does not matter."""
    columns = [column[~np.isnan(column)] for column in values.T]
    return np.array(
        [
            math.fsum(column.tolist()) / len(column) if len(column) else math.nan
            for column in columns
        ]
    )


def evaluate(
    run: RunColumns,
    qrels: QrelsColumns,
    measures: Sequence[Measure] | str,
    *,
    min_relevant: int = 1,
    missing_topics: str = "zero",
    only_with_relevant: bool = False,
) -> Evaluation:
    """Evaluate a run on each topic of the qrels. For several runs create one Evaluator, which
    prepares the qrels once.

    min_relevant: minimum relevant grade. nDCG uses the grades themselves.
    missing_topics: topics that the run lacks count as 0 ("zero") or are left out ("skip").
    only_with_relevant: leave out topics without a relevant document.
    """
    return Evaluator(
        qrels,
        measures,
        min_relevant=min_relevant,
        missing_topics=missing_topics,
        only_with_relevant=only_with_relevant,
    ).evaluate(run)


class Evaluator:
    """Evaluator of runs under fixed qrels, which are prepared once. Arguments as for `evaluate`."""

    def __init__(
        self,
        qrels: QrelsColumns,
        measures: Sequence[Measure] | str,
        *,
        min_relevant: int = 1,
        missing_topics: str = "zero",
        only_with_relevant: bool = False,
    ) -> None:
        if missing_topics not in ("zero", "skip"):
            raise ValueError(f"missing_topics must be zero or skip, not {missing_topics!r}")
        self.qrels = qrels
        self.measures = parse_measures(measures) if isinstance(measures, str) else list(measures)
        refuse_estimates(self.measures)
        self.min_relevant, self.only_with_relevant = min_relevant, only_with_relevant
        self.missing_topics = missing_topics
        self.base = RecallBase(qrels.offsets, qrels.grades)

    @cached_property
    def index(self) -> PairIndex:
        return index_qrels(self.qrels)

    def pack(self, run: RunColumns) -> PackedRun:
        return pack_run(run, self.index)

    def evaluate(self, run: RunColumns) -> Evaluation:
        return self.evaluate_packed(self.pack(run))

    def evaluate_packed(self, packed: PackedRun) -> Evaluation:
        """Evaluate a run that `pack_run` has joined with these qrels."""
        values = measure_topics(packed, self.base, self.measures, min_relevant=self.min_relevant)
        with_relevant = self.base.n_relevant(self.min_relevant) > 0
        if self.missing_topics == "skip":
            values[~packed.has_topic] = math.nan
        if self.only_with_relevant:
            values[~with_relevant] = math.nan
        return Evaluation(
            packed.tag,
            self.qrels.name,
            self.qrels.topics,
            self.measures,
            values,
            packed.has_topic,
            with_relevant,
            packed.n_ignored,
        )


def measure_topics(
    packed: PackedRun, base: RecallBase, measures: Sequence[Measure], *, min_relevant: int = 1
) -> Floats:
    """Return float64 (n_topics, n_measures), every measure of every topic of the qrels, with 0 if
    the run does not have the topic.

    base: may have other grades than the qrels with which the run was packed. Negative grades make a
    subset.
    """
    rankings = {
        (condensed, ascending): JudgedRanking(
            packed.order_ties_ascending() if ascending else packed, base, condensed=condensed
        )
        for condensed, ascending in {(m.condensed, m.ascending_ties) for m in measures}
    }
    values = np.empty((base.n_topics, len(measures)))
    for column, measure in enumerate(measures):
        lowest = min_relevant if measure.min_relevant is None else measure.min_relevant
        own = {
            name: value
            for name, value in (("persistence", measure.persistence), ("highest", measure.highest))
            if value is not None
        }
        values[:, column] = _get_formula(measure.family)(
            rankings[measure.condensed, measure.ascending_ties], base, lowest, measure.cutoff, **own
        )
    return values


class RecallBase:
    """The judged documents of each topic, retrieved or not, on which recall and ideal rankings are
    based.

    offsets: int64 (n_topics + 1). grades: int (n_rows), negative for unjudged. Rows are those of
    the qrels.
    """

    def __init__(self, offsets: NDArray[np.int64], grades: NDArray[np.int32]) -> None:
        self.n_topics = len(offsets) - 1
        self.grades = grades
        self.topic = np.repeat(np.arange(self.n_topics), np.diff(offsets))
        self._relevant: dict[int, Ints] = {}
        self._ideal: dict[tuple[bool, int | None], Floats] = {}

    @cached_property
    def n_judged(self) -> Ints:
        """Return int64 (n_topics), the number of judged documents."""
        return np.bincount(self.topic[self.grades >= 0], minlength=self.n_topics)

    def n_relevant(self, min_relevant: int) -> Ints:
        """Return int64 (n_topics), the number of documents with at least this grade."""
        if min_relevant not in self._relevant:
            self._relevant[min_relevant] = np.bincount(
                self.topic[self.grades >= min_relevant], minlength=self.n_topics
            )
        return self._relevant[min_relevant]

    def gains(self, topic: Ints, grade: NDArray[np.int32], exponential: bool) -> Floats:
        """Return the gain of each positive grade of these topics: the grade, or its value from
        `exponential_gains`."""
        return (
            exponential_gains(grade, self._highest[topic])
            if exponential
            else grade.astype(np.float64)
        )

    def ideal_gain(self, cutoff: int) -> Floats:
        """Return float64 (n_topics), the undiscounted sum of the topic's highest grades down to the
        cutoff."""
        topic, rank, grade = self._best_order
        return sum_by_topic(
            topic[rank <= cutoff], grade[rank <= cutoff].astype(np.float64), self.n_topics
        )

    def ideal_dcg(self, exponential: bool, cutoff: int | None) -> Floats:
        """Return float64 (n_topics), the discounted gain of the topic's judged documents in ideal
        order down to the cutoff, in the unit of `gains`."""
        key = (exponential, cutoff)
        if key not in self._ideal:
            topic, rank, grade = self._best_order
            counts = slice(None) if cutoff is None else rank <= cutoff
            gained = self.gains(topic[counts], grade[counts], exponential) / np.log2(
                rank[counts] + 1
            )
            self._ideal[key] = sum_by_topic(topic[counts], gained, self.n_topics)
        return self._ideal[key]

    @cached_property
    def _highest(self) -> NDArray[np.int32]:
        """Return int32 (n_topics), the highest grade of each topic, or 0 without a positive
        grade."""
        highest = np.zeros(self.n_topics, np.int32)
        np.maximum.at(highest, self.topic, self.grades)
        return highest

    @cached_property
    def _best_order(self) -> tuple[Ints, Ints, NDArray[np.int32]]:
        """Return (topic, rank, grade) of the documents with a gain in ideal order within each
        topic."""
        rows = np.flatnonzero(self.grades > 0)
        rows = rows[np.lexsort((-self.grades[rows], self.topic[rows]))]
        topic = self.topic[rows]
        return topic, rank_within_topic(topic), self.grades[rows]


class JudgedRanking:
    """The judged documents of a run's rankings, in order. With `condensed`, unjudged documents are
    removed first and ranks close up."""

    def __init__(self, packed: PackedRun, base: RecallBase, *, condensed: bool) -> None:
        grade = base.grades[packed.row]
        judged = grade >= 0
        self.pooled_topic, self.pooled_grade, self.pooled_rank = packed.topic, grade, packed.rank
        self.topic, self.grade = packed.topic[judged], grade[judged]
        self.rank = rank_within_topic(self.topic) if condensed else packed.rank[judged]
        self.n_topics = base.n_topics
        self.retrieved = (
            np.bincount(self.topic, minlength=self.n_topics) if condensed else packed.retrieved
        )
        self._relevant: dict[int, tuple[Ints, Ints]] = {}

    def find_relevant(self, min_relevant: int) -> tuple[Ints, Ints]:
        """Return (topic, rank) of the documents with at least this grade."""
        if min_relevant not in self._relevant:
            chosen = self.grade >= min_relevant
            self._relevant[min_relevant] = (self.topic[chosen], self.rank[chosen])
        return self._relevant[min_relevant]

    def n_relevant(self, min_relevant: int, cutoff: int | Ints) -> Ints:
        """Return int64 (n_topics), the number of relevant documents down to this rank, which may
        differ by topic."""
        topic, rank = self.find_relevant(min_relevant)
        limit = cutoff if isinstance(cutoff, int) else cutoff[topic]
        return np.bincount(topic[rank <= limit], minlength=self.n_topics)


UNJUDGED = -1

MAX_EXPONENT = 900
"""Gains of topics with higher grades are divided by a power of two, because 2^1024, also as a sum,
exceeds the range of double precision."""


def exponential_gains(
    grade: NDArray[np.integer[Any]] | int, highest: NDArray[np.integer[Any]] | int
) -> Floats:
    """Return 2^grade - 1 (Burges et al. 2005) in a unit that depends only on the topic's highest
    grade and cancels in ratios."""
    shift = np.maximum(np.asarray(highest, np.float64) - MAX_EXPONENT, 0)
    return np.asarray(np.exp2(np.asarray(grade, np.float64) - shift) - np.exp2(-shift))


def rank_within_topic(topic: Ints) -> Ints:
    """Return int64 (n), the position from 1 of each row within its topic. Rows of a topic must be
    adjacent."""
    places = np.arange(1, len(topic) + 1)
    starts = np.flatnonzero(np.concatenate([[True], topic[1:] != topic[:-1]]))[: len(topic)]
    return places - np.repeat(starts, np.diff(np.append(starts, len(topic))))


def sum_by_topic(topic: Ints, values: Floats, n_topics: int) -> Floats:
    """Return float64 (n_topics), the sum of the values of each topic, added in order."""
    return np.bincount(topic, weights=values, minlength=n_topics).astype(np.float64, copy=False)


def ratio_or_zero(numerator: NDArray[np.generic], denominator: NDArray[np.generic]) -> Floats:
    """Return the quotient per topic, or 0 if the denominator is 0, that is nothing is relevant or
    nothing is retrieved (as trec_eval does)."""
    quotient = np.zeros(len(denominator))
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


def _average_precision(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int | None
) -> Floats:
    """Return average precision: the mean over the topic's relevant documents of the precision at
    their ranks, with 0 for documents not retrieved down to the cutoff."""
    topic, rank = ranking.find_relevant(min_relevant)
    precision = rank_within_topic(topic) / rank
    if cutoff is not None:
        topic, precision = topic[rank <= cutoff], precision[rank <= cutoff]
    return ratio_or_zero(
        sum_by_topic(topic, precision, base.n_topics), base.n_relevant(min_relevant)
    )


def _dcg(
    ranking: JudgedRanking,
    base: RecallBase,
    min_relevant: int,
    cutoff: int | None,
    exponential: bool = False,
) -> Floats:
    """Return the discounted cumulative gain, with the discount log2(rank + 1) at every rank as in
    trec_eval."""
    topic, rank = ranking.find_relevant(1)
    grade = ranking.grade[ranking.grade >= 1]
    if cutoff is not None:
        counts = rank <= cutoff
        topic, rank, grade = topic[counts], rank[counts], grade[counts]
    return sum_by_topic(
        topic, base.gains(topic, grade, exponential) / np.log2(rank + 1), base.n_topics
    )


def _ndcg(
    ranking: JudgedRanking,
    base: RecallBase,
    min_relevant: int,
    cutoff: int | None,
    exponential: bool = False,
) -> Floats:
    """Return nDCG (Järvelin and Kekäläinen 2002) with the discount log2(rank + 1) at every rank.
    The ideal ranking holds all judged documents down to the cutoff."""
    return ratio_or_zero(
        _dcg(ranking, base, min_relevant, cutoff, exponential), base.ideal_dcg(exponential, cutoff)
    )


def _ndcg_exponential(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int | None
) -> Floats:
    """Return nDCG with the gain 2^grade - 1 for each grade (Burges et al. 2005)."""
    return _ndcg(ranking, base, min_relevant, cutoff, exponential=True)


def _reciprocal_rank(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int | None
) -> Floats:
    """Return 1 / rank of the first relevant document, or 0 if none is retrieved down to the
    cutoff."""
    topic, rank = ranking.find_relevant(min_relevant)
    first = rank_within_topic(topic) == 1
    if cutoff is not None:
        first &= rank <= cutoff
    result = np.zeros(base.n_topics)
    result[topic[first]] = 1 / rank[first]
    return result


def stopping_probability(grade: NDArray[np.integer[Any]], highest: int) -> Floats:
    """Return the probability that a reader stops at a document, (2^grade - 1) / 2^highest, below 1.
    Grades above `highest` count as `highest`."""
    chance = np.exp2(np.minimum(grade, highest) - float(highest)) - np.exp2(-float(highest))
    return np.minimum(chance, np.nextafter(1, 0))


def _expected_reciprocal_rank(
    ranking: JudgedRanking,
    base: RecallBase,
    min_relevant: int,
    cutoff: int | None,
    *,
    highest: int | None = None,
) -> Floats:
    """Return expected reciprocal rank (Chapelle et al. 2009): the sum over ranks of 1 / rank times
    the probability that the reader stops there and not earlier."""
    topic, rank = ranking.find_relevant(1)
    stops = stopping_probability(
        ranking.grade[ranking.grade >= 1],
        int(base.grades.max(initial=0)) if highest is None else highest,
    )
    going = np.concatenate(([0.0], np.cumsum(np.log1p(-stops))))
    first = np.flatnonzero(rank_within_topic(topic) == 1)
    before = going[:-1] - np.repeat(going[first], np.diff(np.append(first, len(topic))))
    share = stops * np.exp(before) / rank
    if cutoff is not None:
        topic, share = topic[rank <= cutoff], share[rank <= cutoff]
    return sum_by_topic(topic, share, base.n_topics)


def _normalised_cumulative_gain(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int
) -> Floats:
    """Return normalised cumulative gain without discount (Järvelin and Kekäläinen 2002): the gain
    of the first k documents divided by that of the topic's best k."""
    topic, rank = ranking.find_relevant(1)
    grade = ranking.grade[ranking.grade >= 1].astype(np.float64)
    return ratio_or_zero(
        sum_by_topic(topic[rank <= cutoff], grade[rank <= cutoff], base.n_topics),
        base.ideal_gain(cutoff),
    )


def _precision(ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int) -> Floats:
    """Return precision: relevant documents down to the cutoff, divided by the cutoff even if fewer
    documents are retrieved."""
    return ranking.n_relevant(min_relevant, cutoff) / cutoff


def _recall(ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int) -> Floats:
    """Return the share of the topic's relevant documents that are retrieved down to the cutoff."""
    return ratio_or_zero(ranking.n_relevant(min_relevant, cutoff), base.n_relevant(min_relevant))


def _r_precision(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: None
) -> Floats:
    """Return the precision at rank R, the topic's number of relevant documents."""
    return ratio_or_zero(
        ranking.n_relevant(min_relevant, base.n_relevant(min_relevant)),
        base.n_relevant(min_relevant),
    )


def _bpref(ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: None) -> Floats:
    """Return Bpref (Buckley and Voorhees 2004) in trec_eval's variant: the mean over the R relevant
    documents of 1 - min(non-relevant above, R) / min(R, N), with N non-relevant documents."""
    n_relevant = base.n_relevant(min_relevant)
    bound = np.minimum(n_relevant, base.n_judged - n_relevant)
    chosen = ranking.grade >= min_relevant
    topic = ranking.topic[chosen]
    # judged documents above minus relevant ones above = non-relevant ones above
    above = rank_within_topic(ranking.topic)[chosen] - rank_within_topic(topic)
    penalty = ratio_or_zero(np.minimum(above, n_relevant[topic]), bound[topic])
    return ratio_or_zero(sum_by_topic(topic, 1 - penalty, base.n_topics), n_relevant)


def _judged_share(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int
) -> Floats:
    """Return the share of judged documents in the top k, or in all documents retrieved if they are
    fewer than k. 0 if none is retrieved."""
    n_judged = np.bincount(ranking.topic[ranking.rank <= cutoff], minlength=base.n_topics)
    return ratio_or_zero(n_judged, np.minimum(cutoff, ranking.retrieved))


def _judged_by_cutoff(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int
) -> Floats:
    """Return the number of judged documents in the top k divided by k, as the scripts of TripJudge
    do."""
    n_judged = np.bincount(ranking.topic[ranking.rank <= cutoff], minlength=base.n_topics)
    return np.asarray(n_judged / cutoff)


def _success(ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: int) -> Floats:
    """Return 1 if a relevant document is retrieved down to the cutoff, otherwise 0."""
    return (ranking.n_relevant(min_relevant, cutoff) > 0).astype(np.float64)


def _rank_biased_precision(
    ranking: JudgedRanking,
    base: RecallBase,
    min_relevant: int,
    cutoff: int | None,
    *,
    persistence: float,
) -> Floats:
    """Return rank-biased precision (Moffat and Zobel 2008): (1 - p) Σ p^(r - 1) over the ranks r of
    relevant documents. `score_bounds` has the bounds for unjudged documents."""
    topic, rank = ranking.find_relevant(min_relevant)
    if cutoff is not None:
        topic, rank = topic[rank <= cutoff], rank[rank <= cutoff]
    return (1 - persistence) * sum_by_topic(
        topic, np.power(persistence, rank - 1.0, dtype=np.float64), base.n_topics
    )


COMPATIBILITY_DEPTH = 1000
"""Ranks that compatibility considers."""


def _compatibility(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: None, *, persistence: float
) -> Floats:
    """Return compatibility (Clarke, Vtyurina and Smucker 2021): rank-biased overlap of the ranking
    and the ideal ranking that is most similar to it, divided by that of the ideal ranking with
    itself.

    Grades are preferences: a document with a higher one is preferred, and documents with grade 0 or
    less are in no ideal ranking. Ideal documents of equal grade are in the order of the ranking;
    those that it lacks come last. A document contributes from the first depth at which both
    rankings have it.
    """
    ranks = np.arange(1, COMPATIBILITY_DEPTH + 1)
    weights = persistence ** (ranks - 1.0) / ranks
    tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # tails[i]: weight from depth i + 1 on
    values = np.zeros(base.n_topics)
    for topic in range(base.n_topics):
        start, end = np.searchsorted(base.topic, [topic, topic + 1])
        ideal = np.sort(base.grades[start:end])[::-1]
        ideal = ideal[ideal > 0]
        start, end = np.searchsorted(ranking.topic, [topic, topic + 1])
        preferred = ranking.grade[start:end] > 0
        grade = ranking.grade[start:end][preferred]
        rank = ranking.rank[start:end][preferred]
        # documents of one grade follow each other in the ideal ranking, in the order of their ranks
        order = np.argsort(-grade, kind="stable")
        grade, rank = grade[order], rank[order]
        first = np.searchsorted(-ideal, -grade, side="left")
        place = first + rank_within_topic(grade.astype(np.int64))
        depth = np.minimum(np.maximum(rank, place) - 1, COMPATIBILITY_DEPTH)
        whole = tails[: len(ideal)].sum()
        values[topic] = tails[depth].sum() / whole if whole > 0 else 0.0
    return values


INFERRED_EPSILON = 1e-5


def _inferred_average_precision(
    ranking: JudgedRanking, base: RecallBase, min_relevant: int, cutoff: None
) -> Floats:
    """Return infAP (Yilmaz and Aslam 2006) as in trec_eval. The pool was sampled uniformly, and a
    negative grade marks a pooled document that was not sampled.

    The expected precision at each relevant document estimates the content of the pooled documents
    above it, with 2 epsilon in the denominator. The sum is divided by the number of judged relevant
    documents.
    """
    grade, topic = ranking.pooled_grade, ranking.pooled_topic
    starts = np.searchsorted(topic, np.arange(base.n_topics))
    hit = np.flatnonzero(grade >= min_relevant)
    first = starts[topic[hit]]

    def count_above(mark: NDArray[np.bool_]) -> Floats:
        cumulated = np.concatenate(([0], np.cumsum(mark)))
        return (cumulated[hit] - cumulated[first]).astype(np.float64)

    share = (count_above(grade >= min_relevant) + INFERRED_EPSILON) / (
        count_above(grade >= 0) + 2 * INFERRED_EPSILON
    )
    precision = (1 + (hit - first) * share) / ranking.pooled_rank[hit]
    return ratio_or_zero(
        sum_by_topic(topic[hit], precision, base.n_topics), base.n_relevant(min_relevant)
    )


FORMULAS: dict[str, Callable[..., Floats]] = {
    "AP": _average_precision,
    "RBP": _rank_biased_precision,
    "Compat": _compatibility,
    "infAP": _inferred_average_precision,
    "nDCG": _ndcg,
    "nDCG-exp": _ndcg_exponential,
    "DCG": _dcg,
    "NCG": _normalised_cumulative_gain,
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
"""(ranking, recall base, minimum relevant grade, cutoff or None) -> float64 (n_topics)."""


def _get_formula(family: str) -> Callable[..., Floats]:
    function = FAMILIES[family].function
    return FORMULAS[family] if function is None else partial(_evaluate_custom, family, function)


def _evaluate_custom(
    family: str,
    function: Callable[..., float],
    ranking: JudgedRanking,
    base: RecallBase,
    min_relevant: int,
    cutoff: int | None,
) -> Floats:
    """Evaluate a measure added by `measures.define`, topic by topic. Raises ValueError if its
    result is not a finite number."""
    options = {"level": min_relevant} if FAMILIES[family].uses_min_relevant else {}
    values = np.zeros(base.n_topics)
    for topic in np.flatnonzero(ranking.retrieved).tolist():
        run = np.full(ranking.retrieved[topic], UNJUDGED, dtype=np.int64)
        start, end = np.searchsorted(ranking.topic, [topic, topic + 1])
        run[ranking.rank[start:end] - 1] = ranking.grade[start:end]
        start, end = np.searchsorted(base.topic, [topic, topic + 1])
        grades = base.grades[start:end]
        value = float(function(grades[grades >= 0].astype(np.int64), run[:cutoff], **options))
        if not math.isfinite(value):
            raise ValueError(f"{family} of a topic is {value}, expected a finite number")
        values[topic] = value
    return values
