"""Bootstrap the ranks of runs over topics, to show how certain each rank is.

Craswell, Mitra, Yilmaz, Campos and Lin, "MS MARCO: Benchmarking Ranking Models in the Large-Data
Regime", SIGIR 2021 (Tables 1 and 2, Figures 3 and 4), after Caruana, Joachims and Backstrom (2004).

A trial draws as many topics as there are, with replacement, and ranks the runs by their mean
scores, rounded to 10 decimals. Tied runs share the mean rank, and their probability is spread
equally over the ranks that they span.

The trials are divided into chunks of fixed size. Each chunk has its own random stream, derived from
the seed and its number, and tallies are added in the order of the chunks. The result therefore does
not depend on where or how many at a time they run. Conditions with the same number of topics use
the same samples.

    tally = combine_tallies(run_chunk(scores, chunk) for chunk in make_chunks(trials=1000, seed=0))
    summary = summarise_tally(tally)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from assay.comparison import significance
from assay.comparison.mean_intervals import MIN_TOPICS, mean_intervals
from assay.comparison.significance import Floats

TRIALS = 1000
CHUNK_TRIALS = 125
"""Trials per chunk. Another size gives other random samples."""
DECIMALS = 10
INTERVAL_PERCENTILES = (2.5, 97.5)
"""Percentiles of the rank, interpolated linearly."""
CONFIDENCE = 0.95
"""Confidence level of the intervals of differences."""


@dataclass(frozen=True)
class BootstrapChunk:
    """A chunk of bootstrap trials with its own random stream."""

    number: int
    trials: int
    seed: int

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number,)))


@dataclass(frozen=True)
class BootstrapTally:
    """Counts over some trials. Tallies of different trials can be added.

    places: float64 (n_runs, n_runs), how often run i had rank j + 1, ties spread equally. ranks:
    int64 (n_runs, 2 n_runs + 1), how often twice the rank of run i was j (shared ranks are halves).
    wins: int64 (n_runs, n_runs), twice how often run i beat run j, ties counting once.
    """

    trials: int
    places: Floats
    ranks: NDArray[np.int64]
    wins: NDArray[np.int64]


@dataclass(frozen=True)
class BootstrapSummary:
    """Shares and ranks over all trials, by run.

    rank_share: (n_runs, n_runs), P(rank of i = j + 1), rows sum to 1. expected_rank, best_rank,
    worst_rank: (n_runs). interval: (n_runs, 2), percentiles of the rank. beats: (n_runs, n_runs),
    how often i beats j, ties counting half, NaN on the diagonal.
    """

    trials: int
    rank_share: Floats
    expected_rank: Floats
    best_rank: Floats
    worst_rank: Floats
    interval: Floats
    beats: Floats


@dataclass(frozen=True)
class MeanDifferences:
    """Mean differences of run i minus run j with confidence intervals, all float64 (n_runs,
    n_runs).

    low, high: NaN if `mean_intervals` gives no interval. p: two-sided and uncorrected, from
    `significance.verdict_p_value`.
    """

    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    n_topics: int

    @property
    def significantly_worse(self) -> NDArray[np.bool_]:
        """Return bool (n_runs, n_runs), whether run i has a lower mean than run j with p below
        0.05. False for all pairs below the minimum number of topics for a verdict."""
        return np.asarray(
            (self.mean < 0)
            & (self.p < 1 - CONFIDENCE)
            & (self.n_topics >= significance.MIN_VERDICT_TOPICS)
        )

    @property
    def rank_interval(self) -> NDArray[np.int64]:
        """Return int64 (n_runs, 2), a confidence interval for the true rank of each run (after
        Mogstad, Romano, Shaikh and Wilhelm 2024): worse than the runs that are significantly
        better, better than those that are significantly worse. The tests of a run against all
        others are corrected by Holm's method. Below MIN_TOPICS topics the interval contains every
        rank, because the t-test errs too often if the spread differs between runs.

        At most 5% of these intervals miss the run's true rank. The percentiles of the rank over
        samples of topics miss that of the best of 30 nearly equal runs in 60%
        (docs/evidence/calibration.md).
        """
        n_runs = len(self.mean)
        ranks = np.tile(np.array([1, n_runs]), (n_runs, 1))
        if self.n_topics < MIN_TOPICS:
            return ranks
        for run in range(n_runs):
            others = np.arange(n_runs) != run
            surely = significance.adjust_p_values(self.p[run, others], "holm") < 1 - CONFIDENCE
            ranks[run] += np.array([1, -1]) * [
                np.count_nonzero(surely & (self.mean[run, others] < 0)),
                np.count_nonzero(surely & (self.mean[run, others] > 0)),
            ]
        return ranks


def compare_means(scores: ArrayLike) -> MeanDifferences:
    """Return mean differences over topics with intervals and tests. scores: (n_runs, n_topics).

    The t-test is used because the rule "beaten in 97.5% of the trials" has a type I error of 0.13
    at 10 topics and 0.075 at 25 instead of 0.05.
    """
    scores = check_scores(scores)
    n_runs, n = scores.shape
    mean, low, high, p = (
        np.zeros((n_runs, n_runs)),
        *(np.full((n_runs, n_runs), np.nan) for _ in range(2)),
        np.ones((n_runs, n_runs)),
    )
    for run in range(n_runs - 1):
        others = slice(run + 1, None)
        # so that a single row is summed in the same order as many rows
        against = np.ascontiguousarray(
            np.round(scores[run] - scores[others], significance.DECIMALS)
        )
        mean[run, others], p[run, others] = (
            against.mean(axis=1),
            significance.verdict_p_value(against),
        )
        low[run, others], high[run, others] = np.array(
            [one.bounds for one in mean_intervals(against, alpha=1 - CONFIDENCE)]
        ).T
        mean[others, run], p[others, run] = 0.0 - mean[run, others], p[run, others]
        low[others, run], high[others, run] = 0.0 - high[run, others], 0.0 - low[run, others]
    return MeanDifferences(mean, low, high, p, n)


def make_chunks(*, trials: int = TRIALS, seed: int) -> list[BootstrapChunk]:
    """Divide the trials into chunks that can run in any process and in any order."""
    return [
        BootstrapChunk(number, min(CHUNK_TRIALS, trials - start), seed)
        for number, start in enumerate(range(0, trials, CHUNK_TRIALS))
    ]


def run_chunk(scores: ArrayLike, chunk: BootstrapChunk) -> BootstrapTally:
    """Return the tally of one chunk. scores: (n_runs, n_topics). Raises ValueError for undefined
    scores or without topics."""
    scores = check_scores(scores)
    return count_ranks(
        compute_sample_means(scores, draw_topic_counts(scores.shape[1], chunk.trials, chunk.rng()))
    )


def check_scores(scores: ArrayLike) -> Floats:
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or scores.size == 0:
        raise ValueError(
            f"expected scores of at least one run on at least one topic, not an array of shape {scores.shape}"
        )
    if np.isnan(scores).any():
        raise ValueError("some scores are undefined; leave those topics out for all runs")
    return scores


def draw_topic_counts(n_topics: int, trials: int, rng: np.random.Generator) -> Floats:
    """Draw samples of topics. Returns float64 (trials, n_topics), how often each topic was drawn.
    Rows sum to n_topics."""
    drawn = rng.integers(n_topics, size=(trials, n_topics), dtype=np.uint32)
    counts = np.empty((trials, n_topics))
    for trial in range(trials):
        # one trial's counters fit into the processor's cache, those of all trials do not
        counts[trial] = np.bincount(drawn[trial], minlength=n_topics)
    return counts


def compute_sample_means(scores: Floats, counts: Floats) -> Floats:
    """Return (n_runs, trials), the mean score of each run over each sample, rounded so that equal
    scores tie."""
    with threadpool_limits(1, user_api="blas"):
        # chunks are the unit of parallel work, and threads within them would compete for the same
        # cores
        totals = scores @ counts.T
    return np.round(totals / scores.shape[1], DECIMALS)


def count_ranks(means: Floats) -> BootstrapTally:
    """Count ranks and wins of runs by their means (n_runs, trials). Higher is better."""
    n_runs, trials = means.shape
    above = np.zeros(means.shape, np.int32)
    tied = np.zeros(means.shape, np.int32)
    ahead = np.zeros((n_runs, n_runs), np.int64)
    for run in range(n_runs):
        wins = means[run] > means
        ahead[run] = np.count_nonzero(wins, axis=1)
        above += wins
        tied += means[run] == means
    run_index = np.arange(n_runs)[:, None]
    places = np.zeros(n_runs * n_runs)
    for offset in range(int(tied.max())):
        spans = tied > offset
        where = (run_index * n_runs + above + offset)[spans]
        places += np.bincount(where, weights=1 / tied[spans], minlength=n_runs * n_runs)
    width = 2 * n_runs + 1
    doubled = run_index * width + 2 * above + tied + 1
    return BootstrapTally(
        trials=trials,
        places=places.reshape(n_runs, n_runs),
        ranks=np.bincount(doubled.ravel(), minlength=n_runs * width).reshape(n_runs, width),
        wins=ahead + trials - ahead.T,
    )


def combine_tallies(tallies: Iterable[BootstrapTally]) -> BootstrapTally:
    """Return the sum of tallies of the same runs, added in the given order."""
    tallies = list(tallies)
    return BootstrapTally(
        trials=sum(tally.trials for tally in tallies),
        places=np.sum([tally.places for tally in tallies], axis=0),
        ranks=np.sum([tally.ranks for tally in tallies], axis=0),
        wins=np.sum([tally.wins for tally in tallies], axis=0),
    )


def summarise_tally(tally: BootstrapTally) -> BootstrapSummary:
    n_runs = len(tally.places)
    ranks = np.arange(2 * n_runs + 1) / 2
    occurring = tally.ranks > 0
    beats = tally.wins / (2 * tally.trials)
    np.fill_diagonal(beats, np.nan)
    return BootstrapSummary(
        trials=tally.trials,
        rank_share=tally.places / tally.trials,
        expected_rank=tally.ranks @ ranks / tally.trials,
        best_rank=ranks[occurring.argmax(axis=1)],
        worst_rank=ranks[2 * n_runs - occurring[:, ::-1].argmax(axis=1)],
        interval=np.array(
            [
                np.percentile(np.repeat(ranks, counts), INTERVAL_PERCENTILES)
                for counts in tally.ranks
            ]
        ),
        beats=beats,
    )


def run_bootstrap(scores: ArrayLike, *, trials: int = TRIALS, seed: int) -> BootstrapSummary:
    """Run all chunks in this process. scores: (n_runs, n_topics)."""
    scores = check_scores(scores)
    return summarise_tally(
        combine_tallies(run_chunk(scores, chunk) for chunk in make_chunks(trials=trials, seed=seed))
    )


def to_json(
    summary: BootstrapSummary,
    tags: Sequence[str],
    scores: Floats,
    *,
    shown: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Return the summary by tag with the field names of the command's JSON output. Only the runs in
    `shown` are included, ranked among all runs. scores: (n_runs, n_topics).

    With fewer topics than a verdict needs, ranks are NaN and `no_verdict` has the reason.
    """
    why = significance.no_verdict_reason(scores.shape[1])
    if why:
        summary = BootstrapSummary(
            summary.trials,
            *(
                np.full_like(part, np.nan)
                for part in (
                    summary.rank_share,
                    summary.expected_rank,
                    summary.best_rank,
                    summary.worst_rank,
                    summary.interval,
                    summary.beats,
                )
            ),
        )
    observed, between = scores.mean(axis=1), compare_means(scores)
    worse, may_be = between.significantly_worse, between.rank_interval
    place = {tag: i for i, tag in enumerate(tags)}
    chosen = [(tag, place[tag]) for tag in (tags if shown is None else shown)]
    return {
        "observed": {tag: float(observed[i]) for tag, i in chosen},
        "expected_rank": {tag: float(summary.expected_rank[i]) for tag, i in chosen},
        "best_rank": {tag: float(summary.best_rank[i]) for tag, i in chosen},
        "worst_rank": {tag: float(summary.worst_rank[i]) for tag, i in chosen},
        "rank_share": {
            tag: {str(rank): share for rank, share in enumerate(summary.rank_share[i].tolist(), 1)}
            for tag, i in chosen
        },
        "interval": {tag: summary.interval[i].tolist() for tag, i in chosen},
        "rank_interval": {
            tag: [np.nan, np.nan] if why else may_be[i].tolist() for tag, i in chosen
        },
        "beats": {
            tag: {other: float(summary.beats[i, j]) for other, j in place.items() if j != i}
            for tag, i in chosen
        },
        "difference": {
            tag: {
                other: [float(part[i, j]) for part in (between.mean, between.low, between.high)]
                for other, j in place.items()
                if j != i
            }
            for tag, i in chosen
        },
        "significantly_worse": {
            tag: [other for other, j in place.items() if worse[i, j]] for tag, i in chosen
        },
        "comparisons": len(tags) * (len(tags) - 1) // 2,
        "trials": summary.trials,
        "no_verdict": why,
    }
