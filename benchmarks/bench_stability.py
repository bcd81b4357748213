"""The complete multi-element protocol. Peer: a loop over pytrec_eval.

4 elements x 20 levels x 50 pairs x 2 sub-collections x 10 runs on TREC-COVID's complete qrels (50
topics, 69,318 assessments, from ASSAY_TEST_DATA), with ten generated runs of 1000 documents over
191,160 generated or judged IDs. The runs are plausible, not real. Sampling and taus are included
for both, reading files for neither. The loop is timed on 20 sub-collections and extrapolated. Each
measurement has its own process, so that its peak memory is its own too.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
import pytrec_eval
from numpy.typing import NDArray
from scipy.stats import kendalltau

from assay.chunks import map_in_processes
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.stability import (
    MEASURES,
    StabilityChunk,
    StabilityProtocol,
    combine_results,
    make_chunks,
    make_population,
    run_chunk,
)
from assay.formats.qrels import read_qrels
from assay.measures.batch import PackedCollection, pack_collection
from assay.measures.measures import parse_measures
from assay.measures.subcollections import ELEMENTS

N_DOCUMENTS = 191_160
DEPTH = 1000
SYSTEMS = ["BM25", "DLH", "DirichletLM", "PL2", "TF_IDF"]
LEVELS = tuple(Fraction(percent, 100) for percent in range(5, 101, 5))
PAIRS = 50
ROUNDS = 3
NAMES = ("map", "Rprec", "bpref", "ndcg")


def generate_ids(qrels: QrelsColumns, rng: np.random.Generator) -> NDArray[np.bytes_]:
    """Return document IDs in order: the judged ones, and as many generated IDs of eight characters
    as are needed."""
    known = np.unique(qrels.documents)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)
    while len(known) < N_DOCUMENTS:
        drawn = (
            letters[rng.integers(0, len(letters), (N_DOCUMENTS - len(known), 8))]
            .reshape(-1)
            .view("S8")
        )
        known = np.unique(np.concatenate([known, drawn]))
    return known


def generate_runs(
    qrels: QrelsColumns, documents: NDArray[np.bytes_], rng: np.random.Generator
) -> list[RunColumns]:
    """Generate ten runs: five systems and their expanded variants. A document's score is the sum of
    its relevance value (by grade), a preference shared by all systems, and one of the system
    itself. A system's quality is the weight of the relevance value. Unjudged documents have the
    value of bad ones, so that about two in five retrieved documents are judged."""
    tags = [system + suffix for suffix in ("", "_Bo1") for system in SYSTEMS]
    quality = rng.normal(1.0, 0.08, len(SYSTEMS))
    rankings: dict[str, list[NDArray[np.bytes_]]] = {tag: [] for tag in tags}
    for topic in range(len(qrels.topics)):
        rows = qrels.rows(topic)
        unjudged = np.setdiff1d(rng.choice(documents, 4000, replace=False), qrels.documents[rows])
        ids = np.concatenate([qrels.documents[rows], unjudged])
        worth = np.concatenate(
            [0.55 * np.maximum(qrels.grades[rows], 0), np.full(len(unjudged), -0.35)]
        )
        shared = rng.normal(0, 0.8, len(ids))
        ease = rng.normal(1.0, 0.3)
        for s, system in enumerate(SYSTEMS):
            own = rng.normal(0, 0.5, len(ids))
            for suffix, gain in (("", 1.0), ("_Bo1", 1.06)):
                score = (
                    quality[s] * gain * ease * worth + shared + own + rng.normal(0, 0.15, len(ids))
                )
                rankings[system + suffix].append(ids[np.argsort(-score)[:DEPTH]])
    n_topics = len(qrels.topics)
    return [
        RunColumns(
            tag=tag,
            topics=list(qrels.topics),
            offsets=np.arange(n_topics + 1) * DEPTH,
            documents=np.concatenate(rankings[tag]),
            scores=np.tile(np.arange(DEPTH, 0, -1.0), n_topics),
            ranks=np.tile(np.arange(1, DEPTH + 1, dtype=np.int32), n_topics),
        )
        for tag in tags
    ]


def generate_collection() -> tuple[QrelsColumns, list[RunColumns], NDArray[np.bytes_]]:
    folder = os.environ.get("ASSAY_TEST_DATA")
    if not folder:
        raise SystemExit(
            "set ASSAY_TEST_DATA to the folder of real collections: the qrels of TREC-COVID are needed"
        )
    qrels = read_qrels(Path(folder) / "trec-covid" / "qrels.covid-complete.txt.gz")
    rng = np.random.default_rng(20200722)
    documents = generate_ids(qrels, rng)
    return qrels, generate_runs(qrels, documents, rng), documents


def run_assay(
    qrels: QrelsColumns,
    runs: list[RunColumns],
    documents: NDArray[np.bytes_],
    *,
    processes: int,
    quick: bool,
) -> dict[str, dict[str, list[float]]]:
    """Run Assay's multi-element protocol. Returns the share of equal rankings by element and
    measure."""
    collection = pack_collection(qrels, runs)
    measures = tuple(parse_measures(MEASURES))
    protocols = [
        StabilityProtocol(element, measures, overlaps=LEVELS[:: 10 if quick else 1], pairs=PAIRS)
        for element in ELEMENTS
    ]
    drawn = [make_population(collection, protocol, documents) for protocol in protocols]
    levels = [make_chunks(*given) for given in zip(drawn, protocols, strict=True)]
    work = [
        (protocol, chunk) for protocol, of in zip(protocols, levels, strict=True) for chunk in of
    ]
    taus = map_in_processes(_taus, work, processes=processes, shared=(collection, documents))
    combined = [
        combine_results(*given, of, [next(taus) for _ in of])
        for *given, of in zip(drawn, protocols, levels, strict=True)
    ]
    return {
        one.element: dict(zip(MEASURES.split(), one.probability.tolist(), strict=True))
        for one in combined
    }


def _taus(
    shared: tuple[PackedCollection, NDArray[np.bytes_]],
    piece: tuple[StabilityProtocol, StabilityChunk],
) -> NDArray[np.float64]:
    collection, documents = shared
    return run_chunk(collection, *piece, documents)


class PytrecEvalLoop:
    """The loop that researchers usually write with pytrec_eval: filter the dictionaries, evaluate
    every run, average, rank."""

    def __init__(
        self, qrels: QrelsColumns, runs: list[RunColumns], documents: NDArray[np.bytes_]
    ) -> None:
        self.qrels = {
            topic: dict(
                zip(
                    _decode_ids(qrels.documents[qrels.rows(t)]),
                    qrels.grades[qrels.rows(t)].tolist(),
                    strict=True,
                )
            )
            for t, topic in enumerate(qrels.topics)
        }
        self.runs = {
            run.tag: {
                topic: dict(
                    zip(
                        _decode_ids(run.documents[run.rows(t)]),
                        run.scores[run.rows(t)].tolist(),
                        strict=True,
                    )
                )
                for t, topic in enumerate(run.topics)
            }
            for run in runs
        }
        self.documents = _decode_ids(documents)
        self.pairs = [
            (topic, document) for topic, judged in self.qrels.items() for document in judged
        ]
        self.positive = [
            (topic, document) for topic, document in self.pairs if self.qrels[topic][document] >= 1
        ]

    def pair(self, element: str, rng: np.random.Generator) -> None:
        """Draw a pair of sub-collections that overlap by one half, and compute its taus."""
        things = {
            "documents": self.documents,
            "topics": list(self.qrels),
            "assessments": self.pairs,
            "positive": self.positive,
        }[element]
        size = len(things) // 2
        order = rng.permutation(len(things))
        means = [
            self.means(element, {things[i] for i in part})
            for part in (order[:size], order[size // 2 : size // 2 + size])
        ]
        for name in NAMES:
            kendalltau(*([round(scores[tag][name], 10) for tag in self.runs] for scores in means))

    def means(self, element: str, drawn: set) -> dict[str, dict[str, float]]:
        qrels, runs = self.qrels, self.runs
        if element == "documents":
            qrels = {
                topic: {d: g for d, g in judged.items() if d in drawn}
                for topic, judged in qrels.items()
            }
            runs = {
                tag: {
                    topic: {d: s for d, s in ranking.items() if d in drawn}
                    for topic, ranking in run.items()
                }
                for tag, run in runs.items()
            }
        elif element == "topics":
            qrels = {topic: judged for topic, judged in qrels.items() if topic in drawn}
        elif element == "assessments":
            qrels = {
                topic: {d: g for d, g in judged.items() if (topic, d) in drawn}
                for topic, judged in qrels.items()
            }
        else:
            qrels = {
                topic: {d: g for d, g in judged.items() if g < 1 or (topic, d) in drawn}
                for topic, judged in qrels.items()
            }
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES))
        means = {}
        for tag, run in runs.items():
            by_topic = evaluator.evaluate(run)
            means[tag] = {
                name: sum(scores[name] for scores in by_topic.values()) / len(qrels)
                for name in NAMES
            }
        return means


def _decode_ids(ids: NDArray[np.bytes_]) -> list[str]:
    return [document.decode() for document in ids.tolist()]


def measure_kind(kind: str, quick: bool) -> dict[str, object]:
    """Run one measurement in this process. kind: "loop", or the number of processes for Assay."""
    qrels, runs, documents = generate_collection()
    if kind == "loop":
        loop, rng = PytrecEvalLoop(qrels, runs, documents), np.random.default_rng(0)
        seconds = 0.0
        for element in ELEMENTS:
            n_pairs = (
                1 if quick else 3 if element in ("documents", "assessments") else 2
            )  # 20 sub-collections
            start = time.perf_counter()
            for _ in range(n_pairs):
                loop.pair(element, rng)
            seconds += (
                (time.perf_counter() - start) / n_pairs * len(LEVELS[:: 10 if quick else 1]) * PAIRS
            )
        result = None
    else:
        start = time.perf_counter()
        result = run_assay(qrels, runs, documents, processes=int(kind), quick=quick)
        seconds = time.perf_counter() - start
    peak = (
        max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        / 1024
    )
    return {"seconds": seconds, "peak_mb": peak, "result": result}


def main(quick: bool = False) -> list[dict[str, object]]:
    taken: dict[str, list[dict]] = {"1": [], "loop": [], "2": []}
    for _ in range(1 if quick else ROUNDS):
        for kind, measured in taken.items():
            command = [
                sys.executable,
                "-m",
                "benchmarks.bench_stability",
                kind,
                *(["--quick"] if quick else []),
            ]
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                cwd=Path(__file__).parents[1],
            )
            measured.append(json.loads(done.stdout))
    results = [one["result"] for kind in ("1", "2") for one in taken[kind]]
    if any(result != results[0] for result in results):
        raise RuntimeError("the answer depends on the number of processes")
    seconds = {kind: median(one["seconds"] for one in measured) for kind, measured in taken.items()}
    peak = {kind: max(one["peak_mb"] for one in measured) for kind, measured in taken.items()}
    common = {"peer": "loop over pytrec_eval, 20 sub-collections extrapolated", "at_least": 40.0}
    return [
        {
            **common,
            "work": (
                f"multi-element protocol, TREC-COVID qrels, generated runs, {processes} "
                f"process{'es' if processes == '2' else ''}"
            ),
            "ratio": seconds["loop"] / seconds[processes],
            "aim": 100.0 if processes == "2" else None,
            "memory_ratio": peak[processes] / peak["loop"],
            "note": f"{seconds[processes]:.1f} s, peak {peak[processes]:.0f} MB in one process, including runs and IDs",
            "figures": {"seconds": seconds, "peak_mb": peak, "probability": results[0]},
        }
        for processes in ("1", "2")
    ]


if __name__ == "__main__":
    print(json.dumps(measure_kind(sys.argv[1], "--quick" in sys.argv)))
