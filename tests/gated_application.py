"""A web application that takes as long to load as a test likes: until the file GATE is there. Answers with its process; to an address that ends
with /6 after six seconds, to one that ends with /held once the file GATE.go is there, and makes GATE.held meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

while not Path(os.environ["GATE"]).exists():
    time.sleep(0.05)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    last = environ["PATH_INFO"].rpartition("/")[2]
    if last == "held":
        Path(os.environ["GATE"] + ".held").touch()
        while not Path(os.environ["GATE"] + ".go").exists():
            time.sleep(0.05)
    else:
        time.sleep(float(last or 0))
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
