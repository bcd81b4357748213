"""Understandability-biased RBP, and the correlation of two judged facets of documents.

A relevant document gains as much as it is understandable (Zuccon and Koopman, MedIR 2014; Zuccon,
ECIR 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.measures.evaluation import RecallBase, sum_by_topic
from assay.measures.packing import TopicDocumentPairs, index_qrels, pack_run

Floats = NDArray[np.float64]
FACET_MEASURES = ("RBP", "uRBP", "uRBPgr")
UNJUDGED = -1


def align_facet(
    qrels: QrelsColumns, facet: QrelsColumns, *, by_document: bool = False
) -> NDArray[np.int32]:
    """Return int32 (n_rows of qrels), the facet's grade of each pair, -1 if unjudged.

    by_document: one grade per document, that of the facet's first topic with the document, as the
    organisers of CLEF eHealth 2015 computed it.
    """
    if by_document:
        first = dict(
            zip(reversed(facet.documents.tolist()), reversed(facet.grades.tolist()), strict=True)
        )
        return np.array(
            [first.get(document, UNJUDGED) for document in qrels.documents.tolist()], dtype=np.int32
        )
    topic = np.repeat(np.arange(len(facet.topics)), np.diff(facet.offsets))
    rows = index_qrels(qrels).find(TopicDocumentPairs(facet.topics, topic, facet.documents))
    grades = np.full(len(qrels), UNJUDGED, dtype=np.int32)
    grades[rows[rows >= 0]] = facet.grades[rows >= 0]
    return grades


class FacetEvaluator:
    """Qrels and the aligned grades of a second facet, prepared for scoring runs.

    facet: int32 (n_rows of qrels). persistence: of RBP. min_relevant: minimum relevant grade.
    threshold: minimum grade of the facet that counts in uRBP. gains: gain of each grade of the
    facet from 0 in uRBPgr; higher grades gain as the last one.
    """

    def __init__(
        self,
        qrels: QrelsColumns,
        facet: NDArray[np.int32],
        *,
        persistence: float,
        min_relevant: int,
        threshold: int,
        gains: Sequence[float],
    ) -> None:
        self.index, self.persistence = index_qrels(qrels), persistence
        self.n_topics = RecallBase(qrels.offsets, qrels.grades).n_topics
        relevant = (qrels.grades >= min_relevant).astype(np.float64)
        graded = np.asarray(gains)[np.clip(facet, 0, len(gains) - 1)]
        graded[facet < 0] = 0.0
        self.values = np.column_stack(
            [relevant, relevant * (facet >= threshold), relevant * graded]
        )

    def evaluate(self, run: RunColumns) -> tuple[Floats, NDArray[np.bool_]]:
        """Return float64 (n_topics, 3), the measures in FACET_MEASURES, and bool (n_topics),
        whether the run has the topic."""
        packed = pack_run(run, self.index)
        weights = (1 - self.persistence) * self.persistence ** (packed.rank - 1.0)
        gained = self.values[packed.row] * weights[:, None]
        columns = [sum_by_topic(packed.topic, column, self.n_topics) for column in gained.T]
        return np.column_stack(columns), packed.has_topic


@dataclass(frozen=True)
class FacetCorrelation:
    """Correlations of two facets over the pairs with both grades. NaN if a facet does not vary."""

    pairs: int
    pearson: float
    spearman: float
    tau_b: float


def correlate_facets(grades: NDArray[np.int32], facet: NDArray[np.int32]) -> FacetCorrelation:
    """Return the correlations of two facets over the pairs with both grades. grades, facet: int32
    (n), negative for unjudged."""
    from scipy import stats  # slow to import, and not needed by the scores

    both = (grades >= 0) & (facet >= 0)
    x, y = grades[both], facet[both]
    n = len(x)
    if n < 2 or x.min() == x.max() or y.min() == y.max():
        return FacetCorrelation(n, float("nan"), float("nan"), float("nan"))
    return FacetCorrelation(
        n,
        float(stats.pearsonr(x, y).statistic),
        float(stats.spearmanr(x, y).statistic),
        float(stats.kendalltau(x, y).statistic),
    )
