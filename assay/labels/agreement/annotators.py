"""One annotator at a time: agreement with the others, and the effect of an exclusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.labels.aggregation.labelling import Aggregation
from assay.labels.aggregation.majority import majority
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.agreement.raters import AnnotatorTopicCounts
from assay.labels.intervals import Interval, agreement_intervals, no_interval
from assay.labels.labels import MISSING, LabelTable

UNIT_BATCH_SIZE = 20_000
"""Number of annotators' topics whose intervals are computed together, which bounds memory."""


@dataclass(frozen=True, eq=False)
class AnnotatorKappa:
    """Agreement of an annotator with the label of the others (majority, lowest-grade rule).

    kappa: NaN if undefined. interval: over the topics of the annotator's judgements with the
    others' labels fixed, or over the pairs if all belong to one topic. over_pairs: always over the
    pairs, used only by `assay/campaigns/outlier_annotators.py`, because it is too narrow if pairs
    are grouped by topic. n: judgements of pairs with at least one other judgement. confusion:
    (n_grades, n_grades), own grade x label of the others.
    """

    name: str
    kappa: float
    interval: Interval
    over_pairs: Interval
    n: int
    confusion: NDArray[np.int64]


def compute_annotator_kappas(
    names: Sequence[str], counts: AnnotatorTopicCounts, *, weighted: bool = True
) -> list[AnnotatorKappa]:
    """Return the agreement of each annotator, with linear weights. counts: their grades and the
    labels of the others, by topic."""
    n, g = len(names), counts.joint.shape[-1]
    joint = np.zeros((n, g, g), dtype=np.int64)
    np.add.at(joint, counts.annotator, counts.joint)
    kappa = cohen_kappa(joint, weighted=weighted)
    over_pairs = _intervals_over_pairs(joint, weighted=weighted)
    over_topics = _intervals_over_topics(counts, n, weighted=weighted)
    n_topics = np.bincount(counts.annotator, minlength=n)
    intervals = [
        pairs if k < 2 else topics
        for k, pairs, topics in zip(n_topics.tolist(), over_pairs, over_topics, strict=True)
    ]
    n_pairs = joint.sum(axis=(1, 2)).tolist()
    return [
        AnnotatorKappa(*one)
        for one in zip(names, kappa.tolist(), intervals, over_pairs, n_pairs, joint, strict=True)
    ]


def kappa_interval(joint: NDArray[np.int64], *, weighted: bool) -> Interval:
    """Return the 95% confidence interval of the kappa of joint counts (n_topics, n_grades,
    n_grades), or the reason why there is none (`assay/labels/intervals.py`).

    Pairs of one topic are not independent, so topics are the sampling units, and pairs only if all
    belong to one topic.
    """
    joint = joint[joint.sum(axis=(1, 2)) > 0]
    if len(joint) < 2:
        return _intervals_over_pairs(joint.sum(axis=0)[None], weighted=weighted)[0]
    return _intervals_over_topics(
        AnnotatorTopicCounts(np.zeros(len(joint), dtype=np.int64), joint), 1, weighted=weighted
    )[0]


def _intervals_over_pairs(joint: NDArray[np.int64], *, weighted: bool) -> list[Interval]:
    """Return intervals over pairs. joint: (n, n_grades, n_grades)."""
    owner, row, column = np.nonzero(joint)
    units = np.zeros((len(owner), *joint.shape[1:]))
    units[np.arange(len(owner)), row, column] = 1
    intervals = agreement_intervals(
        units,
        joint[owner, row, column],
        owner,
        len(joint),
        partial(cohen_kappa, weighted=weighted),
        unit="pairs",
    )
    return [
        interval if n else no_interval("no pair shared with others")
        for interval, n in zip(intervals, joint.sum(axis=(1, 2)).tolist(), strict=True)
    ]


def _intervals_over_topics(
    counts: AnnotatorTopicCounts, n: int, *, weighted: bool
) -> list[Interval]:
    """Return intervals over topics. n: number of annotators."""
    last = np.bincount(counts.annotator, minlength=n).cumsum()
    result: list[Interval] = []
    while len(result) < n:
        begin = int(last[len(result) - 1]) if result else 0
        end = max(
            int(np.searchsorted(last, begin + UNIT_BATCH_SIZE, side="right")), len(result) + 1
        )
        own = slice(begin, int(last[end - 1]))
        units = counts.joint[own].astype(np.float64)
        owner = counts.annotator[own] - len(result)
        statistic = partial(cohen_kappa, weighted=weighted)
        result += agreement_intervals(
            units, np.ones(len(units), np.int64), owner, end - len(result), statistic, unit="topics"
        )
    return result


@dataclass(frozen=True)
class LabelChange:
    topic: str
    document: str
    before: int
    after: int


@dataclass(frozen=True, eq=False)
class ExclusionEffect:
    """The labels without some annotators. Pairs are (topic ID, document ID), ascending."""

    annotators: list[str]
    n_judgements: int
    """Judgements that would no longer count."""
    without_label: list[tuple[str, str]]
    """Pairs that fall below the minimum number of judgements and lose their label."""
    changes: list[LabelChange]
    """Pairs whose label changes."""
    before: Aggregation
    after: Aggregation

    @property
    def lost_topics(self) -> list[str]:
        """Return the topics that would lose all labels, ascending by ID."""
        before, after = (
            set(labels.relevant_share_per_topic()) for labels in (self.before, self.after)
        )
        return sorted(before - after)

    def restrict_to_common_topics(self) -> tuple[QrelsColumns, QrelsColumns]:
        """Return the labels before and after, for topics with labels in both, because means over
        different topics are not comparable."""
        lost = [
            i for i, topic in enumerate(self.before.table.topics) if topic in set(self.lost_topics)
        ]
        kept = np.where(np.isin(self.before.table.pair_topic, lost), MISSING, self.before.label)
        return replace(self.before, label=kept.astype(np.int16)).qrels("before"), self.after.qrels(
            "after"
        )


def compute_exclusion_effect(
    table: LabelTable, annotators: Iterable[str], *, min_judgements: int = 2
) -> ExclusionEffect:
    """Compute the effect on the labels of excluding these annotators (majority, lowest-grade rule).
    Nothing is changed."""
    excluded = sorted(set(annotators) & set(table.annotators))
    before = majority(table, min_judgements=min_judgements)
    remaining = table.exclude_annotators(set(excluded))
    after = majority(remaining, min_judgements=min_judgements)
    new = {
        remaining.pair_ids(pair): int(label)
        for pair, label in enumerate(after.label)
        if label != MISSING
    }
    touched = np.unique(
        table.pair[np.isin(table.annotator, [table.annotators.index(name) for name in excluded])]
    )
    without_label, changes = [], []
    for pair in touched.tolist():
        old = int(before.label[pair])
        if old == MISSING:
            continue
        ids = table.pair_ids(pair)
        label = new.get(ids, MISSING)
        if label == MISSING:
            without_label.append(ids)
        elif label != old:
            changes.append(LabelChange(*ids, before=old, after=label))
    return ExclusionEffect(
        excluded, len(table) - len(remaining), without_label, changes, before, after
    )
