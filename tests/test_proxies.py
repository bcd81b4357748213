"""The proxies of docs/how-to/deploy.md, as they are printed there, before a real installation: nginx
and Caddy, where they are installed."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.builders import PASSWORD
from tests.conftest import absent
from tests.installation import Installation, free_port
from tests.proxies import NAME, PROXIES, made_certificate
from tests.soak.crew import Crew, SoakPage
from tests.soak.place import CAMPAIGN, LOOK
from tests.soak.servers import children, signal_all, wait_for
from tests.soak.trial import Outcome, judge

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("proxies")]

SETTINGS = {"HTTPS": "1", "ALLOWED_HOSTS": f"{NAME},127.0.0.1", "TRUSTED_PROXIES": "127.0.0.1"}
START_SECONDS, RELOAD_SECONDS = 60, 240
VISITOR = "127.0.0.2"
"""Where visitors come from: not the address of the proxy, which is trusted."""


class Site(NamedTuple):
    """The site as a browser reaches it."""

    port: int
    certificate: Path
    assay: Installation

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """(status, headers, body); as often as a server with too much to do asks for."""
        while True:
            found = self.ask_once(method, path, body, headers)
            if found[0] != 503:
                return found
            time.sleep(int(found[1]["Retry-After"]))

    def ask_once(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        trust = ssl.create_default_context(cafile=str(self.certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trust)
        plain = socket.create_connection(
            ("127.0.0.1", self.port), timeout=60, source_address=(VISITOR, 0)
        )
        connection.sock = trust.wrap_socket(plain, server_hostname=NAME)
        connection.request(method, path, body=body, headers={"Host": NAME, **(headers or {})})
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def sign_in(
        self, name: str, password: str, **headers: str
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        _, got, page = self.ask("GET", "/sign-in")
        cookie = got["Set-Cookie"].partition(";")[0]
        token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        body = (
            f"username={name}&password={password}&csrfmiddlewaretoken={token[1].decode()}".replace(
                " ", "+"
            ).encode()
        )
        kind = "application/x-www-form-urlencoded"
        return self.ask(
            "POST",
            "/sign-in",
            body,
            {
                "Cookie": cookie,
                "Content-Type": kind,
                "Referer": f"https://{NAME}/sign-in",
                **headers,
            },
        )


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    if not any(shutil.which(name) for name in PROXIES):
        absent("nginx", "neither nginx nor caddy is installed")
    with Installation(tmp_path_factory.mktemp("behind"), prepared=True, **SETTINGS) as installation:
        installation.run("for name in ('ada', 'bob', 'eve'): make_user(name)")
        yield installation


@pytest.fixture(scope="module", params=PROXIES)
def site(
    request: pytest.FixtureRequest, assay: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    if shutil.which(request.param) is None:
        absent(
            request.param,
            f"{request.param} is not installed; on Debian: apt install {request.param}",
        )
    folder = tmp_path_factory.mktemp(request.param)
    (certificate, key), port = made_certificate(folder), free_port()
    command = PROXIES[request.param](folder, port, assay.port, certificate, key)
    env = {
        **os.environ,
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    with (folder / "log").open("wb") as log:
        proxy = subprocess.Popen(
            command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True
        )
    found = Site(port, certificate, assay)
    try:
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                found.ask("GET", "/healthz")
                break
            except OSError:
                assert time.monotonic() < end, (folder / "log").read_text(errors="replace")
                assert proxy.poll() is None, (folder / "log").read_text(errors="replace")
                time.sleep(0.1)
        yield found
    finally:
        proxy.send_signal(signal.SIGTERM)
        try:
            proxy.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(proxy.pid, signal.SIGKILL)


def web_master(assay: Installation) -> int:
    assert assay.server is not None
    [master] = [
        pid
        for pid in children(assay.server.pid)
        if b"gunicorn" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return master


def test_one_signs_in_over_https_with_cookies_that_never_travel_readable(site: Site):
    status, headers, _ = site.sign_in("ada", PASSWORD)
    assert status == 302
    cookies = [value for name, value in headers.items() if name.lower() == "set-cookie"]
    assert any(value.startswith("sessionid=") for value in cookies)
    assert all("Secure" in value for value in cookies)
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    assert headers["Location"].startswith("/"), "no address of the machine behind"


def test_a_stranger_cannot_hide_behind_addresses_that_he_makes_up(site: Site):
    """Each failure claims to come from somewhere else; they are counted for the one address that
    the proxy saw."""
    who = {"nginx": "bob", "caddy": "eve"}["nginx" if "nginx" in str(site.certificate) else "caddy"]
    for number in range(10):
        assert site.sign_in(who, "wrong", **{"X-Forwarded-For": f"203.0.113.{number}"})[0] == 400
    status, _, page = site.sign_in(who, PASSWORD, **{"X-Forwarded-For": "198.51.100.1"})
    assert (status, b"Too many failed attempts" in page) == (400, True)


def test_the_proxys_number_of_a_request_is_the_one_of_the_error(site: Site):
    _, headers, body = site.ask("GET", "/api/v1/collections/")
    assert re.search(rb'"request": ?"([^"]+)"', body)[1].decode() == headers["X-Request-ID"]  # type: ignore[index]
    assert len(headers["X-Request-ID"]) in (32, 36), "of nginx or of Caddy, not ours of twelve"


def test_a_large_upload_reaches_us(site: Site):
    body = b"x" * 3_000_000
    for content_type in ("multipart/form-data; boundary=x", "text/plain"):
        status, _, answer = site.ask(
            "POST", "/api/v1/collections/none/uploads/", body, {"Content-Type": content_type}
        )
        assert (status, b'"code"' in answer) == (401, True), (
            "our answer, not the proxy's limit of a megabyte, nor its 502"
        )


def web_workers(assay: Installation) -> list[int]:
    return children(web_master(assay))


def test_what_waited_too_long_behind_the_proxy_is_refused_and_judgements_are_not_yet(site: Site):
    """The web server stands still for a time that pages do not bear and judgements do."""
    paused = web_workers(site.assay)
    signal_all(paused, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(2) as pool:
            page = pool.submit(site.ask_once, "GET", "/sign-in")
            judgement = pool.submit(site.ask_once, "POST", "/api/v1/judging/none/judgements")
            time.sleep(2.5)
            signal_all(paused, signal.SIGCONT)
            status, headers, body = page.result()
            assert judgement.result()[0] == 401
    finally:
        signal_all(paused, signal.SIGCONT)
    assert status == 503
    assert 3 <= int(headers["Retry-After"]) <= 8
    assert headers["X-Request-ID"].encode() in body
    assert site.ask_once("GET", "/sign-in")[0] == 200


def test_clients_that_send_a_byte_a_second_hold_nobody(site: Site):
    """Half of them in the lines of a request, half in its body; twice as many as there are
    threads."""
    begins = [b"GET / HTTP/1.1\r\nX-Long: ", b"POST /sign-in HTTP/1.1\r\nContent-Length: 9999\r\n"]
    trust = ssl.create_default_context(cafile=str(site.certificate))
    slow = []
    for n in range(16):
        plain = socket.create_connection(("127.0.0.1", site.port), timeout=60)
        slow.append(trust.wrap_socket(plain, server_hostname=NAME))
        host = f"Host: {NAME}\r\n\r\n".encode() if n % 2 else b""
        slow[-1].sendall(begins[n % 2] + host)
    for _ in range(3):
        assert site.ask_once("GET", "/sign-in")[0] == 200
        for client in slow:
            client.sendall(b"x")
        time.sleep(1)
    for client in slow:
        client.close()


class PageBehindProxy(SoakPage):
    """Over HTTPS. What is not in the API's one shape, as a proxy's own 502, counts as strange."""

    def __init__(self, site: Site, session: dict[str, str]) -> None:
        super().__init__(site.port, session)
        self.trust = ssl.create_default_context(cafile=str(site.certificate))
        self.site = f"Host: {NAME}\r\nReferer: https://{NAME}/campaigns/soak/judge\r\n"

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.trust, server_hostname=NAME
        )


@pytest.fixture(scope="module")
def sessions(assay: Installation) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(assay.run(CAMPAIGN))
    return found


def reload(assay: Installation) -> None:
    """Until all processes of the web server are others: what the third step of an upgrade does
    (docs/how-to/operate.md)."""
    master = web_master(assay)
    old = set(children(master))
    os.kill(master, signal.SIGHUP)
    wait_for(
        lambda: len(now := set(children(master))) == len(old) and not old & now,
        RELOAD_SECONDS,
        "the old processes have not ended",
    )


def test_a_reload_loses_no_request(site: Site):
    """While people ask without pause, each time over a connection of its own."""
    statuses: list[int | str] = []
    stop = threading.Event()

    def ask_on() -> None:
        while not stop.is_set():
            try:
                statuses.append(site.ask("GET", "/healthz")[0])
            except OSError as error:
                statuses.append(str(error))

    asking = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in asking:
        thread.start()
    try:
        reload(site.assay)
        n_at_the_change = len(statuses)
        wait_for(
            lambda: len(statuses) >= n_at_the_change + 20,
            RELOAD_SECONDS,
            "nobody is answered any more",
        )
    finally:
        stop.set()
        for thread in asking:
            thread.join()
    assert set(statuses) == {200}


def test_people_judge_through_a_reload_and_lose_nothing(site: Site, sessions: list[dict[str, str]]):
    """Each page over one connection that it keeps, which proxy and web server hand over to the new
    processes."""
    crew = Crew([PageBehindProxy(site, session) for session in sessions])

    def judge_on(n: int = 20) -> None:
        enough = len(crew.accepted()) + n
        wait_for(
            lambda: len(crew.accepted()) >= enough,
            RELOAD_SECONDS,
            f"nobody judges: {crew.strange()} {crew.answers()}",
        )

    with crew:
        judge_on()
        reload(site.assay)
        judge_on()
    assert crew.strange() == []
    assert crew.answers()[0] == 0, "none was lost on the way"
    outcome = Outcome("reload", "sqlite", normal_after=0.0)
    judge(outcome, json.loads(site.assay.run(LOOK)), crew.accepted(), "")
    assert outcome.complaints == []
