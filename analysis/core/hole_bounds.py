"""Between which values a measure lies whatever the holes of a run turn out to be (METHODS 14, SAMPLING 6).

    bounds_of(tops, measure, level=..., highest=...) -> Bounds       exact for every measure of qrels but those that `why_not` names
    depth_of(measures) -> int | None                                 how many ranks of the run they read; None: all

Open are the run's unjudged documents down to the cutoff, all of them where there is none; what is unjudged elsewhere stays out of the recall
base. Each may have any grade. Where a hole of a higher grade can only raise the score (DCG, ERR, NCG, P, R, RR, Success) the ends are all
lowest and all highest. Where it raises the recall base, too (AP, Rprec, Bpref), each number of relevant holes is tried, the first or the last
of them relevant: at an equal number a relevant document further up never lowers these. nDCG tries every multiset of grades.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from analysis.core.evaluation import stopping
from analysis.core.holes import Bounds, TopicTop, ndcg_bounds, precision_bounds, rbp_bounds
from analysis.core.measures import Measure

DEEPEST = 100
"""Ranks of a run that are read for RBP without a cutoff; what lies below is in its residual."""
MOST_TRIED = 4_000_000
"""Cells (fillings of a topic's holes x ranks) that nDCG tries."""
Ends = tuple[float, float, float]
"""Least, with the holes not relevant, greatest."""


def why_not(measure: Measure) -> str | None:
    """Why there is no range of this measure; None where there is one."""
    if measure.condensed:
        return "the condensed form leaves unjudged documents out, which judging them would undo"
    if measure.family == "Judged":
        return "it tells how much is judged, whatever the grades are"
    if measure.family == "infAP":
        return "it estimates from a random sample, for which unjudged documents are not open"
    return None


def depth_of(measures: Sequence[Measure]) -> int | None:
    if any(measure.cutoff is None and measure.family != "RBP" for measure in measures):
        return None
    return max([DEEPEST, *(measure.cutoff or 0 for measure in measures)])


def bounds_of(tops: Sequence[TopicTop], measure: Measure, *, level: int, highest: int) -> Bounds:
    """level: the lowest relevant grade where the measure brings none; highest: that a hole may have.

    ValueError where `why_not` says why, and where nDCG would have to try too many fillings of a topic's holes.
    """
    if reason := why_not(measure):
        raise ValueError(f"there is no range of {measure}: {reason}")
    lowest = measure.level or level
    if measure.family in ("nDCG", "nDCG-exp"):
        refuse_too_many(tops, measure, highest)
        return ndcg_bounds(tops, cutoff=measure.cutoff, highest=highest, exponential=measure.family == "nDCG-exp")
    if measure.family == "P":
        return precision_bounds(tops, cutoff=measure.cutoff or 0, level=lowest)
    if measure.family == "RBP":
        return rbp_bounds(tops, persistence=measure.persistence or 0.0, level=lowest, cutoff=measure.cutoff)
    if measure.family in GRADED:
        ends = [_monotone(top, measure, highest) for top in tops]
    else:
        ends = [BINARY[measure.family](*_binary(top, lowest, measure.cutoff)) for top in tops]
    low, zero, high = (np.array(column, np.float64) for column in zip(*ends, strict=True)) if ends else (np.empty(0),) * 3
    return Bounds(low, zero, high)


def refuse_too_many(tops: Sequence[TopicTop], measure: Measure, highest: int) -> None:
    for top in tops:
        n = sum(grade is None for grade in top.grades[: measure.cutoff])
        fillings = math.comb(n + highest, highest)
        if fillings * max(len(top.grades[: measure.cutoff]), 1) > MOST_TRIED:
            raise ValueError(
                f"{measure}: topic {top.topic} has {n} holes and {highest + 1} grades, {fillings:,} fillings to try, which is too many; expected a lower "
                "cutoff, or a measure that need not try them (DCG, AP, RBP)"
            )


def _monotone(top: TopicTop, measure: Measure, highest: int) -> Ends:
    low, high = ([fill if grade is None else grade for grade in top.grades[: measure.cutoff]] for fill in (0, highest))
    score = GRADED[measure.family]
    n_holes = sum(grade is None for grade in top.grades[: measure.cutoff])
    least = score(low, top.judged, measure, highest)
    return least, least, score(high, [*top.judged, *[highest] * n_holes], measure, highest)


def _dcg(grades: Sequence[int], judged: Sequence[int], measure: Measure, highest: int) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _ncg(grades: Sequence[int], judged: Sequence[int], measure: Measure, highest: int) -> float:
    ideal = sum(sorted((grade for grade in judged if grade > 0), reverse=True)[: measure.cutoff])
    return sum(grades) / ideal if ideal else 0.0


def _err(grades: Sequence[int], judged: Sequence[int], measure: Measure, highest: int) -> float:
    going, total = 1.0, 0.0
    for rank, chance in enumerate(stopping(np.array(grades, np.int64), measure.highest or highest).tolist(), start=1):
        total += going * chance / rank
        going *= 1 - chance
    return total


GRADED: dict[str, Callable[[Sequence[int], Sequence[int], Measure, int], float]] = {"DCG": _dcg, "NCG": _ncg, "ERR": _err}


def _binary(top: TopicTop, lowest: int, cutoff: int | None) -> tuple[list[int], list[int], int, int, list[int]]:
    """-> (ranks of relevant documents, ranks of holes, relevant judged ones, others judged, ranks of the others), ranks down to the cutoff"""
    grades = list(enumerate(top.grades[:cutoff], start=1))
    n_relevant = sum(grade >= lowest for grade in top.judged)
    return (
        [rank for rank, grade in grades if grade is not None and grade >= lowest],
        [rank for rank, grade in grades if grade is None],
        n_relevant,
        len(top.judged) - n_relevant,
        [rank for rank, grade in grades if grade is not None and grade < lowest],
    )


def _success(relevant: list[int], holes: list[int], n_relevant: int, n_others: int, others: list[int]) -> Ends:
    least = float(bool(relevant))
    return least, least, float(bool(relevant or holes))


def _reciprocal(relevant: list[int], holes: list[int], n_relevant: int, n_others: int, others: list[int]) -> Ends:
    least = 1 / relevant[0] if relevant else 0.0
    return least, least, 1 / min(relevant[:1] + holes[:1]) if relevant or holes else 0.0


def _recall(relevant: list[int], holes: list[int], n_relevant: int, n_others: int, others: list[int]) -> Ends:
    least = len(relevant) / n_relevant if n_relevant else 0.0
    n = len(holes)
    return least, least, (len(relevant) + n) / (n_relevant + n) if n_relevant + n else 0.0


def _average_precision(relevant: list[int], holes: list[int], n_relevant: int, n_others: int, others: list[int]) -> Ends:
    def value(chosen: list[int]) -> float:
        ranks = np.sort(np.array(relevant + chosen, np.int64))
        n = n_relevant + len(chosen)
        return float((np.arange(1, len(ranks) + 1) / ranks).sum() / n) if n else 0.0

    return _tried(value, holes)


def _r_precision(relevant: list[int], holes: list[int], n_relevant: int, n_others: int, others: list[int]) -> Ends:
    def value(chosen: list[int]) -> float:
        n = n_relevant + len(chosen)
        return sum(rank <= n for rank in (*relevant, *chosen)) / n if n else 0.0

    return _tried(value, holes)


def _bpref(relevant: list[int], holes: list[int], n_relevant: int, n_others: int, others: list[int]) -> Ends:
    def value(chosen: list[int]) -> float:
        n = n_relevant + len(chosen)
        if not n:
            return 0.0
        left = set(holes) - set(chosen)
        against = np.sort(np.array([*others, *left], np.int64))
        above = np.searchsorted(against, np.array(relevant + chosen, np.int64))
        bound = min(n, n_others + len(left))
        return float((1 - (np.minimum(above, n) / bound if bound else 0 * above)).sum() / n)

    return _tried(value, holes)


def _tried(value: Callable[[list[int]], float], holes: list[int]) -> Ends:
    """The first m holes relevant for the upper end, the last m for the lower, for every m."""
    numbers = range(len(holes) + 1)
    return min(value(holes[len(holes) - m :]) for m in numbers), value([]), max(value(holes[:m]) for m in numbers)


BINARY: dict[str, Callable[[list[int], list[int], int, int, list[int]], Ends]] = {
    "Success": _success, "RR": _reciprocal, "R": _recall, "AP": _average_precision, "Rprec": _r_precision, "Bpref": _bpref,
}  # fmt: skip
