"""The result of an aggregation: a label for each pair, how it was decided, and the counts to
report."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.labels.labels import MISSING, LabelTable

NONE, UNANIMOUS, MAJORITY, LOWEST_GRADE, ADJUDICATED = -1, 0, 1, 2, 3
DECISIONS = {
    UNANIMOUS: "unanimous",
    MAJORITY: "majority",
    LOWEST_GRADE: "lowest_grade",
    ADJUDICATED: "adjudicated",
}


CONVERGENCE_TOLERANCE = 1e-6
"""An iterative method stops when no posterior changes by this much in one round. The likelihood is
no measure of that: among many pairs it stands still while single posteriors still move from one
grade to another."""
MAX_ROUNDS = 2000
TIE_TOLERANCE = 1e-9
"""Posteriors closer than this are a tie: of symmetrical grades rounding must not choose."""


def most_probable_grade(posterior: NDArray[np.float64]) -> NDArray[np.int16]:
    """(n, n_grades) -> (n): the grade of the highest probability, of equal ones the lowest."""
    return (
        (posterior >= posterior.max(axis=1, keepdims=True) - TIE_TOLERANCE)
        .argmax(axis=1)
        .astype(np.int16)
    )


class Iteration(NamedTuple):
    """rounds: of the iteration. converged: False if they ran out. log_likelihood: of the grades
    with the prior, None without one."""

    rounds: int
    converged: bool
    log_likelihood: float | None


@dataclass(frozen=True, eq=False)
class Aggregation:
    """Labels of the pairs of `table`.

    label: int16 (n_pairs), MISSING where the pair has fewer than `min_judgements` judgements.
    decision: int8 (n_pairs), one of DECISIONS, NONE where there is no label; None for methods that
    decide otherwise. posterior: float64 (n_pairs, n_grades), NaN rows where there is no label; None
    for methods without probabilities. ended: how an iterative method ended; None for the others.
    """

    method: str
    min_judgements: int
    table: LabelTable
    label: NDArray[np.int16]
    decision: NDArray[np.int8] | None = None
    posterior: NDArray[np.float64] | None = None
    ended: Iteration | None = None

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(n_pairs)"""
        return self.label != MISSING

    @property
    def n_labelled(self) -> int:
        return int(self.labelled.sum())

    @property
    def n_too_few(self) -> int:
        """Pairs with a counted judgement, but too few for a label."""
        return len(self.label) - self.n_labelled

    def labels(self) -> dict[int, int]:
        """How many pairs have each grade as their label; every grade of the scale is there."""
        return dict(
            enumerate(
                np.bincount(self.label[self.labelled], minlength=self.table.n_grades).tolist()
            )
        )

    def cross(self) -> dict[int, dict[str, int]] | None:
        """Pairs by label and, within it, by decision (TripJudge's Figure 1). None for methods
        without decisions."""
        if self.decision is None:
            return None
        names = self._decision_names()
        return {
            grade: {
                name: int(((self.label == grade) & (self.decision == code)).sum())
                for code, name in names.items()
            }
            for grade in range(self.table.n_grades)
        }

    def decisions(self) -> dict[str, int] | None:
        """Pairs by decision. None for methods without decisions."""
        if self.decision is None:
            return None
        return {
            name: int((self.decision == code).sum())
            for code, name in self._decision_names().items()
        }

    def _decision_names(self) -> dict[int, str]:
        """`adjudicated` only where there is one."""
        ruled = self.decision is not None and bool(np.any(self.decision == ADJUDICATED))
        return {code: name for code, name in DECISIONS.items() if code != ADJUDICATED or ruled}

    def relevant_share(self, threshold: int = 1) -> float:
        """Share of the labels that are at least `threshold`; NaN without labels."""
        labels = self.label[self.labelled]
        return float((labels >= threshold).mean()) if len(labels) else float("nan")

    def relevant_share_per_topic(self, threshold: int = 1) -> dict[str, float]:
        """The same for each topic that has a label, by topic id."""
        topic = self.table.pair_topic[self.labelled]
        n = np.bincount(topic, minlength=len(self.table.topics))
        relevant = np.bincount(
            topic[self.label[self.labelled] >= threshold], minlength=len(self.table.topics)
        )
        return {
            name: int(relevant[i]) / int(n[i]) for i, name in enumerate(self.table.topics) if n[i]
        }

    def adjudicated(self, rulings: Mapping[tuple[str, str], int]) -> Aggregation:
        """With a manager's own labels, by (topic id, document id), over those of the method;
        decision `adjudicated`.

        A ruling labels a pair that had too few judgements, too. Rulings on pairs without any
        judgement are ignored, since the table does not hold them. ValueError if a grade is outside
        the scale."""
        label = self.label.copy()
        decision = (
            np.full(len(label), NONE, dtype=np.int8)
            if self.decision is None
            else self.decision.copy()
        )
        table = self.table
        width = max(len(table.documents), 1)
        codes = (
            table.pair_topic.astype(np.int64) * width + table.pair_document
        )  # ascending, as the pairs of a table are
        for (topic, document), grade in rulings.items():
            if not 0 <= grade < table.n_grades:
                raise ValueError(f"grade {grade} on a scale from 0 to {table.n_grades - 1}")
            t, d = _find_index(table.topics, topic), _find_index(table.documents, document)
            if t is None or d is None:
                continue
            pair = int(np.searchsorted(codes, t * width + d))
            if pair < len(codes) and codes[pair] == t * width + d:
                label[pair], decision[pair] = grade, ADJUDICATED
        return replace(self, label=label, decision=decision)

    def qrels(self, name: str) -> QrelsColumns:
        """The labelled pairs, ascending by topic id and document id: the same judgements give the
        same bytes."""
        kept = np.flatnonzero(self.labelled)
        topic = self.table.pair_topic[kept]
        used, starts = np.unique(topic, return_index=True)
        documents = [
            self.table.documents[i].encode() for i in self.table.pair_document[kept].tolist()
        ]
        return QrelsColumns(
            name=name,
            topics=[self.table.topics[i] for i in used.tolist()],
            offsets=np.append(starts, len(kept)).astype(np.int64),
            documents=np.array(documents, dtype=np.bytes_)
            if documents
            else np.empty(0, dtype="S1"),
            grades=self.label[kept].astype(np.int32),
        )


def _find_index(ids: list[str], name: str) -> int | None:
    """Where `name` is among ascending ids; None if it is not."""
    place = bisect_left(ids, name)
    return place if place < len(ids) and ids[place] == name else None
