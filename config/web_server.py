"""Settings of the web server, gunicorn with its own `gthread` worker:

    gunicorn --config python:config.web_server config.wsgi:application

Only gunicorn's documented settings and hooks are used.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
import traceback
from typing import Any

from config import environment, logs
from config.request_counts import COUNTS

worker_class = "gthread"
workers = environment.number("WEB_WORKERS", least=1)
threads = environment.number("WEB_THREADS", least=1)
keepalive = 75
timeout = 120
graceful_timeout = 30
loglevel = environment.text("LOG_LEVEL").lower()
control_socket_disable = True
LOG_STYLE = environment.choice("LOG_FORMAT", "line", "json")
RESERVED_FILES = 256
"""Open files reserved per process for other purposes than connections. A worker without free file
handles would end."""
_, MOST_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)
worker_connections = (
    4000
    if MOST_FILES == resource.RLIM_INFINITY
    else max(threads + 1, min(4000, MOST_FILES - RESERVED_FILES))
)
STATUS_SECONDS = 10
"""Seconds for which the operating system holds a connection without data. gunicorn would block a
thread until the first byte, and browsers open connections in advance."""


def on_starting(server: Any) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    logs.reformat_logger("gunicorn.error", LOG_STYLE)


def when_ready(server: Any) -> None:
    for listener in server.LISTENERS:
        if hasattr(socket, "TCP_DEFER_ACCEPT") and listener.family != socket.AF_UNIX:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, STATUS_SECONDS)


def post_fork(server: Any, worker: Any) -> None:
    COUNTS.claim_slot(worker.age)


def worker_abort(worker: Any) -> None:
    """Log the stacks of all threads of a process that gunicorn ends because it has not responded
    for `timeout` seconds."""
    stacks = ("".join(traceback.format_stack(frame)) for frame in sys._current_frames().values())
    worker.log.critical(
        "process %d stopped responding; its threads:\n%s", os.getpid(), "\n".join(stacks)
    )
