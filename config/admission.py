"""Who is answered when more is asked than can be answered.

Requests wait in the web server for a free thread. What has waited too long is refused at once, before Django and the database see it:
the browser would have given up, and its repetition would cost as much again. So throughput stays where it is when more is asked, and
what is refused comes back later, not all at the same moment. Judgements wait longest, for the page that made them has work in its hands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from pooling import requests
from pooling.unavailable import retry_after

LONGEST_WAIT_S, JUDGEMENTS_WAIT_S = 1.5, 4.0
NEVER_REFUSED = ("/static/", "/healthz", "/readyz", "/metrics")
SENTENCE = "The server has too much to do right now."
PAGE = (
    '<!doctype html><html lang="en"><title>Busy</title><h1>{sentence}</h1><p><a href="">Try again</a> in a moment. '
    "Nothing that was saved is lost.</p><p>Request {number}</p></html>"
)
Start = Callable[..., Any]
here = threading.local()
"""`here.queued_at`: when (by time.monotonic) the request of this thread was put in line; absent under another web server."""


def waited() -> float:
    """Seconds for which the request of this thread has stood in line."""
    queued_at = getattr(here, "queued_at", None)
    return 0.0 if queued_at is None else time.monotonic() - queued_at


def longest_wait(path: str) -> float:
    if path.startswith(NEVER_REFUSED):
        return float("inf")
    return JUDGEMENTS_WAIT_S if path.startswith("/api/v1/judging/") and path.endswith(("/judgements", "/revise")) else LONGEST_WAIT_S


class Admission:
    """WSGI around the application."""

    def __init__(self, application: Callable[[dict[str, Any], Start], Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if waited() <= longest_wait(path):
            return self.application(environ, start_response)
        number = requests.begin(environ.get("HTTP_" + requests.HEADER.upper().replace("-", "_"), ""))
        kind, text = _problem() if path.startswith("/api/") else ("text/html; charset=utf-8", PAGE.format(sentence=SENTENCE, number=number))
        body = text.encode()
        start_response(
            "503 Service Unavailable",
            [
                ("Content-Type", kind), ("Content-Length", str(len(body))), ("Retry-After", str(retry_after())),
                ("Cache-Control", "no-store"), (requests.HEADER, number),
            ],
        )  # fmt: skip
        return [body]


def _problem() -> tuple[str, str]:
    """(content type, text) of the refusal in the API's one shape of an error."""
    # Only here, where Django is set up: gunicorn's master imports this module, and forks before Django is there.
    from pooling.api import problems

    return problems.CONTENT_TYPE, problems.as_text(503, "busy", f"{SENTENCE} {problems.TRY_AGAIN}")
