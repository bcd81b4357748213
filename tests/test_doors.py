"""Pages wait in front of their doors, and judging never waits for pages."""

from __future__ import annotations

import fcntl
import http.client
import os
import select
import signal
from pathlib import Path

import pytest

from config import doors
from config.doors import FIGURES, OPEN, PAGES, Doors, door_of_bytes, one_on_this_machine
from tests.test_reload import PATIENCE, Gated


@pytest.mark.parametrize(
    ("beginning", "door"),
    [
        (b"GET /campaigns/a/people/?q=x HTTP/1.1\r\nHost: a", FIGURES),
        (b"HEAD /campaigns/a/ HTTP/1.1\r\n", FIGURES),
        (b"GET /results/secret/ HTTP/1.1", FIGURES),
        (b"GET /campaigns/a-name-that-is-longer-than-what-is-looked-at", FIGURES),
        (b"GET /campaigns/ HTTP/1.1", PAGES),
        (b"GET /campaigns/?page=2 HTTP/1.1", PAGES),
        (b"GET /judge/a/ HTTP/1.1", PAGES),
        (b"GET / HTTP/1.1", PAGES),
        (b"POST /campaigns/a/people/chosen HTTP/1.1", OPEN),
        (b"POST /api/v1/judging/a/judgements HTTP/1.1", OPEN),
        (b"GET /api/v1/judging/a/setup HTTP/1.1", OPEN),
        (b"GET /static/css/base.css HTTP/1.1", OPEN),
        (b"GET /healthz HTTP/1.1", OPEN),
        (b"\x16\x03\x01\x02", OPEN),
        (b"GET http://a/ HTTP/1.1", OPEN),
        (b"", OPEN),
    ],
)
def test_only_pages_have_doors(beginning, door):
    assert door_of_bytes(beginning) == door


def test_who_leaves_lets_the_next_in_and_who_gives_up_is_passed_over():
    found = Doors()
    assert [found.enters(one, FIGURES) for one in "abc"] == [True, False, False]
    assert [found.enters(one, PAGES) for one in "xyz"] == [True, True, False], "another door"
    assert found.gives_up("b", FIGURES)
    assert not found.gives_up("a", FIGURES), "it is inside"
    assert found.leave(FIGURES) == "c"
    assert not found.enters("d", FIGURES), "c is inside"
    assert [found.leave(FIGURES), found.leave(FIGURES)] == ["d", None]
    assert found.enters("e", FIGURES)


def test_a_page_of_figures_waits_for_another_process_but_not_for_ever(tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(doors, "TURN_S", 0.05)
    with one_on_this_machine(), (tmp_path / "figures.lock").open("ab") as other:
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with one_on_this_machine():
            pass  # after a while it goes on all the same
    with (tmp_path / "figures.lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_where_the_folder_cannot_be_written_nobody_waits(tmp_path, settings):
    settings.DATA_DIR = tmp_path / "none"
    with one_on_this_machine():
        pass


@pytest.fixture
def server(tmp_path: Path):
    server = Gated(tmp_path)
    try:
        server.wait(server.is_up)
        yield server
    finally:
        if server.process.poll() is None:
            os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait()


@pytest.mark.slow
def test_judging_and_other_pages_are_answered_while_pages_of_figures_wait(server):
    """The process has eight threads; of three pages of figures that never end two wait, until the first is made."""

    def asked(path: str) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("GET", path)
        return connection

    held, go = Path(f"{server.gate}.held"), Path(f"{server.gate}.go")
    first = asked("/campaigns/held")
    server.wait(held.exists)
    second, third = asked("/campaigns/a/0"), asked("/campaigns/b/0")
    for path in ("/api/0", "/judge/0", "/api/0", "/campaigns/"):
        assert asked(path).getresponse().status == 200
    assert not select.select([one.sock for one in (first, second, third)], [], [], 0)[0]
    go.touch()
    assert [one.getresponse().status for one in (third, second, first)] == [200] * 3
    assert asked("/campaigns/a/0").getresponse().status == 200, "the door is free again"
