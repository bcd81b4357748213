"""docs/how-to/deploy.md does what it says: its settings, its commands in an empty folder, its
units."""

from __future__ import annotations

import http.client
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import environment, install
from config.setting_list import DEFAULTS, SECTIONS
from config.single_sign_on import REQUIRED_OIDC_SETTINGS
from tests.conftest import absent
from tests.databases import own_database
from tests.documented import DOCS, block
from tests.installation import free_port
from tests.migrated import collected_folder, copy_migrated

ROOT = DOCS.parent
PASSWORD = "a long password"
SOURCES = sorted((ROOT / "config").rglob("*.py"))
READ = re.compile(r'\b(?:text|flag|number|words|networks|choice|endpoints)\(\s*"([A-Z_]+)"')


def test_every_setting_that_is_read_is_in_the_list_and_no_other() -> None:
    read = {name for path in SOURCES for name in READ.findall(path.read_text(encoding="utf-8"))}
    assert read | set(REQUIRED_OIDC_SETTINGS) == set(DEFAULTS)


def test_the_page_of_settings_has_every_section_of_the_list_once() -> None:
    page = (DOCS / "reference/settings.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^:::\{settings\} (\w+)$", page) == list(SECTIONS)


def test_a_setting_without_a_value_has_the_default_of_the_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ASSAY_SESSION_DAYS", raising=False)
    assert environment.number("SESSION_DAYS") == 14
    monkeypatch.setenv("ASSAY_SESSION_DAYS", "3")
    assert environment.number("SESSION_DAYS") == 3
    with pytest.raises(KeyError):
        environment.text("NOT_A_SETTING")


HOST = "assay.example.org"
WORK = """
import time
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
from pooling.models import Job
from pooling.services import uploads
from pooling.services.collections import create_collection
from pooling.tasks import send
root, _ = User.objects.get_or_create(username="root", is_superuser=True)
collection = create_collection(name="First", user=root)
upload = uploads.store_upload(collection, kind="run", file=ContentFile(b"1 Q0 d 1 2 t\\n", name="a.run"), name="a.run", user=root)
job = uploads.request_import(upload, mode="import", options={}, user=root)
send(job)
end = time.monotonic() + 120
while job.state in Job.ACTIVE and time.monotonic() < end:
    time.sleep(0.2)
    job.refresh_from_db()
print(job.state, collection.runs.count())
call_command("doctor")
"""
SHELL = f".venv/bin/python manage.py shell --no-imports -c {shlex.quote(WORK)}"


class Newcomer:
    """Somebody who does what *One machine* says, in its order. Not done here is root's part:
    packages, the account, systemd and the proxy, whose places are taken by this checkout, this
    account, the units' own command lines and the headers that the proxy sends."""

    def __init__(self, folder: Path, database: str) -> None:
        self.data, self.file, self.port = folder / "data", folder / "assay.env", free_port()
        own = {"ASSAY_DATABASE_URL": database, "ASSAY_DATA_DIR": str(self.data)}
        *written, empty, install_folder = block(
            "how-to/deploy.md", "ASSAY_DATABASE_URL="
        ).splitlines()
        assert [line.partition("=")[0] for line in written] == [
            *(
                "ASSAY_DATABASE_URL",
                "ASSAY_DATA_DIR",
                "ASSAY_ALLOWED_HOSTS",
                "ASSAY_HTTPS",
                "ASSAY_TRUSTED_PROXIES",
                "ASSAY_NO_DEMO",
            ),
        ]
        lines = [
            f"{name}={own.get(name, value)}"
            for name, _, value in (line.partition("=") for line in written)
        ]
        self.file.write_text(
            "\n".join(line for line in lines if not line.endswith("_URL=")) + "\n", encoding="utf-8"
        )
        assert (empty, "ASSAY_DATA_DIR=/var/lib/assay" in written) == ("", True)
        made = install_folder.replace("/var/lib/assay", str(self.data)).replace(
            " -o assay -g assay", ""
        )
        assert made == f"install -d -m 750 {self.data}"
        subprocess.run(made.split(), check=True)
        shutil.copytree(collected_folder() / "static", self.data / "static")
        self.bare = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
        self.running: list[subprocess.Popen[bytes]] = []

    def do(self, line: str) -> str:
        """One of the commands, in a shell with the settings, as the page has it. -> what it
        printed"""
        more = {
            f"DJANGO_SUPERUSER_{name}": value
            for name, value in (
                ("PASSWORD", PASSWORD),
                ("USERNAME", "root"),
                ("EMAIL", "root@example.org"),
            )
        }
        command = (
            f"set -a; . {self.file}; exec "
            f"{line.replace('.venv/bin/python', sys.executable)}{' --no-input' * ('createsuperuser' in line)}"
        )
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=self.bare | more,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def start(self, unit: str) -> None:
        """The unit's command line, with its file of settings and nothing else, as systemd starts
        it."""
        text = block("how-to/deploy.md", f"# /etc/systemd/system/{unit}").replace("\\\n", " ")
        said = dict(
            line.split("=", 1)
            for line in text.splitlines()
            if line.startswith(("ExecStart=", "EnvironmentFile=", "WorkingDirectory="))
        )
        assert (said["EnvironmentFile"], said["WorkingDirectory"]) == (
            "/etc/assay.env",
            "/opt/assay/program",
        )
        command = (
            said["ExecStart"]
            .replace("/opt/assay/program/.venv/bin/python", sys.executable)
            .replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        )
        env = self.bare | dict(
            line.split("=", 1) for line in self.file.read_text(encoding="utf-8").splitlines()
        )
        self.running.append(
            subprocess.Popen(
                shlex.split(command),
                cwd=ROOT,
                env=env,
                start_new_session=True,
                stdout=subprocess.DEVNULL,
            )
        )

    def ask(
        self, path: str, *, method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """As the proxy of the page asks, unless `headers` say otherwise (with _ for -)."""
        given = {"Host": HOST, "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(
                method, path, body or None, {name: value for name, value in given.items() if value}
            )
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def wait(self) -> None:
        end = time.monotonic() + 120
        while True:
            try:
                if self.ask("/readyz")[0] == 200:
                    return
            except OSError:
                assert time.monotonic() < end, "the web server did not begin to answer"
            time.sleep(0.3)

    def stop(self) -> list[int]:
        """As systemctl stop: the main process hears it. -> statuses"""
        for process in self.running:
            process.terminate()
        return [process.wait(timeout=120) for process in self.running]

    def kill(self) -> None:
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def newcomer(tmp_path: Path, postgresql_url: str) -> Iterator[Newcomer]:
    """On PostgreSQL, as the page has it. Tables and collected files are there already, as before
    every update: tests/migrated.py makes them from nothing."""
    with own_database("postgresql", folder=tmp_path, server=postgresql_url, migrated=True) as url:
        made = Newcomer(tmp_path, url)
        yield made
        made.kill()


@pytest.fixture
def newcomer_on_sqlite(tmp_path: Path) -> Iterator[Newcomer]:
    """Without the first line of the settings, as the page allows."""
    made = Newcomer(tmp_path, "")
    copy_migrated(made.data / "assay.sqlite3")
    yield made
    made.kill()


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.timeout(900)
def test_a_newcomer_comes_from_the_documents_settings_to_an_installation_that_serves_people_and_works(
    newcomer,
):
    """The settings, commands and units of *One machine* in their order, until somebody signs in
    through the proxy and a job is done."""
    commands = block("how-to/deploy.md", ".venv/bin/python manage.py migrate").splitlines()
    assert [line.split()[2] for line in commands] == [
        "migrate",
        "collectstatic",
        "createsuperuser",
        "doctor",
    ]
    said = [newcomer.do(line) for line in commands][-1]
    assert said.startswith("note   No email is sent because ASSAY_EMAIL_HOST is not set")
    assert "\n0 to fix, " in said
    assert {path.name for path in newcomer.data.iterdir()} == {
        "files",
        "hashing.lock",
        "secret-key",
        "static",
    }
    assert (newcomer.data / "secret-key").stat().st_mode & 0o777 == 0o600
    for unit in ("assay-web.service", "assay-worker.service"):
        newcomer.start(unit)
    newcomer.wait()
    assert newcomer.ask("/sign-in", Host="other.example.org")[0] == 400
    status, headers, _ = newcomer.ask("/sign-in", X_Forwarded_Proto="")
    assert (status, headers["Location"]) == (301, f"https://{HOST}/sign-in")
    status, headers, page = newcomer.ask("/sign-in")
    assert (status, "max-age" in headers["Strict-Transport-Security"]) == (200, True)
    style = re.search(r'href="(/static/[^"]+\.css)"', page)
    assert style
    assert newcomer.ask(style[1])[0] == 200
    [form] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[:1]
    cookie = headers["Set-Cookie"].partition(";")[0]
    filled = urllib.parse.urlencode(
        {"username": "root", "password": PASSWORD, "csrfmiddlewaretoken": form, "next": ""}
    )
    kind = {
        "Content_Type": "application/x-www-form-urlencoded",
        "Referer": f"https://{HOST}/sign-in",
    }
    status, headers, page = newcomer.ask(
        "/sign-in", method="POST", body=filled, Cookie=cookie, **kind
    )
    assert (status, headers["Location"]) == (302, "/"), page
    [session] = [line for line in headers.get_all("Set-Cookie") if line.startswith("sessionid=")]
    assert "; Secure" in session
    status, _, page = newcomer.ask("/installation", Cookie=session.partition(";")[0])
    assert (status, "root" in page) == (200, True)
    done, _, checked = newcomer.do(SHELL).partition("\n")
    assert done == "done 1"
    assert "\n0 to fix, " in checked
    newcomer.running[0].send_signal(signal.SIGHUP)  # systemctl reload
    newcomer.wait()
    assert newcomer.ask("/", Cookie=session.partition(";")[0])[0] == 200
    assert newcomer.stop() == [0, 0]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_without_the_line_of_the_database_both_units_work_on_sqlite(newcomer_on_sqlite):
    for unit in ("assay-web.service", "assay-worker.service"):
        newcomer_on_sqlite.start(unit)
    newcomer_on_sqlite.wait()
    done, _, checked = newcomer_on_sqlite.do(SHELL).partition("\n")
    assert done == "done 1"
    assert "\n0 to fix, " in checked
    assert (newcomer_on_sqlite.data / "assay.sqlite3").exists()
    assert newcomer_on_sqlite.ask("/sign-in")[0] == 200
    assert newcomer_on_sqlite.stop() == [0, 0]


def test_make_install_installs_what_is_locked_and_nothing_for_tests():
    """The line of the page before the settings; what it does needs the package index."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(
        r"^install:.*\n\t@\$\(PYTHON\) config/install\.py runtime\n\n", text, flags=re.MULTILINE
    )
    assert install.FILES["runtime"] == ["requirements.txt"]


@pytest.mark.parametrize("name", ["assay-web.service", "assay-worker.service"])
def test_the_units_are_understood_by_systemd(tmp_path, name):
    if shutil.which("systemd-analyze") is None:
        absent("systemd", "systemd-analyze is not installed")
    text = block("how-to/deploy.md", f"# /etc/systemd/system/{name}")
    for place, here in (
        ("/opt/assay/program/.venv/bin/python", sys.executable),
        ("/opt/assay/program", str(ROOT)),
    ):
        text = text.replace(place, here)
    (tmp_path / name).write_text(
        text.replace("/etc/assay.env", "/dev/null").replace("User=assay", "User=root")
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    ours = [line for line in (done.stdout + done.stderr).splitlines() if name in line]
    assert ours == []


def test_the_web_server_of_the_unit_is_started_as_up_starts_it():
    from config.management.commands.up import gunicorn_command

    unit = block("how-to/deploy.md", "# /etc/systemd/system/assay-web.service").replace("\\\n", " ")
    [command] = [
        line.removeprefix("ExecStart=").split()
        for line in unit.splitlines()
        if line.startswith("ExecStart=")
    ]
    ours = gunicorn_command("127.0.0.1", 8000)
    at = ours.index("--graceful-timeout")  # `up` gives its children less time to end
    assert command[1:] == ours[1:at] + ours[at + 2 :]
    assert Path(command[0]).name == "python"
