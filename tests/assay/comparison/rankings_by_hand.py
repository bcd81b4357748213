"""Small runs and qrels from Python dictionaries, and their values by the reference evaluator."""

from __future__ import annotations

import numpy as np
import pytrec_eval

from assay.column_types import QrelsColumns, RunColumns

Scores = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]


def run_of(rankings: Scores, tag: str = "run") -> RunColumns:
    """Create a run with documents sorted by score, then by the bytes of the ID, both descending."""
    documents, scores, offsets = [], [], [0]
    for ranking in rankings.values():
        ordered = sorted(
            ranking, key=lambda document: (ranking[document], document.encode()), reverse=True
        )
        documents += [document.encode() for document in ordered]
        scores += [ranking[document] for document in ordered]
        offsets.append(len(documents))
    return RunColumns(
        tag,
        list(rankings),
        np.array(offsets),
        np.array(documents, dtype=np.bytes_) if documents else np.zeros(0, dtype="S1"),
        np.array(scores, dtype=np.float64),
        np.full(len(documents), -1, dtype=np.int32),
    )


def qrels_of(judgements: Grades, name: str = "qrels") -> QrelsColumns:
    documents, grades, offsets = [], [], [0]
    for judged in judgements.values():
        for document in sorted(judged, key=str.encode):
            documents.append(document.encode())
            grades.append(judged[document])
        offsets.append(len(documents))
    return QrelsColumns(
        name,
        list(judgements),
        np.array(offsets),
        np.array(documents, dtype=np.bytes_) if documents else np.zeros(0, dtype="S1"),
        np.array(grades, dtype=np.int32),
    )


def grades_by_topic(qrels: QrelsColumns) -> Grades:
    documents = [document.decode() for document in qrels.documents.tolist()]
    grades = qrels.grades.tolist()
    return {
        topic: dict(zip(documents[qrels.rows(i)], grades[qrels.rows(i)], strict=True))
        for i, topic in enumerate(qrels.topics)
    }


REFERENCE_NAMES = {
    "AP": "map",
    "AP@100": "map_cut_100",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "P@10": "P_10",
    "P@100": "P_100",
    "R@10": "recall_10",
    "R@100": "recall_100",
    "Success@5": "success_5",
}
"""Assay's name of a measure -> pytrec_eval's."""


def reference_values(
    run: Scores, judgements: Grades, *, level: int = 1, condensed: bool = False
) -> dict[str, dict[str, float]]:
    """Return the values by pytrec_eval as {topic: {pytrec_eval's name: value}}, only for topics
    that occur in run and qrels."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgements,
        {
            "map",
            "map_cut.100",
            "ndcg",
            "ndcg_cut.5,10",
            "recip_rank",
            "Rprec",
            "bpref",
            "P.10,100",
            "recall.10,100",
            "success.5",
        },
        relevance_level=level,
        judged_docs_only_flag=condensed,
    )
    return evaluator.evaluate(run)
