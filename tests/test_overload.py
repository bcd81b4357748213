"""A real web server with one thread: what has waited too long since the proxy's stamp is refused,
judgements last, and afterwards all is as before."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from config import admission
from config.request_counts import API, JUDGEMENT, PAGE, RequestCounts
from tests.error_shape import MEMBERS
from tests.installation import Installation

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("overload")]
NOW = 1_790_000_000.0


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


def ask(
    address: str, *, waited_s: float | None = None, data: bytes | None = None
) -> tuple[int, dict[str, str], bytes]:
    """waited_s: how long ago a proxy took the request; None without a proxy. -> (status, headers,
    body)"""
    stamp = {} if waited_s is None else {"X-Request-Start": f"t={time.time() - waited_s:.3f}"}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, data=data, headers=stamp), timeout=60
        ) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def dear_requests(assay: Installation, n: int) -> list[tuple[int, dict[str, str], bytes]]:
    """At once, as a proxy sends them. The schema is computed anew for each, most of a second."""
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(lambda _: ask(assay.url + "/api/schema", waited_s=0), range(n)))


def test_what_waits_too_long_is_refused_and_what_comes_after_the_crowd_is_answered(assay):
    answers = dear_requests(assay, 60)
    statuses = [status for status, *_ in answers]
    assert set(statuses) == {200, 503}
    refused = [answer for answer in answers if answer[0] == 503]
    for _, headers, body in refused:
        assert 3 <= int(headers["Retry-After"]) <= 8
        told = json.loads(body)
        assert (set(told), told["status"], told["code"]) == (MEMBERS, 503, "busy")
        assert headers["Content-Type"] == "application/problem+json"
        assert told["request"] == headers["X-Request-ID"] != ""
    assert len({headers["Retry-After"] for _, headers, _ in refused}) > 1, (
        "not all come back at the same moment"
    )
    assert ask(assay.url + "/healthz", waited_s=0)[0] == 200
    assert ask(assay.url + "/sign-in", waited_s=0)[0] == 200


def test_what_has_waited_is_refused_and_probes_never(assay):
    """In which order is shown without a server below: there a busy machine adds no waiting."""

    def statuses(waited_s: float | None) -> list[int]:
        paths = ("/sign-in", "/api/v1/collections/", "/api/v1/judging/a/judgements", "/healthz")
        return [ask(assay.url + path, waited_s=waited_s)[0] for path in paths]

    not_signed_in = 401
    assert statuses(None) == [200, not_signed_in, not_signed_in, 200]
    assert statuses(0) == [200, not_signed_in, not_signed_in, 200]
    assert statuses(60) == [503, 503, 503, 200]


@pytest.mark.parametrize(
    ("waited_s", "refused"),
    [(1.4, []), (1.6, ["page"]), (2.1, ["page", "api"]), (4.1, ["page", "api", "judgement"])],
)
def test_judgements_are_refused_last(
    monkeypatch: pytest.MonkeyPatch, waited_s: float, refused: list[str]
):
    monkeypatch.setattr(admission.time, "time", lambda: NOW)
    paths = {
        "page": "/sign-in",
        "api": "/api/v1/collections/",
        "judgement": "/api/v1/judging/a/judgements",
        "probe": "/healthz",
    }

    def is_refused(path: str) -> bool:
        said: list[str] = []
        admission.AdmissionMiddleware(lambda *_: [b"answered"])(
            {"PATH_INFO": path, "HTTP_X_REQUEST_START": f"t={NOW - waited_s}"},
            lambda status, _: said.append(status),
        )
        return bool(said)

    assert [name for name, path in paths.items() if is_refused(path)] == refused


@pytest.mark.parametrize("path", ["/campaigns/", "/api/v1/collections/"])
def test_a_refusal_never_reaches_the_application_and_keeps_the_number_that_a_proxy_gave(path):
    said: dict[str, str] = {}

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        said.update(headers, status=status)

    def application(*_: object) -> list[bytes]:
        raise AssertionError("the application was asked")

    [body] = admission.AdmissionMiddleware(application)(
        {
            "PATH_INFO": path,
            "HTTP_X_REQUEST_ID": "from-the-proxy",
            "HTTP_X_REQUEST_START": f"t={time.time() - 60}",
        },
        start,
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
    assert admission.MAX_WAIT_SECONDS[admission.request_kind(path)] == seconds


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("t=1789999997.500", 2.5),
        ("1789999997.500", 2.5),
        ("t=1789999997500", 2.5),
        ("t=1789999997500000", 2.5),
        ("t=1790000003.000", 0),
        ("t=1789999000.000", 0),
        ("t=0", 0),
        ("t=-1", 0),
        ("t=nan", 0),
        ("t=inf", 0),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_stamps_of_nginx_caddy_and_others_are_read_and_wrong_ones_refuse_nobody(stamp, seconds):
    assert admission.queue_wait_seconds(stamp, NOW) == pytest.approx(seconds)


def test_connections_that_ask_nothing_hold_no_thread(assay):
    silent = [socket.create_connection(("127.0.0.1", assay.port)) for _ in range(5)]
    time.sleep(0.5)
    with urllib.request.urlopen(
        assay.url + "/healthz", timeout=10
    ) as answer:  # gunicorn gives each of them the one thread for 5 s
        assert answer.status == 200
    for one in silent:
        one.close()


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
    assert ask(assay.url + "/sign-in", waited_s=60)[0] == 503
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
        'assay_refusals_total{kind="page"}': 1,
    }


def test_the_counts_are_those_of_all_processes_and_of_who_took_the_place_of_one_that_ended():
    counts = RequestCounts()
    for age in (3, 4, 3 + 256):
        counts.claim_slot(age)
        counts.record_response(JUDGEMENT, 200, 0.25)
        counts.record_response(API, 503, 0.0)
        counts.record_refusal(PAGE)
    assert [row for row in counts.answers() if row[2]] == [(JUDGEMENT, "2xx", 3), (API, "5xx", 3)]
    assert dict(counts.refusals())[PAGE] == 3
    assert dict(counts.queue_seconds())[JUDGEMENT] == 0.75
