"""Load for bench_dashboards: judging through the real web server while ten managers have pages
open.

Everything runs as started by `assay up` (two web processes of eight threads, a worker), on the
machine of the benchmark. Each part is a process that works for some seconds on command and prints
its results.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
JUDGING_CLIENTS, MOST_REFUSED, CSRF = 4, 5, "c" * 32
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def serve_commands(work: Callable[[float], Any]) -> None:
    """Work on command: print that the process is ready, then for every input line with a number of
    seconds do the work and print its result."""
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(work(float(line))), flush=True)


def create_session(user: Any) -> str:
    from importlib import import_module

    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session.update(
        {
            SESSION_KEY: str(user.pk),
            BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
            HASH_SESSION_KEY: user.get_session_auth_hash(),
        }
    )
    session.create()
    return str(session.session_key)


class BrowserConnection:
    """A browser's HTTP connection, signed in and kept open."""

    def __init__(self, port: int, session: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Cookie": f"sessionid={session}; csrftoken={CSRF}", "X-CSRFToken": CSRF}
        self.tags: dict[str, str] = {}

    def get(self, path: str) -> float:
        """Send a GET request and return its milliseconds."""
        known = {"If-None-Match": self.tags[path]} if path in self.tags else {}
        began = time.perf_counter()
        self.connection.request("GET", path, headers={**self.headers, **known})
        response = self.connection.getresponse()
        response.read()
        took = (time.perf_counter() - began) * 1000
        if response.status not in (200, 304):
            raise RuntimeError(f"{path}: {response.status}")
        if tag := response.headers.get("ETag"):
            self.tags[path] = tag
        return took

    def post(self, path: str, data: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        body = json.dumps(data)
        began = time.perf_counter()
        self.connection.request(
            "POST", path, body=body, headers={**self.headers, "Content-Type": "application/json"}
        )
        response = self.connection.getresponse()
        text = response.read()
        took = (time.perf_counter() - began) * 1000
        if response.status >= 300:
            raise RuntimeError(f"{path}: {response.status} {text[:300]!r}")
        return took, json.loads(text)


def start_judging(
    port: int, slug: str, per_second: float, users: list[Any]
) -> Callable[[float], list[float]]:
    """Start sending judgements like the judging page at a fixed rate. Each is answered with the
    annotator's next pairs. The result is the milliseconds of each request."""
    visitors = [BrowserConnection(port, create_session(user)) for user in users]
    hands: list[list[str]] = [[] for _ in visitors]
    refused: list[str] = []
    address = f"/api/v1/judging/{slug}/"

    def one(first: int, seconds: float, took: list[float]) -> None:
        turn, began = 0, time.monotonic()
        while (due := turn * JUDGING_CLIENTS / per_second) < seconds:
            time.sleep(max(0.0, began + due - time.monotonic()))
            i = (first + turn * JUDGING_CLIENTS) % len(visitors)
            if not hands[i]:
                _, answer = visitors[i].post(address + "leases", {"want": 3, "held": []})
                hands[i] = [pair["lease"] for pair in answer["pairs"]]
            times = {"active_ms": 5000, "wall_ms": 5500}
            data = {
                "lease": hands[i][0],
                "key": str(uuid.uuid4()),
                "grade": turn % 4,
                "want": 3,
                "held": hands[i][1:],
                **times,
            }
            turn += 1
            try:
                ms, answer = visitors[i].post(address + "judgements", data)
            except (
                RuntimeError
            ) as error:  # a few are reported and retried, but with many the measurement is invalid
                print(error, file=sys.stderr)
                refused.append(str(error))
                if len(refused) > MOST_REFUSED:
                    raise
                hands[i] = []
                continue
            took.append(ms)
            hands[i] = hands[i][1:] + [
                pair["lease"] for pair in answer["pairs"] if pair["lease"] not in hands[i]
            ]

    def work(seconds: float) -> list[float]:
        took: list[float] = []
        run_in_threads([lambda i=i: one(i, seconds, took) for i in range(JUDGING_CLIENTS)])
        return took

    return work


def start_managing(
    port: int, strip: str, pages: list[str], every: float, users: list[Any]
) -> Callable[[float], dict[str, list[float]]]:
    """Start managers who keep the overview open, which requests its values. Every third time each
    opens another page instead. The result is the milliseconds of each request."""
    visitors = [BrowserConnection(port, create_session(user)) for user in users]
    for page in [*pages, *pages]:  # the first page of each web process is measured elsewhere
        visitors[0].get(page)

    def one(i: int, seconds: float, took: dict[str, list[float]]) -> None:
        began = time.monotonic()
        turn = 0
        while (due := every * (turn + i / len(visitors))) < seconds:
            time.sleep(max(0.0, began + due - time.monotonic()))
            if (turn + i) % 3 == 2:
                took["page"].append(visitors[i].get(pages[(turn + 7 * i) % len(pages)]))
            else:
                took["strip"].append(visitors[i].get(strip))
            turn += 1

    def work(seconds: float) -> dict[str, list[float]]:
        took: dict[str, list[float]] = {"page": [], "strip": []}
        run_in_threads([lambda i=i: one(i, seconds, took) for i in range(len(visitors))])
        return took

    return work


def run_in_threads(works: list[Callable[[], object]]) -> None:
    """Run functions in threads. The first error in any thread ends the process."""
    failed: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


# In the parent process


@contextmanager
def running_server(environment: dict[str, str]) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Start the installation as `assay up` does, for the duration of the context. Yields port and
    process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {**environment, "ASSAY_PORT": str(port), "ASSAY_NO_DEMO": "1"}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise RuntimeError("the server did not start")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port, process
    finally:
        process.terminate()
        process.wait(timeout=60)


class BenchmarkProcess:
    """A process of the benchmark that works on command."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise RuntimeError("a process did not start")

    def tell(self, seconds: float) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a process failed")
        return json.loads(line)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def processor_seconds(root: int) -> dict[str, float]:
    """Return the processor seconds of the web and worker processes that descend from the process
    `root`."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    words: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                words[int(folder.name)] = (folder / "cmdline").read_text()
            except OSError:
                continue
            parents[int(folder.name)], used[int(folder.name)] = (
                int(fields[1]),
                (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND,
            )

    def under(pid: int) -> bool:
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    total = {"web": 0.0, "worker": 0.0}
    for pid in used:
        if pid != root and under(pid):
            total["web" if re.search("gunicorn", words[pid]) else "worker"] += used[pid]
    return total
