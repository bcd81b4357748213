"""E1: each group's runs left out of the pool in turn; what their holes would have been worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.core.holes import MANY_HOLES, TopicTop, filled_ndcg, ndcg_bounds, tops_under, worth_of_uniques
from pooling.core.columns import QrelsColumns, RunColumns

CUTOFF = 10


def left_out(runs: Sequence[RunColumns], groups: Sequence[str], qrels: QrelsColumns, *, level: int) -> dict[str, float]:
    """Mean absolute errors of nDCG@10 with holes as 0 and filled, and how often the exact range failed to hold the truth.

    The truth is nDCG@10 under the qrels; documents that only the left-out group has in its first ten lose their judgement. filled_few: over the runs
    with at most three holes a topic, the only ones for which the expected fill is shown.
    """
    highest = int(qrels.grades.max())
    zero, filled, few, outside, n_topics = [], [], [], 0, 0
    for group in sorted(set(groups)):
        others = [k for k, name in enumerate(groups) if name != group]
        own = [k for k, name in enumerate(groups) if name == group]
        reduced = without_uniques(qrels, [runs[k] for k in own], [runs[k] for k in others])
        worth = worth_of_uniques([runs[k] for k in others], [groups[k] for k in others], reduced, depth=CUTOFF, level=level)
        for k in own:
            whole = tops_under(runs[k], qrels, CUTOFF)
            tops = [_with_own_holes(top, full) for top, full in zip(tops_under(runs[k], reduced, CUTOFF), whole, strict=True)]
            bounds, truth = ndcg_bounds(tops, cutoff=CUTOFF, highest=highest), _with_ideal_of_run(whole, tops)
            held = (bounds.low <= truth + 1e-9) & (truth <= bounds.high + 1e-9)
            outside, n_topics = outside + int((~held).sum()), n_topics + len(truth)
            all_judged = ndcg_bounds(whole, cutoff=CUTOFF, highest=highest).zero.mean()
            zero.append(abs(bounds.zero.mean() - all_judged))
            filled.append(abs(filled_ndcg(tops, worth, cutoff=CUTOFF).mean() - all_judged))
            few.append(sum(len(top.holes) for top in tops) / len(tops) <= MANY_HOLES)
    kept = np.array(few)
    return {
        "runs": len(zero), "zero": float(np.mean(zero)), "filled": float(np.mean(filled)), "ratio": float(np.mean(filled) / np.mean(zero)),
        "runs_few": int(kept.sum()), "ratio_few": float(np.array(filled)[kept].mean() / np.array(zero)[kept].mean()),
        "outside": outside, "topics": n_topics,
    }  # fmt: skip


def _with_own_holes(top: TopicTop, full: TopicTop) -> TopicTop:
    """Only what lost its judgement is a hole: what nobody ever judged counts as 0 in the truth, too."""
    return replace(top, grades=[0 if known is None else grade for grade, known in zip(top.grades, full.grades, strict=True)])


def _with_ideal_of_run(whole: Sequence[TopicTop], tops: Sequence[TopicTop]) -> np.ndarray:
    """The truth as the bounds mean it: only this run's holes are judged, so the ideal has no other document of its group."""
    judged = []
    for full, top in zip(whole, tops, strict=True):
        grades = [g for g, known in zip(full.grades, top.grades, strict=True) if known is None and g is not None]
        judged.append(replace(top, grades=full.grades, judged=[*top.judged, *grades]))
    return ndcg_bounds(judged, cutoff=CUTOFF, highest=1).zero


def without_uniques(qrels: QrelsColumns, own: Sequence[RunColumns], others: Sequence[RunColumns]) -> QrelsColumns:
    """The qrels, unjudged where only `own` have the document among their first ten."""
    first, rest = _tops(own), _tops(others)
    grades = qrels.grades.copy()
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        for row, document in enumerate(qrels.documents[rows].tolist(), start=rows.start):
            if (topic, document) in first and (topic, document) not in rest:
                grades[row] = -1
    return replace(qrels, grades=grades)


def _tops(runs: Sequence[RunColumns]) -> set[tuple[str, bytes]]:
    return {
        (topic, document) for run in runs for index, topic in enumerate(run.topics)
        for document in run.documents[run.rows(index)][:CUTOFF].tolist()
    }  # fmt: skip
