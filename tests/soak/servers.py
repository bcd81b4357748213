"""Separate PostgreSQL and Redis servers, in their own folders and on their own ports, that can be
killed, frozen and stopped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.installation import free_port

START_SECONDS = 60
POSTGRESQL = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


class Unavailable(Exception):
    """This machine lacks something that a fault needs."""


def children(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(one) for one in listed.stdout.split()]


def tree(pid: int) -> list[int]:
    """Return this process and all its descendants."""
    return [pid, *(below for child in children(pid) for below in tree(child))]


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


class OwnServer:
    """A server started in its own folder. `end` leaves no process and no file."""

    def __init__(self, name: str) -> None:
        self.folder, self.port = Path(tempfile.mkdtemp(prefix=f"soak-{name}-")), free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.user: str | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def owner(self) -> dict[str, Any]:
        """Return the arguments for `subprocess` that set the user who runs the process."""
        return {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}

    def answers(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        with (self.folder / "log").open("ab") as out:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                stdout=out,
                stderr=out,
                start_new_session=True,
                **self.owner(),
            )
        wait_for(self.answers, START_SECONDS, f"{self.command()[0]} did not start")

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stop the server. SIGINT: in order, without waiting for clients. SIGKILL: all its
        processes at once."""
        if self.process is None:
            return
        signal_all(
            tree(self.process.pid) if number == signal.SIGKILL else [self.process.pid], number
        )
        self.process.wait(timeout=START_SECONDS)

    def freeze(self) -> None:
        assert self.process is not None
        signal_all(tree(self.process.pid), signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.process is not None
        signal_all(tree(self.process.pid), signal.SIGCONT)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.go_on()
            self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


class OwnPostgreSQL(OwnServer):
    """A separate PostgreSQL server. Its database is named like the superuser. PostgreSQL refuses to
    run as root, so root starts it as the user postgres."""

    def __init__(self) -> None:
        if not POSTGRESQL:
            raise Unavailable("PostgreSQL is not installed")
        super().__init__("postgresql")
        if os.getuid() == 0:
            self.user = "postgres"
            shutil.chown(self.folder, "postgres", "postgres")
        made = subprocess.run(
            [
                str(POSTGRESQL[0] / "initdb"),
                "-D",
                str(self.folder / "data"),
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale",
                "C",
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **self.owner(),
        )
        if made.returncode:
            raise Unavailable(f"initdb: {made.stderr}")
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def command(self) -> list[str]:
        return [
            str(POSTGRESQL[0] / "postgres"),
            "-D",
            str(self.folder / "data"),
            "-p",
            str(self.port),
            "-h",
            "127.0.0.1",
            "-k",
            str(self.folder),
        ]

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


class OwnRedis(OwnServer):
    """A separate Redis server that stores nothing on disk, so that its contents are lost when it is
    killed."""

    def __init__(self) -> None:
        if shutil.which("redis-server") is None:
            raise Unavailable("redis-server is not installed")
        super().__init__("redis")
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        return [
            "redis-server",
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            str(self.folder),
        ]

    def answers(self) -> bool:
        import redis

        try:
            return bool(
                redis.Redis.from_url(self.url, socket_connect_timeout=2, socket_timeout=2).ping()
            )
        except redis.RedisError:
            return False


def wait_for(condition: Callable[[], bool], seconds: float, otherwise: str) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(0.1)
