"""A reload of the web server leaves nobody without an answer, however long the new processes take
to load; and when its master is killed they leave the port to the next one."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.management.commands.up import gunicorn_command
from tests.installation import ROOT, free_port

pytestmark = pytest.mark.slow

PATIENCE = 90
SLOW_S = 6
"""Far longer than a process needs to see that its master is gone."""


class Gated:
    def __init__(self, folder: Path, *, processes: int = 1) -> None:
        self.gate, self.port = folder / "gate", free_port()
        self.gate.touch()
        command = gunicorn_command("127.0.0.1", self.port)
        command[command.index("config.wsgi:application")] = "tests.gated_application:application"
        env = {
            **os.environ,
            "GATE": str(self.gate),
            "PYTHONPATH": str(ROOT),
            "ASSAY_DATA_DIR": str(folder),
        }
        self.process = subprocess.Popen(
            [*command, "--workers", str(processes)], cwd=ROOT, env=env, start_new_session=True
        )

    def answer(self) -> int:
        """The process that answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=PATIENCE) as answer:
            return int(answer.read())

    def workers(self) -> set[int]:
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return {int(pid) for pid in listed.stdout.split()}

    def wait(self, condition) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.1)

    def is_up(self) -> bool:
        try:
            return bool(self.answer())
        except OSError:
            return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Gated]:
    found = Gated(tmp_path)
    try:
        found.wait(found.is_up)
        yield found
    finally:
        found.gate.touch()
        if found.process.poll() is None:
            os.killpg(found.process.pid, signal.SIGKILL)
        found.process.wait()


def test_the_old_process_answers_until_the_new_one_can(server):
    old = server.answer()
    server.gate.unlink()
    server.process.send_signal(signal.SIGHUP)
    server.wait(lambda: len(server.workers()) == 2)
    time.sleep(
        2
    )  # not as proof: it gives the old one the time to be gone, which it would be without waiting
    assert [server.answer() for _ in range(5)] == [old] * 5
    server.gate.touch()
    server.wait(lambda: old not in server.workers())
    assert {server.answer() for _ in range(5)} == server.workers()


def test_a_stop_is_no_reload_and_waits_for_nobody(server):
    server.process.terminate()
    assert server.process.wait(timeout=PATIENCE) == 0


def bound(port: int) -> bool:
    """Whether another web server could begin on this port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
        return False


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_who_answers_leaves_the_port_when_the_master_is_killed_and_ends_after_his_requests(server):
    worker = server.answer()
    kept = http.client.HTTPConnection(
        "127.0.0.1", server.port, timeout=PATIENCE
    )  # a page that has asked, and will ask again
    kept.request("GET", "/")
    assert int(kept.getresponse().read()) == worker
    slow = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    slow.request("GET", f"/{SLOW_S}")
    time.sleep(
        0.5
    )  # that its request has been taken; if not, it is taken from the line of those who have connected
    server.process.kill()
    server.process.wait()
    server.wait(lambda: not bound(server.port))
    assert is_there(worker), "the port is free before the last answer is given"
    assert int(slow.getresponse().read()) == worker
    server.wait(lambda: not is_there(worker))


def test_who_loads_the_program_yet_ends_with_the_master(server):
    old = server.answer()
    server.gate.unlink()
    os.kill(old, signal.SIGKILL)
    server.wait(lambda: server.workers() and old not in server.workers())
    [loading] = server.workers()
    server.process.kill()
    server.process.wait()
    server.wait(lambda: not is_there(loading))
    server.wait(
        lambda: not bound(server.port)
    )  # its first thread is gone before the last has closed what it held
