"""A complete installation for tests, started as by `make run`: data folder, database, web server
and background worker.

with Installation(folder) as assay:
    assay.run("make_user('ada')")        # Python in the installation, with the names of
    tests.builders
    browser.goto(assay.url + "/sign-in")
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType

from tests.migrated import copy_prepared

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS, END_SECONDS = 300, 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def interruptible() -> None:
    """Restore the default action of Ctrl-C, for `preexec_fn`. Background jobs of a shell and their
    children inherit that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Installation:
    """A running installation for tests.

    cwd: working directory from which it is started. program: command that starts it, instead of
    this checkout's manage.py. checkout: folder of another version. answers: address that responds
    once it is ready. demo: create the demo. example: create the demo's finished campaign, too.
    prepared: begin with all tables and collected static files, for tests that are not about the
    first start. settings: further environment variables, without their prefix.
    """

    def __init__(
        self,
        folder: Path,
        *,
        demo: bool = False,
        example: bool = False,
        cwd: Path | None = None,
        program: list[str] | None = None,
        checkout: Path = ROOT,
        answers: str = "/healthz",
        prepared: bool = False,
        **settings: str,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.cwd, self.checkout, self.answers = cwd, checkout, answers
        self.program = program or [sys.executable, str(checkout / "manage.py")]
        self.folder, self.demo, self.port = folder, demo, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        self.env = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": str(checkout),
            "ASSAY_DATA_DIR": str(folder),
        }
        # starting a process of the web server takes three seconds of processor time
        settings = {"WEB_WORKERS": "1", **settings}
        self.env |= {f"ASSAY_{name}": value for name, value in settings.items()}
        if not example:
            self.env["ASSAY_NO_EXAMPLE"] = "1"
        self.server: subprocess.Popen[bytes] | None = None
        if prepared:
            copy_prepared(folder, settings.get("DATABASE_URL", ""))

    def __enter__(self) -> Installation:
        env = (
            self.env
            if self.cwd is None
            else {name: value for name, value in self.env.items() if name != "PYTHONPATH"}
        )
        command = [
            *self.program,
            "up",
            "--port",
            str(self.port),
            *([] if self.demo else ["--no-demo"]),
        ]
        with self.log.open("wb") as out:
            self.server = subprocess.Popen(
                command,
                cwd=self.cwd or self.checkout,
                env=env,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=interruptible,
            )
        end = time.monotonic() + START_SECONDS * (4 if self.demo else 1)
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(self.url + self.answers, timeout=5).close()
                if not self.demo or self.has_demo():
                    return self
            except (urllib.error.URLError, OSError):
                if self.server.poll() is not None:
                    break
            time.sleep(0.2)
        self.stop()
        raise RuntimeError(
            f"the installation did not start:\n{self.log.read_text(errors='replace')}"
        )

    def has_demo(self) -> bool:
        """Return whether the worker has created the demo's campaigns."""
        database = sqlite3.connect(f"file:{self.folder / 'assay.sqlite3'}?mode=ro", uri=True)
        with contextlib.closing(database) as known:
            n = known.execute("SELECT COUNT(*) FROM annotation_campaign").fetchone()[0]
        return bool(n)

    def start_again(self) -> None:
        """Start the installation on the same port after `up` was killed. Processes that it left
        behind answer until they are replaced."""
        self.__enter__()
        end = time.monotonic() + START_SECONDS
        while "Assay is running" not in (text := self.log.read_text(errors="replace")):
            if time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"the installation did not start again:\n{text}")
            time.sleep(0.2)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        if self.server is None:
            return
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)
        try:
            self.server.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()

    def run(self, code: str) -> str:
        """Run Python code in this installation, in a separate process. Returns what it printed."""
        done = subprocess.run(
            [
                sys.executable,
                "manage.py",
                "shell",
                "--no-imports",
                "-c",
                f"from tests.builders import *\n{code}",
            ],
            cwd=self.checkout,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=240,
        )
        if done.returncode:
            raise RuntimeError(f"{code}\n{done.stderr}")
        return done.stdout
