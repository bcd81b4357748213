"""One annotator at a time: agreement with the others, and what excluding somebody would change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.core.aggregation.labelling import Aggregation
from analysis.core.aggregation.majority import majority
from analysis.core.agreement.kappa import cohen_kappa
from analysis.core.intervals import Interval, agreement_interval, agreement_intervals, no_interval
from analysis.core.labels import MISSING, LabelTable
from pooling.core.columns import QrelsColumns


@dataclass(frozen=True, eq=False)
class AgainstOthers:
    """An annotator against the label of the others (majority, lowest-grade rule).

    kappa: NaN where undefined. interval: over the annotator's judgements, the others' labels held fixed.
    n: judgements that have at least one other. confusion: (n_grades, n_grades), own grade x label of the others.
    """

    name: str
    kappa: float
    interval: Interval
    n: int
    confusion: NDArray[np.int64]


def agreement_of_counts(name: str, joint: NDArray[np.int64], *, weighted: bool = True) -> AgainstOthers:
    """One annotator, from the joint counts (n_grades, n_grades) of own grades and labels of the others."""
    return AgainstOthers(name, float(cohen_kappa(joint, weighted=weighted)), kappa_interval(joint, weighted=weighted), int(joint.sum()), joint)


def agreements_of_counts(names: Sequence[str], joint: NDArray[np.int64]) -> list[AgainstOthers]:
    """Many annotators at once, with linear weights; joint: (n, n_grades, n_grades). The same as each alone, in a fraction of the time."""
    if not len(names):
        return []
    kappa = cohen_kappa(joint, weighted=True)
    bounds = agreement_intervals(joint, lambda some: cohen_kappa(some, weighted=True))
    n = joint.sum(axis=(1, 2))
    return [AgainstOthers(*of_one) for of_one in zip(names, kappa.tolist(), bounds, n.tolist(), joint, strict=True)]


def kappa_interval(joint: NDArray[np.int64], *, weighted: bool) -> Interval:
    """95 % interval of a kappa of joint counts (n_grades, n_grades), or the reason why there is none; units are the pairs."""
    cells = np.argwhere(joint > 0)
    if not len(cells):
        return no_interval("no pair shared with others")
    units = np.zeros((len(cells), *joint.shape))
    units[np.arange(len(cells)), cells[:, 0], cells[:, 1]] = 1
    return agreement_interval(units, joint[cells[:, 0], cells[:, 1]], lambda some: cohen_kappa(some, weighted=weighted), unit="pairs")


@dataclass(frozen=True)
class LabelChange:
    topic: str
    document: str
    before: int
    after: int


@dataclass(frozen=True, eq=False)
class Exclusion:
    """What the labels would be without some annotators. Pairs are (topic id, document id), ascending."""

    annotators: list[str]
    n_judgements: int
    """Judgements that would no longer count."""
    without_label: list[tuple[str, str]]
    """Pairs that fall below the minimum and lose their label."""
    changes: list[LabelChange]
    """Pairs that keep a label, but another one."""
    before: Aggregation
    after: Aggregation

    @property
    def topics_lost(self) -> list[str]:
        """Topics that have a label now and would have none, ascending by id."""
        before, after = (set(labels.relevant_share_per_topic()) for labels in (self.before, self.after))
        return sorted(before - after)

    def on_common_topics(self) -> tuple[QrelsColumns, QrelsColumns]:
        """The labels before and after, of the topics that have some in both: means over different topics cannot be compared."""
        lost = [i for i, topic in enumerate(self.before.table.topics) if topic in set(self.topics_lost)]
        kept = np.where(np.isin(self.before.table.pair_topic, lost), MISSING, self.before.label)
        return replace(self.before, label=kept.astype(np.int16)).qrels("before"), self.after.qrels("after")


def what_if_excluded(table: LabelTable, annotators: Iterable[str], *, min_judgements: int = 2) -> Exclusion:
    """What excluding these annotators would do to the labels (majority, lowest-grade rule). Nothing is changed."""
    excluded = sorted(set(annotators) & set(table.annotators))
    before = majority(table, min_judgements=min_judgements)
    remaining = table.without_annotators(set(excluded))
    after = majority(remaining, min_judgements=min_judgements)
    new = {remaining.pair_ids(pair): int(label) for pair, label in enumerate(after.label) if label != MISSING}
    touched = np.unique(table.pair[np.isin(table.annotator, [table.annotators.index(name) for name in excluded])])
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
    return Exclusion(excluded, len(table) - len(remaining), without_label, changes, before, after)
