"""docs/deployment.md does what it says: its settings, its commands in an empty folder, its units."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.documented import DOCS, block

ROOT = DOCS.parent
SOURCES = [path for path in (ROOT / "config").rglob("*.py") if "management" not in path.parts or path.name == "up.py"]
ELSEWHERE = {"TEST_DATA", "TEST_DATABASE_URL", "TEST_BROKER_URL", "TEST_CHROMIUM", "TEST_REQUIRE"}
"""Of the tests."""
NAMED_IN_A_SETTING = {"MACHINE_KEY"}
"""Read under the name that ASSAY_MACHINE_ENDPOINTS, or an option, gives."""


def read_by_the_program() -> dict[str, str]:
    """Name of a setting -> its default as written, empty where none is."""
    found: dict[str, str] = {}
    for path in SOURCES:
        for name, default in re.findall(
            r'\b(?:env|environment)\.(?:text|flag|number|words|networks|choice|endpoints)\(\s*"([A-Z_]+)"(?:,\s*"?([\w.:\[\] ]+?)"?)?\s*[,)]',
            path.read_text(encoding="utf-8"),
        ):
            found[name] = found.get(name) or default
    return found | {"SECRET_KEY": ""}


def test_the_table_has_every_setting_that_is_read_and_no_other():
    text = (DOCS / "deployment.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `ASSAY_")]
    documented = {name for row in rows for name in re.findall(r"`ASSAY_([A-Z_]+)`", row.split("|")[1])}
    assert documented == set(read_by_the_program())
    assert set(re.findall(r"ASSAY_([A-Z_]+)", text)) - documented == ELSEWHERE | NAMED_IN_A_SETTING


def test_the_defaults_of_the_table_are_those_of_the_program():
    text = (DOCS / "deployment.md").read_text(encoding="utf-8")
    told = {}
    for row in re.findall(r"^\| (`ASSAY_.+?) \| (.+?) \|", text, flags=re.MULTILINE):
        names, values = re.findall(r"`ASSAY_([A-Z_]+)`", row[0]), re.findall(r"`([^`]+)`", row[1])
        if len(names) == len(values):
            told.update(zip(names, values, strict=True))
    numbers = {name: default for name, default in read_by_the_program().items() if default.isdigit()}
    assert len(numbers) > 6
    differing = {name: (told[name], default) for name, default in numbers.items() if name in told and told[name] != default}
    assert differing == {}


def test_a_newcomer_comes_from_the_documents_settings_to_a_sound_installation(tmp_path):
    """The settings and commands of *One machine* in an empty folder; SQLite, since the line for PostgreSQL may be left out."""
    lines = block("deployment.md", "ASSAY_DATABASE_URL=").splitlines()
    settings = dict(line.split("=", 1) for line in lines if line.startswith("ASSAY_"))
    settings |= {"ASSAY_DATABASE_URL": "", "ASSAY_DATA_DIR": str(tmp_path / "data")}
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "DJANGO_"))} | settings
    env |= {"DJANGO_SUPERUSER_PASSWORD": "a long password", "DJANGO_SUPERUSER_USERNAME": "root", "DJANGO_SUPERUSER_EMAIL": "root@example.org"}
    commands = block("deployment.md", ".venv/bin/python manage.py migrate").splitlines()
    assert [line.split()[2] for line in commands] == ["migrate", "collectstatic", "createsuperuser", "doctor"]
    for line in commands:
        words = line.split()[1:]
        if words[1] == "createsuperuser":
            words.append("--no-input")
        done = subprocess.run([sys.executable, *words], cwd=ROOT, env=env, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert done.stdout.startswith("note   No mail is sent (ASSAY_EMAIL_HOST)")
    assert "0 to be mended, 1 to know" in done.stdout
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["assay.sqlite3", "files", "hashing.lock", "secret-key", "static"]


@pytest.mark.parametrize("name", ["assay-web.service", "assay-worker.service"])
def test_the_units_are_understood_by_systemd(tmp_path, name):
    if shutil.which("systemd-analyze") is None:
        absent("systemd", "systemd-analyze is not installed")
    text = block("deployment.md", f"# /etc/systemd/system/{name}")
    for place, here in (("/opt/assay/program/.venv/bin/python", sys.executable), ("/opt/assay/program", str(ROOT))):
        text = text.replace(place, here)
    (tmp_path / name).write_text(text.replace("/etc/assay.env", "/dev/null").replace("User=assay", "User=root"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(tmp_path / name)], capture_output=True, text=True, timeout=120)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if name in line]
    assert ours == []


def test_the_web_server_of_the_unit_is_started_as_up_starts_it():
    from config.management.commands.up import gunicorn_command

    unit = block("deployment.md", "# /etc/systemd/system/assay-web.service").replace("\\\n", " ")
    [command] = [line.removeprefix("ExecStart=").split() for line in unit.splitlines() if line.startswith("ExecStart=")]
    given, ours = " ".join(command[1:]), gunicorn_command("127.0.0.1", 8000)[1:]
    for option in ("--worker-class", "--workers", "--threads", "--worker-connections", "--keep-alive", "--timeout", "--bind"):
        assert f"{option} {ours[ours.index(option) + 1]}" in given, option
    assert Path(command[0]).name == "python"
