"""A faulty web application: /still blocks its process's main loop, and /join/ fails."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable
from logging.config import dictConfig
from typing import Any

from config import environment, logs

dictConfig(
    logs.logging_settings(
        "WARNING", style=environment.choice("LOG_FORMAT", "line", "json"), access=False
    )
)  # as Django does it


def stand_still(*_: object) -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


signal.signal(signal.SIGUSR2, stand_still)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"].startswith("/join/"):
        raise RuntimeError("a mistake of ours")
    if environ["PATH_INFO"] == "/still":
        os.kill(os.getpid(), signal.SIGUSR2)
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
