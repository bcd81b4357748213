"""Processes of the web server share who connects, so that nobody waits at one while another is
idle."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
from collections import Counter

import pytest

from config.connection_shares import FRESH_SECONDS, LEAD, ConnectionShares
from tests.test_reload import PATIENCE, Gated

NOW = 1000.0


@pytest.fixture
def other():
    """Another process that lives."""
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


def shares_with(
    process: subprocess.Popen[bytes], n: int | None, monkeypatch: pytest.MonkeyPatch
) -> ConnectionShares:
    shares = ConnectionShares()
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: process.pid)
        shares.tell(2, n, NOW)
    return shares


def test_who_has_more_leaves_the_next_to_who_has_fewer(other, monkeypatch):
    shares = shares_with(other, 10, monkeypatch)
    assert [shares.is_ahead(n, NOW) for n in (0, 10, 10 + LEAD, 11 + LEAD, 500)] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_nobody_waits_for_who_is_alone_frozen_full_or_gone(other, monkeypatch):
    alone = ConnectionShares()
    alone.tell(1, 500, NOW)
    assert not alone.is_ahead(500, NOW)
    shares = shares_with(other, 0, monkeypatch)
    assert shares.is_ahead(500, NOW + FRESH_SECONDS - 0.1)
    assert not shares.is_ahead(500, NOW + FRESH_SECONDS), "it has not said anything since"
    assert not shares_with(other, None, monkeypatch).is_ahead(500, NOW), "it takes nobody"
    other.kill()
    other.wait()
    assert not shares.is_ahead(500, NOW), "it has ended"


@pytest.fixture
def two(tmp_path):
    server = Gated(tmp_path, processes=2)
    try:
        server.wait(server.is_up)
        server.wait(lambda: len(server.workers()) == 2)
        yield server
    finally:
        if server.process.poll() is None:
            os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait()


@pytest.mark.slow
def test_pages_that_keep_their_connections_are_spread_over_the_processes(two):
    """Each asks once more at the end: the same process answers, and both have as many pages but for
    the lead."""
    two.wait(lambda: len({two.answer() for _ in range(20)}) == 2)  # both answer by now

    def ask(page: http.client.HTTPConnection) -> int:
        page.request("GET", "/")
        return int(page.getresponse().read())

    pages = [http.client.HTTPConnection("127.0.0.1", two.port, timeout=PATIENCE) for _ in range(60)]
    by = Counter(ask(page) for page in pages)
    assert len(by) == 2
    assert max(by.values()) - min(by.values()) <= 2 * LEAD + 2
    assert by == Counter(ask(page) for page in pages), "a page stays where it is"

    # Who comes after one process was killed has not to wait for it.
    gone = min(by)
    os.kill(gone, signal.SIGKILL)
    assert two.answer() != gone
    for page in pages:
        page.close()
