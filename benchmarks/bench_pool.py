"""Building the depth-10 pool of five large runs. Peer: a pool built with pytrec_eval.parse_run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.bench_reading import compare_readers, generate_run_file

ASSAY_SCRIPT = """
import numpy as np
from assay.pools.depth import make_depth_pool, cut_run
from assay.formats.runs import read_run

def read(*paths):
    return make_depth_pool([cut_run(read_run(path), 10) for path in paths], depth=10, rng=np.random.default_rng(0))
"""
PEER_SCRIPT = """
import heapq
import pytrec_eval

def read(*paths):
    pool = {}
    for number, path in enumerate(paths):
        with open(path) as file:
            run = pytrec_eval.parse_run(file)
        for topic, scores in run.items():
            best = heapq.nlargest(10, scores.items(), key=lambda pair: (pair[1], pair[0]))
            for rank, (document, _) in enumerate(best, 1):
                pool.setdefault((topic, document), {})[number] = rank
        del run
    return sorted(((min(ranks.values()), *pair) for pair, ranks in pool.items()))
"""


def main(quick: bool = False) -> list[dict[str, object]]:
    n_topics = 50 if quick else 7_000
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{k}.run" for k in range(5)]
        for k, path in enumerate(paths):
            generate_run_file(path, n_topics=n_topics, depth=1000, seed=k)
        ratio, memory_ratio, note = compare_readers(
            ASSAY_SCRIPT, PEER_SCRIPT, *paths, rounds=1 if quick else 2
        )
    work = f"depth-10 pool of five runs of {n_topics * 1000:,} lines"
    print(
        f"{work}: {ratio:.1f} times as fast, {memory_ratio:.2f} of the memory ({note})", flush=True
    )
    return [
        {
            "work": work,
            "peer": "a dictionary over pytrec_eval.parse_run",
            "ratio": ratio,
            "memory_ratio": memory_ratio,
            "at_least": None if quick else 1.5,
            "note": note,
        }
    ]


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
