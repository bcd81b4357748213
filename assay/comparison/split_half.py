"""Split-half agreement of significance tests: whether two halves of the topics lead to the same
conclusions.

Craswell, Mitra, Yilmaz, Campos and Lin, "MS MARCO: Benchmarking Ranking Models in the Large-Data
Regime", SIGIR 2021 (Table 4), after Buckley and Voorhees (2000).

For a pair of runs, each half decides which run is better (by mean, or by difference of medians) and
whether a test finds the difference significant. The halves

    agree              same winner, and both or neither significant
    partially agree    same winner and only one significant, or different winners and neither
                       significant
    disagree           different winners, and at least one significant

Choices beyond the paper: the subsets are halves (an odd topic is left out at random), and alpha is
0.05. Means and medians are rounded to 10 decimals before they are compared. Equal ones have
no winner. Two halves without a winner count as having the same one. The tests are those of
`significance`: sign, rank-sum without tie correction (wrs), signed-rank (wsr, exact up to 50
differences), paired t.

Tests are computed for all halves at once. Membership in halves is a matrix, so sums over halves are
matrix products, and ranks within halves are cumulative sums over topics that are sorted once. The
splits are divided into chunks of fixed size, each with its own random stream, and the counts of
chunks are added. The result does not depend on where they run.

    tally = combine_tallies(run_chunk(scores, chunk) for chunk in make_chunks(splits=100, seed=0))
    table = tabulate_tally(tally)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from assay.comparison import significance
from assay.comparison.bootstrap import check_scores
from assay.comparison.significance import Floats

DEFAULT_SPLITS = 100
CHUNK_SPLITS = 50
"""Splits per chunk. Another size gives other random splits."""
ALPHA = 0.05
DECIMALS = 10
MAX_EXACT_TOPICS = 50
"""Maximum number of differences for which the signed-rank test of a half is exact. The limit of
`significance`, 200, would take hours for all halves of all pairs."""
PAIR_BATCH_SIZE = 64
"""Pairs of runs whose differences are held in memory at a time."""

TESTS = ("sign", "wrs", "wsr", "t")
TESTS_OF_MEDIANS = ("sign", "wrs", "wsr")
"""Tests with a variant for medians. The t-test is about means."""
RATES = ("agree", "partial", "disagree", "significant")

Members = NDArray[np.bool_]
Counts = NDArray[np.int32]


@dataclass(frozen=True)
class SplitHalfChunk:
    """A chunk of random splits of the topics with its own random stream."""

    number: int
    splits: int
    seed: int

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number,)))


@dataclass(frozen=True)
class SplitHalfTally:
    """Counts of agreement between halves over pairs of runs and splits. Tallies of different splits
    can be added.

    compared: pairs times splits. by_mean, by_median: int64 (tests, 4), counts in the order of
    RATES. tied_medians: halves on which the two medians are equal, of twice `compared`.
    """

    compared: int
    by_mean: NDArray[np.int64]
    by_median: NDArray[np.int64]
    tied_medians: int


EMPTY_TALLY = SplitHalfTally(
    0,
    np.zeros((len(TESTS), len(RATES)), np.int64),
    np.zeros((len(TESTS_OF_MEDIANS), len(RATES)), np.int64),
    0,
)
"""The tally if halves are too small for a verdict. All shares of its table are NaN."""


@dataclass(frozen=True)
class SplitHalfTable:
    """Shares of pairs of runs x splits by test and outcome (Craswell et al. 2021, table 4).
    `significant` means significant on at least one half. NaN without pairs."""

    mean: dict[str, dict[str, float]]
    median: dict[str, dict[str, float]]
    tied_medians: float
    """Share of pairs x splits x halves with equal medians."""


def make_chunks(*, splits: int = DEFAULT_SPLITS, seed: int) -> list[SplitHalfChunk]:
    """Divide the splits into chunks that can run in any process and in any order."""
    return [
        SplitHalfChunk(number, min(CHUNK_SPLITS, splits - start), seed)
        for number, start in enumerate(range(0, splits, CHUNK_SPLITS))
    ]


def run_chunk(scores: ArrayLike, chunk: SplitHalfChunk, *, alpha: float = ALPHA) -> SplitHalfTally:
    """Return the tally of one chunk. scores: (n_runs, n_topics). Raises ValueError for undefined
    scores or fewer than two topics."""
    scores = check_scores(scores)
    return count_agreement(
        scores, draw_halves(scores.shape[1], chunk.splits, chunk.rng()), alpha=alpha
    )


def draw_halves(n_topics: int, splits: int, rng: np.random.Generator) -> Members:
    """Return bool (2 splits, n_topics). Rows 2i and 2i + 1 are the halves of split i, of n_topics
    // 2 topics each."""
    if n_topics < 2:
        raise ValueError("at least two topics are needed to make two halves")
    half = n_topics // 2
    members = np.zeros((2 * splits, n_topics), bool)
    for split in range(splits):
        order = rng.permutation(n_topics)
        members[2 * split, order[:half]] = True
        members[2 * split + 1, order[half : 2 * half]] = True
    return members


def count_agreement(scores: Floats, members: Members, *, alpha: float = ALPHA) -> SplitHalfTally:
    """Count the agreement of the halves in `members` (2 splits, n_topics) over all pairs of
    runs."""
    by_mean = np.zeros((len(TESTS), len(RATES)), np.int64)
    by_median = np.zeros((len(TESTS_OF_MEDIANS), len(RATES)), np.int64)
    tied = compared = 0
    means = np.round(sum_by_half(scores, members) / members.sum(axis=1), DECIMALS)
    medians = np.round(
        np.array([np.median(scores[:, half], axis=1) for half in members]).T, DECIMALS
    )
    halves_of = TopicHalves(scores, members)
    for a, b in iterate_pair_blocks(len(scores)):
        p_values = halves_of.p_values(a, b)
        mean_winners, median_winners = (
            np.sign(means[b] - means[a]),
            np.sign(medians[b] - medians[a]),
        )
        by_mean += [count_outcomes(mean_winners, p_values[test] < alpha) for test in TESTS]
        by_median += [
            count_outcomes(median_winners, p_values[test] < alpha) for test in TESTS_OF_MEDIANS
        ]
        tied += int((median_winners == 0).sum())
        compared += len(a) * (len(members) // 2)
    return SplitHalfTally(compared, by_mean, by_median, tied)


def iterate_pair_blocks(n_runs: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield all pairs of runs (a < b) as two index arrays, a bounded number at a time."""
    first, second = np.triu_indices(n_runs, k=1)
    for start in range(0, len(first), PAIR_BATCH_SIZE):
        yield first[start : start + PAIR_BATCH_SIZE], second[start : start + PAIR_BATCH_SIZE]


def count_outcomes(winners: Floats, significant: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return counts in the order of RATES from arrays (pairs, 2 splits). winners: -1, 0 or 1."""
    same = winners[:, ::2] == winners[:, 1::2]
    one, other = significant[:, ::2], significant[:, 1::2]
    either = one | other
    agree = same & (one == other)
    disagree = ~same & either
    return np.array(
        [agree.sum(), agree.size - agree.sum() - disagree.sum(), disagree.sum(), either.sum()]
    )


class TopicHalves:
    """Scores (n_runs, n_topics) on many halves of the topics. members: (halves, n_topics), all of
    the same size."""

    def __init__(self, scores: Floats, members: Members) -> None:
        self.scores, self.members = scores, members
        self.n = int(members[0].sum())
        self.rows = np.ascontiguousarray(members.T, dtype=np.int32)
        self.topics = np.nonzero(members)[1].reshape(len(members), self.n)
        self.groups = [group_by_value(run, np.arange(len(run)), self.rows) for run in scores]

    def p_values(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> dict[str, Floats]:
        """Return test -> p-values (pairs, halves) of run b[i] against run a[i] on each half, as
        `significance` would give them for the half alone."""
        differences = significance.rounded_differences(self.scores[a], self.scores[b])
        wins, losses = (
            np.rint(sum_by_half(differences > 0, self.members)),
            np.rint(sum_by_half(differences < 0, self.members)),
        )
        unequal = wins + losses > 0
        rank_sums = [
            _rank_sum(self.groups[j], self.groups[i], self.n) for i, j in zip(a, b, strict=True)
        ]
        return {
            "sign": significance.binomial_test(wins, losses),
            "wrs": np.where(unequal, np.array(rank_sums).reshape(wins.shape), 1.0),
            "wsr": self._signed_ranks(differences),
            "t": _paired_t(self.scores[b] - self.scores[a], self.members, all_zero=~unequal),
        }

    def _signed_ranks(self, differences: Floats) -> Floats:
        """Return p (pairs, halves) of the signed-rank test. differences: (pairs, n_topics),
        rounded."""
        p = np.zeros((len(differences), len(self.members)))
        for row, d in zip(p, differences, strict=True):
            row[:], n = _signed_ranks(d, self.rows)
            exact = (n <= MAX_EXACT_TOPICS) & (n > 0)
            if exact.any():
                row[exact] = significance.exact_signed_rank(d[self.topics[exact]])
        return p


def sum_by_half(values: Floats | NDArray[np.bool_], members: Members) -> Floats:
    """Return (rows, halves), sums of values (rows, n_topics) over each half. Counts of booleans are
    exact in single precision."""
    kind: type[np.floating[Any]] = np.float32 if values.dtype == bool else np.float64
    with threadpool_limits(1, user_api="blas"):
        # chunks are the unit of parallel work, and threads within them would compete for the same
        # cores
        return (values.astype(kind) @ members.astype(kind).T).astype(float)


def _paired_t(differences: Floats, members: Members, *, all_zero: NDArray[np.bool_]) -> Floats:
    n = members.sum(axis=1)
    # squares of deviations lose fewer digits than squares of differences
    centre = differences.mean(axis=1, keepdims=True)
    deviations = differences - centre
    sums = sum_by_half(deviations, members)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.maximum(sum_by_half(deviations**2, members) - sums**2 / n, 0) / (n - 1)
    p = significance.t_test_p(centre + sums / n, variance, n, all_zero=all_zero)
    noise = 1e-12 * np.abs(differences).max(axis=1, initial=0, keepdims=True) ** 2
    for pair, half in np.argwhere((variance <= noise) & ~all_zero):
        # sums alone do not show that nothing varies
        p[pair, half] = significance.verdict_p_value(differences[pair, members[half]])
    return p


def _signed_ranks(differences: Floats, rows: Counts) -> tuple[Floats, Floats]:
    """Return p of the signed-rank test by normal approximation and the number of nonzero
    differences, each (halves)."""
    positive = group_by_value(differences, np.flatnonzero(differences > 0), rows)
    negative = group_by_value(-differences, np.flatnonzero(differences < 0), rows)
    n_positive = positive.upto[-1]
    rank_total = mann_whitney_u(positive, negative) + n_positive * (n_positive + 1) / 2
    n = n_positive + negative.upto[-1]
    return np.array(significance.signed_rank_p(rank_total, n, _tie_term(positive, negative))), n


def _tie_term(first: ValueGroups, second: ValueGroups) -> Floats:
    """Return (halves), the tie correction Σ t^3 - t over groups of t equal values in both samples
    together."""
    own, other = (
        np.searchsorted(second.values, first.values),
        np.searchsorted(second.values, first.values, side="right"),
    )
    is_shared = other > own
    alone = np.ones(len(second.values), bool)
    alone[own[is_shared]] = False
    sizes = first.counts[~is_shared & first.is_tie], second.counts[alone & second.is_tie]
    both = first.counts[is_shared] + second.counts[own[is_shared]]
    return sum(((size * size - 1) * size).sum(axis=0) for size in (*sizes, both))  # type: ignore[return-value]


def _rank_sum(first: ValueGroups, second: ValueGroups, n: int) -> Floats:
    """Return p (halves) of the rank-sum test without tie correction between two runs on halves of n
    topics."""
    return significance.rank_sum_p(mann_whitney_u(first, second) + n * (n + 1) / 2, n, n)


def mann_whitney_u(first: ValueGroups, second: ValueGroups) -> Floats:
    """Return (halves), Mann and Whitney's U: the number of pairs of values with the larger one in
    the first, equal ones counting half.

    The sum of the ranks of the n values of one in both together is U + n (n + 1) / 2.
    """
    below = second.upto[np.searchsorted(second.values, first.values, side="left")]
    upto = second.upto[np.searchsorted(second.values, first.values, side="right")]
    return np.einsum("gh,gh->h", first.counts, below + upto) / 2


@dataclass(frozen=True)
class ValueGroups:
    """Topics grouped by equal values, counted by half.

    values: (n_groups), in order. counts: (n_groups, halves). upto: (n_groups + 1, halves), number
    of topics before each group. is_tie: (n_groups), whether the group has several topics.
    """

    values: Floats
    counts: Floats
    upto: Floats
    is_tie: NDArray[np.bool_]


def group_by_value(values: Floats, topics: NDArray[np.intp], rows: Counts) -> ValueGroups:
    """Group topics by their values (n_topics). rows: (n_topics, halves), membership of all topics
    in the halves."""
    topics = topics[np.argsort(values[topics])]
    ordered = values[topics]
    starts = np.flatnonzero(
        np.concatenate([np.ones(min(len(ordered), 1), bool), ordered[1:] != ordered[:-1]])
    )
    counts = rows[topics]
    if len(starts) < len(topics):
        counts = np.add.reduceat(counts, starts, axis=0)
    upto = np.zeros((len(starts) + 1, rows.shape[1]))
    np.cumsum(counts, axis=0, out=upto[1:])
    return ValueGroups(
        ordered[starts], counts.astype(float), upto, np.diff(starts, append=len(topics)) > 1
    )


def combine_tallies(tallies: Iterable[SplitHalfTally]) -> SplitHalfTally:
    """Return the sum of tallies of the same runs."""
    tallies = list(tallies)
    return SplitHalfTally(
        compared=sum(tally.compared for tally in tallies),
        by_mean=np.sum([tally.by_mean for tally in tallies], axis=0),
        by_median=np.sum([tally.by_median for tally in tallies], axis=0),
        tied_medians=sum(tally.tied_medians for tally in tallies),
    )


def tabulate_tally(tally: SplitHalfTally) -> SplitHalfTable:
    def rates(tests: tuple[str, ...], counts: NDArray[np.int64]) -> dict[str, dict[str, float]]:
        return {
            test: {
                rate: ratio_or_nan(int(count), tally.compared)
                for rate, count in zip(RATES, row, strict=True)
            }
            for test, row in zip(tests, counts, strict=True)
        }

    return SplitHalfTable(
        rates(TESTS, tally.by_mean),
        rates(TESTS_OF_MEDIANS, tally.by_median),
        ratio_or_nan(tally.tied_medians, 2 * tally.compared),
    )


def ratio_or_nan(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def run_split_half(
    scores: ArrayLike, *, splits: int = DEFAULT_SPLITS, alpha: float = ALPHA, seed: int
) -> SplitHalfTable:
    """Run all chunks in this process. scores: (n_runs, n_topics)."""
    scores = check_scores(scores)
    return tabulate_tally(
        combine_tallies(
            run_chunk(scores, chunk, alpha=alpha) for chunk in make_chunks(splits=splits, seed=seed)
        )
    )
