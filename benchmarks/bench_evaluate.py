"""Evaluation of 10 runs x 50 topics x 1000 documents with 8 measures, generated data. Peer:
pytrec_eval.

- From files: Assay's readers and Evaluator against pytrec_eval.parse_run, parse_qrel and
  RelevanceEvaluator.
- Evaluation only: each reads runs and qrels before. Joining a run with the qrels is part of Assay's
  time.

Before timing, both must find the same means to 1e-9. Scores are compared as float32, as in
pytrec_eval.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytrec_eval

from assay.column_types import QrelsColumns, RunColumns
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measures

MEASURES = "AP nDCG nDCG@10 RR P@10 R@100 Bpref Rprec"
PEER_MEASURES = ["map", "ndcg", "ndcg_cut_10", "recip_rank", "P_10", "recall_100", "bpref", "Rprec"]
PEER_REQUEST = {"map", "ndcg", "ndcg_cut.10", "recip_rank", "P.10", "recall.100", "bpref", "Rprec"}


def main(quick: bool) -> list[dict[str, object]]:
    n_runs, n_topics, n_documents, rounds = (3, 10, 200, 3) if quick else (10, 50, 1000, 9)
    with tempfile.TemporaryDirectory() as folder:
        qrels, runs = write_files(
            Path(folder), n_runs=n_runs, n_topics=n_topics, n_documents=n_documents
        )
        np.testing.assert_allclose(
            evaluate_with_assay(*read_with_assay(qrels, runs)),
            evaluate_with_peer(*read_with_peer(qrels, runs)),
            rtol=0,
            atol=1e-9,
        )
        from_files = race_seconds(
            lambda: evaluate_with_assay(*read_with_assay(qrels, runs)),
            lambda: evaluate_with_peer(*read_with_peer(qrels, runs)),
            rounds,
        )
        ours, theirs = read_with_assay(qrels, runs), read_with_peer(qrels, runs)
        only = race_seconds(
            lambda: evaluate_with_assay(*ours), lambda: evaluate_with_peer(*theirs), rounds
        )
    size = f"{n_runs} runs x {n_topics} topics x {n_documents}, 8 measures"
    return [
        make_row(f"read and evaluate {size}", from_files, 1.5, 2.5),
        make_row(f"evaluate {size}", only, 3, 5),
    ]


def make_row(
    work: str, seconds: tuple[float, float], at_least: float, aim: float
) -> dict[str, object]:
    ours, theirs = seconds
    note = f"{1000 * ours:.0f} ms compared with {1000 * theirs:.0f} ms"
    return {
        "work": work,
        "peer": "pytrec_eval",
        "ratio": theirs / ours,
        "at_least": at_least,
        "aim": aim,
        "note": note,
    }


def race_seconds(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int
) -> tuple[float, float]:
    """Return the median seconds of two functions, measured alternately."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, taken in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def read_with_assay(qrels: Path, runs: list[Path]) -> tuple[QrelsColumns, list[RunColumns]]:
    return read_qrels(str(qrels)), [read_run(str(run), scores="float32") for run in runs]


def evaluate_with_assay(qrels: QrelsColumns, runs: list[RunColumns]) -> np.ndarray:
    evaluator = Evaluator(qrels, parse_measures(MEASURES))
    return np.stack([evaluator.evaluate(run).means() for run in runs])


def read_with_peer(qrels: Path, runs: list[Path]) -> tuple[dict, list[dict]]:
    with open(qrels) as file:
        judged = pytrec_eval.parse_qrel(file)
    runs_read = []
    for run in runs:
        with open(run) as file:
            runs_read.append(pytrec_eval.parse_run(file))
    return judged, runs_read


def evaluate_with_peer(qrels: dict, runs: list[dict]) -> np.ndarray:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, PEER_REQUEST)
    means = []
    for run in runs:
        values = evaluator.evaluate(run)
        means.append(
            [sum(topic[name] for topic in values.values()) / len(qrels) for name in PEER_MEASURES]
        )
    return np.array(means)


def write_files(
    folder: Path, *, n_runs: int, n_topics: int, n_documents: int
) -> tuple[Path, list[Path]]:
    """Write generated runs and qrels. The runs share most of their documents and have ties. About
    300 documents per topic are judged, a fifth of them relevant."""
    rng = np.random.default_rng(2022)
    candidates = {
        topic: rng.choice(200_000, size=2 * n_documents, replace=False)
        for topic in range(301, 301 + n_topics)
    }
    qrels = folder / "qrels.txt"
    with open(qrels, "w") as out:
        for topic, documents in candidates.items():
            for document in documents[:300]:
                out.write(
                    f"{topic} 0 FT{document:06d}-{document % 97:02d} "
                    f"{int(rng.choice([0, 1, 2], p=[0.8, 0.15, 0.05]))}\n"
                )
    runs = []
    for number in range(n_runs):
        runs.append(folder / f"run{number}.txt")
        with open(runs[-1], "w") as out:
            for topic, documents in candidates.items():
                merit = -np.arange(len(documents)) + rng.normal(
                    0, n_documents / 2, size=len(documents)
                )
                best = np.argsort(-merit)[:n_documents]
                for rank, i in enumerate(best, 1):
                    document = documents[i]
                    out.write(
                        f"{topic} Q0 FT{document:06d}-{document % 97:02d} {rank} "
                        f"{100 + merit[i] / 100:.3f} run{number}\n"
                    )
    return qrels, runs


if __name__ == "__main__":
    for result in main(quick=False):
        print(result)
