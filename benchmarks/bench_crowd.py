"""Many annotators judging at their own pace through the web server while three managers open pages:
1,350 annotators who judge once per 30 seconds, and 5,000 who judge once per 48.

    python -m benchmarks.bench_crowd [--quick] [--databases postgresql sqlite]

One machine runs a web server of two processes with eight threads, a background worker, the
database, all annotators' pages (`judging_clients`) and the managers. Each manager opens a page of
the campaign every five seconds. Afterwards every accepted judgement must be stored, none counted
twice, and no pair over-judged. If the server cannot answer all requests, it must refuse the rest
early.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bench_claims import ROOT
from benchmarks.bench_overload import (
    NORMAL_MS,
    LoadedServer,
    percentile_99,
    processor_seconds,
    request_rates,
)
from benchmarks.bench_requests import FilledInstallation
from benchmarks.judging_clients import AnnotatorClient, RequestDiary, open_pages, run_judging
from benchmarks.request_load import SLUG
from config.management.commands.up import worker_command

CROWDS = [(1350, 30.0), (5000, 48.0)]
"""(annotators, seconds between two judgements of each)"""
MANAGERS, EVERY = 3, 5.0
MANAGERS_PAGES = ["", "people/", "agreement/", "labels/"]


@contextmanager
def running_worker(installation: FilledInstallation) -> Iterator[None]:
    process = subprocess.Popen(
        worker_command(),
        cwd=installation.code,
        env=installation.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
        if process.poll() is not None:
            raise SystemExit(f"the background worker ended with {process.returncode}")
    finally:
        process.terminate()
        process.wait(timeout=60)


async def measure_crowd(
    port: int,
    sessions: list[dict[str, str]],
    bosses: list[dict[str, str]],
    *,
    every: float,
    seconds: float,
    database: str,
) -> dict[str, object]:
    diary, looked = RequestDiary(), RequestDiary()
    clients = [AnnotatorClient(port, SLUG, one["cookies"], one["csrf"], diary) for one in sessions]
    managers = [AnnotatorClient(port, SLUG, one["cookies"], one["csrf"], looked) for one in bosses]
    await run_judging(clients, every, every=every)  # all have their first pairs
    os.sync()  # so that writing the filled data does not overlap with the measurement

    def spent_so_far() -> dict[str, float]:
        return {
            "web": processor_seconds(f"127.0.0.1:{port} "),
            "database": processor_seconds(f" {database} ", of_ended="config_file="),
        }

    before = spent_so_far()
    (began, ended), _ = await asyncio.gather(
        run_judging(clients, seconds, every=every),
        asyncio.gather(
            *(open_pages(manager, MANAGERS_PAGES, seconds, every=EVERY) for manager in managers)
        ),
    )
    spent = {name: seconds_then - before[name] for name, seconds_then in spent_so_far().items()}
    for client in [*clients, *managers]:
        client.close()
    pages = looked.between(began, ended + 1)
    return {
        **request_rates(diary, began, ended),
        "pages": len(pages),
        "pages_p99_ms": percentile_99([took for took, status in pages if status == 200]),
        **{
            f"{name}_ms_each": 1000 * of / max(1, len(diary.between(began, ended)))
            for name, of in spent.items()
        },
        "pages_refused": sum(status != 200 for _, status in pages),
        "accepted": sorted(diary.accepted),
    }


def run_crowd(vendor: str, folder: str, n: int, every: float, seconds: float) -> dict[str, object]:
    installation = FilledInstallation(ROOT, vendor, folder)
    try:
        sessions, bosses = (
            json.loads(installation.run("--sessions", str(n))),
            json.loads(installation.run("--managers", str(MANAGERS))),
        )
        server = LoadedServer(installation, threads_only=False)
        try:
            with running_worker(installation):
                figures = asyncio.run(
                    measure_crowd(
                        server.port,
                        sessions,
                        bosses,
                        every=every,
                        seconds=seconds,
                        database=installation.name,
                    )
                )
        finally:
            server.end()
        accepted = Path(folder) / "accepted.json"
        accepted.write_text(json.dumps(figures.pop("accepted")))
        return {**figures, **json.loads(installation.run("--audit", str(accepted)))}
    finally:
        installation.drop()


def format_figures(figures: dict[str, object]) -> str:
    return (
        f"{figures['done_per_s']:.0f} judgements and leases per second: p50 "
        f"{figures['p50_ms']:.0f} ms, p99 {figures['p99_ms']:.0f} ms, "
        f"{figures['refused_per_s']:.1f} per second refused, {figures['lost']} lost; "
        f"{figures['pages']} pages of managers: p99 {figures['pages_p99_ms']:.0f} ms, "
        f"{figures['pages_refused']} refused; {figures['n_accepted']:,} judgements accepted, "
        f"{figures['n_missing']} not stored, {figures['n_faults']} wrong counters; "
        f"processor time per request, including pages of managers: web server "
        f"{figures['web_ms_each']:.1f} ms, PostgreSQL {figures['database_ms_each']:.1f} ms; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def main(
    quick: bool = False, vendors: tuple[str, ...] = ("postgresql", "sqlite")
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for vendor in vendors:
        for n, every in [(60, 5.0)] if quick else CROWDS:
            with tempfile.TemporaryDirectory() as folder:
                figures = run_crowd(vendor, folder, n, every, seconds=10 if quick else 90)
            slow = figures["p99_ms"]
            assert isinstance(slow, float)
            rows.append(
                {
                    "work": f"{n:,} annotators, each with one judgement per {every:.0f} s, {vendor}",
                    "peer": f"limit of {NORMAL_MS:.0f} ms at p99",
                    "ratio": NORMAL_MS / slow,
                    "at_least": 1.0 if n <= 1350 else None,
                    "note": format_figures(figures),
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
    for database in options.databases:
        for row in main(options.quick, (database,)):
            print(json.dumps(row, indent=1), flush=True)
