"""Programs that are killed, begun anew, or started twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

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
    """The program that holds all others, killed and started again on the same port."""
    server = place.installation.server
    assert server is not None
    server.kill()
    server.wait()
    yield
    place.installation.__enter__()


@contextmanager
def second_up(place: Place) -> Iterator[str]:
    status, text = place.manage("up", "--port", str(free_port()), "--no-demo")
    if not status or "runs on the folder" not in text:
        raise AssertionError(f"a second `up` on the folder did not refuse: {status} {text}")
    yield "the second refused"


TROUBLES = [
    Trouble("web-worker-killed", web_worker_killed, (10, 4)),
    Trouble("web-master-killed", web_master_killed, (10, 4)),
    Trouble("background-killed", background_killed, (10, 4), with_job=True),
    Trouble("web-reloaded", web_reloaded, (15, 10), unnoticed=True),
    Trouble("up-killed", up_killed, (5, 2), with_job=True),
    Trouble("second-up", second_up, (1, 1), unnoticed=True),
]
