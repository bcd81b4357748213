"""`assay up`: prepare the database and static files, then run web server and worker together
until Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connection, transaction

from assay.number_words import format_count
from config import environment, orphan_processes, web_server
from config.supervisor import GRACE_SECONDS, SupervisedProcess, Supervisor


class Command(BaseCommand):
    help = "Prepare and start the web server and the worker, on the loopback interface by default."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--host",
            default=environment.text("HOST"),
            help="address to listen on (default: loopback)",
        )
        parser.add_argument(
            "--port",
            type=int,
            default=environment.number("PORT", least=1, most=65535),
            help="port to listen on (default: 8000)",
        )
        parser.add_argument(
            "--no-demo",
            action="store_true",
            help="do not create the demo campaigns in an empty database",
        )
        parser.add_argument(
            "--no-example",
            action="store_true",
            help="create the demo without the finished campaign of simulated annotators",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        web, worker = gunicorn_command(host, port), worker_command()
        self.check_folder()
        alone = self.lock_data_folder()
        self.check_port(host, port)
        address = f"http://{host}:{port}/"
        if not self.static_stamp.exists():
            self.say(f"Preparing the first start. Assay will soon answer at {address}")
        self.prepare_database()
        self.collect_static()
        if (
            not get_user_model().objects.exists()
            and not options["no_demo"]
            and not environment.flag("NO_DEMO")
        ):
            self.make_demo(
                with_example=not options["no_example"] and not environment.flag("NO_EXAMPLE")
            )
        paths = {
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH", "")])
            )
        }
        quiet = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser"}
        children = [
            SupervisedProcess("web server", web, paths),
            SupervisedProcess("worker", worker, {**paths, **quiet}, shows_output=False),
        ]
        threading.Thread(target=self.announce, args=(address,), daemon=True).start()
        status = Supervisor(children, on_start=partial(self.record_processes, alone)).run()
        alone.close()
        self.stdout.write("Assay has stopped.")
        raise SystemExit(status)

    @property
    def static_stamp(self) -> Path:
        """The file with the digest of the collected static files, which the first start writes."""
        return Path(settings.DATA_DIR) / "static.digest"

    def check_folder(self) -> None:
        folder = Path(settings.DATA_DIR)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise CommandError(
                f"the data folder {folder} cannot be written ({error.strerror}); set "
                f"ASSAY_DATA_DIR to a folder that you can write to"
            ) from None

    def lock_data_folder(self) -> TextIO:
        """Lock the data folder for as long as the returned file is open. Two servers on one folder
        would do all work twice."""
        path = Path(settings.DATA_DIR) / "up.lock"
        mark = path.open("a+", encoding="ascii")
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            mark.seek(0)
            raise CommandError(
                f"Assay is already running with the data folder {settings.DATA_DIR} "
                f"({mark.readline().strip() or 'another process'}); "
                "stop it, or set ASSAY_DATA_DIR to another folder"
            ) from None
        mark.seek(0)
        if n := orphan_processes.terminate_orphans(mark.read(), grace_seconds=GRACE_SECONDS):
            self.say(
                f"Assay was killed while it used this data folder. {format_count(n, 'program')} "
                f"that it left running {'was' if n == 1 else 'were'} stopped."
            )
        self.record_processes(mark, [])
        return mark

    def record_processes(self, mark: TextIO, children: list[SupervisedProcess]) -> None:
        """Record which processes hold the folder, so that the next start can end them if this
        process is killed."""
        programs = [
            orphan_processes.describe_process(child.process.pid)
            for child in children
            if child.process is not None
        ]
        with contextlib.suppress(OSError):  # do not stop if the disk is full
            mark.truncate(0)
            mark.write(
                "\n".join(
                    [f"process {os.getpid()} on {socket.gethostname()}", *filter(None, programs)]
                )
                + "\n"
            )
            mark.flush()

    def make_demo(self, *, with_example: bool = True) -> None:
        """Create the demo's accounts, and the job that creates its campaigns after the start."""
        from annotation.demo.creation import request_demo

        with transaction.atomic():
            request_demo(with_example=with_example)

    def say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def check_port(self, host: str, port: int) -> None:
        if not 0 < port < 2**16:
            raise CommandError(f"port {port} is not valid; choose one from 1024 to 65535")
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise CommandError(
                        f"port {port} on {host} is in use; set another one, for example: make run ASSAY_PORT={port + 1}"
                    ) from None
                raise CommandError(f"{host}:{port} cannot be used: {error.strerror}") from None

    def prepare_database(self) -> None:
        try:
            connection.ensure_connection()
        except OperationalError as error:
            raise CommandError(
                f"the database is not responding: {str(error).strip().splitlines()[0]}; check ASSAY_DATABASE_URL"
            ) from None
        call_command("migrate", interactive=False, verbosity=0)

    def collect_static(self) -> None:
        """Collect static files if one of them has changed."""
        wanted, stamp = digest_static_files(), self.static_stamp
        if stamp.exists() and stamp.read_text() == wanted and Path(settings.STATIC_ROOT).exists():
            return
        call_command(
            "collectstatic",
            interactive=False,
            verbosity=0,
            clear=True,
            ignore_patterns=["*.map", "redoc"],
        )
        stamp.write_text(wanted)

    def announce(self, address: str) -> None:
        """Print the address and the sign-ins when the web server answers."""
        for _ in range(300):
            try:
                urllib.request.urlopen(address + "healthz", timeout=2).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        from annotation.demo.accounts import read_sign_ins
        from annotation.demo.creation import is_being_created

        sys.stdout.write(format_welcome(address, read_sign_ins(), demo_follows=is_being_created()))
        sys.stdout.flush()


def format_welcome(
    address: str, sign_ins: list[tuple[str, str, str]], *, demo_follows: bool = False
) -> str:
    """Format the message in the terminal. sign_ins: (role, username, password). demo_follows: whether
    the demo is still being created."""
    lines = ["", f"  Assay is running. Open {address} in a browser.", ""]
    if sign_ins:
        rows = [("Sign in as the", "Username", "Password"), *sign_ins]
        first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
        lines += [
            f"    {role:<{first}}   {name:<{second}}   {password}" for role, name, password in rows
        ]
        lines += [
            "",
            "  The manager sees a finished campaign, and the annotator can judge at once. Use two browsers to try both.",
        ]
    if demo_follows:
        lines += ["  Two demo campaigns are being created and appear on Home in about a minute."]
    lines += [
        f"  All data is stored in {settings.DATA_DIR}. Ctrl-C stops Assay; the same command starts it again.",
        "",
    ]
    return "\n".join(lines) + "\n"


def gunicorn_command(host: str, port: int) -> list[str]:
    """Return the command of the web server. Importing this module reads the web server's settings,
    so an invalid one stops the start with a message."""
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    command = [sys.executable, "-m", "gunicorn", "--config", f"python:{web_server.__name__}"]
    return [*command, "--bind", bind, "--graceful-timeout", "10", "config.wsgi:application"]


def worker_command() -> list[str]:
    """Return the command of the worker. Its settings are checked here, because its own output is
    not visible."""
    environment.worker_niceness()
    processes = environment.number("WORKER_PROCESSES", least=1)
    return [sys.executable, "-m", "assay", "worker", f"--processes={processes}"]


def digest_static_files() -> str:
    """Return a digest that changes whenever a static file is added, removed or edited (name, size,
    time)."""
    content = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = os.stat(storage.path(name))
            content.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return content.hexdigest()
