"""Sampled and prioritised pools on generated data. There is no peer, so the ratio is the limit
(seconds of processor time) divided by the time taken.

- Estimates of 63 runs x 53 topics: HT-nDCG@10, HT-P@10, xinfAP and infNDCG, with runs already joined
  with the pool.
- A refit of the rank model over 42,000 judged pairs of 17 runs.
- The stopping rule of prioritised pools at the size of TripJudge: 1,136 topics, 12,590 pairs, 7 runs,
  half of it judged.
- An interim check in the worker for a campaign of that size, ordered by rank and sampled: reading
  judgements, labels, rule.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.column_types import QrelsColumns, RunColumns
from assay.measures.measures import parse_measures
from assay.measures.packing import index_qrels, pack_run
from assay.pools.depth import PooledPairs, cut_run, make_depth_pool
from assay.pools.rank_model import fit_rank_model, make_pool_features
from assay.pools.strata import (
    allocate_sample,
    make_rank_strata,
    rate_spreads,
    sampled_mask,
    shuffle_strata,
)
from assay.sampling.estimates import JudgedSample, estimate_topics
from assay.sampling.stopping import make_top_k_matrix, simulate_scores

ROOT = Path(__file__).resolve().parent.parent
ESTIMATES = "HT-nDCG@10 HT-P@10 xinfAP infNDCG"


def main(quick: bool) -> list[dict[str, object]]:
    scale = 0.1 if quick else 1.0
    return [
        bench_estimates(scale, quick),
        bench_refit(scale, quick),
        bench_stopping(scale, quick),
        run_look_load("depth", quick),
        run_look_load("sampled", quick),
    ]


def run_look_load(kind: str, quick: bool) -> dict[str, object]:
    """Measure an interim check in a separate process on its own database."""
    command = [sys.executable, "-m", "benchmarks.look_load", kind, *(["--quick"] if quick else [])]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    taken = json.loads(made.stdout.splitlines()[-1])
    work = f"an interim check in the worker, {kind} pool, {taken['pairs']} pairs, {taken['judgements']} judgements"
    return make_row(work, taken["processor"], 5.0) | {
        "note": f"{taken['processor']:.2f} s of processor time, {taken['seconds']:.2f} s elapsed"
    }


def make_row(work: str, seconds: float, limit: float) -> dict[str, object]:
    return {
        "work": work,
        "peer": f"limit of {limit:g} s",
        "ratio": limit / seconds,
        "at_least": 1,
        "note": f"{seconds:.3f} s of processor time",
    }


def measure_seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median processor time of a function in seconds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def generate_runs(
    n_runs: int, n_topics: int, n_documents: int, rng: np.random.Generator
) -> list[RunColumns]:
    """Generate runs as noisy orders of the same documents, best run first."""
    names = np.array([f"D{k:05d}".encode() for k in range(n_documents)])
    runs = []
    for k in range(n_runs):
        orders = [
            np.argsort(np.arange(n_documents) + rng.normal(0, n_documents / 5, n_documents))
            for _ in range(n_topics)
        ]
        n = n_topics * n_documents
        runs.append(
            RunColumns(
                f"run{k}",
                [str(t) for t in range(n_topics)],
                np.arange(n_topics + 1, dtype=np.int64) * n_documents,
                np.concatenate([names[o] for o in orders]),
                np.zeros(n),
                np.full(n, -1, np.int32),
            )
        )
    return runs


def draw_grades(pool: PooledPairs, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(pool)) < 1 / (1 + pool.best_rank / 5)).astype(np.int32) * rng.integers(
        1, 4, len(pool)
    ).astype(np.int32)


def make_pool(runs: list[RunColumns], depth: int, rng: np.random.Generator) -> PooledPairs:
    return make_depth_pool([cut_run(run, depth) for run in runs], depth=depth, rng=rng)


def bench_estimates(scale: float, quick: bool) -> dict[str, object]:
    rng = np.random.default_rng(1)
    n_runs, n_topics = max(int(63 * scale), 3), max(int(53 * scale), 5)
    runs = generate_runs(n_runs, n_topics, 200, rng)
    pool = make_pool(runs, 10, rng)
    rows = np.lexsort((pool.documents, pool.topic))
    topic = pool.topic[rows].astype(np.int64)
    strata = make_rank_strata(pool)
    counts = allocate_sample(strata.sizes, rate_spreads(strata.rates), len(pool) // 5)
    grades = np.where(
        sampled_mask(strata, shuffle_strata(strata, rng, pool.documents, pool.topic), counts),
        draw_grades(pool, rng),
        -1,
    )[rows].astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(topic, minlength=n_topics)))).astype(
        np.int64
    )
    index = index_qrels(QrelsColumns("pool", pool.topics, offsets, pool.documents[rows], grades))
    packed = [pack_run(run, index) for run in runs]
    measures = parse_measures(ESTIMATES)
    stratum = strata.stratum[rows].astype(np.int64)

    def work() -> None:
        sample = JudgedSample(
            pool.topics,
            topic,
            grades,
            stratum,
            strata.sizes,
            counts,
            np.zeros(len(counts), bool),
            strata.names,
        )
        for one in packed:
            estimate_topics(one, sample, measures)

    return make_row(
        f"four estimates of {n_runs} runs x {n_topics} topics, {len(pool)} pairs",
        measure_seconds(work, 2 if quick else 7),
        0.2,
    )


def bench_refit(scale: float, quick: bool) -> dict[str, object]:
    rng = np.random.default_rng(2)
    pool = make_pool(generate_runs(17, max(int(169 * scale), 5), 430, rng), 100, rng)
    features = make_pool_features(pool)
    labels = (draw_grades(pool, rng) > 0).astype(np.float64)[features.rows]
    return make_row(
        f"refit of the rank model, {len(pool)} judged pairs, 17 runs",
        measure_seconds(lambda: fit_rank_model(features, labels), 2 if quick else 5),
        1.0,
    )


def bench_stopping(scale: float, quick: bool) -> dict[str, object]:
    rng = np.random.default_rng(3)
    n_topics = max(int(1136 * scale), 20)
    pool = make_pool(generate_runs(7, n_topics, 11, rng), 10, rng)
    grades = np.where(rng.random(len(pool)) < 0.5, draw_grades(pool, rng), -1)

    def work() -> None:
        scores = simulate_scores(
            make_pool_features(pool),
            make_top_k_matrix(pool),
            grades,
            min_relevant=1,
            rng=np.random.default_rng(0),
        )
        assert scores is not None

    return make_row(
        f"stopping rule, {n_topics} topics, {len(pool)} pairs, 7 runs",
        measure_seconds(work, 2 if quick else 5),
        5.0,
    )
