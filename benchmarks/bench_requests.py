"""Cost of each request of the judging page for the web process, compared with the version before
its optimisation in the same run.

    python -m benchmarks.bench_requests [--quick] [--databases postgresql sqlite]

A campaign of 30,000 pairs, half judged, with three leases per annotator. Requests come from the
sessions of eight annotators and are called without a server between (`request_load`), alternating
between this version and BEFORE, which is checked out temporarily. If the repository has no history,
only this version is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bench_claims import ROOT, SERVER

EARLIER_COMMIT = "d059014"
LOAD_SCRIPT = ROOT / "benchmarks" / "request_load.py"


@contextmanager
def checkout(version: str) -> Iterator[Path | None]:
    """Check out a version into its own folder for the duration of the context. Yields None if the
    repository has no history."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["git", "archive", "--format=tar", version], cwd=ROOT, capture_output=True, check=False
        )
        if done.returncode:
            yield None
            return
        subprocess.run(["tar", "-x", "-C", folder], input=done.stdout, check=True)
        yield Path(folder)


class FilledInstallation:
    """A version of Assay with a fresh, filled database."""

    def __init__(self, code: Path, vendor: str, folder: str) -> None:
        self.code, self.vendor, self.name = code, vendor, f"bench_{uuid.uuid4().hex[:12]}"
        url = (
            SERVER.rpartition("/")[0] + "/" + self.name
            if vendor == "postgresql"
            else f"sqlite:///{folder}/{self.name}.sqlite3"
        )
        self.env = {
            **os.environ,
            "ASSAY_DATABASE_URL": url,
            "ASSAY_SECRET_KEY": "benchmark",
            "ASSAY_DATA_DIR": f"{folder}/{self.name}",
        }
        if vendor == "postgresql":
            self._server(f"CREATE DATABASE {self.name}")
        self.run("--fill")

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, str(LOAD_SCRIPT), *arguments],
            cwd=self.code,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)} of {self.code} failed: {done.stderr[-2000:]}")
        return done.stdout

    def _server(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(sql)

    def drop(self) -> None:
        if self.vendor == "postgresql":
            self._server(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")


def compare_versions(vendor: str, rounds: int, repeats: int) -> list[dict[str, dict[str, float]]]:
    """Return the medians of each request for [this version, BEFORE]. Without history, BEFORE is
    missing."""
    with tempfile.TemporaryDirectory() as folder, checkout(EARLIER_COMMIT) as before:
        versions = [
            FilledInstallation(code, vendor, folder) for code in (ROOT, before) if code is not None
        ]
        rounds_of: list[list[dict[str, dict[str, float]]]] = [[] for _ in versions]
        for _ in range(repeats):
            for version, rows in zip(versions, rounds_of, strict=True):
                rows.append(json.loads(version.run("--measure", str(rounds))))
        for version in versions:
            version.drop()
    return [
        {
            name: {key: statistics.median(row[name][key] for row in rows) for key in rows[0][name]}
            for name in rows[0]
        }
        for rows in rounds_of
    ]


def format_figures(row: dict[str, float]) -> str:
    return f"{row['cpu_ms']:.1f} ms of processor time, {row['statements']:.0f} statements, {row['bytes'] / 1000:.1f} kB"


def main(
    quick: bool = False, vendors: tuple[str, ...] = ("postgresql", "sqlite")
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for vendor in vendors:
        ours, *before = compare_versions(
            vendor, rounds=16 if quick else 40, repeats=1 if quick else 2
        )
        for name, row in ours.items():
            then = before[0][name] if before else None
            rows.append(
                {
                    "work": f"{name}, {vendor}",
                    "peer": "version 0.1.0",
                    "ratio": then["cpu_ms"] / row["cpu_ms"] if then else None,
                    "at_least": 2.5 if name == "judgement and next leases" else 3.0,
                    "note": format_figures(row)
                    + (
                        f" compared with {format_figures(then)}"
                        if then
                        else "; no history here, so nothing to compare with"
                    ),
                }
            )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--databases", nargs="+", default=["postgresql", "sqlite"])
    options = parser.parse_args()
    for found in main(options.quick, tuple(options.databases)):
        print(found)
