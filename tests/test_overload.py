"""A real web server with one thread: what cannot be answered in time is refused early, and afterwards all is as before."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from config import admission
from tests.error_shape import MEMBERS
from tests.installation import Installation

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with Installation(tmp_path_factory.mktemp("overload"), WEB_WORKERS="1", WEB_THREADS="1") as installation:
        yield installation


def ask(address: str, data: bytes | None = None) -> tuple[int, float, dict[str, str], bytes]:
    """-> (status, seconds, headers, body)"""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(urllib.request.Request(address, data=data), timeout=60) as answer:
            return answer.status, time.monotonic() - began, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, time.monotonic() - began, dict(error.headers), error.read()


def dear_requests(assay: Installation, n: int) -> list[tuple[int, float, dict[str, str], bytes]]:
    """A token that is hashed costs nothing; the page of the schema is computed anew for each, most of a second."""
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(lambda _: ask(assay.url + "/api/schema"), range(n)))


def test_what_waits_too_long_is_refused_and_what_comes_after_the_crowd_is_answered(assay):
    answers = dear_requests(assay, 60)
    statuses = [status for status, *_ in answers]
    assert set(statuses) == {200, 503}
    refused = [answer for answer in answers if answer[0] == 503]
    for _, _, headers, body in refused:
        assert 3 <= int(headers["Retry-After"]) <= 8
        told = json.loads(body)
        assert (set(told), told["status"], told["code"], told["error"]["code"]) == (MEMBERS, 503, "busy", "busy")
        assert headers["Content-Type"] == "application/problem+json"
        assert told["request"] == headers["X-Request-ID"] != ""
    assert len({headers["Retry-After"] for _, _, headers, _ in refused}) > 1, "not all come back at the same moment"
    assert ask(assay.url + "/healthz")[0] == 200
    assert ask(assay.url + "/sign-in")[0] == 200


@pytest.mark.parametrize("path", ["/campaigns/", "/api/v1/collections/"])
def test_a_refusal_never_reaches_the_application_and_keeps_the_number_that_a_proxy_gave(monkeypatch, path):
    monkeypatch.setattr(admission.here, "queued_at", time.monotonic() - 60, raising=False)
    said: dict[str, str] = {}

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        said.update(headers, status=status)

    def application(*_: object) -> list[bytes]:
        raise AssertionError("the application was asked")

    [body] = admission.Admission(application)({"PATH_INFO": path, "HTTP_X_REQUEST_ID": "from-the-proxy"}, start)
    assert (said["status"], said["X-Request-ID"], int(said["Content-Length"])) == ("503 Service Unavailable", "from-the-proxy", len(body))
    assert b"from-the-proxy" in body


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        ("/api/v1/judging/a/judgements", 4.0),
        ("/api/v1/judging/a/judgements/7/revise", 4.0),
        ("/api/v1/judging/a/leases/renew", 1.5),
        ("/campaigns/", 1.5),
        ("/static/css/base.css", float("inf")),
        ("/healthz", float("inf")),
    ],
)
def test_judgements_wait_longest(path, seconds):
    assert admission.longest_wait(path) == seconds


def test_a_client_that_sends_a_byte_at_a_time_does_not_hold_the_server(assay):
    """One thread, and one client that never ends its request: others wait until it is heard no longer, not for ever."""
    with socket.create_connection(("127.0.0.1", assay.port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.5):
                try:
                    slow.sendall(b"x")
                except OSError:
                    return

        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        time.sleep(1)
        assert ask(assay.url + "/healthz")[0] == 200
        stop.set()
        dripping.join()


def test_who_is_refused_unread_may_send_all_and_hears_why(assay):
    """As a proxy does, which has the whole upload and says 502 where the server hangs up before it is sent."""
    host, port = assay.url.removeprefix("http://").split(":")
    size = 16_000_000
    head = f"POST /api/v1/collections/none/uploads/ HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: text/plain\r\nContent-Length: {size}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(head.encode())
        time.sleep(0.5)  # it is refused by now
        client.sendall(b"x" * size)
        assert client.recv(12) == b"HTTP/1.1 401"
