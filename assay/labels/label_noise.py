"""How much of what is said of systems is noise of the labels? Judgements drawn anew within their
pairs (METHODS 14).

A pair's judgements are taken as a sample of those that any number of such annotators would give:
each trial draws as many of them (or `per_pair`) with replacement, labels the pair by majority with
the lowest-grade rule, and evaluates the systems (ours). This errs in both directions:
a pair whose judgements all agree never changes, and a narrow majority changes more often than fresh
judgements would. `bootstrap_sentences.CAVEAT` says so wherever it is shown; docs/reference/methods/systems.md has
the table."""

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
    """The labelled pairs of a table, and runs joined with them, to be evaluated under labels drawn
    anew."""

    def __init__(
        self,
        table: LabelTable,
        runs: Sequence[RunColumns],
        measures: Sequence[Measure],
        *,
        level: int = 1,
        min_judgements: int = 2,
    ) -> None:
        labels = majority(table, min_judgements=min_judgements)
        self.counts = table.counts[labels.labelled]
        self.qrels: QrelsColumns = labels.qrels("labels")
        self.measures, self.level = list(measures), level
        evaluator = Evaluator(self.qrels, self.measures, level=level)
        self.packed = [evaluator.pack(run) for run in runs]

    def drawn(self, rng: np.random.Generator, *, per_pair: int | None = None) -> NDArray[np.int32]:
        """int32 (n_pairs): a label of each labelled pair, from as many judgements as it has, or
        `per_pair`."""
        n = self.counts.sum(axis=1)
        counts = rng.multinomial(n if per_pair is None else per_pair, self.counts / n[:, None])
        return lowest_mode(counts).astype(np.int32)

    def means(self, grades: NDArray[np.int32], counted: NDArray[np.bool_] | None = None) -> Floats:
        """(systems, measures) under these labels. counted: bool (topics), those that count; None:
        all that have a label."""
        values = self.values(grades)
        return np.stack(
            [
                compute_topic_means(of_run if counted is None else of_run[counted])
                for of_run in values
            ]
        )

    def values(self, grades: NDArray[np.int32] | None = None) -> Floats:
        """(systems, topics, measures) under these labels; None: those of the judgements as they
        are."""
        base = RecallBase(self.qrels.offsets, self.qrels.grades if grades is None else grades)
        return np.stack(
            [measure_topics(run, base, self.measures, level=self.level) for run in self.packed]
        )

    def trials(
        self,
        n: int,
        rng: np.random.Generator,
        counted: NDArray[np.bool_] | None = None,
        *,
        per_pair: int | None = None,
    ) -> Floats:
        """(n, systems, measures): means under labels drawn anew; counted as in `means`."""
        return np.stack([self.means(self.drawn(rng, per_pair=per_pair), counted) for _ in range(n)])


def pair_differences(values: Floats) -> Floats:
    """(pairs of systems, ...): second - first of each pair, rounded. values: (systems, ...)."""
    first, second = np.triu_indices(len(values), k=1)
    return rounded_differences(values[first], values[second])


def difference_deviations(values: Floats) -> Floats:
    """(pairs of systems): standard deviation over topics of each difference, 0 where it varies by
    rounding only. values: (systems, topics)."""
    differences = pair_differences(values)
    return np.where(is_constant(differences), 0.0, differences.std(axis=1, ddof=1))


def difference_errors(means: Floats) -> Floats:
    """(pairs of systems): the standard deviation over trials of each difference. means: (trials,
    systems)."""
    return np.asarray(pair_differences(means.T).std(axis=1, ddof=1))


def adjust_for_label_noise(
    spread: Floats, as_judged: Floats, planned: Floats, n_topics: int
) -> Floats:
    """(pairs of systems): what the standard deviation over topics of each difference would be under
    labels of another noise.

    spread: as it is; as_judged, planned: standard errors of the mean difference by the labels, as
    they are and as planned. Labels of different topics are drawn apart from each other, so the
    variance over topics is that of true differences plus n_topics times the square of the error by
    labels; the former is at least 0."""
    return np.asarray(
        np.sqrt(np.maximum(spread**2 - n_topics * as_judged**2, 0) + n_topics * planned**2)
    )
