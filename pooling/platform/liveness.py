"""Heartbeats of web servers and workers: one file per program and machine in the data folder, which
`assay doctor` reads."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from pathlib import Path

from django.conf import settings

EVERY_SECONDS = 5.0
SILENT_SECONDS = 60.0
WEB_SERVER, WORKER = "web-server", "worker"


def write_heartbeat(program: str) -> None:
    """Write a heartbeat of this program on this machine. An unwritable folder is reported
    elsewhere."""
    with contextlib.suppress(OSError):
        (Path(settings.DATA_DIR) / f"alive-{program}-{socket.gethostname()}").touch()


def heartbeat_age_seconds(program: str) -> float | None:
    """Return the age of the newest heartbeat of any machine that shares the data folder, or None."""
    signs = [path.stat().st_mtime for path in Path(settings.DATA_DIR).glob(f"alive-{program}-*")]
    return max(0.0, time.time() - max(signs)) if signs else None


def start_heartbeats(program: str) -> None:
    """Start a thread that writes heartbeats until the process ends."""
    threading.Thread(
        target=_write_heartbeats, args=(program,), name="signs of life", daemon=True
    ).start()


def _write_heartbeats(program: str) -> None:
    while True:
        write_heartbeat(program)
        time.sleep(EVERY_SECONDS)
