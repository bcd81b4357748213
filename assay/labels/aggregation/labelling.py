"""The result of an aggregation: the label of each pair, how it was decided, and counts to
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
"""An iterative method stops when no posterior changes by this much in one iteration. The likelihood
is not a suitable criterion, because with many pairs it hardly changes while single posteriors still
move from one grade to another."""
MAX_ROUNDS = 2000
TIE_TOLERANCE = 1e-9
"""Posteriors closer than this are tied, so that rounding does not decide between symmetrical
grades."""


def most_probable_grade(posterior: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return (n), the grade with the highest probability, the lowest of tied grades. posterior: (n,
    n_grades)."""
    return (
        (posterior >= posterior.max(axis=1, keepdims=True) - TIE_TOLERANCE)
        .argmax(axis=1)
        .astype(np.int16)
    )


class Iteration(NamedTuple):
    """How an iterative method of aggregation ended. rounds: number of iterations. converged: False
    if the maximum number was reached. log_likelihood: of the grades including the prior, None if
    the method has none."""

    rounds: int
    converged: bool
    log_likelihood: float | None


@dataclass(frozen=True, eq=False)
class Aggregation:
    """Labels of the pairs of `table`.

    label: int16 (n_pairs), MISSING if the pair has fewer than `min_judgements` judgements.
    decision: int8 (n_pairs), one of DECISIONS, NONE without a label. It is None for methods that do
    not decide by votes. posterior: float64 (n_pairs, n_grades), NaN rows without a label. It is
    None for methods without probabilities. ended: how an iterative method ended, None for other
    methods.
    """

    method: str
    min_judgements: int
    table: LabelTable
    label: NDArray[np.int16]
    decision: NDArray[np.int8] | None = None
    posterior: NDArray[np.float64] | None = None
    ended: Iteration | None = None

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Return (n_pairs), whether the pair has a label."""
        return self.label != MISSING

    @property
    def n_labelled(self) -> int:
        return int(self.is_labelled.sum())

    @property
    def n_unlabelled(self) -> int:
        """Return the number of pairs with too few counted judgements for a label."""
        return len(self.label) - self.n_labelled

    def labels(self) -> dict[int, int]:
        """Return the number of pairs with each label, for every grade of the scale."""
        return dict(
            enumerate(
                np.bincount(self.label[self.is_labelled], minlength=self.table.n_grades).tolist()
            )
        )

    def count_labels_by_decision(self) -> dict[int, dict[str, int]] | None:
        """Return the numbers of pairs by label, then by decision (TripJudge, Althammer et al. 2022,
        figure 1), or None for methods without decisions."""
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
        """Return the number of pairs by decision, or None for methods without decisions."""
        if self.decision is None:
            return None
        return {
            name: int((self.decision == code).sum())
            for code, name in self._decision_names().items()
        }

    def _decision_names(self) -> dict[int, str]:
        """Return the names of decisions, `adjudicated` only if it occurs."""
        ruled = self.decision is not None and bool(np.any(self.decision == ADJUDICATED))
        return {code: name for code, name in DECISIONS.items() if code != ADJUDICATED or ruled}

    def relevant_share(self, min_relevant: int = 1) -> float:
        """Return the share of labels that are at least `min_relevant`, NaN without labels."""
        labels = self.label[self.is_labelled]
        return float((labels >= min_relevant).mean()) if len(labels) else float("nan")

    def relevant_share_per_topic(self, min_relevant: int = 1) -> dict[str, float]:
        """Return the relevant share of each topic with a label, by topic ID."""
        topic = self.table.pair_topic[self.is_labelled]
        n = np.bincount(topic, minlength=len(self.table.topics))
        relevant = np.bincount(
            topic[self.label[self.is_labelled] >= min_relevant], minlength=len(self.table.topics)
        )
        return {
            name: int(relevant[i]) / int(n[i]) for i, name in enumerate(self.table.topics) if n[i]
        }

    def apply_rulings(self, rulings: Mapping[tuple[str, str], int]) -> Aggregation:
        """Return the aggregation with a manager's labels, by (topic ID, document ID), instead of
        the method's. Their decision is `adjudicated`.

        Pairs with too few judgements get a label as well. Pairs without judgements are ignored,
        because they are not in the table. Raises ValueError if a grade is outside the scale.
        """
        label = self.label.copy()
        decision = (
            np.full(len(label), NONE, dtype=np.int8)
            if self.decision is None
            else self.decision.copy()
        )
        table = self.table
        width = max(len(table.documents), 1)
        # ascending, as the pairs of a table are
        codes = table.pair_topic.astype(np.int64) * width + table.pair_document
        for (topic, document), grade in rulings.items():
            if not 0 <= grade < table.n_grades:
                raise ValueError(
                    f"grade {grade} is not on the scale from 0 to {table.n_grades - 1}"
                )
            t, d = _find_index(table.topics, topic), _find_index(table.documents, document)
            if t is None or d is None:
                continue
            pair = int(np.searchsorted(codes, t * width + d))
            if pair < len(codes) and codes[pair] == t * width + d:
                label[pair], decision[pair] = grade, ADJUDICATED
        return replace(self, label=label, decision=decision)

    def qrels(self, name: str) -> QrelsColumns:
        """Return the labelled pairs in ascending order of topic ID and document ID, so that the
        same judgements give the same bytes."""
        kept = np.flatnonzero(self.is_labelled)
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
    """Return the index of `name` in ascending IDs, or None."""
    place = bisect_left(ids, name)
    return place if place < len(ids) and ids[place] == name else None
