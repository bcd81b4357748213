"""A reload of the web server leaves nobody without an answer, however long the new processes take to load."""

from __future__ import annotations

import os
import signal
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


class Gated:
    def __init__(self, folder: Path) -> None:
        self.gate, self.port = folder / "gate", free_port()
        self.gate.touch()
        command = gunicorn_command("127.0.0.1", self.port)
        command[command.index("config.wsgi:application")] = "tests.gated_application:application"
        env = {**os.environ, "GATE": str(self.gate), "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen([*command, "--workers", "1"], cwd=ROOT, env=env, start_new_session=True)

    def answer(self) -> int:
        """The process that answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=PATIENCE) as answer:
            return int(answer.read())

    def workers(self) -> set[int]:
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False)
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
    time.sleep(2)  # not as proof: it gives the old one the time to be gone, which it would be without waiting
    assert [server.answer() for _ in range(5)] == [old] * 5
    server.gate.touch()
    server.wait(lambda: old not in server.workers())
    assert {server.answer() for _ in range(5)} == server.workers()


def test_a_stop_is_no_reload_and_waits_for_nobody(server):
    server.process.terminate()
    assert server.process.wait(timeout=PATIENCE) == 0
