"""A reload or stop of the web server leaves nobody without an answer whose request was taken; and
when its master is killed its processes leave the port to the next one."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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


def test_requests_wait_while_the_new_process_loads_and_are_answered_by_it(server):
    old = server.answer()
    server.gate.unlink()
    server.process.send_signal(signal.SIGHUP)
    server.wait(lambda: server.workers() and old not in server.workers())
    with ThreadPoolExecutor(5) as pool:
        answers = [pool.submit(server.answer) for _ in range(5)]
        time.sleep(1)
        assert not any(answer.done() for answer in answers)
        server.gate.touch()
        assert {answer.result() for answer in answers} == server.workers()


def test_a_stop_answers_what_was_begun_and_then_ends(server):
    slow = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    slow.request("GET", f"/{SLOW_S}")
    time.sleep(0.5)  # that its request has been taken
    worker = server.workers()
    server.process.terminate()
    assert {int(slow.getresponse().read())} == worker
    assert server.process.wait(timeout=PATIENCE) == 0


def test_a_version_that_cannot_be_loaded_is_found_before_the_reload(tmp_path):
    command = [*gunicorn_command("127.0.0.1", free_port()), "--check-config"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ASSAY_DATA_DIR": str(tmp_path)}

    def check(**settings: str) -> int:
        return subprocess.run(command, cwd=ROOT, env=env | settings, check=False).returncode

    assert check() == 0
    assert check(ASSAY_MAX_UPLOAD_MB="much") != 0


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


def test_the_processes_of_a_killed_master_answer_what_was_begun_and_leave_the_port(server):
    worker = server.answer()
    kept = http.client.HTTPConnection(
        "127.0.0.1", server.port, timeout=PATIENCE
    )  # a page that has asked, and will ask again
    kept.request("GET", "/")
    assert int(kept.getresponse().read()) == worker
    slow = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    slow.request("GET", f"/{SLOW_S}")
    time.sleep(0.5)  # that its request has been taken
    server.process.kill()
    server.process.wait()
    assert int(slow.getresponse().read()) == worker
    server.wait(lambda: not is_there(worker))
    server.wait(lambda: not bound(server.port))


def test_a_process_that_still_loads_the_program_ends_once_it_has_if_its_master_was_killed(server):
    old = server.answer()
    server.gate.unlink()
    os.kill(old, signal.SIGKILL)
    server.wait(lambda: server.workers() and old not in server.workers())
    [loading] = server.workers()
    server.process.kill()
    server.process.wait()
    server.gate.touch()
    server.wait(lambda: not is_there(loading))
    server.wait(lambda: not bound(server.port))
