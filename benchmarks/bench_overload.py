"""Behaviour of the server under three times the load it can handle, and when many people sign in
while others judge.

    python -m benchmarks.bench_overload [--quick] [--databases postgresql sqlite] [--before]

One machine runs a web server of two processes with eight threads, its database and the annotators'
pages (`judging_clients`). Steps:

- 135 pages judge once per ten seconds for a minute, in which 135 other people sign in with passwords.
- The same while 60 people sign in within one second, whose pages repeat refused requests.
- Saturation: judgements per second by 24 pages that never pause.
- As many pages as make 120 judgements per second at their own pace.
- Two minutes of three times the saturation. Refused judgements are repeated after `Retry-After`.
- One in ten pages continues, to measure the time until the server is back to normal.

At the end every accepted judgement must be stored, and none stored twice. --before: measure the
version BEFORE, which refuses nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable
from pathlib import Path

from benchmarks.bench_claims import ROOT
from benchmarks.bench_requests import EARLIER_COMMIT, FilledInstallation, checkout
from benchmarks.judging_clients import AnnotatorClient, RequestDiary, run_judging, sign_in_everyone
from benchmarks.request_load import PASSWORD, SLUG
from config.management.commands.up import gunicorn_command
from tests.installation import free_port

PAUSE_SECONDS = 4.0
"""Seconds between two judgements of one page. The load comes from many pages, as from many people.
"""
NORMAL_MS = 250.0
N_PACED = 120
"""Judgements per second requested by pages at their own pace."""
CLASS_SIZE = 135
"""Number of people who sign in within a minute, as in a class."""
N_SIGN_INS, SIGN_IN_SECONDS = 60, 60.0
"""Number of people who sign in within one second, and seconds until all of them must be signed in.
"""


class LoadedServer:
    def __init__(self, installation: FilledInstallation) -> None:
        self.port = free_port()
        command = gunicorn_command("127.0.0.1", self.port)
        if not (
            installation.code / "config" / "web_server.py"
        ).exists():  # the version BEFORE refuses nothing and lacks this file
            plain = "--worker-class gthread --workers 2 --threads 8 --worker-connections 4000"
            command = [*command[:3], *plain.split(), "--keep-alive", "75", "--timeout", "120"]
            command += ["--bind", f"127.0.0.1:{self.port}", "config.wsgi:application"]
        self.process = subprocess.Popen(
            command,
            cwd=installation.code,
            env={**installation.env, "PYTHONPATH": str(installation.code)},
        )
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/sign-in", timeout=5).close()
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("the web server did not start")

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def percentile_99(seconds: list[float]) -> float:
    """Return the 99th percentile of times in seconds as milliseconds, NaN without times."""
    return sorted(seconds)[int(0.99 * (len(seconds) - 1))] * 1000 if seconds else float("nan")


def processor_seconds(words: str, *, of_ended: str = "") -> float:
    """Return the processor seconds of all live processes whose command contains these words.
    of_ended: words of processes whose ended children count too."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            own, ended = command.find(words) >= 0, bool(of_ended) and command.find(of_ended) >= 0
            if own or ended:
                fields = [
                    int(n) for n in (folder / "stat").read_text().rpartition(")")[2].split()[11:15]
                ]
                ticks += own * sum(fields[:2]) + ended * sum(fields[2:])
        except OSError:
            continue  # the process has ended meanwhile
    return ticks / os.sysconf("SC_CLK_TCK")


def request_rates(diary: RequestDiary, start: float, end: float) -> dict[str, float]:
    rows = diary.between(start, end)
    done = [seconds for seconds, status in rows if status == 200]
    return {
        "done_per_s": len(done) / (end - start),
        "refused_per_s": sum(status in (502, 503) for _, status in rows) / (end - start),
        "lost": sum(status == 0 for _, status in rows),
        "p50_ms": statistics.median(done) * 1000 if done else float("nan"),
        "p99_ms": percentile_99(done),
        "refusal_p99_ms": percentile_99([seconds for seconds, status in rows if status == 503]),
    }


def seconds_until_normal(diary: RequestDiary, end_of_load: float, end: float) -> float:
    """Return how long the server takes to recover: seconds from the end of the load to the first
    second after which no request was refused or lost, and 99% took less than NORMAL_MS."""
    for second in range(int(end - end_of_load)):
        rows = diary.between(end_of_load + second, end)
        if (
            rows
            and all(status == 200 for _, status in rows)
            and percentile_99([seconds for seconds, _ in rows]) < NORMAL_MS
        ):
            return float(second)
    return float("nan")


async def judge_with_own_cost(
    judging: Awaitable[tuple[float, float]],
) -> tuple[float, float, float]:
    """Let annotators' pages judge. Returns (began, ended, number of processors that the pages
    themselves used, which the server lacks)."""
    before = time.process_time()
    began, ended = await judging
    return began, ended, (time.process_time() - before) / (ended - began)


async def measure_server(
    port: int, sessions: list[dict[str, str]], *, seconds: float
) -> dict[str, object]:
    diary = RequestDiary()
    clients = [AnnotatorClient(port, SLUG, one["cookies"], one["csrf"], diary) for one in sessions]
    os.sync()  # so that writing the filled data does not overlap with the measurement
    await run_judging(clients[:24], 3, every=0)  # warm up
    minute, arrivals = min(60.0, seconds), RequestDiary()
    (came, gone), _ = await asyncio.gather(
        run_judging(clients[:CLASS_SIZE], minute, every=10.0),
        sign_in_everyone(port, round(CLASS_SIZE * minute / 60), PASSWORD, arrivals, within=minute),
    )
    beside = {
        **request_rates(diary, came, gone),
        "signed_in": sum(status == 204 for *_, status in arrivals.asked),
        "sign_in_p99_ms": percentile_99([took for _, took, _ in arrivals.asked]),
    }
    together = RequestDiary()
    (came, gone), all_in_s = await asyncio.gather(
        run_judging(clients[:CLASS_SIZE], max(30.0, minute), every=10.0),
        sign_in_everyone(port, N_SIGN_INS, PASSWORD, together, within=1.0, repeats=True),
    )
    at_once = {
        **request_rates(diary, came, came + all_in_s),
        "signed_in": sum(status == 204 for *_, status in together.asked),
        "all_in_s": all_in_s,
        "sign_ins_refused": sum(status == 503 for *_, status in together.asked),
    }
    began, ended, cores = await judge_with_own_cost(
        run_judging(clients[:24], max(5.0, seconds / 6), every=0)
    )
    saturated = {**request_rates(diary, began, ended), "pages_cores": cores}
    paced = request_rates(
        diary,
        *await run_judging(
            clients[: int(N_PACED * PAUSE_SECONDS)], max(8.0, seconds / 4), every=PAUSE_SECONDS
        ),
    )
    crowd = clients[: max(48, int(3 * saturated["done_per_s"] * PAUSE_SECONDS))]
    began, ended, cores = await judge_with_own_cost(
        run_judging(crowd, seconds, every=PAUSE_SECONDS)
    )
    overloaded = {
        **request_rates(diary, began + seconds / 4, began + seconds),
        "pages_cores": cores,
    }  # the queue fills in the first quarter
    after = await run_judging(crowd[: len(crowd) // 10], 25, every=PAUSE_SECONDS)
    for client in clients:
        client.close()
    return {
        "beside_sign_ins": beside,
        "at_once": at_once,
        "saturated": saturated,
        "paced": paced,
        "overloaded": overloaded,
        "pages": len(crowd),
        "asked_per_s": len(crowd) / PAUSE_SECONDS,
        "drained_s": ended - began - seconds,
        "until_normal_s": seconds_until_normal(diary, *after),
        "after": request_rates(diary, *after),
        "accepted": sorted(diary.accepted),
    }


def measure_version(code: Path, vendor: str, folder: str, *, seconds: float) -> dict[str, object]:
    installation = FilledInstallation(code, vendor, folder)
    try:
        sessions = json.loads(installation.run("--sessions", "2400"))
        server = LoadedServer(installation)
        try:
            figures = asyncio.run(measure_server(server.port, sessions, seconds=seconds))
        finally:
            server.end()
        accepted = Path(folder) / "accepted.json"
        accepted.write_text(json.dumps(figures.pop("accepted")))
        return {**figures, **json.loads(installation.run("--audit", str(accepted)))}
    finally:
        installation.drop()


def format_refusals(over: dict[str, float]) -> str:
    return (
        f"{over['refused_per_s']:.0f} per second refused within {over['refusal_p99_ms']:.0f} ms"
        if over["refused_per_s"]
        else "none refused"
    )


def format_figures(figures: dict[str, object]) -> str:
    full, over, after, beside = (
        figures["saturated"],
        figures["overloaded"],
        figures["after"],
        figures["beside_sign_ins"],
    )
    paced, at_once = figures["paced"], figures["at_once"]
    assert isinstance(at_once, dict)
    assert isinstance(paced, dict)
    assert isinstance(beside, dict)
    assert isinstance(full, dict)
    assert isinstance(over, dict)
    assert isinstance(after, dict)
    return (
        f"sign-in of {beside['signed_in']} people: p99 {beside['sign_in_p99_ms']:.0f} ms, "
        f"with {beside['done_per_s']:.0f} judgements per second at p50 {beside['p50_ms']:.0f} ms, "
        f"p99 {beside['p99_ms']:.0f} ms; {at_once['signed_in']} of {N_SIGN_INS} people who signed in "
        f"within a second were in after {at_once['all_in_s']:.0f} s "
        f"({at_once['sign_ins_refused']} attempts repeated), with {at_once['done_per_s']:.0f} "
        f"judgements per second at p99 {at_once['p99_ms']:.0f} ms; "
        f"saturation: {full['done_per_s']:.0f} per second, p99 {full['p99_ms']:.0f} ms, the simulated "
        f"pages used {full['pages_cores']:.2f} of the processors; "
        f"{N_PACED} per second requested: {paced['done_per_s']:.0f} per second answered, p50 "
        f"{paced['p50_ms']:.0f} ms, p99 {paced['p99_ms']:.0f} ms, "
        f"{paced['refused_per_s']:.1f} per second refused, {paced['lost']} lost; "
        f"{figures['asked_per_s']:.0f} per second requested by {figures['pages']:,} pages: "
        f"{over['done_per_s']:.0f} per second answered, p99 {over['p99_ms']:.0f} ms, "
        f"{format_refusals(over)}, the simulated pages used {over['pages_cores']:.2f} of the processors, "
        f"{over['lost']} lost; recovery: {figures['until_normal_s']:.0f} s "
        f"(p99 {after['p99_ms']:.0f} ms); {figures['n_accepted']:,} judgements accepted, "
        f"{figures['n_missing']} not stored, {figures['n_faults']} wrong counters; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def main(
    quick: bool = False,
    vendors: tuple[str, ...] = ("postgresql", "sqlite"),
    *,
    before: bool = False,
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for vendor in vendors:
        with tempfile.TemporaryDirectory() as folder, checkout(EARLIER_COMMIT) as old:
            for code, is_before in [(ROOT, False), *([(old, True)] if before and old else [])]:
                figures = measure_version(code, vendor, folder, seconds=20 if quick else 120)
                full, over = figures["saturated"], figures["overloaded"]
                assert isinstance(full, dict)
                assert isinstance(over, dict)
                at_once = figures["at_once"]
                assert isinstance(at_once, dict)
                is_in = (
                    at_once["signed_in"] == N_SIGN_INS and at_once["all_in_s"] <= SIGN_IN_SECONDS
                )
                rows.append(
                    {
                        "work": (
                            f"judging while {N_SIGN_INS} people sign in within a second, "
                            f"{vendor}{', version 0.1.0' if is_before else ''}"
                        ),
                        "peer": f"limit of {NORMAL_MS:.0f} ms at p99; all signed in within {SIGN_IN_SECONDS:.0f} s",
                        "ratio": NORMAL_MS / at_once["p99_ms"] if is_in else 0.0,
                        "at_least": None if is_before else 1.0,
                        "note": f"{at_once['signed_in']} signed in after {at_once['all_in_s']:.0f} s",
                    }
                )
                rows.append(
                    {
                        "work": (
                            f"judgements per second at three times the saturation, "
                            f"{vendor}{', version 0.1.0' if is_before else ''}"
                        ),
                        "peer": "judgements per second at saturation",
                        "ratio": over["done_per_s"] / full["done_per_s"],
                        "at_least": None if is_before else 0.75,
                        "note": format_figures(figures),
                    }
                )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--before", action="store_true")
    parser.add_argument("--databases", nargs="+", default=["postgresql", "sqlite"])
    options = parser.parse_args()
    for database in options.databases:
        for row in main(options.quick, (database,), before=options.before):
            print(json.dumps(row, indent=1), file=sys.stdout, flush=True)
