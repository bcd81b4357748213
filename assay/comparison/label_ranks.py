"""Ranks of systems under resampled labels.

Labels are resampled within their pairs (`label_noise`), and for each labelling topics are resampled
as in `bootstrap`. The spread over topics already includes label noise that is independent between
topics, so resampled labels count it twice. The results are therefore conservative: no run gets
fewer possible ranks than from `MeanDifferences.rank_interval`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.comparison import significance
from assay.comparison.bootstrap import (
    DECIMALS,
    BootstrapSummary,
    MeanDifferences,
    combine_tallies,
    compute_sample_means,
    count_ranks,
    draw_topic_counts,
    summarise_tally,
)
from assay.labels.label_noise import NoisyLabels

Floats = NDArray[np.float64]
LABELLING_STREAM = 1 << 30
"""First number of the key of a labelling's random stream. Chunks of a bootstrap count from 0, so
the streams differ."""


@dataclass(frozen=True, eq=False)
class LabelRanks:
    """Ranks of systems by one measure when the labels are uncertain.

    by_labels: ranks if only the labels are resampled and the topics are fixed. with_topics: ranks
    if labels and topics are resampled. rank_interval: int64 (n_runs, 2), confidence interval of the
    true rank, from the variance over topics plus the variance over labellings. error: float64
    (n_runs, n_runs), standard deviation over labellings of the mean difference of two systems.
    """

    by_labels: BootstrapSummary
    with_topics: BootstrapSummary
    rank_interval: NDArray[np.int64]
    error: Floats


def compute_label_ranks(
    noisy: NoisyLabels, topics: NDArray[np.int64], *, labellings: int, trials: int, seed: int
) -> list[LabelRanks]:
    """Return the ranks by each measure. topics: int64 (n), indices into `noisy.qrels.topics` of the
    topics that count. trials: samples of topics over all labellings, at least one per labelling.

    Raises ValueError for fewer than two labellings, or without topics.
    """
    if labellings < 2:
        raise ValueError(
            f"the spread over labellings needs at least two labellings, not {labellings}"
        )
    if not len(topics):
        raise ValueError("ranks need at least one topic")
    observed = noisy.compute_scores()[:, topics]
    n_runs, _, n_measures = observed.shape
    whole = np.empty((n_measures, n_runs, labellings))
    tallies: list[list[Any]] = [[] for _ in range(n_measures)]
    for number in range(labellings):
        rng = np.random.default_rng(
            np.random.SeedSequence(seed, spawn_key=(LABELLING_STREAM, number))
        )
        values = noisy.compute_scores(noisy.resample(rng))[:, topics]
        counts = draw_topic_counts(len(topics), max(1, trials // labellings), rng)
        for measure in range(n_measures):
            scores = np.ascontiguousarray(values[:, :, measure])
            whole[measure, :, number] = np.round(scores.mean(axis=1), DECIMALS)
            tallies[measure].append(count_ranks(compute_sample_means(scores, counts)))
    return [
        _compute_measure_ranks(
            observed[:, :, k], whole[k], summarise_tally(combine_tallies(tallies[k]))
        )
        for k in range(n_measures)
    ]


def _compute_measure_ranks(
    scores: Floats, whole: Floats, with_topics: BootstrapSummary
) -> LabelRanks:
    """Return the ranks by one measure. scores: (n_runs, n_topics), under the original labels.
    whole: (n_runs, n_labellings), means under the resampled ones."""
    error = np.array([(run - whole).std(axis=1, ddof=1) for run in whole])
    return LabelRanks(
        summarise_tally(count_ranks(whole)),
        with_topics,
        compare_means_with_noise(scores, error).rank_interval,
        error,
    )


def compare_means_with_noise(scores: Floats, error: Floats) -> MeanDifferences:
    """Compare means as `bootstrap.compare_means` does, with the squared standard error due to
    labels added to that over topics. error: (n_runs, n_runs)."""
    n_runs, n = scores.shape
    mean, half, p = (
        np.empty((n_runs, n_runs)),
        np.full((n_runs, n_runs), np.nan),
        np.full((n_runs, n_runs), np.nan),
    )
    for run in range(n_runs):
        against = np.round(scores[run] - scores, significance.DECIMALS)
        mean[run] = against.mean(axis=1)
        if n > 1:
            spread = np.sqrt(against.var(axis=1, ddof=1) / n + error[run] ** 2)
            half[run] = scipy.special.stdtrit(n - 1, 0.975) * spread
            t = np.divide(
                np.abs(mean[run]),
                spread,
                out=np.where(mean[run] == 0, 0.0, np.inf),
                where=spread > 0,
            )
            p[run] = 2 * scipy.special.stdtr(n - 1, -t)
            is_constant = significance.is_constant(against) & (mean[run] != 0)
            p[run] = np.where(
                is_constant, np.maximum(p[run], significance.verdict_p_value(against)), p[run]
            )
    return MeanDifferences(mean, mean - half, mean + half, p, n)


def to_json(ranks: LabelRanks, tags: list[str], shown: list[str]) -> dict[str, Any]:
    """Return the results by tag, for the runs in `shown` only."""
    place = {tag: number for number, tag in enumerate(tags)}
    off_diagonal = ranks.error[np.triu_indices(len(tags), k=1)]
    return {
        "by_labels": {
            "expected_rank": {
                tag: float(ranks.by_labels.expected_rank[place[tag]]) for tag in shown
            },
            "best_rank": {tag: float(ranks.by_labels.best_rank[place[tag]]) for tag in shown},
            "worst_rank": {tag: float(ranks.by_labels.worst_rank[place[tag]]) for tag in shown},
        },
        "with_topics": {
            "expected_rank": {
                tag: float(ranks.with_topics.expected_rank[place[tag]]) for tag in shown
            },
            "interval": {tag: ranks.with_topics.interval[place[tag]].tolist() for tag in shown},
        },
        "rank_interval": {tag: ranks.rank_interval[place[tag]].tolist() for tag in shown},
        "error": float(np.median(off_diagonal)) if len(off_diagonal) else None,
        "labellings": ranks.by_labels.trials,
    }
