"""Joint counts of grades: annotators against labels, against the labels of the others, and against
each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.labels.aggregation.majority import lowest_mode
from assay.labels.agreement.kappa import cohen_kappa, mean_of_defined
from assay.labels.labels import MISSING, LabelTable


def count_against_labels(table: LabelTable, label: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return (n_annotators, n_grades, n_grades), each annotator's grades (second axis) against the
    labels (third).

    label: (n_pairs), MISSING for pairs without one, whose judgements are left out.
    """
    return _count_joint(table, label[table.pair])


def compute_labels_of_others(table: LabelTable) -> NDArray[np.int64]:
    """Return (n_judgements), the label that the other judgements of the pair give, by majority with
    the lowest-grade rule. MISSING without other judgements."""
    others = table.counts[table.pair]
    others[np.arange(len(table)), table.grade] -= 1
    alone = table.judgements_per_pair[table.pair] < 2
    return (
        np.where(alone, MISSING, lowest_mode(others)) if len(table) else np.empty(0, dtype=np.int64)
    )


def count_against_others(table: LabelTable) -> NDArray[np.int64]:
    """Return (n_annotators, n_grades, n_grades), each annotator's grades (second axis) against the
    label of the others (third)."""
    return _count_joint(table, compute_labels_of_others(table))


class AnnotatorTopicCounts(NamedTuple):
    """Joint counts of each annotator and topic with comparable judgements, sorted by annotator,
    then topic.

    annotator: (k), index. joint: (k, n_grades, n_grades), own grade x compared grade.
    """

    annotator: NDArray[np.int64]
    joint: NDArray[np.int64]


def count_by_topic(
    annotator: NDArray[np.integer],
    topic: NDArray[np.integer],
    grade: NDArray[np.integer],
    other: NDArray[np.integer],
    *,
    n_grades: int,
) -> AnnotatorTopicCounts:
    """Count judgements by annotator and topic, each against the grade it is compared with.
    annotator, topic, grade, other: (n), per judgement."""
    n_topics = int(topic.max(initial=0)) + 1
    codes, place = np.unique(annotator.astype(np.int64) * n_topics + topic, return_inverse=True)
    cells = (place * n_grades + grade) * n_grades + other
    joint = np.bincount(cells, minlength=len(codes) * n_grades**2).reshape(
        len(codes), n_grades, n_grades
    )
    return AnnotatorTopicCounts(codes // n_topics, joint)


def count_against_others_by_topic(table: LabelTable) -> AnnotatorTopicCounts:
    """Count each annotator's grades against the label of the others, by topic."""
    other = compute_labels_of_others(table)
    kept = np.flatnonzero(other != MISSING)
    topic = table.pair_topic[table.pair[kept]]
    return count_by_topic(
        table.annotator[kept], topic, table.grade[kept], other[kept], n_grades=table.n_grades
    )


def _count_joint(table: LabelTable, other: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return joint counts by annotator of the judgements' grades and the grades they are compared
    with (n_judgements, or MISSING)."""
    kept = other != MISSING
    g = table.n_grades
    cells = (table.annotator[kept].astype(np.int64) * g + table.grade[kept]) * g + other[kept]
    return np.bincount(cells, minlength=table.n_annotators * g * g).reshape(
        table.n_annotators, g, g
    )


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Pairs of annotators with common pairs.

    first, second: (n), indices of annotators, first < second, ascending. joint: float64 (n,
    n_grades, n_grades), the number of times the first annotator gave the second axis' grade and the
    second annotator the third's.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    joint: NDArray[np.float64]

    @property
    def n_common(self) -> NDArray[np.int64]:
        """Return (n), the number of common pairs."""
        return self.joint.sum(axis=(1, 2)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.first)


def find_annotator_pairs(table: LabelTable, *, min_common: int = 10) -> AnnotatorPairs:
    """Return every pair of annotators with at least `min_common` common pairs.

    The joint counts of all of them are one sparse product: annotators and grades x pairs, times its
    transpose.
    """
    g = table.n_grades
    column = table.annotator.astype(np.int64) * g + table.grade
    given = scipy.sparse.csr_array(
        (np.ones(len(table), dtype=np.float64), (table.pair, column)),
        shape=(table.n_pairs, table.n_annotators * g),
    )
    both = (given.T.tocsr() @ given).tocoo()
    row, column = (index.astype(np.int64) for index in both.coords)
    upper = row // g < column // g
    row, column, n = row[upper], column[upper], both.data[upper]
    codes, position = np.unique(
        (row // g) * max(table.n_annotators, 1) + column // g, return_inverse=True
    )
    enough = np.bincount(position, weights=n, minlength=len(codes)) >= max(min_common, 1)
    kept = enough[position]
    position = (np.cumsum(enough) - 1)[position[kept]]
    cells = (position * g + row[kept] % g) * g + column[kept] % g
    codes = codes[enough]
    joint = (
        np.bincount(cells, weights=n[kept], minlength=len(codes) * g * g)
        .astype(np.float64, copy=False)
        .reshape(len(codes), g, g)
    )
    return AnnotatorPairs(
        codes // max(table.n_annotators, 1), codes % max(table.n_annotators, 1), joint
    )


def permuted_kappas(
    table: LabelTable, *, weighted: bool, rng: np.random.Generator, permutations: int = 100
) -> NDArray[np.float64]:
    """Return (permutations), the mean kappa against the label that annotators would reach by
    chance, because each label contains their own vote. The spread shows its precision.

    The grades of each annotator are permuted among the pairs that they judged, and labels are
    recomputed. NaN if no annotator has a kappa. All pairs of `table` take part.
    """
    floors = np.full(permutations, np.nan)
    by_annotator = np.argsort(table.annotator, kind="stable")
    g, own = table.n_grades, table.grade[by_annotator].astype(np.int64)
    annotator, pair = (
        table.annotator[by_annotator].astype(np.int64),
        table.pair[by_annotator].astype(np.int64),
    )
    bounds = [*np.unique(annotator, return_index=True)[1].tolist(), len(own)]
    for i in range(permutations):
        shuffled = _shuffle_grades(bounds, own, rng.random(len(own)))
        counts = np.bincount(pair * g + shuffled, minlength=table.n_pairs * g).reshape(
            table.n_pairs, g
        )
        label = lowest_mode(counts) if table.n_pairs else np.empty(0, dtype=np.int64)
        joint = np.bincount(
            (annotator * g + shuffled) * g + label[pair], minlength=table.n_annotators * g * g
        )
        floors[i] = mean_of_defined(cohen_kappa(joint.reshape(-1, g, g), weighted=weighted))
    return floors


def _shuffle_grades(
    bounds: list[int], grade: NDArray[np.int64], random: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the grades (n) of each annotator in the order of their random numbers in [0, 1).
    bounds: start of each annotator's grades, and the end of the last.

    Random number and grade are the bits of one integer, because sorting the values of one annotator
    after the other is faster than computing a permutation of all.
    """
    of_grade = int(grade.max(initial=0)).bit_length()
    key = ((random * 2.0**52).astype(np.int64) << of_grade) + grade
    for start, end in pairwise(bounds):
        key[start:end].sort()
    return key & ((1 << of_grade) - 1)


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """A confusion matrix of grades.

    counts: (n_grades, n_grades). Against labels, rows are annotators' grades and columns are
    labels. Between annotators it is symmetric, with every two judgements of a pair counted once in
    each order.
    """

    counts: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Return each row's shares, NaN for a grade that never occurs."""
        totals = self.counts.sum(axis=1, keepdims=True)
        return np.where(totals > 0, self.counts / np.maximum(totals, 1), np.nan)


def make_confusion_matrix(
    table: LabelTable, label: NDArray[np.integer] | None = None
) -> ConfusionMatrix:
    """Count how often each two grades occur together: in any two judgements of a pair, or in a
    judgement and the pair's label if labels (n_pairs) are given."""
    if label is not None:
        return ConfusionMatrix(count_against_labels(table, label).sum(axis=0))
    counts = table.counts
    return ConfusionMatrix(counts.T @ counts - np.diag(counts.sum(axis=0)))
