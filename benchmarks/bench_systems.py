"""Pairwise comparison of systems on generated reciprocal ranks: tests of all pairs of 40 runs over
5,793 topics.

- Peer: a loop over scipy.stats with ttest_rel, wilcoxon, binomtest and permutation_test for each pair
  (10,000 sign changes, vectorised, in batches). Three of the 780 pairs are measured and extrapolated.
  scipy has no max-statistic test, which Assay computes too.

Processor time of one thread, medians.

    python -m benchmarks bench_systems   (or: python -m benchmarks.bench_systems)
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from assay.comparison.system_comparison import compare_systems, correct_p_values, list_pairs
from benchmarks.bench_bootstrap import generate_scores

RUNS, TOPICS, TRIALS = 40, 5793, 10_000
N_PAIRS = 3


def run_all_tests(values: np.ndarray, trials: int) -> np.ndarray:
    """Run all tests with intervals and effects. Returns the p-value of each pair's difference by
    the max-statistic test."""
    rng = np.random.default_rng(0)
    made = compare_systems(values, list_pairs(values.shape[1]), trials=trials, rng=rng)
    return correct_p_values(made, values, "max", rng=rng)["randomisation"]


def run_scipy_pair(a: np.ndarray, b: np.ndarray, trials: int) -> list[float]:
    d = b - a
    return [
        scipy.stats.ttest_rel(b, a).pvalue,
        scipy.stats.wilcoxon(d).pvalue,
        scipy.stats.binomtest(int((d > 0).sum()), int((d != 0).sum())).pvalue,
        scipy.stats.permutation_test(
            (b, a),
            lambda x, y, axis: (x - y).mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=trials,
            batch=500,
            rng=0,
        ).pvalue,
    ]


def processor_seconds(function: Callable[[], Any], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def main(quick: bool = False) -> list[dict[str, Any]]:
    runs, topics, trials, repeats = (6, 300, 500, 1) if quick else (RUNS, TOPICS, TRIALS, 1)
    values = np.ascontiguousarray(generate_scores(runs, topics, np.random.default_rng(1)).T)
    n_pairs = runs * (runs - 1) // 2
    seconds = {
        "ours": processor_seconds(lambda: run_all_tests(values, trials), repeats),
        "scipy": processor_seconds(
            lambda: [
                run_scipy_pair(values[:, 0], values[:, k], trials) for k in range(1, N_PAIRS + 1)
            ],
            repeats,
        )
        / N_PAIRS
        * n_pairs,
    }
    return [
        {
            "work": (
                f"all tests of {n_pairs} pairs x {topics:,} topics, {trials:,} permutations and "
                f"the maximum statistic"
            ),
            "peer": "loop over scipy.stats",
            "ratio": seconds["scipy"] / seconds["ours"],
            "at_least": 20,
            "note": (
                f"{seconds['ours']:.0f} s compared with {seconds['scipy']:.0f} s of processor time, "
                f"{N_PAIRS} pairs measured"
            ),
            "figures": seconds,
        },
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
