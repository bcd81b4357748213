"""A web application that takes as long to load as a test likes: until the file GATE is there.
Answers with its process; to /6 after six seconds."""

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
