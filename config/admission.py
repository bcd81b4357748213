"""Early refusal of requests that have waited too long.

The proxy in front of the web server stamps each request with the time (`X-Request-Start`, see
docs/how-to/deploy.md). A request that has waited longer than its kind allows is refused before
Django and the database see it, because its client has given up by then and a retry would cost as
much again. Judgements may wait longest, because they hold the annotator's work. Requests without
the header are never refused.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.conf import settings

from config.request_counts import API, COUNTS, JUDGEMENT, OTHER, PAGE
from pooling.api import problems
from pooling.platform import requests
from pooling.platform.unavailable import retry_after_seconds

MAX_WAIT_SECONDS = {
    JUDGEMENT: float(settings.JUDGEMENT_WAIT_SECONDS),
    API: settings.JUDGEMENT_WAIT_SECONDS / 2,
    PAGE: settings.JUDGEMENT_WAIT_SECONDS * 3 / 8,
    OTHER: float("inf"),
}
"""Maximum wait of a request, by kind."""
NEVER_REFUSED = ("/static/", "/healthz", "/readyz", "/metrics")
MAX_STAMP_AGE_SECONDS = 120.0
"""Maximum age of a plausible stamp. Proxies give up earlier, so a longer wait means that a clock is
wrong."""
GUNICORN_READS, CHUNK = 65_536, 65_536
"""Number of bytes of a body that gunicorn reads before it closes the connection, and size of a
chunk."""
READ_S, READ_BYTES = 5.0, 64 * 1024 * 1024
BUSY_MESSAGE = "The server is busy."
BUSY_PAGE = (
    '<!doctype html><html lang="en"><title>Busy</title><h1>{sentence}</h1><p><a href="">Try again</a> in a moment. '
    "Nothing that was saved is lost.</p><p>Request {number}</p></html>"
)
Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def request_kind(path: str) -> str:
    if path.startswith(NEVER_REFUSED):
        return OTHER
    if not path.startswith("/api/"):
        return PAGE
    is_judgement = path.startswith("/api/v1/judging/") and path.endswith(("/judgements", "/revise"))
    return JUDGEMENT if is_judgement else API


def queue_wait_seconds(stamp: str, now: float) -> float:
    """Return how long a request has waited since the proxy stamped it, in seconds. The stamp looks
    like `t=1790000000.123`.

    The stamp counts seconds (nginx), milliseconds (Caddy) or microseconds since 1970. The result is
    0 if the stamp is missing or implausible.
    """
    try:
        began = float(stamp.removeprefix("t="))
    except ValueError:
        return 0.0
    while 100 * now < began < math.inf:
        began /= 1000
    return now - began if 0 < now - began < MAX_STAMP_AGE_SECONDS else 0.0


class DrainingResponse:
    """A response that reads the rest of the request body before the connection is closed.

    If gunicorn closed the connection while a proxy was still sending an upload, the proxy would
    answer 502 instead of passing on the reason.
    """

    def __init__(self, answer: Iterable[bytes], body: Any) -> None:
        self.answer, self.body = answer, body

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.answer)

    def close(self) -> None:
        """Close the response, then read and discard the rest of the request body."""
        if hasattr(self.answer, "close"):
            self.answer.close()
        n_left, end = READ_BYTES, time.monotonic() + READ_S
        while n_left > 0 and time.monotonic() < end and (data := self.body.read(CHUNK)):
            n_left -= len(data)


class AdmissionMiddleware:
    """WSGI middleware around Django. It refuses late requests, counts all responses, and reads long
    request bodies that were left unread."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        kind = request_kind(environ.get("PATH_INFO", ""))
        seconds = queue_wait_seconds(environ.get("HTTP_X_REQUEST_START", ""), time.time())
        if seconds > MAX_WAIT_SECONDS[kind]:
            COUNTS.record_refusal(kind)
            return _busy_response(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            COUNTS.record_response(kind, int(status[:3]), seconds)
            return start_response(status, headers, *more)

        answer = self.application(environ, start)
        length = environ.get("CONTENT_LENGTH") or ""
        is_long = length.isdigit() and int(length) > GUNICORN_READS
        return DrainingResponse(answer, environ["wsgi.input"]) if is_long else answer


def _busy_response(environ: Environ, start_response: Callable[..., Any]) -> list[bytes]:
    number = requests.start_request(environ.get("HTTP_X_REQUEST_ID", ""))
    if environ["PATH_INFO"].startswith("/api/"):
        content_type = problems.CONTENT_TYPE
        text = problems.problem_json(503, "busy", f"{BUSY_MESSAGE} {problems.TRY_AGAIN_MESSAGE}")
    else:
        content_type = "text/html; charset=utf-8"
        text = BUSY_PAGE.format(sentence=BUSY_MESSAGE, number=number)
    headers = {
        "Content-Type": content_type,
        "Content-Length": str(len(text.encode())),
        "Retry-After": str(retry_after_seconds()),
        "Cache-Control": "no-store",
        requests.HEADER: number,
    }
    start_response("503 Service Unavailable", list(headers.items()))
    return [text.encode()]
