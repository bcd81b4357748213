"""Compute how the ranking of systems would change if single doubtful labels had other grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.comparison.rankings import DECIMALS
from assay.measures.evaluation import RecallBase, measure_topics
from assay.measures.measures import Measure
from assay.measures.packing import PackedRun

BATCH_ROWS = 500_000
"""Maximum number of qrels rows that are evaluated together, which bounds memory."""


@dataclass(frozen=True)
class LabelEffect:
    """The largest effect of the other grades of one label on the systems' means.

    change: the largest change of the difference between two systems' means. swaps: number of pairs
    of systems whose order changes, including those that become tied or untied. leader: whether
    another system, or more or fewer systems, would be first.
    """

    change: float
    swaps: int
    leader: bool


def compute_label_effects(
    qrels: QrelsColumns,
    packed: Sequence[PackedRun],
    alternatives: Sequence[tuple[int, Sequence[int]]],
    measure: Measure,
    *,
    min_relevant: int,
) -> list[LabelEffect]:
    """Return the effect of each label, all other labels unchanged.

    packed: the runs, packed with these qrels. alternatives: (row of the qrels, other grades) for
    each label. min_relevant: minimum relevant grade. Means over the topics of the qrels are
    compared after rounding to 10 decimals, as in `assay.comparison.rankings`. A label without other
    grades has no effect.
    """
    row = np.array([row for row, grades in alternatives for _ in grades], dtype=np.int64)
    grade = np.array([g for _, grades in alternatives for g in grades], dtype=np.int32)
    owner = np.repeat(np.arange(len(alternatives)), [len(grades) for _, grades in alternatives])
    base = RecallBase(qrels.offsets, qrels.grades)
    scores = np.stack(
        [measure_topics(one, base, [measure], min_relevant=min_relevant)[:, 0] for one in packed],
        axis=1,
    )
    now = scores.mean(axis=0)
    topic = base.topic[row]
    sizes = np.diff(qrels.offsets)[topic]
    effects = [LabelEffect(0.0, 0, False)] * len(alternatives)
    batch = (np.cumsum(sizes) - sizes) // BATCH_ROWS
    for number in np.unique(batch):
        some = batch == number
        changed = _score_changed_topics(
            qrels, packed, topic[some], row[some], grade[some], measure, min_relevant
        )
        means = now + (changed - scores[topic[some]]) / len(scores)
        for one, then in zip(owner[some].tolist(), means, strict=True):
            effects[one] = _larger_effect(effects[one], _compare_means(now, then))
    return effects


def _score_changed_topics(
    qrels: QrelsColumns,
    packed: Sequence[PackedRun],
    topic: NDArray[np.int64],
    row: NDArray[np.int64],
    grade: NDArray[np.int32],
    measure: Measure,
    min_relevant: int,
) -> NDArray[np.float64]:
    """Return the score of each run for copies of topics in which one row has another grade, of
    shape (n_copies, n_runs)."""
    sizes = np.diff(qrels.offsets)[topic]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shift = offsets[:-1] - qrels.offsets[topic]  # from rows of the qrels to rows of the copies
    grades = qrels.grades[_concatenate_ranges(qrels.offsets[topic], sizes)].copy()
    grades[row + shift] = grade
    base = RecallBase(offsets, grades)
    scores = np.empty((len(topic), len(packed)))
    for number, run in enumerate(packed):
        start = np.searchsorted(run.topic, topic)
        lengths = np.searchsorted(run.topic, topic, side="right") - start
        hits, copy = _concatenate_ranges(start, lengths), np.repeat(np.arange(len(topic)), lengths)
        copies = PackedRun(
            run.tag,
            copy,
            run.rank[hits],
            run.ascending_rank[hits],
            run.row[hits] + shift[copy],
            run.retrieved[topic],
            run.has_topic[topic],
            0,
        )
        scores[:, number] = measure_topics(copies, base, [measure], min_relevant=min_relevant)[:, 0]
    return scores


def _concatenate_ranges(start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of several ranges, given by start and length, in one array."""
    end = np.cumsum(length)
    return np.arange(int(length.sum())) + np.repeat(start - (end - length), length)


def _compare_means(now: NDArray[np.float64], then: NDArray[np.float64]) -> LabelEffect:
    before, after = now.round(DECIMALS), then.round(DECIMALS)
    first, second = np.triu_indices(len(now), 1)
    order, new_order = (np.sign(x[first] - x[second]) for x in (before, after))
    shift = then - now
    return LabelEffect(
        float(shift.max() - shift.min()),
        int((order != new_order).sum()),
        bool(((before == before.max()) != (after == after.max())).any()),
    )


def _larger_effect(one: LabelEffect, other: LabelEffect) -> LabelEffect:
    return LabelEffect(
        max(one.change, other.change), max(one.swaps, other.swaps), one.leader or other.leader
    )
