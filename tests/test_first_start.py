"""What a newcomer reads at the first `make run`, and what is said when it cannot start."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from annotation.demo.accounts import read_sign_ins
from annotation.demo.creation import CREATE_JOB, is_being_created
from annotation.models import Campaign
from config import orphan_processes, supervisor
from config.management.commands import up
from pooling.models import Job
from tests.installation import Installation, free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
SIGN_INS = [
    ("manager", "manager", "aaaa-bbbb-cccc-dddd"),
    ("annotator", "annotator", "eeee-ffff-gggg-hhhh"),
]


def started(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {
        name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")
    } | environment
    return subprocess.run(
        [sys.executable, "manage.py", "up", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run_settings() -> None:
    runpy.run_path(str(ROOT / "config" / "settings.py"))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ASSAY_PORT", "abc", "ASSAY_PORT='abc' must be a whole number"),
        ("ASSAY_DEBUG", "maybe", "ASSAY_DEBUG='maybe' must be 1 or 0"),
        ("ASSAY_WEB_WORKERS", "0", "ASSAY_WEB_WORKERS='0' must be at least 1"),
        ("ASSAY_WORKER_NICE", "-5", "ASSAY_WORKER_NICE='-5' must be at least 0"),
    ],
)
def test_a_setting_that_makes_no_sense_ends_the_start_with_one_sentence(
    tmp_path, name, value, sentence
):
    done = started(ASSAY_DATA_DIR=str(tmp_path), **{name: value})
    assert done.returncode == 1
    assert (done.stdout, done.stderr.strip()) == ("", f"assay: {sentence}")


@pytest.mark.parametrize(
    ("name", "value", "what_is_wrong", "read"),
    [
        ("PORT", "80000", "must be at most 65535", lambda: up.Command().create_parser("", "up")),
        ("POOLER", "perhaps", "must be 1 or 0", run_settings),
        ("JUDGEMENT_WAIT_SECONDS", "4.5", "must be a whole number", run_settings),
        (
            "WEB_THREADS",
            "many",
            "must be a whole number",
            lambda: runpy.run_path(str(ROOT / "config" / "web_server.py")),
        ),
        ("WORKER_PROCESSES", "two", "must be a whole number", up.worker_command),
    ],
)
def test_each_setting_is_refused_where_it_is_read(monkeypatch, name, value, what_is_wrong, read):
    """What becomes of the sentence is the matter of the test before."""
    monkeypatch.setenv(f"ASSAY_{name}", value)
    with pytest.raises(ImproperlyConfigured, match=f"^ASSAY_{name}='{value}' {what_is_wrong}$"):
        read()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "ASSAY_JUDGEMENT_WAIT_SECONDS",
            "100",
            "ASSAY_JUDGEMENT_WAIT_SECONDS='100' must be at most 15",
        ),  # read by the master
        (
            "ASSAY_MAX_UPLOAD_MB",
            "much",
            "ASSAY_MAX_UPLOAD_MB='much' must be a whole number",
        ),  # by the processes that it begins
    ],
)
def test_the_web_server_on_its_own_ends_with_the_sentence_too(tmp_path, name, value, sentence):
    env = {key: there for key, there in os.environ.items() if not key.startswith("ASSAY_")} | {
        "ASSAY_DATA_DIR": str(tmp_path),
        name: value,
    }
    command = up.gunicorn_command("127.0.0.1", free_port())
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode != 0
    assert f"assay: {sentence}\n" in done.stderr
    said_by_us, _, _ = done.stderr.partition(" ERROR gunicorn.error: ")
    assert "Traceback" not in said_by_us


def test_a_port_in_use_or_that_is_none_is_refused_in_a_sentence():
    import socket

    command = up.Command()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            CommandError,
            match=f"port {port} on 127.0.0.1 is in use; set another one, for example: make run ASSAY_PORT={port + 1}",
        ):
            command.check_port("127.0.0.1", port)
    for port in (0, 65536):
        with pytest.raises(CommandError, match="choose one from 1024 to 65535"):
            command.check_port("127.0.0.1", port)


@pytest.mark.django_db
def test_the_first_start_makes_accounts_and_leaves_the_demo_to_the_worker(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    up.Command().make_demo(with_example=False)
    assert [name for _, name, _ in read_sign_ins()] == ["manager", "annotator"]
    job = Job.objects.get()
    assert (job.kind, job.state, job.parameters) == (CREATE_JOB, "queued", {"with_example": False})
    assert is_being_created()
    assert not Campaign.objects.exists()


def test_the_sign_ins_are_told_once_under_their_names_with_address_and_way_out():
    text = up.format_welcome("http://127.0.0.1:8000/", SIGN_INS)
    assert text.count("aaaa-bbbb-cccc-dddd") == 1
    lines = text.splitlines()
    heading = next(i for i, line in enumerate(lines) if "Password" in line)
    for _, name, password in SIGN_INS:
        row = next(line for line in lines[heading:] if password in line)
        assert row.index(password) == lines[heading].index("Password")
        assert row.rindex(name) == lines[heading].index("Username")
    assert "http://127.0.0.1:8000/" in text
    assert "Ctrl-C stops Assay" in text
    assert "Password" not in up.format_welcome("http://127.0.0.1:8000/", [])
    assert "being created" not in text
    assert "being created" in up.format_welcome("http://127.0.0.1:8000/", [], demo_follows=True)


@pytest.mark.parametrize(("value", "off"), [("", False), ("1", True)])
def test_behind_a_pooler_postgresql_has_no_cursors_of_the_server(tmp_path, value, off):
    env = {
        "ASSAY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "ASSAY_POOLER": value,
        "ASSAY_DATA_DIR": str(tmp_path),
    }
    code = "from config import settings; print(settings.DATABASES['default']['DISABLE_SERVER_SIDE_CURSORS'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(off)


def test_the_version_is_that_of_the_program():
    told = subprocess.run(
        [sys.executable, ROOT / "manage.py", "--version"],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told.startswith(f"Assay {project['version']} (Django ")


def test_up_serves_from_any_folder_and_a_second_one_on_the_same_data_is_refused(tmp_path):
    with Installation(tmp_path / "data", cwd=tmp_path, prepared=True) as assay:
        assert urllib.request.urlopen(assay.url + "/healthz", timeout=10).read() == b"alive\n"
        second = started(
            "--port",
            str(free_port()),
            DJANGO_SETTINGS_MODULE="config.settings",
            ASSAY_DATA_DIR=str(tmp_path / "data"),
        )
        assert second.returncode == 1
        assert (
            f"Assay is already running with the data folder {tmp_path / 'data'} (process "
            in second.stderr
        )
    assert "starting it again" not in assay.log.read_text()


def test_up_on_the_folder_of_one_that_was_killed_ends_what_runs_on_and_takes_its_place(tmp_path):
    with Installation(tmp_path / "data", prepared=True) as assay:
        assert assay.server is not None
        assay.server.kill()
        assay.server.wait()
        assert urllib.request.urlopen(assay.url + "/healthz", timeout=10).read() == b"alive\n", (
            "people go on judging"
        )
        assay.start_again()
        assert urllib.request.urlopen(assay.url + "/healthz", timeout=10).read() == b"alive\n"
        assert (
            "Assay was killed while it used this data folder. 2 programs that it left running were stopped."
            in assay.log.read_text()
        )


def test_what_runs_on_is_known_by_the_moment_it_began_and_ended_with_force_where_it_must():
    deaf = [
        sys.executable,
        "-c",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)",
    ]
    with subprocess.Popen(deaf, stdout=subprocess.PIPE, start_new_session=True) as program:
        assert program.stdout is not None
        program.stdout.read(2)
        line = orphan_processes.describe_process(program.pid)
        word, pid, moment = line.split()
        for another in (
            "",
            "process 7 on a",
            f"{word} {pid} {int(moment) + 1}",
            f"{word} {pid}",
            f"{word} x {moment}",
        ):
            assert orphan_processes.terminate_orphans(another, grace_seconds=0.1) == 0
        assert program.poll() is None
        assert (
            orphan_processes.terminate_orphans(f"process 7 on a\n{line}\n", grace_seconds=0.3) == 1
        )
        assert program.wait(timeout=20) == -signal.SIGKILL
    assert orphan_processes.terminate_orphans(line, grace_seconds=0.1) == 0
    assert orphan_processes.describe_process(program.pid) == ""


def test_a_child_that_cannot_live_ends_everything_however_long_each_start_takes(
    monkeypatch, caplog
):
    now = [0.0]
    monkeypatch.setattr(supervisor.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        supervisor.SupervisedProcess, "start", lambda child: setattr(child, "started_at", now[0])
    )
    child = supervisor.SupervisedProcess("worker", ["false"])
    child.process = Mock(returncode=3, **{"poll.return_value": 3})
    child.start()
    lives = []
    for _ in range(10):
        now[0] += 25  # a slow machine: five deaths never fall into one minute
        lives.append(supervisor.Supervisor([child])._is_running(child))
    assert lives.index(False) == supervisor.MAX_RESTARTS
    assert "the worker ended 6 times soon after its start; stopping" in caplog.messages
