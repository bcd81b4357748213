"""Who is answered when more is asked than can be answered.

Requests wait in the web server for a free thread. What would wait too long is refused before Django
and the database see it: the browser would have given up, and its repetition would cost as much
again. So throughput stays where it is when more is asked, and what is refused comes back later, not
all at the same moment. Judgements wait longest, for the page that made them has work in its hands;
pages least, for whoever opened one may do so again."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from config import environment
from config.request_counts import API, COUNTS, JUDGEMENT, OTHER, PAGE
from pooling.platform import requests
from pooling.platform.unavailable import retry_after

JUDGEMENT_WAIT_S = environment.number("JUDGEMENT_WAIT_SECONDS", 4, least=1, most=15)
BEARABLE_S = {
    JUDGEMENT: float(JUDGEMENT_WAIT_S),
    API: JUDGEMENT_WAIT_S / 2,
    PAGE: JUDGEMENT_WAIT_S * 3 / 8,
    OTHER: float("inf"),
}
"""How long a request of this kind may stand in line."""
SHORTEST_S = min(BEARABLE_S.values())
LET_IN = 0.5
"""A request joins the line where the expected wait is at most this part of what it bears:
expectations err, and who is refused at once has lost nothing."""
ENOUGH, FORGETS_S = 8, 4.0
"""So many must have been taken from a line before its pace tells anything, and what is older than
about so many seconds counts less."""
NEVER_REFUSED = ("/static/", "/healthz", "/readyz", "/metrics")
SENTENCE = "The server has too much to do right now."
BUSY_PAGE = (
    '<!doctype html><html lang="en"><title>Busy</title><h1>{sentence}</h1><p><a href="">Try again</a> in a moment. '
    "Nothing that was saved is lost.</p><p>Request {number}</p></html>"
)
STATUS = "503 Service Unavailable"
Start = Callable[..., Any]
here = threading.local()
"""`here.queued_at`: when (by time.monotonic) the request of this thread was put in line; absent
under another web server."""


def waited() -> float:
    """Seconds for which the request of this thread has stood in line."""
    queued_at = getattr(here, "queued_at", None)
    return 0.0 if queued_at is None else time.monotonic() - queued_at


def kind_of(path: str) -> str:
    if path.startswith(NEVER_REFUSED):
        return OTHER
    if not path.startswith("/api/"):
        return PAGE
    return (
        JUDGEMENT
        if path.startswith("/api/v1/judging/") and path.endswith(("/judgements", "/revise"))
        else API
    )


class WaitingLine:
    """The requests of one process that no thread has taken yet, the oldest first. Moments are those
    of time.monotonic."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.since_of: dict[Hashable, float] = {}
        self.busy_since, self.taken = 0.0, 0.0

    def join(self, one: Hashable, now: float) -> None:
        with self.lock:
            if not self.since_of:
                self.busy_since, self.taken = now, 0.0
            self.since_of[one] = now

    def leave(self, one: Hashable, now: float) -> None:
        """A thread takes this request."""
        with self.lock:
            if self.since_of.pop(one, None) is None:
                return
            self.taken += 1
            if now - self.busy_since > FORGETS_S:
                self.busy_since, self.taken = (
                    now - FORGETS_S / 2,
                    self.taken * FORGETS_S / 2 / (now - self.busy_since),
                )

    def drop(self, one: Hashable) -> None:
        """This request is refused, or its client has gone."""
        with self.lock:
            self.since_of.pop(one, None)

    def expected_wait(self, now: float) -> float:
        """Seconds for who comes now: as long as the line needs at its pace, and never less than the
        first in it has waited already."""
        with self.lock:
            if not self.since_of:
                return 0.0
            age = now - next(iter(self.since_of.values()))
            return (
                age
                if self.taken < ENOUGH
                else max(age, len(self.since_of) * (now - self.busy_since) / self.taken)
            )

    def refuses(self, kind: str, now: float) -> bool:
        """Whether who comes now would wait too long."""
        return self.expected_wait(now) > LET_IN * BEARABLE_S[kind]

    def older_than(self, seconds: float, now: float) -> list[tuple[Any, float]]:
        """(request, seconds for which it has waited)"""
        with self.lock:
            return [
                (one, now - since) for one, since in self.since_of.items() if now - since > seconds
            ]


@dataclass(frozen=True, slots=True)
class WholeRequest:
    """A whole request as its bytes stand at the beginning of what a connection has sent. `keeps`:
    the connection may carry another one."""

    path: str
    n_bytes: int
    is_head: bool
    keeps: bool
    number: str


_FIRST_LINE = re.compile(rb"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (/[^ ?]*)[^ ]* HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+.^`|~0-9A-Za-z_-]+):[ \t]*(.*?)[ \t]*")


def request_in(data: bytes) -> WholeRequest | None:
    """The request that these bytes begin with; None where it is not there to its end, or anything
    about its length is out of the ordinary."""
    head, end, _ = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    asked, headers = _FIRST_LINE.fullmatch(first), [_HEADER.fullmatch(line) for line in lines]
    if not end or asked is None or any(header is None for header in headers):
        return None
    value_of = {header[1].lower(): header[2] for header in headers if header is not None}
    length = value_of.get(b"content-length", b"0")
    if (
        len(value_of) < len(lines)
        or b"transfer-encoding" in value_of
        or b"upgrade" in value_of
        or not length.isdigit()
    ):
        return None
    n_bytes = len(head) + len(end) + int(length)
    if n_bytes > len(data):
        return None
    keeps = asked[3] == b"1" and value_of.get(b"connection", b"keep-alive").lower() == b"keep-alive"
    number = value_of.get(requests.HEADER.lower().encode(), b"").decode("latin-1")
    return WholeRequest(
        path=asked[2].decode("latin-1"),
        n_bytes=n_bytes,
        is_head=asked[1] == b"HEAD",
        keeps=keeps,
        number=number,
    )


def refusal_of(path: str, wanted_number: str) -> tuple[list[tuple[str, str]], bytes]:
    """(headers, body) of the answer STATUS to who asked for this path; counts it. wanted_number:
    that a proxy before us gave, or empty."""
    COUNTS.refused(kind_of(path))
    number = requests.begin(wanted_number)
    kind, text = (
        _problem()
        if path.startswith("/api/")
        else ("text/html; charset=utf-8", BUSY_PAGE.format(sentence=SENTENCE, number=number))
    )
    body = text.encode()
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body))),
        ("Retry-After", str(retry_after())),
        ("Cache-Control", "no-store"),
        (requests.HEADER, number),
    ]
    return headers, body


def _problem() -> tuple[str, str]:
    """(content type, text) of the refusal in the API's one shape of an error."""
    # Only here, where Django is set up: gunicorn's master imports this module, and forks before
    # Django is there.
    from pooling.api import problems

    return problems.CONTENT_TYPE, problems.as_text(503, "busy", f"{SENTENCE} {problems.TRY_AGAIN}")


class Admission:
    """WSGI around the application: the last look at who has stood in line, and the count of all
    answers."""

    def __init__(self, application: Callable[[dict[str, Any], Start], Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        path, seconds = environ.get("PATH_INFO", ""), waited()
        kind = kind_of(path)
        if seconds > BEARABLE_S[kind]:
            headers, body = refusal_of(
                path, environ.get("HTTP_" + requests.HEADER.upper().replace("-", "_"), "")
            )
            start_response(STATUS, headers)
            return [body]

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            COUNTS.answered(kind, int(status[:3]), seconds)
            return start_response(status, headers, *more)

        return self.application(environ, start)
