"""Faults in which the machine lacks resources: disk space, write permission, file handles,
memory."""

from __future__ import annotations

import contextlib
import os
import resource
import stat
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.soak.place import Place
from tests.soak.trouble import Trouble

DEAR_PAGE = "/api/schema"
"""An expensive page, computed for each visitor. It opens files and takes memory."""
VISIT_EVERY_S = 0.3


@contextmanager
def visitors(place: Place) -> Iterator[None]:
    """Let other clients connect, each over its own connection, and read what they get."""
    stop = threading.Event()

    def come() -> None:
        while not stop.wait(VISIT_EVERY_S):
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(place.installation.url + DEAR_PAGE, timeout=10).read()

    threads = [threading.Thread(target=come, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=15)


@contextmanager
def disk_full(place: Place) -> Iterator[None]:
    filler = place.folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size):
                    pass
    yield
    filler.unlink()


@contextmanager
def read_only(place: Place) -> Iterator[None]:
    """Make the folder read-only: its files cannot be written, and new ones cannot be created."""
    modes = {}
    for path in (place.folder, *place.folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            modes[path] = stat.S_IMODE(path.stat().st_mode)
            path.chmod(modes[path] & ~0o222)
    yield
    for path, mode in modes.items():
        with contextlib.suppress(FileNotFoundError):
            path.chmod(mode)


@contextmanager
def limited(
    place: Place, pids: Iterable[int], what: int, soft_of: dict[int, int]
) -> Iterator[None]:
    """Limit a resource of running processes. soft_of: limit of each process by ID. At the end the
    limit is also lifted from processes started meanwhile, which inherit it."""
    before, there = {}, set(place.processes())
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            before[pid] = resource.prlimit(pid, what)
            resource.prlimit(pid, what, (soft_of[pid], before[pid][1]))
    yield
    anyone = next(iter(before.values()))
    for pid in {*before, *(set(place.processes()) - there)}:
        with contextlib.suppress(ProcessLookupError):  # it ended, and another took its place
            resource.prlimit(pid, what, before.get(pid, anyone))


def _first_free_handle(pid: int) -> int:
    taken = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    return next(number for number in range(len(taken) + 1) if number not in taken)


@contextmanager
def handles_used_up(place: Place) -> Iterator[None]:
    """Keep web server and worker processes from opening more files than they have open. A web
    process may end, and another takes its place."""
    pids = [*place.web_workers(), *place.background()]
    with (
        limited(
            place, pids, resource.RLIMIT_NOFILE, {pid: _first_free_handle(pid) for pid in pids}
        ),
        visitors(place),
    ):
        yield


def _address_space(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@contextmanager
def memory_limited(place: Place) -> Iterator[None]:
    """Keep the processes from using more memory than they already use."""
    pids = [*place.web_workers(), *place.background()]
    with (
        limited(place, pids, resource.RLIMIT_AS, {pid: _address_space(pid) for pid in pids}),
        visitors(place),
    ):
        yield


TROUBLES = [
    Trouble("disk-full", disk_full, (30, 8), with_job=True, needs=frozenset({"small disk"})),
    Trouble(
        "folder-read-only", read_only, (30, 8), with_job=True, needs=frozenset({"no override"})
    ),
    Trouble("handles-used-up", handles_used_up, (30, 5), with_job=True),
    Trouble("memory-limited", memory_limited, (30, 5), with_job=True),
]
