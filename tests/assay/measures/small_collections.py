"""Small random collections, as dictionaries for the reference implementation and as columns for
Assay's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytrec_eval

from assay.column_types import QrelsColumns, RunColumns

REFERENCE = {
    "AP": "map",
    "nDCG": "ndcg",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "RR": "recip_rank",
    "P@5": "P_5",
    "R@5": "recall_5",
    "nDCG@5": "ndcg_cut_5",
    "AP@5": "map_cut_5",
    "Success@5": "success_5",
}
"""Assay's name of a measure -> trec_eval's."""

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


@dataclass
class Small:
    """A small collection. qrels: topic -> document -> grade. runs: tag -> topic -> document ->
    score, with ties."""

    qrels: Grades
    runs: dict[str, Scores]

    def columns(self) -> tuple[QrelsColumns, list[RunColumns]]:
        return qrels_columns(self.qrels), [run_columns(tag, run) for tag, run in self.runs.items()]

    def documents(self) -> list[str]:
        ranked = {d for run in self.runs.values() for ranking in run.values() for d in ranking}
        return sorted(ranked | {d for judged in self.qrels.values() for d in judged})


def random_collection(
    rng: np.random.Generator,
    *,
    n_topics: int = 6,
    n_documents: int = 40,
    n_runs: int = 4,
    lowest: int = 0,
    highest: int = 3,
) -> Small:
    documents = [f"d{i:02d}" for i in rng.permutation(n_documents)]
    qrels: Grades = {}
    runs: dict[str, Scores] = {f"run{r}": {} for r in range(n_runs)}
    for t in rng.permutation(n_topics):
        topic = f"t{t}"
        judged = rng.choice(n_documents, int(rng.integers(1, n_documents)), replace=False)
        qrels[topic] = {documents[d]: int(rng.integers(lowest, highest + 1)) for d in judged}
        for run in runs.values():
            if rng.random() < 0.1:
                continue  # this system has nothing for this topic
            length = int(rng.integers(1, n_documents))
            run[topic] = {
                documents[d]: float(rng.integers(0, length)) / 8
                for d in rng.choice(n_documents, length, replace=False)
            }
    for tag, run in runs.items():
        run.setdefault("elsewhere", {"d00": 1.0, f"only-{tag}": 2.0})
    return Small(qrels, runs)


def qrels_columns(qrels: Grades) -> QrelsColumns:
    rows = [sorted((d.encode(), g) for d, g in judged.items()) for judged in qrels.values()]
    flat = [row for of_topic in rows for row in of_topic]
    return QrelsColumns(
        name="small",
        topics=list(qrels),
        offsets=np.cumsum([0] + [len(of_topic) for of_topic in rows]),
        documents=np.array([d for d, _ in flat], dtype="S"),
        grades=np.array([g for _, g in flat], dtype=np.int32),
    )


def run_columns(tag: str, run: Scores) -> RunColumns:
    rows = [
        sorted(((s, d.encode()) for d, s in ranking.items()), reverse=True)
        for ranking in run.values()
    ]
    flat = [row for of_topic in rows for row in of_topic]
    return RunColumns(
        tag=tag,
        topics=list(run),
        offsets=np.cumsum([0] + [len(of_topic) for of_topic in rows]),
        documents=np.array([d for _, d in flat], dtype="S"),
        scores=np.array([s for s, _ in flat], dtype=np.float64),
        ranks=np.full(len(flat), -1, np.int32),
    )


def reference_scores(
    qrels: Grades, run: Scores, names: list[str], topics: list[str], level: int = 1
) -> np.ndarray:
    """Compute scores by pytrec_eval, 0 for a topic that it does not report. Returns shape
    (n_measures, n_topics)."""
    given = {t: judged for t, judged in qrels.items() if judged}
    evaluator = pytrec_eval.RelevanceEvaluator(
        given, {_query(REFERENCE[name]) for name in names}, relevance_level=level
    )
    found = (
        evaluator.evaluate({t: ranking for t, ranking in run.items() if ranking}) if given else {}
    )
    return np.array(
        [[found.get(t, {}).get(REFERENCE[name], 0.0) for t in topics] for name in names]
    )


def _query(name: str) -> str:
    stem, _, cutoff = name.rpartition("_")
    return f"{stem}.{cutoff}" if cutoff.isdecimal() else name


def keep_documents(small: Small, drawn: set[str]) -> Small:
    return Small(
        {t: {d: g for d, g in judged.items() if d in drawn} for t, judged in small.qrels.items()},
        {
            tag: {t: {d: s for d, s in ranking.items() if d in drawn} for t, ranking in run.items()}
            for tag, run in small.runs.items()
        },
    )


def keep_assessments(small: Small, drawn: set[tuple[str, str]]) -> Small:
    return Small(
        {
            t: {d: g for d, g in judged.items() if (t, d) in drawn}
            for t, judged in small.qrels.items()
        },
        small.runs,
    )
