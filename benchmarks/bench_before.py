"""Comparison with BEFORE, the version before the modules were restructured, to detect slowdowns.

    python -m benchmarks bench_before

The modules below run alternately in this version and in BEFORE, each in its own process with its
small sizes. Each reports how many times as fast as its peer it is, in processor time of one process
with one thread. A row's ratio is the median of this version divided by the median of BEFORE, so 1
is equally fast, and the note has the range over the rounds. The managers' pages of
`bench_dashboards` follow, each version on its own database, with the ratio of their processor
times. Requests of the judging page have their own module (`bench_requests`). Imports, claims and
workers are not compared with BEFORE.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.bench_dashboards import N_JUDGEMENTS, BenchmarkDatabase
from benchmarks.bench_requests import EARLIER_COMMIT, ROOT, checkout

MODULES = (
    "bench_agreement",
    "bench_bootstrap",
    "bench_evaluate",
    "bench_pool",
    "bench_reading",
    "bench_split_half",
)
SMALL_SCRIPT = (
    "import time; time.perf_counter = time.process_time\n"
    "import importlib, json, sys; print(json.dumps(importlib.import_module('benchmarks.' + "
    "sys.argv[1]).main(quick=True), default=float))"
)
"""Script that runs a benchmark with processor time instead of the clock, so that other load on the
machine matters less."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MIN_RATIO = 0.8
"""Ratio below which a row reports a slowdown. Two runs of the same version differ by as much on a
busy machine."""
Turns = dict[tuple[str, str], list[float]]


def run_once(code: Path, module: str) -> dict[tuple[str, str], float]:
    """Run a benchmark module of one version. Returns (work, peer) -> how many times as fast as the
    peer it is, for rows with a peer."""
    env = {
        **os.environ,
        "PYTHONPATH": str(code),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_SECRET_KEY": "benchmark",
        **dict.fromkeys(THREADS, "1"),
    }
    done = subprocess.run(
        [sys.executable, "-c", SMALL_SCRIPT, module],
        cwd=code,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{module} of {code} failed: {done.stderr[-2000:]}")
    rows = json.loads(done.stdout.strip().splitlines()[-1])
    return {
        (row["work"], row["peer"]): row["ratio"]
        for row in rows
        if isinstance(row.get("ratio"), int | float)
    }


def compare_module(module: str, ours: Turns, before: Turns) -> list[dict[str, object]]:
    """Compare both versions by one benchmark module. Returns one row for each work that both
    measure under the same name."""
    rows: list[dict[str, object]] = []
    for work, peer in ours:
        now, then = ours[work, peer], before.get((work, peer))
        if then:
            spread = "; ".join(
                f"{min(turns):.1f} to {max(turns):.1f} {name}"
                for name, turns in (("now", now), ("before", then))
            )
            rows.append(
                {
                    "work": f"{work}, compared with {peer}",
                    "peer": "version 0.1.0",
                    "ratio": statistics.median(now) / statistics.median(then),
                    "at_least": MIN_RATIO,
                    "note": (
                        f"{module.removeprefix('bench_')}, small; speed relative to the comparison in "
                        f"{len(now)} rounds: {spread}"
                    ),
                }
            )
    return rows


def compare_pages(before: Path, *, quick: bool) -> list[dict[str, object]]:
    """Compare the managers' pages of both versions. Returns one row for each page that both
    have."""
    times = 1 if quick else 3
    kept: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    with (
        BenchmarkDatabase("sqlite", times, ROOT) as here,
        BenchmarkDatabase("sqlite", times, before) as there,
    ):
        for _ in range(2 if quick else 3):
            for database, took in zip((here, there), kept, strict=True):
                for page, ms in database.ask("--pages", "5" if quick else "9")["processor"].items():
                    took.setdefault(page, []).append(ms)
    now, then = kept
    return [
        {
            "work": f"page {page}, {times * N_JUDGEMENTS:,} judgements, sqlite",
            "peer": "version 0.1.0",
            "ratio": statistics.median(then[page]) / statistics.median(now[page]),
            "at_least": MIN_RATIO,
            "note": (
                f"{statistics.median(now[page]):.0f} ms compared with "
                f"{statistics.median(then[page]):.0f} ms of processor time, {len(now[page])} rounds"
            ),
        }
        for page in now
        if page in then
    ]


def main(quick: bool = False) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with checkout(EARLIER_COMMIT) as before:
        if before is None:
            return [
                {
                    "work": "beside the version before",
                    "peer": "version 0.1.0",
                    "ratio": None,
                    "at_least": None,
                    "note": "no history here",
                }
            ]
        for module in MODULES:
            turns: tuple[Turns, Turns] = ({}, {})
            for _ in range(2 if quick else 5):
                for code, kept in zip((ROOT, before), turns, strict=True):
                    for key, ratio in run_once(code, module).items():
                        kept.setdefault(key, []).append(ratio)
            rows += compare_module(module, *turns)
        rows += compare_pages(before, quick=quick)
    return rows
