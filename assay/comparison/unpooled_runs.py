"""Leave each run out of the pool in turn, and compare its score bounds and imputed nDCG with its
score under all judgements.

    for scores in iterate_left_out_scores(runs, groups, qrels, cutoff=10, min_relevant=1): ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.unjudged_documents import (
    MAX_MEAN_UNJUDGED,
    ScoreBounds,
    TopicTop,
    imputed_ndcg,
    ndcg_bounds,
    read_topic_tops,
    summarise_unique_documents,
)


class LeftOutScores(NamedTuple):
    """Scores of a run that was left out of the pool. unit: group left out with the run. unjudged:
    number in each topic. judged: mean nDCG@k under all qrels. bounds: float64 (n_topics) each, over
    the documents that became unjudged. filled: mean with expected grades. truth: float64
    (n_topics), nDCG@k with only these documents judged, which the bounds contain."""

    tag: str
    unit: str
    unjudged: list[int]
    judged: float
    bounds: ScoreBounds
    filled: float
    truth: NDArray[np.float64]

    @property
    def mean_unjudged(self) -> float:
        return sum(self.unjudged) / max(len(self.unjudged), 1)

    @property
    def shows_imputed_score(self) -> bool:
        """Return whether the imputed score should be shown. With more unjudged documents per topic
        it overestimates bad runs."""
        return self.mean_unjudged <= MAX_MEAN_UNJUDGED


def iterate_left_out_scores(
    runs: Sequence[RunColumns],
    groups: Sequence[str],
    qrels: QrelsColumns,
    *,
    cutoff: int,
    min_relevant: int,
) -> Iterator[LeftOutScores]:
    """Yield the scores of each run, by group name. Documents that only the left-out group has in
    its top `cutoff` lose their judgement. Other unjudged documents count as 0.

    groups: the group of each run. Runs of a group are in the given order.
    """
    highest = max(int(qrels.grades.max(initial=0)), 1)
    for group in sorted(set(groups)):
        others = [k for k, name in enumerate(groups) if name != group]
        own = [k for k, name in enumerate(groups) if name == group]
        reduced = drop_unique_judgements(
            qrels, [runs[k] for k in own], [runs[k] for k in others], cutoff=cutoff
        )
        unique_grades = summarise_unique_documents(
            [runs[k] for k in others],
            [groups[k] for k in others],
            reduced,
            depth=cutoff,
            min_relevant=min_relevant,
        )
        for k in own:
            whole = read_topic_tops(runs[k], qrels, cutoff)
            tops = [
                _restrict_unjudged(top, full)
                for top, full in zip(read_topic_tops(runs[k], reduced, cutoff), whole, strict=True)
            ]
            yield LeftOutScores(
                runs[k].tag,
                group,
                [len(top.unjudged) for top in tops],
                float(ndcg_bounds(whole, cutoff=cutoff, highest=highest).zero.mean()),
                ndcg_bounds(tops, cutoff=cutoff, highest=highest),
                float(imputed_ndcg(tops, unique_grades, cutoff=cutoff).mean()),
                _rescale_ideal(whole, tops, cutoff),
            )


def _restrict_unjudged(top: TopicTop, full: TopicTop) -> TopicTop:
    """Return the topic's documents with only those that lost their judgement marked as unjudged."""
    return replace(
        top,
        grades=[
            0 if known is None else grade
            for grade, known in zip(top.grades, full.grades, strict=True)
        ],
    )


def _rescale_ideal(
    whole: Sequence[TopicTop], tops: Sequence[TopicTop], cutoff: int
) -> NDArray[np.float64]:
    """Return nDCG@k with only this run's unjudged documents judged, so that the ideal contains no
    other document of its group."""
    judged = []
    for full, top in zip(whole, tops, strict=True):
        grades = [
            g
            for g, known in zip(full.grades, top.grades, strict=True)
            if known is None and g is not None
        ]
        judged.append(replace(top, grades=full.grades, judged=[*top.judged, *grades]))
    return ndcg_bounds(judged, cutoff=cutoff, highest=1).zero


def drop_unique_judgements(
    qrels: QrelsColumns, own: Sequence[RunColumns], others: Sequence[RunColumns], *, cutoff: int
) -> QrelsColumns:
    """Return the qrels without the judgements of documents that only `own` have in their top
    `cutoff`."""
    first, rest = _list_top_pairs(own, cutoff), _list_top_pairs(others, cutoff)
    grades = qrels.grades.copy()
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        for row, document in enumerate(qrels.documents[rows].tolist(), start=rows.start):
            if (topic, document) in first and (topic, document) not in rest:
                grades[row] = -1
    return replace(qrels, grades=grades)


def _list_top_pairs(runs: Sequence[RunColumns], cutoff: int) -> set[tuple[str, bytes]]:
    return {
        (topic, document)
        for run in runs
        for index, topic in enumerate(run.topics)
        for document in run.documents[run.rows(index)][:cutoff].tolist()
    }
