"""One annotator at a time: agreement with the others, and what excluding somebody would change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.core.aggregation.labelling import Aggregation
from analysis.core.aggregation.majority import majority
from analysis.core.agreement.alpha import Interval, percentile_interval
from analysis.core.agreement.kappa import cohen_kappa
from analysis.core.agreement.raters import against_others
from analysis.core.labels import MISSING, LabelTable


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """An annotator against the label of the others (majority, lowest-grade rule).

    kappa: NaN where undefined. interval: percentile bootstrap over the annotator's judgements, the others' labels held fixed.
    n: judgements that have at least one other. confusion: (n_grades, n_grades), own grade x label of the others.
    """

    name: str
    kappa: float
    interval: Interval
    n: int
    confusion: NDArray[np.int64]


def leave_one_out(
    table: LabelTable, *, rng: np.random.Generator, weighted: bool = True, samples: int = 1000, coverage: float = 0.95
) -> list[LeaveOneOut]:
    """Each annotator, in the order of names; `weighted`: linear weights."""
    joints = against_others(table)
    return [of_joint(name, joint, rng=rng, weighted=weighted, samples=samples, coverage=coverage) for name, joint in zip(table.annotators, joints, strict=True)]


def of_joint(
    name: str, joint: NDArray[np.int64], *, rng: np.random.Generator, weighted: bool = True, samples: int = 1000, coverage: float = 0.95
) -> LeaveOneOut:
    """One annotator, from the joint counts (n_grades, n_grades) of own grades and labels of the others."""
    n, g = int(joint.sum()), len(joint)
    interval = Interval(float("nan"), float("nan"))
    if n and samples:
        draws = rng.multinomial(n, joint.ravel() / n, size=samples).reshape(samples, g, g)
        interval = percentile_interval(cohen_kappa(draws, weighted=weighted), coverage)
    return LeaveOneOut(name, float(cohen_kappa(joint, weighted=weighted)), interval, n, joint)


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
