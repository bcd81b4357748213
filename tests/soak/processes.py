"""Faults in which programs are killed, restarted, or started twice."""

from __future__ import annotations

import os
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from email.utils import parsedate_to_datetime

from tests.installation import free_port
from tests.soak.place import Place
from tests.soak.servers import signal_all
from tests.soak.trouble import Trouble


@contextmanager
def web_worker_killed(place: Place) -> Iterator[None]:
    os.kill(place.web_workers()[0], signal.SIGKILL)
    yield


@contextmanager
def web_master_killed(place: Place) -> Iterator[None]:
    os.kill(place.web_master(), signal.SIGKILL)
    yield


@contextmanager
def background_killed(place: Place) -> Iterator[None]:
    signal_all(place.background(), signal.SIGKILL)
    yield


@contextmanager
def web_reloaded(place: Place) -> Iterator[None]:
    os.kill(place.web_master(), signal.SIGHUP)
    yield


@contextmanager
def up_killed(place: Place) -> Iterator[None]:
    """Kill the program that supervises all others, and start it again on the same port."""
    server = place.installation.server
    assert server is not None
    server.kill()
    server.wait()
    yield
    place.installation.start_again()


@contextmanager
def second_up(place: Place) -> Iterator[str]:
    status, text = place.manage("up", "--port", str(free_port()), "--no-demo")
    if not status or "already running with the data folder" not in text:
        raise AssertionError(f"a second `up` on the folder did not refuse: {status} {text}")
    yield "the second refused"


@contextmanager
def nothing(place: Place) -> Iterator[list[str]]:
    """Cause no fault, to measure the programs' memory while people judge."""
    told: list[str] = []
    begun = place.memory_mb()
    yield told
    grown = zip(("web server", "background worker"), begun, place.memory_mb(), strict=True)
    told += [f"{name} {first:.0f} MB, at the end {last:.0f}" for name, first, last in grown]


def clock_set(seconds: int) -> Callable[[Place], AbstractContextManager[str]]:
    @contextmanager
    def cause(place: Place) -> Iterator[str]:
        place.clock.set(seconds)
        with urllib.request.urlopen(place.installation.url + "/healthz", timeout=60) as answer:
            moment = parsedate_to_datetime(answer.headers["Date"]).timestamp()
        off = moment - time.time()
        if abs(off - seconds) > 60:
            raise AssertionError(f"the web server's clock is off by {off:.0f} s, not by {seconds}")
        yield "the web server says so"
        place.clock.set(0)

    return cause


CLOCK, HOURS = frozenset({"clock"}), 3 * 3600
TROUBLES = [
    Trouble("web-worker-killed", web_worker_killed, (10, 4)),
    Trouble("web-master-killed", web_master_killed, (10, 4)),
    Trouble("background-killed", background_killed, (10, 4), with_job=True),
    Trouble("web-reloaded", web_reloaded, (15, 10)),
    Trouble("up-killed", up_killed, (5, 2), with_job=True),
    Trouble("second-up", second_up, (1, 1), unnoticed=True),
    Trouble("clock-forward", clock_set(HOURS), (30, 6), needs=CLOCK, with_job=True, unnoticed=True),
    Trouble("clock-back", clock_set(-HOURS), (30, 6), needs=CLOCK, with_job=True, unnoticed=True),
    Trouble("no-fault", nothing, (270, 5), unnoticed=True),
]
