"""Each run left out of the pool in turn, as a late run sees it: holes, exact range and expected
fill of nDCG, beside what its judgements said (SAMPLING 6).

for one in left_out_scores(runs, groups, qrels, cutoff=10, level=1): ...          a LeftOutScores a
run
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.holes import (
    MANY_HOLES,
    Bounds,
    TopicTop,
    filled_ndcg,
    ndcg_bounds,
    tops_under,
    worth_of_uniques,
)


class LeftOutScores(NamedTuple):
    """unit: the group that was left out with the run. holes: in each topic. judged: mean nDCG@k
    under all qrels. bounds: float64 (n_topics) of each end, with the holes that leaving out has
    made. filled: the mean with every hole at its expected grade. truth: float64 (n_topics), nDCG@k
    once these holes alone are judged, which is what the bounds are of."""

    tag: str
    unit: str
    holes: list[int]
    judged: float
    bounds: Bounds
    filled: float
    truth: NDArray[np.float64]

    @property
    def mean_holes(self) -> float:
        return sum(self.holes) / max(len(self.holes), 1)

    @property
    def is_filled(self) -> bool:
        """Beyond so many holes a topic expected fill flatters bad runs, and is not shown."""
        return self.mean_holes <= MANY_HOLES


def left_out_scores(
    runs: Sequence[RunColumns],
    groups: Sequence[str],
    qrels: QrelsColumns,
    *,
    cutoff: int,
    level: int,
) -> Iterator[LeftOutScores]:
    """Documents that only the left-out group has among its first `cutoff` lose their judgement;
    what nobody ever judged counts as 0 throughout.

    groups: of each run. Groups by name, their runs as given.
    """
    highest = max(int(qrels.grades.max(initial=0)), 1)
    for group in sorted(set(groups)):
        others = [k for k, name in enumerate(groups) if name != group]
        own = [k for k, name in enumerate(groups) if name == group]
        reduced = without_uniques(
            qrels, [runs[k] for k in own], [runs[k] for k in others], cutoff=cutoff
        )
        worth = worth_of_uniques(
            [runs[k] for k in others],
            [groups[k] for k in others],
            reduced,
            depth=cutoff,
            level=level,
        )
        for k in own:
            whole = tops_under(runs[k], qrels, cutoff)
            tops = [
                _with_own_holes(top, full)
                for top, full in zip(tops_under(runs[k], reduced, cutoff), whole, strict=True)
            ]
            yield LeftOutScores(
                runs[k].tag,
                group,
                [len(top.holes) for top in tops],
                float(ndcg_bounds(whole, cutoff=cutoff, highest=highest).zero.mean()),
                ndcg_bounds(tops, cutoff=cutoff, highest=highest),
                float(filled_ndcg(tops, worth, cutoff=cutoff).mean()),
                _with_ideal_of_run(whole, tops, cutoff),
            )


def _with_own_holes(top: TopicTop, full: TopicTop) -> TopicTop:
    """Only what lost its judgement is a hole."""
    return replace(
        top,
        grades=[
            0 if known is None else grade
            for grade, known in zip(top.grades, full.grades, strict=True)
        ],
    )


def _with_ideal_of_run(
    whole: Sequence[TopicTop], tops: Sequence[TopicTop], cutoff: int
) -> NDArray[np.float64]:
    """Only this run's holes are judged, so the ideal has no other document of its group."""
    judged = []
    for full, top in zip(whole, tops, strict=True):
        grades = [
            g
            for g, known in zip(full.grades, top.grades, strict=True)
            if known is None and g is not None
        ]
        judged.append(replace(top, grades=full.grades, judged=[*top.judged, *grades]))
    return ndcg_bounds(judged, cutoff=cutoff, highest=1).zero


def without_uniques(
    qrels: QrelsColumns, own: Sequence[RunColumns], others: Sequence[RunColumns], *, cutoff: int
) -> QrelsColumns:
    """The qrels, unjudged where only `own` have the document among their first `cutoff`."""
    first, rest = _first_of(own, cutoff), _first_of(others, cutoff)
    grades = qrels.grades.copy()
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        for row, document in enumerate(qrels.documents[rows].tolist(), start=rows.start):
            if (topic, document) in first and (topic, document) not in rest:
                grades[row] = -1
    return replace(qrels, grades=grades)


def _first_of(runs: Sequence[RunColumns], cutoff: int) -> set[tuple[str, bytes]]:
    return {
        (topic, document)
        for run in runs
        for index, topic in enumerate(run.topics)
        for document in run.documents[run.rows(index)][:cutoff].tolist()
    }
