"""Estimate measures from a sampled pool, per topic.

    sample = make_sample(prel)                            strata, their sizes and judged pairs, and the
                                                          weight N_h / n_h of each judged pair
    values = estimate_topics(packed, sample, measures)    float64 (n_topics, n_measures)
    topic_interval(values[:, 0])                          t-interval of a mean for new topics

HT-P@k, HT-nDCG@k, HT-DCG@k: Horvitz and Thompson (1952). xinfAP: Yilmaz, Kanoulas and Aslam (2008).
HT-AP: after Aslam and Pavlu (2007). infNDCG is that of NIST's sample_eval, only for comparison with
TREC. It is biased if few of a run's top documents are sampled, and has no interval. All assume that
a pooled pair without a judgement is missing at random within its stratum, and that documents
outside the pool are not relevant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.formats.prel import CROSS_TOPIC_PREFIX, SampledQrels
from assay.measures.evaluation import ratio_or_zero, sum_by_topic
from assay.measures.measures import Measure
from assay.measures.packing import PackedRun
from assay.number_words import format_count, format_part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_RANK = 1000
"""Maximum ranks that are read of a run and of an ideal ranking, as in sample_eval."""
EPSILON = 1e-5
MIN_JUDGED = {"xinfAP": 40.0, "HT-AP": 40.0}
MIN_JUDGED_OTHERS = 10.0
"""Minimum mean number of judged pairs per topic for which the confidence interval of a measure has
its nominal coverage (docs/evidence/sampling.md)."""
MAX_UNGRADED = 0.02
"""Maximum share of sampled pairs without a grade. With more, no interval is shown, because the
grades may not be missing at random."""
BIASED_NOTE = "biased; for comparison with TREC only"
COVERAGE_NOTES = {
    "xinfAP": "In simulations with 40 to 80 judged pairs per topic, 95% confidence intervals of xinfAP "
    "covered .86 to .96 of the means "
    "and .91 to .96 of the differences",
    "HT-AP": (
        "In simulations with 38 to 83 judged pairs per topic, 95% confidence intervals of means "
        "of HT-AP covered .84 to .95"
    ),
}
"""Notes on intervals that are shown although their coverage may be below the nominal one."""
OUTSIDE_REASON = "the confidence interval lies outside the range of the measure"


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """The judgements of a sampled pool.

    topics: IDs. topic: int64 (n_rows), of each pair of the pool. grades: int32 (n_rows), negative
    if not judged. stratum: int64 (n_rows). sizes, n_judged: int64 (n_strata), N_h and n_h.
    spanning: bool (n_strata), whether a stratum spans all topics. drawn: number of pairs sampled,
    with or without a grade, or None if unknown.
    """

    topics: list[str]
    topic: Ints
    grades: NDArray[np.int32]
    stratum: Ints
    sizes: Ints
    n_judged: Ints
    spanning: NDArray[np.bool_]
    names: list[str]
    drawn: int | None = None

    @property
    def ungraded_reason(self) -> str | None:
        """Return why the grades are not a random sample: too many sampled pairs lack a grade, or
        pairs that were not sampled have one. None if they are a random sample, or if `drawn` is
        unknown."""
        n = int(self.n_judged.sum())
        if self.drawn is None or 0 <= self.drawn - n <= MAX_UNGRADED * self.drawn:
            return None
        if n > self.drawn:
            return (
                f"{format_count(n, 'pair has', plural='pairs have')} a grade, but "
                f"{self.drawn:,} were drawn; the others were not chosen at random"
            )
        missing = format_part(self.drawn - n, self.drawn, "drawn pair", "has", "have")
        return f"{missing} no grade; more than {MAX_UNGRADED:.0%} cannot be treated as missing at random"

    @cached_property
    def weight(self) -> Floats:
        """Return float64 (n_rows), the weight 1 / π = N_h / n_h of judged pairs, 0 for others."""
        return np.where(
            self.grades >= 0, ratio_or_zero(self.sizes, self.n_judged)[self.stratum], 0.0
        )

    @cached_property
    def local_strata(self) -> tuple[Ints, int]:
        """Return the index of each row's stratum among those of its topic, and the maximum number
        of strata of a topic."""
        pairs, inverse = np.unique(
            np.column_stack([self.topic, self.stratum]), axis=0, return_inverse=True
        )
        starts = np.searchsorted(pairs[:, 0], np.arange(len(self.topics)))
        number = np.arange(len(pairs)) - starts[pairs[:, 0]]
        return number[inverse.reshape(-1)], int(number.max(initial=-1)) + 1

    @cached_property
    def ideal_values(self) -> dict[tuple[str, int], Floats]:
        """Return the cache of ideal values by kind and depth, which all runs share."""
        return {}

    def ideal(self, kind: str, depth: int, formula: Callable[[Floats, int], Floats]) -> Floats:
        """Return float64 (n_topics), the formula applied to the estimated number of documents of
        each grade, from the cache if possible."""
        if (kind, depth) not in self.ideal_values:
            self.ideal_values[kind, depth] = formula(self.n_by_grade(), depth)
        return self.ideal_values[kind, depth]

    def n_by_grade(self) -> Floats:
        """Return float64 (n_topics, highest grade + 1), the estimated number of documents of each
        grade in each topic."""
        highest = int(self.grades.max(initial=0))
        judged = self.grades >= 0
        code = self.topic[judged] * (highest + 1) + self.grades[judged]
        counts = np.bincount(
            code, weights=self.weight[judged], minlength=len(self.topics) * (highest + 1)
        )
        return counts.astype(np.float64, copy=False).reshape(len(self.topics), highest + 1)

    def n_relevant(self, min_relevant: int) -> Floats:
        """Return float64 (n_topics), the estimated number of relevant documents."""
        chosen = self.grades >= min_relevant
        return sum_by_topic(self.topic[chosen], self.weight[chosen], len(self.topics))

    def mean_judged_per_topic(self) -> float:
        return float((self.grades >= 0).sum() / max(len(self.topics), 1))

    def list_empty_strata(self) -> list[str]:
        """Return the strata without a judged pair. Their pairs are unknown, so no estimate over the
        pool is unbiased."""
        return [self.names[k] for k in np.flatnonzero(self.n_judged == 0).tolist()]


def make_sample(prel: SampledQrels) -> JudgedSample:
    topic = np.repeat(np.arange(len(prel.qrels.topics)), np.diff(prel.qrels.offsets))
    stratum, n_strata = prel.stratum.astype(np.int64), len(prel.strata)
    return JudgedSample(
        topics=prel.qrels.topics,
        topic=topic,
        grades=prel.qrels.grades,
        stratum=stratum,
        sizes=np.bincount(stratum, minlength=n_strata),
        n_judged=np.bincount(stratum[prel.qrels.grades >= 0], minlength=n_strata),
        spanning=np.array([name.startswith(CROSS_TOPIC_PREFIX) for name in prel.strata], bool),
        names=prel.strata,
        drawn=prel.drawn,
    )


def estimate_topics(
    packed: PackedRun, sample: JudgedSample, measures: Sequence[Measure], *, min_relevant: int = 1
) -> Floats:
    """Estimate measures of a run for each topic. Returns float64 (n_topics, n_measures), with 0 for
    a topic that the run does not have or in which nothing relevant was found.

    min_relevant: minimum relevant grade of measures that do not state one.
    """
    values = np.empty((len(sample.topics), len(measures)))
    for column, measure in enumerate(measures):
        lowest = min_relevant if measure.min_relevant is None else measure.min_relevant
        values[:, column] = ESTIMATES[measure.family](packed, sample, lowest, measure.cutoff)
    return values


def _precision(packed: PackedRun, sample: JudgedSample, min_relevant: int, cutoff: int) -> Floats:
    chosen = (sample.grades[packed.row] >= min_relevant) & (packed.rank <= cutoff)
    return (
        sum_by_topic(packed.topic[chosen], sample.weight[packed.row[chosen]], len(sample.topics))
        / cutoff
    )


def _dcg(packed: PackedRun, sample: JudgedSample, min_relevant: int, cutoff: int) -> Floats:
    chosen = (sample.grades[packed.row] > 0) & (packed.rank <= cutoff)
    row, rank = packed.row[chosen], packed.rank[chosen]
    return sum_by_topic(
        packed.topic[chosen],
        sample.grades[row] * sample.weight[row] / np.log2(rank + 1),
        len(sample.topics),
    )


def _ndcg(packed: PackedRun, sample: JudgedSample, min_relevant: int, cutoff: int) -> Floats:
    return ratio_or_zero(
        _dcg(packed, sample, min_relevant, cutoff),
        sample.ideal("fractional", cutoff, fractional_ideal_dcg),
    )


def fractional_ideal_dcg(n_by_grade: Floats, cutoff: int) -> Floats:
    """Return float64 (n_topics), the discounted gain of the top `cutoff` ranks filled with the
    estimated numbers of documents, best grade first. Fractional numbers share a rank.

    n_by_grade: float64 (n_topics, n_grades), column g the number of documents of grade g.
    """
    # of the first 0, 1, ... ranks
    discount = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, cutoff + 2)))))
    filled, total = np.zeros(len(n_by_grade)), np.zeros(len(n_by_grade))
    for grade in range(n_by_grade.shape[1] - 1, 0, -1):
        end = np.minimum(filled + n_by_grade[:, grade], cutoff)
        total += grade * (_interpolate(discount, end) - _interpolate(discount, filled))
        filled = end
    return total


def _interpolate(cumulated: Floats, place: Floats) -> Floats:
    whole = np.floor(place).astype(np.int64)
    following = np.minimum(whole + 1, len(cumulated) - 1)
    return cumulated[whole] + (place - whole) * (cumulated[following] - cumulated[whole])


@dataclass(frozen=True, eq=False)
class RankedAbove:
    """Documents ranked above each relevant judged document of a run, by stratum of its topic.

    hit: int64 (n), row of the relevant document among the packed rows. pooled, judged, relevant:
    float64 (n, n_local), numbers above it.
    """

    hit: Ints
    pooled: Floats
    judged: Floats
    relevant: Floats


def _count_above(
    packed: PackedRun, sample: JudgedSample, min_relevant: int, deepest: int | None
) -> RankedAbove:
    number, n_local = sample.local_strata
    grade = sample.grades[packed.row]
    place = np.arange(len(packed.row))
    marks = np.zeros((3, len(place), n_local))
    local = number[packed.row]
    marks[0, place, local] = 1
    marks[1, place, local] = grade >= 0
    marks[2, place, local] = grade >= min_relevant
    before = np.concatenate([np.zeros((3, 1, n_local)), np.cumsum(marks, axis=1)], axis=1)[:, :-1]
    starts = np.searchsorted(packed.topic, np.arange(len(sample.topics)))
    hit = np.flatnonzero((grade >= min_relevant) & (packed.rank <= (deepest or math.inf)))
    counts = (
        before[:, hit] - before[:, np.minimum(starts[packed.topic[hit]], max(len(place) - 1, 0))]
    )
    return RankedAbove(hit, *counts)


def _extended_inferred_ap(
    packed: PackedRun, sample: JudgedSample, min_relevant: int, cutoff: None
) -> Floats:
    """Return xinfAP (Yilmaz, Kanoulas and Aslam 2008): the mean expected precision at the relevant
    documents, with the pairs above each estimated by stratum."""
    above = _count_above(packed, sample, min_relevant, MAX_RANK)
    row, rank = packed.row[above.hit], packed.rank[above.hit]
    share = (above.relevant + EPSILON) / (above.judged + 3 * EPSILON)
    precision = (1 + (above.pooled * share).sum(axis=1)) / rank
    n_relevant = sample.n_relevant(min_relevant)
    precisions = sum_by_topic(
        packed.topic[above.hit], sample.weight[row] * precision, len(sample.topics)
    )
    # as in sample_eval: a run cannot find more than the maximum number of ranks
    return ratio_or_zero(precisions, np.minimum(n_relevant, MAX_RANK))


def _expanded_ap(
    packed: PackedRun, sample: JudgedSample, min_relevant: int, cutoff: None
) -> Floats:
    """Return HT-AP (after Aslam and Pavlu 2007): sums over pairs of relevant documents, each
    weighted by the probability that both were sampled."""
    above = _count_above(packed, sample, min_relevant, None)
    row, rank = packed.row[above.hit], packed.rank[above.hit]
    number, n_local = sample.local_strata
    weights = np.zeros((len(sample.topics), n_local))
    weights[sample.topic, number] = ratio_or_zero(sample.sizes, sample.n_judged)[sample.stratum]
    together = weights[packed.topic[above.hit]]  # π_i / π_ij = 1 / π_j for another stratum
    own = sample.stratum[row]
    # π_i / π_ij within one stratum
    same = ratio_or_zero(sample.sizes[own] - 1, sample.n_judged[own] - 1)
    together[np.arange(len(row)), number[row]] = same
    relevant_above = (above.relevant * together).sum(axis=1)
    precisions = sum_by_topic(
        packed.topic[above.hit],
        sample.weight[row] * (1 + relevant_above) / rank,
        len(sample.topics),
    )
    return ratio_or_zero(precisions, sample.n_relevant(min_relevant))


def _inferred_ndcg(
    packed: PackedRun, sample: JudgedSample, min_relevant: int, cutoff: int | None
) -> Floats:
    """Return infNDCG as in sample_eval: each stratum counts with the number of the run's pooled
    documents in it times the mean gain of those that are judged."""
    deepest = cutoff or MAX_RANK
    number, n_local = sample.local_strata
    near = packed.rank <= deepest
    row, rank, topic = packed.row[near], packed.rank[near], packed.topic[near]
    code = topic * n_local + number[row]
    grade = sample.grades[row]
    n_codes = len(sample.topics) * n_local
    judged = np.bincount(code[grade >= 0], minlength=n_codes)
    gained = np.bincount(code, weights=np.maximum(grade, 0) / np.log2(rank + 1), minlength=n_codes)
    dcg = (
        (np.bincount(code, minlength=n_codes) * ratio_or_zero(gained, judged))
        .reshape(-1, n_local)
        .sum(axis=1)
    )
    return ratio_or_zero(dcg, sample.ideal("stepped", deepest, _stepped_ideal_dcg))


def _stepped_ideal_dcg(n_by_grade: Floats, deepest: int) -> Floats:
    """Return the ideal DCG of sample_eval: each grade begins at a fractional rank and continues in
    whole steps."""
    ideal = np.zeros(len(n_by_grade))
    for topic, counts in enumerate(n_by_grade.tolist()):
        start = 0.0
        for grade in range(len(counts) - 1, 0, -1):
            n_steps = math.floor(counts[grade] + 1e-9)
            ranks = start + np.arange(1, n_steps + 1)
            ideal[topic] += (
                grade * (1 / np.log2(ranks[: max(1, int((ranks < deepest).sum()) + 1)] + 1)).sum()
            )
            start += counts[grade]
    return ideal


ESTIMATES: dict[str, Callable[..., Floats]] = {
    "HT-P": _precision,
    "HT-DCG": _dcg,
    "HT-nDCG": _ndcg,
    "HT-AP": _expanded_ap,
    "xinfAP": _extended_inferred_ap,
    "infNDCG": _inferred_ndcg,
}
"""(packed run, sample, minimum relevant grade, cutoff) -> float64 (n_topics)."""


def topic_interval(values: Floats, *, alpha: float = 0.05) -> tuple[float, float]:
    """Return the confidence interval of the mean for new topics, mean ± t s/√T. The spread over
    topics includes the sampling error.

    values: float64 (n_topics). NaN twice for fewer than two topics.
    """
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    from scipy.special import (
        stdtrit,
    )  # slow to import, and `evaluate` without --sampled does not need it

    half = float(stdtrit(n - 1, 1 - alpha / 2) * values.std(ddof=1) / math.sqrt(n))
    mean = float(values.mean())
    return mean - half, mean + half


def clip_to_range(
    measure: Measure, low: float, high: float, *, difference: bool = False
) -> tuple[float, float]:
    """Return the bounds limited to the possible values of the measure or of a difference of it:
    from 0 (-1) to 1, and for DCG without an upper limit. NaN twice if nothing is left."""
    most = math.inf if measure.family in ("HT-DCG", "DCG") else 1.0
    least = -most if difference else 0.0
    if low > most or high < least:
        return math.nan, math.nan
    return (low, high) if math.isnan(low) else (max(low, least), min(high, most))


def no_interval_reason(sample: JudgedSample, measure: Measure) -> str | None:
    """Return the reason why no interval of this measure is shown, or None if it is."""
    if measure.family == "infNDCG":
        return BIASED_NOTE
    fewest = MIN_JUDGED.get(measure.family, MIN_JUDGED_OTHERS)
    if len(sample.topics) < 2:
        return "a confidence interval for new topics needs at least two topics"
    if (reason := sample.ungraded_reason) is not None:
        return reason
    if (n := sample.mean_judged_per_topic()) < fewest:
        return (
            f"{n:.1f} judged pairs per topic; a confidence interval of {measure} needs {fewest:.0f}"
        )
    if empty := sample.list_empty_strata():
        return f"no judged pair in {format_count(len(empty), 'stratum', plural='strata')} ({', '.join(empty[:3])}{' ...' if len(empty) > 3 else ''})"
    return None
