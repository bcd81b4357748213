"""A process of the web server that stands still is replaced, and the log says of it and of all else
what it may."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config.management.commands.up import gunicorn_command
from tests.installation import ROOT, free_port

pytestmark = pytest.mark.slow

PATIENCE = 90
SECRET, SESSION = "q1w2e3r4t5z6u7i8o9p0a1s2d3f4", "abcdefghijklmnopqrstuvwxyz012345"


class Troubled:
    """gunicorn as `up` starts it, one process, with the troubles of tests.troubled_web."""

    def __init__(self, folder: Path, *, timeout: int = 0, style: str = "json") -> None:
        self.port, self.log_file = free_port(), folder / "log"
        command = gunicorn_command("127.0.0.1", self.port)
        command[command.index("config.wsgi:application")] = "tests.troubled_web:application"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        env = {
            **kept,
            "PYTHONPATH": str(ROOT),
            "ASSAY_DATA_DIR": str(folder),
            "ASSAY_LOG_FORMAT": style,
        }
        with self.log_file.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, "--workers", "1", "--timeout", str(timeout)],
                cwd=ROOT,
                env=env,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def __enter__(self) -> Troubled:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def answer(self) -> int:
        """The process that answers; 0 where none does."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5) as answer:
                return int(answer.read())
        except OSError:
            return 0

    def say(self, data: bytes) -> bytes:
        """-> the first line of the answer"""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as client:
            client.sendall(data)
            return client.makefile("rb").readline()

    def wait(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.log_file.read_text()
            time.sleep(0.1)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_file.read_text().splitlines()]

    def told(self, words: str) -> list[dict[str, Any]]:
        return [line for line in self.lines() if words in line["message"]]


def test_of_a_process_that_stood_still_the_log_says_where_and_another_answers(tmp_path):
    with Troubled(tmp_path, timeout=5) as server:
        server.wait(server.answer)
        old = server.answer()
        server.say(b"GET /still HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait(lambda: server.answer() not in (0, old))
        [timeout] = server.told("WORKER TIMEOUT")
        [still] = server.told("stopped responding")
        assert {timeout["level"], still["level"]} == {"CRITICAL"}
        assert f"process {old} stopped responding" in still["message"]
        assert "in stand_still" in still["message"]


def test_lines_of_gunicorn_are_json_and_hold_no_secret(tmp_path):
    with Troubled(tmp_path) as server:
        server.wait(server.answer)
        assert (
            server.say(f"GET /join/{SECRET}?key={SECRET}\x01 HTTP/9\r\n\r\n".encode()).split()[1]
            == b"400"
        )
        assert (
            server.say(
                f"GET / HTTP/1.1\r\nHost: a\r\nCookie : sessionid={SESSION}\r\n\r\n".encode()
            ).split()[1]
            == b"400"
        )
        assert (
            server.say(
                f"GET /join/{SECRET}/?key=private HTTP/1.1\r\nHost: a\r\n\r\n".encode()
            ).split()[1]
            == b"500"
        )
        killed = server.answer()
        os.kill(killed, signal.SIGKILL)
        server.wait(lambda: server.answer() not in (0, killed))
        refused = [
            line["message"].rpartition(" ")[2] for line in server.told("cannot be read was refused")
        ]
        assert refused == ["InvalidRequestLine", "InvalidHeaderName"]
        [failed] = server.told("Error handling request")
        assert failed["message"] == "Error handling request GET /join/…/"
        assert failed["trace"].splitlines()[-1] == "RuntimeError: a mistake of ours"
        assert len(server.told("was sent SIGKILL")) == 1
        assert {line["logger"] for line in server.lines()} == {"gunicorn.error"}
        assert [
            word for word in (SECRET, SESSION, "private") if word in server.log_file.read_text()
        ] == []


def test_as_lines_they_look_like_all_others(tmp_path):
    with Troubled(tmp_path, style="line") as server:
        server.wait(server.answer)
        killed = server.answer()
        os.kill(killed, signal.SIGKILL)
        server.wait(lambda: server.answer() not in (0, killed))
        assert (
            f" ERROR gunicorn.error: Worker (pid:{killed}) was sent SIGKILL! Perhaps out of memory?"
            in server.log_file.read_text()
        )
