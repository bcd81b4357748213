"""Compare click-based qrels with judgements of the same pairs (TripJudge, Althammer et al. 2022,
figure 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.measures.packing import ABSENT, TopicDocumentPairs, index_qrels

UNLABELLED = "unlabelled"


@dataclass(frozen=True)
class OverlapCounts:
    """Numbers of judged pairs by their click labels.

    n_pairs: judged pairs considered. relevant, irrelevant: {"unlabelled": n, "0": n, ...}, pairs by
    click grade, with every grade of the click qrels. They add up to n_pairs. n_both: pairs with a
    judgement and a click label. n_judged_only, n_clicked_only: with one of them. n_contradicting:
    pairs among n_both that one calls relevant (clicks: grade 1 or more) and the other does not.
    """

    n_pairs: int
    relevant: dict[str, int]
    irrelevant: dict[str, int]
    n_both: int
    n_judged_only: int
    n_clicked_only: int
    n_contradicting: int

    @property
    def n_agreeing(self) -> int:
        """Return the number of pairs that are relevant with click grade 1 or more, or not relevant
        with click grade 0 or none (evaluation treats unlabelled pairs as not relevant)."""
        clicked = sum(n for label, n in self.relevant.items() if _is_relevant(label))
        return clicked + sum(n for label, n in self.irrelevant.items() if not _is_relevant(label))

    def shares(self) -> dict[str, Any]:
        """Return the result as JSON values: shares of all pairs considered (NaN without pairs), and
        numbers of the overlap."""

        def share(n: int) -> float:
            return n / self.n_pairs if self.n_pairs else math.nan

        return {
            "pairs": self.n_pairs,
            "relevant": {label: share(n) for label, n in self.relevant.items()},
            "irrelevant": {label: share(n) for label, n in self.irrelevant.items()},
            "agree": share(self.n_agreeing),
            "disagree": share(self.n_pairs - self.n_agreeing),
            "both": self.n_both,
            "judged_only": self.n_judged_only,
            "clicked_only": self.n_clicked_only,
            "contradicting": self.n_contradicting,
        }


class Contradiction(NamedTuple):
    """A pair that either its judgement or its clicks call relevant, but not both. judged, clicks:
    grades."""

    topic: str
    document: str
    judged: int
    clicks: int


def find_contradictions(
    judged: QrelsColumns,
    clicks: QrelsColumns,
    *,
    min_relevant: int = 1,
    within: TopicDocumentPairs | None = None,
) -> list[Contradiction]:
    """Return the pairs counted as contradicting, in the order of the judgements."""
    rows, label = _match_labels(judged, clicks, within)
    chosen = (label >= 0) & ((judged.grades[rows] >= min_relevant) != (label >= 1))
    topic = np.repeat(np.arange(len(judged.topics)), np.diff(judged.offsets))
    return [
        Contradiction(
            judged.topics[topic[row]],
            judged.documents[row].decode(),
            int(judged.grades[row]),
            grade,
        )
        for row, grade in zip(rows[chosen].tolist(), label[chosen].tolist(), strict=True)
    ]


def _match_labels(
    judged: QrelsColumns, clicks: QrelsColumns, within: TopicDocumentPairs | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (the rows of the judged pairs considered, the click label of each, -1 if it has
    none)."""
    considered = judged.grades >= 0
    if within is not None:
        considered &= _present_mask(index_qrels(judged).find(within), len(judged))
    rows = np.flatnonzero(considered)
    click_row = index_qrels(clicks).find(select_pairs(judged, rows))
    return rows, np.maximum(
        np.where(click_row == ABSENT, -1, clicks.grades[click_row] if len(clicks) else -1), -1
    )


def count_label_overlap(
    judged: QrelsColumns,
    clicks: QrelsColumns,
    *,
    min_relevant: int = 1,
    within: TopicDocumentPairs | None = None,
) -> OverlapCounts:
    """Compare judgements with click labels, over all judged pairs or only those in `within`.

    min_relevant: minimum relevant grade of the judgements. Negative grades count as no label. With
    `within`, click labels outside it do not count as "clicked only" either.
    """
    judged_index, click_index = index_qrels(judged), index_qrels(clicks)
    labelled = clicks.grades >= 0
    if within is not None:
        labelled &= _present_mask(click_index.find(within), len(clicks))
    judged_rows, label = _match_labels(judged, clicks, within)
    relevant = judged.grades[judged_rows] >= min_relevant
    grades = np.unique(clicks.grades[clicks.grades >= 0]).tolist()
    judged_too = judged_index.find(select_pairs(clicks, np.flatnonzero(labelled)))
    unjudged = (judged_too == ABSENT) | ((judged.grades[judged_too] < 0) if len(judged) else True)
    return OverlapCounts(
        n_pairs=len(judged_rows),
        relevant=_count_grades(label[relevant], grades),
        irrelevant=_count_grades(label[~relevant], grades),
        n_both=int((label >= 0).sum()),
        n_judged_only=int((label < 0).sum()),
        n_clicked_only=int(unjudged.sum()),
        n_contradicting=int(((label >= 0) & (relevant != (label >= 1))).sum()),
    )


def select_pairs(qrels: QrelsColumns, rows: NDArray[np.int64]) -> TopicDocumentPairs:
    topic = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets))
    return TopicDocumentPairs(qrels.topics, topic[rows], qrels.documents[rows])


def _present_mask(rows: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[rows[rows != ABSENT]] = True
    return mask


def _count_grades(labels: NDArray[np.int64], grades: list[int]) -> dict[str, int]:
    return {UNLABELLED: int((labels < 0).sum())} | {
        str(grade): int((labels == grade).sum()) for grade in grades
    }


def _is_relevant(label: str) -> bool:
    return label != UNLABELLED and int(label) >= 1
