"""Summaries of battles between systems: matrices, position bias, and repeated presentations.

"Both bad" is counted but is no outcome of the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import A_WINS, B_WINS, BOTH_BAD, TIE, BattleColumns
from assay.comparison.bradley_terry import Outcomes, standard_error

COVARIATES = ("position", "length", "citations")


class MissingColumn(ValueError):
    """Error for a covariate that is unknown for some battles. The message is a sentence."""


def select_outcomes(battles: BattleColumns, covariates: tuple[str, ...] = ()) -> Outcomes:
    """Return the battles that are not "both bad", with these covariates. Raises MissingColumn."""
    kept = battles.outcome != BOTH_BAD
    return Outcomes(
        len(battles.systems),
        battles.a[kept],
        battles.b[kept],
        battles.outcome[kept],
        battles.topic[kept],
        {name: get_covariate(battles, name)[kept] for name in covariates},
    )


def get_covariate(battles: BattleColumns, name: str) -> NDArray[np.float64]:
    """Return float64 (n_battles), a covariate of the log-odds of a against b.

    position: 1 if a was shown on the left, -1 if b. length: log2 of the ratio of the lengths.
    citations: difference of the numbers of citations. Raises MissingColumn if one is unknown, or a
    length is not positive.
    """
    if name == "position":
        values = np.where(battles.left == 0, 1.0, np.where(battles.left == 1, -1.0, np.nan))
    elif name == "length":
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log2(battles.tokens[:, 0] / battles.tokens[:, 1])
    else:
        values = battles.citations[:, 0] - battles.citations[:, 1]
    if n_unknown := int((~np.isfinite(values)).sum()):
        raise MissingColumn(f"{name} is unknown for {n_unknown:,} of {len(battles):,} battles.")
    return values


class OutcomeMatrices(NamedTuple):
    """Numbers of outcomes for each two systems, int64 (n_systems, n_systems). wins[i, j]: battles
    that i won against j. ties, bad: symmetric numbers of ties and of "both bad"."""

    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    bad: NDArray[np.int64]


def count_outcomes(battles: BattleColumns) -> OutcomeMatrices:
    m = len(battles.systems)

    def count(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(first.astype(np.intp) * m + second, minlength=m * m).reshape(m, m)

    def count_of(outcome: int) -> NDArray[np.int64]:
        at = battles.outcome == outcome
        return count(battles.a[at], battles.b[at])

    wins = count_of(A_WINS) + count_of(B_WINS).T
    ties, bad = count_of(TIE), count_of(BOTH_BAD)
    return OutcomeMatrices(wins, ties + ties.T, bad + bad.T)


class LeftShare(NamedTuple):
    """Share of battles that the answer on the left won, among battles with a winner and a known
    side. error: clustered by topic; NaN with one topic or without such battles."""

    wins: int
    decided: int
    share: float
    error: float
    n_topics: int


def measure_left_share(battles: BattleColumns) -> LeftShare:
    """Return how often the answer on the left won.

    The error of the ratio L/D over G topics is sqrt(G/(G - 1) sum (L_g - s D_g)^2)/D."""
    decided = (battles.outcome <= B_WINS) & (battles.left >= 0)
    won_left = decided & (battles.outcome == battles.left)
    counted = battles.outcome != BOTH_BAD
    n = len(battles.topics)
    lefts = np.bincount(battles.topic, won_left, n)
    totals = np.bincount(battles.topic, decided, n)
    groups = int((np.bincount(battles.topic, counted, n) > 0).sum())
    total = int(totals.sum())
    share = float(lefts.sum() / total) if total else float("nan")
    error = float("nan")
    if total and groups > 1:
        residual = float(((lefts - share * totals) ** 2).sum())
        error = standard_error(groups / (groups - 1) * residual / total**2)
    return LeftShare(int(lefts.sum()), total, share, error, groups)


class RepeatedPresentations(NamedTuple):
    """Pairs that an annotator judged on a topic exactly twice, once with each side on the left.

    units: number of these pairs. with_bad: pairs with a judgement "both bad". The other pairs are
    counted by outcome. same: the same system won twice, or both judgements are ties. both_left,
    both_right: the same side won twice. tie_once: one of the two is a tie."""

    units: int
    with_bad: int
    same: int
    both_left: int
    both_right: int
    tie_once: int


def compare_presentations(battles: BattleColumns) -> RepeatedPresentations:
    """Compare the two judgements of pairs that the same annotator saw in both orders."""
    first = np.minimum(battles.a, battles.b)
    swapped = battles.a > battles.b
    side = np.where(swapped, 1 - battles.left, battles.left)  # is the first system on the left?
    winner = np.where((battles.outcome <= B_WINS) & swapped, 1 - battles.outcome, battles.outcome)
    known = (battles.left >= 0) & (battles.annotator >= 0)
    keys = np.column_stack(
        [battles.topic, first, np.maximum(battles.a, battles.b), battles.annotator]
    )[known]
    counts = dict.fromkeys(RepeatedPresentations._fields, 0)
    if len(keys):
        _, unit, n_rows = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(unit.ravel(), kind="stable")
        starts = np.concatenate([[0], np.cumsum(n_rows)[:-1]])[n_rows == 2]
        one, two = order[starts], order[starts + 1]
        side, winner = side[known], winner[known]
        both = side[one] != side[two]
        for i, j in zip(one[both], two[both], strict=True):
            counts["units"] += 1
            counts[_classify_presentation(winner[i], winner[j], side[i])] += 1
    return RepeatedPresentations(**counts)


def _classify_presentation(one: int, two: int, side: int) -> str:
    """Return how two judgements of one pair of systems in both orders relate, as a field of
    RepeatedPresentations. one, two: outcomes with the alphabetically first system as a. side: 0 if
    this system was on the left first."""
    if BOTH_BAD in (one, two):
        return "with_bad"
    if one == two:
        return "same"
    if TIE in (one, two):
        return "tie_once"
    return "both_left" if one == side else "both_right"
