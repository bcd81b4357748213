"""A whole installation of its own, as `make run` starts it: data folder, database, web server and background worker.

    with Installation(folder) as assay:
        assay.run("make_user('ada')")        # Python in the installation, with the names of tests.builders
        browser.goto(assay.url + "/sign-in")
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS, END_SECONDS = 150, 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Installation:
    def __init__(self, folder: Path, *, demo: bool = False) -> None:
        self.folder, self.demo, self.port = folder, demo, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        self.env = {**kept, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT), "ASSAY_DATA_DIR": str(folder)}
        self.server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Installation:
        command = [sys.executable, "manage.py", "up", "--port", str(self.port), *([] if self.demo else ["--no-demo"])]
        with self.log.open("wb") as out:
            self.server = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=out, stderr=out, start_new_session=True)
        end = time.monotonic() + START_SECONDS * (4 if self.demo else 1)
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(self.url + "/sign-in", timeout=5).close()
                return self
            except (urllib.error.URLError, OSError):
                if self.server.poll() is not None:
                    break
                time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"the installation did not start:\n{self.log.read_text(errors='replace')}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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
        """Python inside this installation, in a process of its own. -> what it printed"""
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", f"from tests.builders import *\n{code}"],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=240,
        )
        if done.returncode:
            raise RuntimeError(f"{code}\n{done.stderr}")
        return done.stdout
