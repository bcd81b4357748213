"""Processes of the web server that cannot begin or stand still are replaced, the others go on, and
what is said of it stands in the log as all else."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config import kept_modules, web
from config.management.commands.up import gunicorn_command
from tests.installation import ROOT, free_port

pytestmark = pytest.mark.slow

PATIENCE = 90
SECRET, SESSION = "q1w2e3r4t5z6u7i8o9p0a1s2d3f4", "abcdefghijklmnopqrstuvwxyz012345"


class Troubled:
    """gunicorn as `up` starts it, one process, with the troubles of tests.troubled_web."""

    def __init__(
        self, folder: Path, *, timeout: int = 0, style: str = "json", troubles: tuple[str, ...] = ()
    ) -> None:
        self.folder, self.port, self.log_file = folder, free_port(), folder / "log"
        for name in troubles:
            (folder / name).touch()
        command = gunicorn_command("127.0.0.1", self.port)
        command[command.index("config.wsgi:application")] = "tests.troubled_web:application"
        command[command.index("config.web.Worker")] = "tests.troubled_web.Worker"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        env = {
            **kept,
            "TROUBLE": str(folder),
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


def test_a_process_whose_threads_do_not_begin_ends_and_another_answers(tmp_path):
    with Troubled(tmp_path, troubles=("threads",)) as server:
        server.wait(server.answer)
        [line] = server.told("did not begin within 3 seconds")
        assert line["level"] == "ERROR"
        assert server.process.poll() is None


def test_where_the_program_could_never_be_loaded_the_web_server_ends_with_the_reason(tmp_path):
    with Troubled(tmp_path, troubles=("load",)) as server:
        assert server.process.wait(timeout=PATIENCE) == 3
        [line] = server.told("the program could not be loaded")
        assert line["trace"].splitlines()[-1] == "MemoryError: no memory to load the program"


def test_the_old_process_goes_on_where_a_reload_cannot_load_the_program_until_one_can(tmp_path):
    with Troubled(tmp_path) as server:
        server.wait(server.answer)
        old = server.answer()
        (tmp_path / "load").touch()
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.told("exited with code 1"))
        assert len(server.told("the program could not be loaded")) == 1
        assert [server.answer() for _ in range(5)] == [old] * 5
        (tmp_path / "load").unlink()
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.answer() not in (0, old))
        server.process.terminate()
        assert server.process.wait(timeout=PATIENCE) == 0


def test_a_stop_after_such_a_reload_waits_for_nobody(tmp_path):
    with Troubled(tmp_path) as server:
        server.wait(server.answer)
        (tmp_path / "load").touch()
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.told("exited with code 1"))
        server.process.terminate()
        assert server.process.wait(timeout=PATIENCE) == 0
        assert server.told("SIGKILL") == [], (
            "it ended by itself, within the time that the master gives"
        )


def test_ages_of_those_that_could_not_load_the_program_count_as_if_they_had_not_been_begun():
    ages = web.Ages()
    for age in (1, 2):
        ages.begun(age)
        ages.answers(age)
    for age in (3, 4, 5):
        ages.begun(age)
    ages.failed(4)
    assert ages.youngest() == (5, 2), "another one loads yet"
    ages.failed(5)
    assert ages.youngest() == (3, 2)
    ages.failed(3)
    assert ages.youngest() == (2, 2)
    ages.begun(6)
    assert ages.youngest() == (6, 2)


def test_of_a_process_that_stood_still_the_log_says_where_and_another_answers(tmp_path):
    with Troubled(tmp_path, timeout=5) as server:
        server.wait(server.answer)
        old = server.answer()
        (tmp_path / "still").touch()
        server.wait(lambda: server.answer() not in (0, old))
        [timeout] = server.told("WORKER TIMEOUT")
        [still] = server.told("stood still")
        assert {timeout["level"], still["level"]} == {"CRITICAL"}
        assert f"process {old} stood still" in still["message"]
        assert "in stand_still" in still["message"]


def test_a_process_that_has_lost_a_thread_makes_place_for_another(tmp_path):
    with Troubled(tmp_path) as server:
        server.wait(server.answer)
        old = server.answer()
        (tmp_path / "thread").touch()
        server.wait(lambda: server.answer() not in (0, old))
        assert len(server.told(f"a thread of process {old} has ended")) == 1


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


def test_the_document_names_what_the_master_keeps_at_a_reload():
    """As gunicorn's master loads it: the worker's class, and nothing of the application."""
    code = "import gunicorn.app.wsgiapp, config.web\nfrom config import kept_modules\nprint(*kept_modules.loaded())"
    kept = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    ).stdout.split()
    text = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    named = re.findall(
        r"`([a-z_/]+\.py)`",
        text[text.index("The master keeps") : text.index("Where one of these has changed")],
    )
    assert kept == named


def test_what_has_changed_since_the_master_was_started_is_told_at_a_reload(
    tmp_path, monkeypatch, caplog
):
    (tmp_path / "config").mkdir()
    for name in ("same", "other", "gone"):
        (tmp_path / f"config/{name}.py").write_text("")
    monkeypatch.setattr(kept_modules, "ROOT", tmp_path)
    then = {
        f"config/{name}.py": kept_modules._digest(f"config/{name}.py")
        for name in ("same", "other", "gone")
    }
    monkeypatch.setattr(kept_modules, "loaded", lambda: then)
    kept_modules.tell(logging.getLogger("kept"))
    assert caplog.messages == []
    (tmp_path / "config/other.py").write_text("something = 1\n")
    (tmp_path / "config/gone.py").unlink()
    kept_modules.tell(logging.getLogger("kept"))
    [said] = caplog.messages
    assert said.startswith("config/other.py, config/gone.py changed since")
