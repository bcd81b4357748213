"""Reading of run files. Peer: pytrec_eval.parse_run. Each reading runs in its own process, which
reports processor seconds and peak memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ASSAY_SCRIPT = "from assay.formats.runs import read_run; read = lambda path: read_run(path)"
PEER_SCRIPT = "import pytrec_eval; read = lambda path: pytrec_eval.parse_run(open(path))"
MEASURE_SCRIPT = """
import resource, sys, time
{setup}
start = time.process_time()
result = read(*sys.argv[1:])
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.stdout.flush()
import os
os._exit(0)
"""


def generate_run_file(
    path: Path, *, n_topics: int, depth: int, seed: int, digits: int | None = 6, messy: bool = False
) -> None:
    """Write a generated run whose IDs come from a corpus of 8.8 million. digits: decimals of the
    scores, or None to write them by repr(). messy: use several different separators between
    columns."""
    rng = np.random.default_rng(seed)
    gap = "  " if messy else " "
    with open(path, "w", encoding="ascii") as out:
        for topic in range(n_topics):
            documents = np.unique(rng.integers(0, 8_841_823, depth + depth // 8 + 8))
            documents = rng.permutation(documents)[:depth].tolist()
            scores = np.sort(rng.gamma(2, 5, depth))[::-1].tolist()
            texts = (
                map(repr, scores) if digits is None else (f"{score:.{digits}f}" for score in scores)
            )
            name = 1_000_000 + 7 * topic
            out.write(
                "".join(
                    f"{name} Q0 {d}{gap}{r} {s} generated{seed}\n"
                    for r, (d, s) in enumerate(zip(documents, texts, strict=False), 1)
                )
            )


def measure_reading(setup: str, *arguments: str | Path) -> tuple[float, int]:
    """Call `read(*arguments)` in a new process. Returns (processor seconds, peak kilobytes)."""
    command = [sys.executable, "-c", MEASURE_SCRIPT.format(setup=setup), *map(str, arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parent.parent,
    )
    seconds, kilobytes = done.stdout.split()[-2:]
    return float(seconds), int(kilobytes)


def compare_readers(
    ours: str, peer: str, *arguments: str | Path, rounds: int
) -> tuple[float, float, str]:
    """Compare Assay's reader with the peer. Returns (ratio of times, ratio of peak memory,
    description), as medians over rounds in which both run one after the other."""
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(measure_reading(ours, *arguments))
        theirs.append(measure_reading(peer, *arguments))
    my_time, their_time = (
        statistics.median(time for time, _ in rounds_of_one) for rounds_of_one in (mine, theirs)
    )
    my_memory, their_memory = (
        statistics.median(memory for _, memory in rounds_of_one) for rounds_of_one in (mine, theirs)
    )
    words = f"{my_time:.2f} s, {my_memory / 1e3:.0f} MB compared with {their_time:.2f} s, {their_memory / 1e3:.0f} MB"
    return their_time / my_time, my_memory / their_memory, words


def main(quick: bool = False) -> list[dict[str, object]]:
    n_topics = 100 if quick else 7_000
    forms = [
        ("read a run of {n} lines, 6 decimals", {}, 2.0, 8.0),
        ("read a run of {n} lines, scores as repr() writes them", {"digits": None}, 2.0, None),
        ("read a run of {n} lines, irregular separators", {"messy": True}, None, None),
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.run"
        for work, options, at_least, aim in forms:
            generate_run_file(path, n_topics=n_topics, depth=1000, seed=1, **options)
            ratio, memory_ratio, note = compare_readers(
                ASSAY_SCRIPT, PEER_SCRIPT, path, rounds=1 if quick else 3
            )
            row = {
                "work": work.format(n=f"{n_topics * 1000:,}"),
                "peer": "pytrec_eval.parse_run",
                "ratio": ratio,
                "memory_ratio": memory_ratio,
            }
            row |= {"at_least": None if quick else at_least, "aim": aim, "note": note}
            print(
                f"{row['work']}: {ratio:.1f} times as fast, {memory_ratio:.2f} of the memory ({note})",
                flush=True,
            )
            rows.append(row)
    return rows


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
