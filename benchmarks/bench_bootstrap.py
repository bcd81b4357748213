"""Ranks of 40 runs over 1,000 bootstrap samples of 5,793 topics, on generated reciprocal ranks (the
number of topics of the MS MARCO document leaderboard and of runs in Craswell et al. 2021).

- numpy loop: a trial draws topics, takes their rows, means, and ranks by scipy's rankdata. Rows are
  topics, the faster layout for it.
- scipy.stats.bootstrap: means of all runs on shared samples (vectorised, in batches), without ranks.

Assay also counts ranks, wins and intervals.

    python -m benchmarks bench_bootstrap   (or: python -m benchmarks.bench_bootstrap)
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from assay.comparison.bootstrap import run_bootstrap
from assay.comparison.significance import Floats

RUNS, TOPICS, TRIALS = 40, 5793, 1000


def generate_scores(runs: int, topics: int, rng: np.random.Generator) -> Floats:
    """Generate reciprocal ranks, shape (runs, topics): most topics are answered near the top, one
    in ten not at all, and better runs rank a little higher."""
    ease = rng.random(topics)
    strength = np.linspace(0.5, 0.9, runs)[:, None]
    ranks = rng.geometric(np.clip(strength * ease, 0.02, 0.95), size=(runs, topics))
    return np.where((rng.random((runs, topics)) < 0.1) | (ranks > 100), 0.0, 1 / ranks)


def run_numpy_loop(by_topic: Floats, trials: int) -> Floats:
    rng = np.random.default_rng(0)
    ranks = np.empty((trials, by_topic.shape[1]))
    for trial in range(trials):
        sample = rng.integers(len(by_topic), size=len(by_topic))
        ranks[trial] = scipy.stats.rankdata(-by_topic[sample].mean(axis=0))
    return ranks.mean(axis=0)


def run_scipy_bootstrap(scores: Floats, trials: int) -> Floats:
    samples = scipy.stats.bootstrap(
        (scores,),
        np.mean,
        axis=1,
        n_resamples=trials,
        batch=50,
        method="percentile",
        vectorized=True,
        rng=0,
    )
    return samples.bootstrap_distribution


def median_seconds(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each function, measured alternately after one untimed call
    each."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            if repeat:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def main(quick: bool = False) -> list[dict[str, Any]]:
    runs, topics, trials, repeats = (10, 500, 250, 2) if quick else (RUNS, TOPICS, TRIALS, 5)
    scores = generate_scores(runs, topics, np.random.default_rng(1))
    by_topic = np.ascontiguousarray(scores.T)
    ours, loop = (
        run_bootstrap(scores, trials=trials, seed=0).expected_rank,
        run_numpy_loop(by_topic, trials),
    )
    assert np.abs(ours - loop).max() < 0.5, (
        "expected ranks of two samplings should be near each other"
    )
    seconds = median_seconds(
        {
            "ours": lambda: run_bootstrap(scores, trials=trials, seed=0),
            "loop": lambda: run_numpy_loop(by_topic, trials),
            "scipy": lambda: run_scipy_bootstrap(scores, trials),
        },
        repeats,
    )
    work = f"bootstrap, {trials} trials x {runs} runs x {topics:,} topics"
    return [
        {
            "work": work,
            "peer": "numpy loop",
            "ratio": seconds["loop"] / seconds["ours"],
            "at_least": 5,
            "aim": 12,
            "figures": seconds,
        },
        {
            "work": work,
            "peer": "scipy.stats.bootstrap",
            "ratio": seconds["scipy"] / seconds["ours"],
            "at_least": 15,
            "aim": 40,
            "figures": seconds,
        },
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
