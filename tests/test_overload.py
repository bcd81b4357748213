"""A real web server with one thread: what cannot be answered in time is refused early, and
afterwards all is as before."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from config import admission, web
from config.request_counts import API, JUDGEMENT, PAGE, RequestCounts
from tests.error_shape import MEMBERS
from tests.installation import Installation

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("overload")]


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with Installation(
        tmp_path_factory.mktemp("overload"),
        prepared=True,
        WEB_WORKERS="1",
        WEB_THREADS="1",
        METRICS_TOKEN="a token",
    ) as installation:
        yield installation


def ask(address: str, data: bytes | None = None) -> tuple[int, float, dict[str, str], bytes]:
    """-> (status, seconds, headers, body)"""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, data=data), timeout=60
        ) as answer:
            return answer.status, time.monotonic() - began, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, time.monotonic() - began, dict(error.headers), error.read()


def dear_requests(assay: Installation, n: int) -> list[tuple[int, float, dict[str, str], bytes]]:
    """A token that is hashed costs nothing; the page of the schema is computed anew for each, most
    of a second."""
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
        assert (set(told), told["status"], told["code"]) == (MEMBERS, 503, "busy")
        assert headers["Content-Type"] == "application/problem+json"
        assert told["request"] == headers["X-Request-ID"] != ""
    assert len({headers["Retry-After"] for _, _, headers, _ in refused}) > 1, (
        "not all come back at the same moment"
    )
    assert ask(assay.url + "/healthz")[0] == 200
    assert ask(assay.url + "/sign-in")[0] == 200


@pytest.mark.parametrize("path", ["/campaigns/", "/api/v1/collections/"])
def test_a_refusal_never_reaches_the_application_and_keeps_the_number_that_a_proxy_gave(
    monkeypatch, path
):
    monkeypatch.setattr(admission.here, "queued_at", time.monotonic() - 60, raising=False)
    said: dict[str, str] = {}

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        said.update(headers, status=status)

    def application(*_: object) -> list[bytes]:
        raise AssertionError("the application was asked")

    [body] = admission.Admission(application)(
        {"PATH_INFO": path, "HTTP_X_REQUEST_ID": "from-the-proxy"}, start
    )
    assert (said["status"], said["X-Request-ID"], int(said["Content-Length"])) == (
        "503 Service Unavailable",
        "from-the-proxy",
        len(body),
    )
    assert b"from-the-proxy" in body


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        ("/api/v1/judging/a/judgements", 4.0),
        ("/api/v1/judging/a/judgements/7/revise", 4.0),
        ("/api/v1/judging/a/leases/renew", 2.0),
        ("/campaigns/", 1.5),
        ("/static/css/base.css", float("inf")),
        ("/healthz", float("inf")),
    ],
)
def test_judgements_wait_longest(path, seconds):
    assert admission.BEARABLE_S[admission.kind_of(path)] == seconds


def test_a_client_that_sends_a_byte_at_a_time_does_not_hold_the_server(assay):
    """One thread, and one client that never ends its request: others wait until it is heard no
    longer, not for ever."""
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


def test_a_client_that_trickles_on_after_its_answer_does_not_hold_the_server(assay):
    """One thread. The form is refused at once, and then a byte comes every half second, of four
    billion that were declared."""
    with socket.create_connection(("127.0.0.1", assay.port), timeout=60) as slow:
        slow.sendall(
            b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        )
        slow.sendall(b"Content-Length: 4000000000\r\n\r\n")
        assert slow.recv(12) == b"HTTP/1.1 403"
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.5):
                try:
                    slow.sendall(b"x")
                except OSError:
                    return

        trickling = threading.Thread(target=trickle, daemon=True)
        trickling.start()
        assert ask(assay.url + "/healthz")[0] == 200
        stop.set()
        trickling.join()


@pytest.mark.parametrize(
    ("path", "n_bytes", "seconds"),
    [
        ("/sign-in", 1_000_000, 70),
        ("/sign-in", 4_000_000_000, 270),
        ("/collections/a/uploads/all", 4_000_000_000, 270),
        ("/collections/a/uploads", 100_000_000, 5020),
        ("/api/v1/collections/a/uploads/", 100_000_000, 5020),
        ("/import-campaign/", 100_000_000, 5020),
    ],
)
def test_a_declared_length_gives_time_up_to_five_megabytes_unless_the_address_takes_files(
    path, n_bytes, seconds
):
    assert web.body_seconds(path, n_bytes) == seconds


def test_who_is_refused_unread_may_send_all_and_hears_why(assay):
    """As a proxy does, which has the whole upload and says 502 where the server hangs up before it
    is sent."""
    host, port = assay.url.removeprefix("http://").split(":")
    size = 16_000_000
    # of another kind this long it is no upload, and refused for its length
    kind = "multipart/form-data; boundary=x"
    head = (
        f"POST /api/v1/collections/none/uploads/ HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: "
        f"{kind}\r\nContent-Length: {size}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(head.encode())
        time.sleep(0.5)  # it is refused by now
        client.sendall(b"x" * size)
        assert client.recv(12) == b"HTTP/1.1 401"


WITHOUT_THREAD = (503, "keep-alive", None)
"""Status, Connection and Server of an answer that no thread wrote: those say gunicorn."""


def test_a_connection_that_is_kept_is_refused_without_a_thread_and_serves_again_when_the_crowd_has_gone(
    assay,
):
    kept = http.client.HTTPConnection("127.0.0.1", assay.port, timeout=60)

    def get(path: str) -> http.client.HTTPResponse:
        kept.request("GET", path)
        answer = kept.getresponse()
        answer.read()
        return answer

    assert get("/healthz").status == 200
    port = kept.sock.getsockname()[1]
    refused = set()
    with ThreadPoolExecutor(1) as pool:
        for _ in range(
            3
        ):  # on a busy machine a thread may be there for each request of one crowd, and refuse what came too late
            crowd = pool.submit(dear_requests, assay, 60)
            while not crowd.done() and WITHOUT_THREAD not in refused:
                answer = get("/sign-in")
                refused.add(
                    (answer.status, answer.getheader("Connection"), answer.getheader("Server"))
                )
            if WITHOUT_THREAD in refused:
                break
    assert WITHOUT_THREAD in refused
    assert get("/sign-in").status == 200
    assert kept.sock.getsockname()[1] == port
    kept.close()


def test_connections_that_ask_nothing_hold_no_thread(assay):
    silent = [socket.create_connection(("127.0.0.1", assay.port)) for _ in range(5)]
    time.sleep(0.5)
    with urllib.request.urlopen(
        assay.url + "/healthz", timeout=10
    ) as answer:  # gunicorn gives each of them the one thread for 5 s
        assert answer.status == 200
    for one in silent:
        one.close()


def test_who_stands_in_line_too_long_is_refused_while_every_thread_is_held(assay):
    with socket.create_connection(("127.0.0.1", assay.port)) as slow:
        token = b"a" * 32
        slow.sendall(
            b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken="
            + token
            + b"\r\nX-CSRFToken: "
            + token
            + b"\r\n"
        )
        slow.sendall(
            b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\n"
        )
        time.sleep(0.5)  # the one thread waits for its body now
        status, _, headers, body = ask(assay.url + "/sign-in")
        assert not select.select([slow], [], [], 0)[0], "the thread is held still"
    assert status == 503
    assert headers["X-Request-ID"].encode() in body
    assert ask(assay.url + "/sign-in")[0] == 200


def test_what_is_answered_and_refused_is_counted(assay):
    def figures() -> dict[str, float]:
        request = urllib.request.Request(
            assay.url + "/metrics", headers={"Authorization": "Bearer a token"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return {
            name: float(value)
            for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        }

    before = figures()
    assert [
        ask(assay.url + path)[0]
        for path in ("/sign-in", "/sign-in", "/nowhere", "/api/v1/collections/")
    ] == [200, 200, 404, 401]
    after = figures()
    grown = {
        name: after[name] - before[name]
        for name in after
        if name.startswith(("assay_requests", "assay_refusals")) and after[name] != before[name]
    }
    assert grown == {
        'assay_requests_total{kind="page",status="2xx"}': 2,
        'assay_requests_total{kind="page",status="4xx"}': 1,
        'assay_requests_total{kind="api",status="4xx"}': 1,
        'assay_requests_total{kind="other",status="2xx"}': 1,  # the figures before
    }


def test_the_counts_are_those_of_all_processes_and_of_who_took_the_place_of_one_that_ended():
    counts = RequestCounts()
    for age in (3, 4, 3 + 256):
        counts.take_place(age)
        counts.answered(JUDGEMENT, 200, 0.25)
        counts.answered(API, 503, 0.0)
        counts.refused(PAGE)
    assert [row for row in counts.answers() if row[2]] == [(JUDGEMENT, "2xx", 3), (API, "5xx", 3)]
    assert dict(counts.refusals())[PAGE] == 3
    assert dict(counts.seconds_in_line())[JUDGEMENT] == 0.75


def test_the_wait_of_who_comes_now_is_that_of_the_line_at_its_pace():
    line = admission.WaitingLine()
    assert line.expected_wait(5.0) == 0
    for one in range(30):
        line.join(one, 10.0)
    for one in range(4):
        line.leave(one, 11.0)
    assert (
        line.expected_wait(11.0) == 1.0
    )  # four tell nothing of the pace: the first in line has waited a second
    for one in range(4, 10):
        line.leave(one, 12.0)
    assert line.expected_wait(12.0) == pytest.approx(
        20 * 2 / 10
    )  # ten taken in two seconds, twenty wait
    assert line.refuses(admission.PAGE, 12.0)
    assert line.refuses(JUDGEMENT, 12.0)
    for one in range(10, 21):
        line.drop(one)
    assert line.expected_wait(12.0) == pytest.approx(
        2.0
    )  # nine wait by the pace 1.8 s, but the first of them has waited two already
    assert not line.refuses(JUDGEMENT, 12.0)  # who bears four
    assert line.refuses(API, 12.0)
    for one in range(21, 30):
        line.leave(one, 12.0)
    assert line.expected_wait(12.0) == 0
    line.join("new", 100.0)
    assert line.expected_wait(100.5) == 0.5  # what was before tells nothing of now


def test_a_pace_of_long_ago_counts_less():
    line = admission.WaitingLine()
    for one in range(300):
        line.join(one, 0.0)
    for one in range(100):
        line.leave(one, 1.0)
    for one in range(100, 140):
        line.leave(one, 1.0 + (one - 99) / 5)  # five a second since
    # 160 wait: 32 s at five a second; all that was taken since the beginning would say 160 * 9 /
    # 140 = 10 s
    assert 15 < line.expected_wait(9.0) <= 32


HEAD = b"POST /api/v1/judging/a/judgements HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (HEAD + b"\r\nbody", ("/api/v1/judging/a/judgements", len(HEAD) + 6, False, True, "")),
        (
            HEAD + b"X-Request-ID: seven77\r\n\r\nbodyGET /",
            ("/api/v1/judging/a/judgements", len(HEAD) + 29, False, True, "seven77"),
        ),
        (b"HEAD /x?y=/api/ HTTP/1.1\r\n\r\n", ("/x", 28, True, True, "")),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", ("/", 37, False, False, "")),
        (b"GET / HTTP/1.0\r\n\r\n", ("/", 18, False, False, "")),
        (HEAD + b"\r\nbod", None),
        (HEAD, None),
        (b"", None),
        (HEAD + b"Content-Length: 4\r\n\r\nbody", None),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nbody", None),
        (HEAD + b" folded\r\n\r\nbody", None),
        (b"POST / HTTP/1.1\r\nContent-Length : 4\r\n\r\nbody", None),
        (b"POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\nbody", None),
        (b"GET http://a/ HTTP/1.1\r\n\r\n", None),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", None),
        (b"\x16\x03\x01\x02\x00\x01\x00", None),
    ],
)
def test_only_a_whole_and_plain_request_is_refused_unread(data, expected):
    asked = admission.request_in(data)
    assert (
        asked and (asked.path, asked.n_bytes, asked.is_head, asked.keeps, asked.number)
    ) == expected
