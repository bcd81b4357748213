"""A web application that finishes loading only when the file GATE exists. It answers with its
process ID, at /N after N seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

while not Path(os.environ["GATE"]).exists():
    time.sleep(0.05)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    time.sleep(float(environ["PATH_INFO"].strip("/") or 0))
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
