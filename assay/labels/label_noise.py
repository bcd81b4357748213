"""Estimate how label noise affects conclusions about systems, by resampling judgements within
pairs.

A pair's judgements are treated as a sample of those that any number of such annotators would give.
Each trial draws the same number of them (or `per_pair`) with replacement, labels the pair by
majority with the lowest-grade rule, and evaluates the systems (Assay-specific). This errs in both
directions: a pair with unanimous judgements never changes, and a narrow majority changes more often
than with new judgements. `bootstrap_sentences.CAVEAT` says so wherever results are shown.
docs/reference/methods/systems.md has the figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.significance import is_constant, rounded_differences
from assay.labels.aggregation.majority import lowest_mode, majority
from assay.labels.labels import LabelTable
from assay.measures.evaluation import Evaluator, RecallBase, compute_topic_means, measure_topics
from assay.measures.measures import Measure

Floats = NDArray[np.float64]


class NoisyLabels:
    """The labelled pairs of a table, joined with runs, to be evaluated under resampled labels."""

    def __init__(
        self,
        table: LabelTable,
        runs: Sequence[RunColumns],
        measures: Sequence[Measure],
        *,
        min_relevant: int = 1,
        min_judgements: int = 2,
    ) -> None:
        labels = majority(table, min_judgements=min_judgements)
        self.counts = table.counts[labels.is_labelled]
        self.qrels: QrelsColumns = labels.qrels("labels")
        self.measures, self.min_relevant = list(measures), min_relevant
        evaluator = Evaluator(self.qrels, self.measures, min_relevant=min_relevant)
        self.packed = [evaluator.pack(run) for run in runs]

    def resample(
        self, rng: np.random.Generator, *, per_pair: int | None = None
    ) -> NDArray[np.int32]:
        """Return int32 (n_pairs), a resampled label of each labelled pair from as many judgements
        as it has, or `per_pair`."""
        n = self.counts.sum(axis=1)
        counts = rng.multinomial(n if per_pair is None else per_pair, self.counts / n[:, None])
        return lowest_mode(counts).astype(np.int32)

    def compute_means(
        self, grades: NDArray[np.int32], counted: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return (systems, measures), means under these labels. counted: bool (topics), those that
        count, or None for all with a label."""
        values = self.compute_scores(grades)
        return np.stack(
            [
                compute_topic_means(of_run if counted is None else of_run[counted])
                for of_run in values
            ]
        )

    def compute_scores(self, grades: NDArray[np.int32] | None = None) -> Floats:
        """Return (systems, topics, measures) under these labels, or under the original judgements
        if None."""
        base = RecallBase(self.qrels.offsets, self.qrels.grades if grades is None else grades)
        return np.stack(
            [
                measure_topics(run, base, self.measures, min_relevant=self.min_relevant)
                for run in self.packed
            ]
        )

    def run_trials(
        self,
        n: int,
        rng: np.random.Generator,
        counted: NDArray[np.bool_] | None = None,
        *,
        per_pair: int | None = None,
    ) -> Floats:
        """Return (n, systems, measures), means under resampled labels. counted: as in `means`."""
        return np.stack(
            [self.compute_means(self.resample(rng, per_pair=per_pair), counted) for _ in range(n)]
        )


def pair_differences(values: Floats) -> Floats:
    """Return (pairs of systems, ...), second - first of each pair, rounded. values: (systems,
    ...)."""
    first, second = np.triu_indices(len(values), k=1)
    return rounded_differences(values[first], values[second])


def difference_deviations(values: Floats) -> Floats:
    """Return (pairs of systems), the standard deviation over topics of each difference, 0 if it
    varies only by rounding. values: (systems, topics)."""
    differences = pair_differences(values)
    return np.where(is_constant(differences), 0.0, differences.std(axis=1, ddof=1))


def difference_errors(means: Floats) -> Floats:
    """Return (pairs of systems), the standard deviation over trials of each difference. means:
    (trials, systems)."""
    return np.asarray(pair_differences(means.T).std(axis=1, ddof=1))


def adjust_for_label_noise(
    spread: Floats, as_judged: Floats, planned: Floats, n_topics: int
) -> Floats:
    """Return (pairs of systems), the standard deviation over topics of each difference under labels
    with different noise.

    spread: the current one. as_judged, planned: standard errors of the mean difference due to label
    noise, current and planned. Labels of different topics are resampled independently, so the
    variance over topics is that of true differences, at least 0, plus n_topics times the squared
    error due to label noise.
    """
    return np.asarray(
        np.sqrt(np.maximum(spread**2 - n_topics * as_judged**2, 0) + n_topics * planned**2)
    )
