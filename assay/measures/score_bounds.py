"""Bounds of a score over all possible grades of a run's unjudged documents.

    compute_bounds(tops, measure, min_relevant=..., highest=...) -> ScoreBounds
    compute_difference_bounds(tops, rival, measure, ...) -> ScoreBounds
    required_depth(measures) -> int | None      ranks of the run that are read, None for all

The grades that vary are those of the run's unjudged documents down to the cutoff, or of all of them
without a cutoff. Other unjudged documents stay out of the recall base, except those of other runs
that `merge_unjudged` has counted. Each may have any grade from 0 to the highest.

The bounds are exact for every measure of qrels except ERR without `max_rel` and the measures that
`no_bounds_reason` names. For DCG, ERR, NCG, P, R, RR and Success a higher grade of an unjudged
document can only raise the score, so that the bounds are all lowest and all highest. For AP, Rprec
and Bpref it also raises the recall base. Each number of relevant unjudged documents is tried, with
the first or the last of them relevant, because at equal numbers a relevant document at a better
rank never lowers these measures. For nDCG every multiset of grades is tried.

Unjudged documents of other runs add nothing to a score. At their highest grade they lower the
bounds of nDCG, NCG, R and AP. For Rprec and Bpref every number of relevant ones is tried. ERR
without `max_rel` uses the highest grade of the qrels, as in `evaluation`. If an unjudged document
may have a higher one, its bounds are no narrower than the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from assay.comparison.unjudged_documents import (
    ScoreBounds,
    TopicTop,
    list_unjudged,
    merge_unjudged,
    ndcg_bounds,
    ndcg_difference,
    precision_bounds,
    rbp_bounds,
)
from assay.measures.evaluation import stopping_probability
from assay.measures.measures import FAMILIES, Measure

MAX_DEPTH = 100
"""Ranks of a run that are read for RBP without a cutoff. Lower ranks are part of its residual."""
MAX_COMBINATIONS = 4_000_000
"""Maximum number of cells (grade assignments of a topic's unjudged documents x ranks) that are
tried for nDCG."""
MAX_OTHER_UNJUDGED = 2_000
"""Maximum number of combinations of relevant unjudged documents, of the run and of other runs, that
are tried per topic for Rprec and Bpref. With more the bounds are 0 and 1."""
BoundsTuple = tuple[float, float, float]
"""Lower bound, score with unjudged documents not relevant, upper bound."""


def no_bounds_reason(measure: Measure) -> str | None:
    """Return the reason why this measure has no score bounds, or None if it has."""
    if measure.condensed:
        return "the condensed form leaves out unjudged documents, which judging would add"
    if measure.family in ("Judged", "J"):
        return "it measures how much is judged, whatever the grades"
    if measure.family == "infAP":
        return "it estimates from a random sample, so unjudged documents do not affect its bounds"
    if FAMILIES[measure.family].function is not None:
        return "a measure of your own may fall if a grade rises"
    return None


def required_depth(measures: Sequence[Measure]) -> int | None:
    if any(measure.cutoff is None and measure.family != "RBP" for measure in measures):
        return None
    return max([MAX_DEPTH, *(measure.cutoff or 0 for measure in measures)])


def compute_bounds(
    tops: Sequence[TopicTop], measure: Measure, *, min_relevant: int, highest: int
) -> ScoreBounds:
    """Return the score bounds of each topic.

    min_relevant: minimum relevant grade of measures that do not state one. highest: highest
    possible grade of an unjudged document. Raises ValueError for measures without bounds
    (`no_bounds_reason`), and if nDCG would need too many grade assignments of a topic's unjudged
    documents.
    """
    if reason := no_bounds_reason(measure):
        raise ValueError(f"no score bounds of {measure}: {reason}")
    lowest = measure.min_relevant or min_relevant
    if measure.family in ("nDCG", "nDCG-exp"):
        check_combinations(tops, measure, highest)
        return ndcg_bounds(
            tops, cutoff=measure.cutoff, highest=highest, exponential=measure.family == "nDCG-exp"
        )
    if measure.family == "P":
        return precision_bounds(tops, cutoff=measure.cutoff or 0, min_relevant=lowest)
    if measure.family == "RBP":
        return rbp_bounds(
            tops, persistence=measure.persistence or 0.0, min_relevant=lowest, cutoff=measure.cutoff
        )
    if measure.family == "ERR" and measure.highest is None:
        ends = _err_bounds(tops, measure, highest)
    elif measure.family in GRADED_FORMULAS:
        ends = [_monotone_bounds(top, measure, highest) for top in tops]
    else:
        ends = [
            BINARY_FORMULAS[measure.family](
                _make_partly_judged_ranking(top, lowest, measure.cutoff)
            )
            for top in tops
        ]
    low, zero, high = (
        (np.array(column, np.float64) for column in zip(*ends, strict=True))
        if ends
        else (np.empty(0),) * 3
    )
    return ScoreBounds(low, zero, high)


def compute_difference_bounds(
    tops: Sequence[TopicTop],
    rival: Sequence[TopicTop],
    measure: Measure,
    *,
    min_relevant: int,
    highest: int,
) -> ScoreBounds:
    """Return the bounds of the run's score minus the rival's, per topic, over the unjudged
    documents of both. They are exact for nDCG, and for other measures no narrower than the exact
    ones.

    An unjudged document of only one of the two raises the ideal and the number of relevant
    documents of both. Raises the errors of `compute_bounds`.
    """
    if reason := no_bounds_reason(measure):
        raise ValueError(f"no score bounds of {measure}: {reason}")
    if measure.family in ("nDCG", "nDCG-exp") and not any(
        _needs_too_many_combinations(top, other, measure, highest)
        for top, other in zip(tops, rival, strict=True)
    ):
        exponential = measure.family == "nDCG-exp"
        ends = [
            ndcg_difference(*pair, cutoff=measure.cutoff, highest=highest, exponential=exponential)
            for pair in zip(tops, rival, strict=True)
        ]
        low, zero, high = (
            (np.array(column, np.float64) for column in zip(*ends, strict=True))
            if ends
            else (np.empty(0),) * 3
        )
        return ScoreBounds(low, zero, high)
    own, other = (
        compute_bounds(side, measure, min_relevant=min_relevant, highest=highest)
        for side in merge_unjudged([tops, rival], measure.cutoff)
    )
    return ScoreBounds(own.low - other.high, own.zero - other.zero, own.high - other.low)


def _needs_too_many_combinations(
    top: TopicTop, rival: TopicTop, measure: Measure, highest: int
) -> bool:
    n = len({*list_unjudged(top, measure.cutoff), *list_unjudged(rival, measure.cutoff)})
    return math.comb(n + highest, highest) * max(len(top.judged) + n, 1) > MAX_COMBINATIONS


def check_combinations(tops: Sequence[TopicTop], measure: Measure, highest: int) -> None:
    for top in tops:
        n = sum(grade is None for grade in top.grades[: measure.cutoff])
        fillings = math.comb(n + highest, highest)
        if fillings * max(len(top.grades[: measure.cutoff]), 1) > MAX_COMBINATIONS:
            raise ValueError(
                f"{measure}: topic {top.topic} has {n} unjudged documents and {highest + 1} "
                f"grades, which gives {fillings:,} combinations, too many to try; expected a "
                "lower cutoff, or a measure that does not need to try them (DCG, AP, RBP)"
            )


def _monotone_bounds(top: TopicTop, measure: Measure, highest: int) -> BoundsTuple:
    low, high = (
        [fill if grade is None else grade for grade in top.grades[: measure.cutoff]]
        for fill in (0, highest)
    )
    score = GRADED_FORMULAS[measure.family]
    n_unjudged = sum(grade is None for grade in top.grades[: measure.cutoff])
    least = score(low, [*top.judged, *[highest] * top.n_elsewhere], measure, highest)
    return (
        least,
        score(low, top.judged, measure, highest),
        score(high, [*top.judged, *[highest] * n_unjudged], measure, highest),
    )


def _err_bounds(tops: Sequence[TopicTop], measure: Measure, highest: int) -> list[BoundsTuple]:
    """Return the bounds of ERR per topic. ERR is scaled by the highest grade of all qrels
    (`evaluation`), so an unjudged document with a higher grade changes the scores of every topic.
    Each highest grade that the qrels may get is tried."""
    seen = max((grade for top in tops for grade in top.judged), default=0)
    is_open = any(top.n_elsewhere or None in top.grades[: measure.cutoff] for top in tops)
    tried = [
        [_monotone_bounds(top, measure, most) for top in tops]
        for most in range(seen, (highest if is_open else seen) + 1)
    ]
    return [
        (min(low for low, _, _ in of_topic), of_topic[0][1], max(high for _, _, high in of_topic))
        for of_topic in zip(*tried, strict=True)
    ]


def _dcg(grades: Sequence[int], judged: Sequence[int], measure: Measure, highest: int) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _ncg(grades: Sequence[int], judged: Sequence[int], measure: Measure, highest: int) -> float:
    ideal = sum(sorted((grade for grade in judged if grade > 0), reverse=True)[: measure.cutoff])
    return sum(grades) / ideal if ideal else 0.0


def _err(grades: Sequence[int], judged: Sequence[int], measure: Measure, highest: int) -> float:
    going, total = 1.0, 0.0
    for rank, chance in enumerate(
        stopping_probability(np.array(grades, np.int64), measure.highest or highest).tolist(),
        start=1,
    ):
        total += going * chance / rank
        going *= 1 - chance
    return total


GRADED_FORMULAS: dict[str, Callable[[Sequence[int], Sequence[int], Measure, int], float]] = {
    "DCG": _dcg,
    "NCG": _ncg,
    "ERR": _err,
}


class _PartlyJudgedRanking(NamedTuple):
    """Ranks of relevant, unjudged and other documents of a run's top ranks for one topic.
    n_relevant, n_others: judged documents, retrieved or not. n_elsewhere: unjudged documents that
    only other runs have."""

    relevant: list[int]
    unjudged: list[int]
    n_relevant: int
    n_others: int
    others: list[int]
    n_elsewhere: int


def _make_partly_judged_ranking(
    top: TopicTop, lowest: int, cutoff: int | None
) -> _PartlyJudgedRanking:
    grades = list(enumerate(top.grades[:cutoff], start=1))
    n_relevant = sum(grade >= lowest for grade in top.judged)
    return _PartlyJudgedRanking(
        [rank for rank, grade in grades if grade is not None and grade >= lowest],
        [rank for rank, grade in grades if grade is None],
        n_relevant,
        len(top.judged) - n_relevant,
        [rank for rank, grade in grades if grade is not None and grade < lowest],
        top.n_elsewhere,
    )


def _success_bounds(ranking: _PartlyJudgedRanking) -> BoundsTuple:
    least = float(bool(ranking.relevant))
    return least, least, float(bool(ranking.relevant or ranking.unjudged))


def _reciprocal_rank_bounds(ranking: _PartlyJudgedRanking) -> BoundsTuple:
    least = 1 / ranking.relevant[0] if ranking.relevant else 0.0
    return (
        least,
        least,
        1 / min(ranking.relevant[:1] + ranking.unjudged[:1])
        if ranking.relevant or ranking.unjudged
        else 0.0,
    )


def _recall_bounds(ranking: _PartlyJudgedRanking) -> BoundsTuple:
    n, n_found = len(ranking.unjudged), len(ranking.relevant)
    least, zero = (
        n_found / total if total else 0.0
        for total in (ranking.n_relevant + ranking.n_elsewhere, ranking.n_relevant)
    )
    return least, zero, (n_found + n) / (ranking.n_relevant + n) if ranking.n_relevant + n else 0.0


def _average_precision_bounds(ranking: _PartlyJudgedRanking) -> BoundsTuple:
    def value(chosen: list[int], elsewhere: int) -> float:
        ranks = np.sort(np.array(ranking.relevant + chosen, np.int64))
        n = ranking.n_relevant + len(chosen) + elsewhere
        return float((np.arange(1, len(ranks) + 1) / ranks).sum() / n) if n else 0.0

    return _enumerate_bounds(
        value, ranking.unjudged, [0, ranking.n_elsewhere] if ranking.n_elsewhere else [0]
    )  # more relevant documents elsewhere only lower the score


def _r_precision_bounds(ranking: _PartlyJudgedRanking) -> BoundsTuple:
    def value(chosen: list[int], elsewhere: int) -> float:
        n = ranking.n_relevant + len(chosen) + elsewhere
        return sum(rank <= n for rank in (*ranking.relevant, *chosen)) / n if n else 0.0

    return _enumerate_bounds(value, ranking.unjudged, range(ranking.n_elsewhere + 1))


def _bpref_bounds(ranking: _PartlyJudgedRanking) -> BoundsTuple:
    def value(chosen: list[int], elsewhere: int, against_elsewhere: int = 0) -> float:
        n = ranking.n_relevant + len(chosen) + elsewhere
        if not n:
            return 0.0
        left = set(ranking.unjudged) - set(chosen)
        against = np.sort(np.array([*ranking.others, *left], np.int64))
        above = np.searchsorted(against, np.array(ranking.relevant + chosen, np.int64))
        bound = min(n, ranking.n_others + len(left) + against_elsewhere)
        return float((1 - (np.minimum(above, n) / bound if bound else 0 * above)).sum() / n)

    def upper_value(chosen: list[int], elsewhere: int) -> float:
        """Return the score with the remaining documents elsewhere judged not relevant, which
        reduces the weight of the non-relevant documents above."""
        return value(chosen, elsewhere, ranking.n_elsewhere - elsewhere)

    elsewhere = range(ranking.n_elsewhere + 1)
    least, zero, _ = _enumerate_bounds(value, ranking.unjudged, elsewhere)
    return least, zero, _enumerate_bounds(upper_value, ranking.unjudged, elsewhere)[2]


def _enumerate_bounds(
    value: Callable[[list[int], int], float], holes: list[int], elsewhere: Sequence[int]
) -> BoundsTuple:
    """Return the bounds over every number m of relevant unjudged documents and every number of
    relevant ones elsewhere. The first m are relevant for the upper bound, the last m for the lower.
    """
    numbers, zero = range(len(holes) + 1), value([], 0)
    if len(elsewhere) > 2 and len(numbers) * len(elsewhere) > MAX_OTHER_UNJUDGED:
        return 0.0, zero, 1.0
    tried = [(m, n) for m in numbers for n in elsewhere]
    return (
        min(value(holes[len(holes) - m :], n) for m, n in tried),
        zero,
        max(value(holes[:m], n) for m, n in tried),
    )


BINARY_FORMULAS: dict[str, Callable[[_PartlyJudgedRanking], BoundsTuple]] = {
    "Success": _success_bounds,
    "RR": _reciprocal_rank_bounds,
    "R": _recall_bounds,
    "AP": _average_precision_bounds,
    "Rprec": _r_precision_bounds,
    "Bpref": _bpref_bounds,
}
