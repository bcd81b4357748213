"""Split-half agreement: 100 splits x 780 pairs of 40 runs x 7 tests (4 with means, 3 with medians),
5,793 topics, on generated reciprocal ranks. Peer: a loop over scipy's tests, timed on 30 pairs and
one split and extrapolated.

The loop computes each half's p-values for the mean and for the median, seven tests in all. It makes
no decisions.

    python -m benchmarks bench_split_half   (or: python -m benchmarks.bench_split_half)
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
import scipy.stats

from assay.comparison.significance import Floats
from assay.comparison.split_half import Members, draw_halves, run_split_half
from benchmarks.bench_bootstrap import RUNS, TOPICS, generate_scores

SPLITS, TIMED_PAIRS = 100, 30


def run_scipy_loop(scores: Floats, members: Members, pairs: list[tuple[int, int]]) -> float:
    """Compute all p-values by a loop over scipy's tests. Returns their sum, so that none can be
    optimised away."""
    total = 0.0
    for i, j in pairs:
        for half in members:
            a, b = scores[i, half], scores[j, half]
            for tests in (("sign", "wrs", "wsr", "t"), ("sign", "wrs", "wsr")):
                for test in tests:
                    total += scipy_p_value(test, a, b)
    return total


def scipy_p_value(test: str, a: Floats, b: Floats) -> float:
    if test == "wrs":
        return float(scipy.stats.ranksums(a, b).pvalue)
    if test == "t":
        return float(scipy.stats.ttest_rel(b, a).pvalue)
    d = np.round(b - a, 12)
    if test == "wsr":
        return float(
            scipy.stats.wilcoxon(
                d, zero_method="wilcox", correction=False, method="asymptotic"
            ).pvalue
        )
    wins = int((d > 0).sum())
    return float(scipy.stats.binomtest(wins, wins + int((d < 0).sum())).pvalue)


def main(quick: bool = False) -> list[dict[str, Any]]:
    runs, topics, splits, repeats = (8, 400, 10, 1) if quick else (RUNS, TOPICS, SPLITS, 3)
    rng = np.random.default_rng(1)
    scores = generate_scores(runs, topics, rng)
    all_pairs = [(i, j) for i in range(runs) for j in range(i)]
    ours, peer = [], []
    for _ in range(repeats):
        members = draw_halves(topics, 1, rng)
        chosen = [all_pairs[i] for i in rng.permutation(len(all_pairs))[:TIMED_PAIRS]]
        start = time.perf_counter()
        run_scipy_loop(scores, members, chosen)
        middle = time.perf_counter()
        run_split_half(scores, splits=splits, seed=0)
        ours.append(time.perf_counter() - middle)
        peer.append((middle - start) / len(chosen) * len(all_pairs) * splits)
    seconds = {"ours": statistics.median(ours), "scipy": statistics.median(peer)}
    return [
        {
            "work": f"split-half, {splits} splits x {len(all_pairs)} pairs x 7 tests, {topics:,} topics",
            "peer": f"scipy loop ({TIMED_PAIRS} pairs, extrapolated)",
            "ratio": seconds["scipy"] / seconds["ours"],
            "at_least": 15,
            "aim": 28,
            "figures": seconds,
        }
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
