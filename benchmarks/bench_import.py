"""Import of a document file of 3 million rows and 2 GB, and extraction of a pool's texts: peak
memory, and time compared with a bare loop.

    python -m benchmarks.bench_import [--quick]

The file is generated. `import documents` runs as a command, on an empty SQLite database in its own
folder, and so does `pool create` on a generated run of 500 topics. Peer: json.loads over the lines
of the same file, keeping nothing. The limit is on memory: under 300 MB for both commands.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOUND_MB = 300
PEER_SCRIPT = (
    "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    json.loads(line)"
)


def generate_documents(path: Path, n_documents: int, *, seed: int = 0) -> None:
    """Write a file of documents d0, d1, ... with 60 to 150 words from a small vocabulary, about 690
    bytes each."""
    rng = random.Random(seed)
    words = [
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(5000)
    ]
    bodies = [" ".join(rng.choices(words, k=rng.randint(60, 130))) for _ in range(2000)]
    with path.open("w", encoding="utf-8") as out:
        for i in range(n_documents):
            out.write(
                json.dumps({"_id": f"d{i}", "title": f"Document {i}", "text": bodies[i % 2000]})
                + "\n"
            )


def generate_run(path: Path, n_documents: int, *, seed: int = 1) -> None:
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as out:
        for topic in range(500):
            for rank, document in enumerate(rng.sample(range(n_documents), 10), start=1):
                out.write(f"t{topic} Q0 d{document} {rank} {100 - rank} generated\n")


def measure_process(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Run a process and return (seconds, peak memory in MB)."""
    began = time.monotonic()
    child = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def main(quick: bool = False) -> list[dict[str, object]]:
    n_documents = 50_000 if quick else 3_000_000
    with tempfile.TemporaryDirectory(prefix="bench-import-") as name:
        folder = Path(name)
        env = dict(
            os.environ,
            ASSAY_DATA_DIR=str(folder / "data"),
            ASSAY_BROKER_URL="",
            ASSAY_DATABASE_URL="",
            DJANGO_SETTINGS_MODULE="config.settings",
        )
        manage = [sys.executable, "manage.py"]
        file, run, topics = (
            folder / "documents.jsonl",
            folder / "generated.run",
            folder / "topics.tsv",
        )
        generate_documents(file, n_documents)
        generate_run(run, n_documents)
        topics.write_text(
            "".join(f"t{i}\tgenerated query number {i}\n" for i in range(500)), encoding="utf-8"
        )
        size = file.stat().st_size / 1e6
        for command in (
            ["migrate", "-v", "0"],
            ["create_collection", "big"],
            ["import_topics", str(topics), "--collection", "big"],
        ):
            measure_process([*manage, *command], env)
        measure_process([*manage, "import_run", str(run), "--collection", "big"], env)
        seconds, peak = measure_process(
            [*manage, "import_documents", str(file), "--collection", "big"], env
        )
        pool_seconds, pool_peak = measure_process(
            [*manage, "make_pool", "--collection", "big"], env
        )
        peer_seconds, peer_peak = measure_process(
            [sys.executable, "-c", PEER_SCRIPT, str(file)], env
        )
    say = f"{n_documents:,} documents, {size:,.0f} MB"
    return [
        {
            "work": f"import {say}",
            "peer": "json.loads of every line",
            "ratio": peer_seconds / seconds,
            "memory_ratio": peak / peer_peak,
            "note": (
                f"peak {peak:.0f} MB, {'under' if peak < BOUND_MB else 'OVER'} {BOUND_MB} MB; "
                f"{n_documents / seconds:,.0f} documents/s"
            ),
            "figures": {"seconds": seconds, "peak_mb": peak, "bound_mb": BOUND_MB},
        },
        {
            "work": f"texts of a pool of 5,000 pairs out of {say}",
            "peer": "json.loads of every line",
            "ratio": peer_seconds / pool_seconds,
            "memory_ratio": pool_peak / peer_peak,
            "note": f"peak {pool_peak:.0f} MB, {'under' if pool_peak < BOUND_MB else 'OVER'} {BOUND_MB} MB",
            "figures": {"seconds": pool_seconds, "peak_mb": pool_peak, "bound_mb": BOUND_MB},
        },
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    for row in main(quick=parser.parse_args().quick):
        print(json.dumps(row, indent=1))
