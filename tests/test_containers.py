"""The container files agree with the program and the units, and the image is built and started where
buildah is installed and the base image can be pulled."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.setting_list import SECTIONS
from tests.conftest import absent
from tests.documented import block
from tests.installation import free_port

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "how-to" / "container"
SETTINGS = {f"ASSAY_{one.name}" for section in SECTIONS.values() for one in section}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", " ", (FOLDER / "Containerfile").read_text(encoding="utf-8"))
    return [
        (line.split(" ", 1)[0], line.split(" ", 1)[1])
        for line in text.splitlines()
        if line and not line.startswith("#")
    ]


def command_of_unit(name: str) -> list[str]:
    unit = block("how-to/deploy.md", f"# /etc/systemd/system/{name}").replace("\\\n", " ")
    [command] = [
        shlex.split(line.removeprefix("ExecStart="))
        for line in unit.splitlines()
        if line.startswith("ExecStart=")
    ]
    return [word.replace("/opt/assay/program/", "") for word in command]


def test_web_server_and_worker_are_started_as_by_the_units(services):
    [web] = [json.loads(rest) for word, rest in instructions() if word == "CMD"]
    assert [word.replace("0.0.0.0", "127.0.0.1") for word in web] == command_of_unit(
        "assay-web.service"
    )
    assert "command" not in services["web"], "the image's own"
    assert services["worker"]["command"] == command_of_unit("assay-worker.service")


def test_each_setting_is_one_that_the_program_has(services):
    named = {
        name
        for service in services.values()
        for name in service.get("environment", {})
        if name.startswith("ASSAY_")
    }
    named |= {
        word.split("=")[0]
        for instruction, rest in instructions()
        if instruction == "ENV"
        for word in rest.split()
    }
    assert named
    assert named - SETTINGS == set()


def test_only_this_machine_reaches_it_and_no_secret_is_in_the_files(services):
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:8000:8000"]
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            assert "PASSWORD" not in name or value.startswith("${"), name
    assert "{POSTGRES_PASSWORD:?" in services["web"]["environment"]["ASSAY_DATABASE_URL"], (
        "nothing starts without one"
    )


def test_the_image_holds_no_data_and_no_history_and_does_not_run_as_root():
    left_out = (FOLDER / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert {".git", ".venv", "var"} <= set(left_out)
    words = [word for word, _ in instructions()]
    assert dict(instructions())["USER"] == "assay"
    assert words.index("USER") < len(words) - 1 - words[::-1].index("RUN"), (
        "what is installed is the user's"
    )


def call_buildah(*words: str, timeout: float = 1800.0) -> str:
    """Run buildah in the repository. -> what it printed. Isolation by chroot needs no engine, no
    root and no kernel features that a build machine may lack."""
    done = subprocess.run(
        ["buildah", *words], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """The image, built from the repository."""
    if shutil.which("buildah") is None:
        absent("containers", "buildah is not installed, so no image is built")
    [base] = [rest for word, rest in instructions() if word == "FROM"]
    pulled = subprocess.run(
        ["buildah", "pull", "--policy", "missing", base],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if pulled.returncode:
        absent("containers", f"{base} can't be pulled: {pulled.stderr.strip()[-300:]}")
    name = f"assay-test-{os.getpid()}"
    file = (FOLDER / "Containerfile").relative_to(ROOT)
    options = ["--isolation", "chroot", "--network", "host", "--format", "docker"]
    call_buildah("build", *options, "--file", str(file), "--tag", name, ".")
    yield name
    call_buildah("rmi", name)


@pytest.mark.slow
@pytest.mark.timeout(3600)  # the build installs packages from the network
def test_the_image_is_built_and_its_web_server_answers(image):
    [command] = [json.loads(rest) for word, rest in instructions() if word == "CMD"]
    port = free_port()
    server = shlex.join(word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in command)
    ask = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/ADDRESS').read())"
    script = f"""
        set -e
        id --user --name
        .venv/bin/python manage.py migrate --verbosity 0
        .venv/bin/python manage.py collectstatic --no-input --verbosity 0
        {server} &
        for attempt in $(seq 120); do
          sleep 1
          if .venv/bin/python -c "{ask.replace("ADDRESS", "healthz")}" 2>&1; then break; fi
        done
        .venv/bin/python -c "{ask.replace("ADDRESS", "sign-in")}"
        ls tests .git 2>&1 || true
        kill $!
        wait $! || true
    """
    container = call_buildah("from", "--pull-never", image)
    try:
        printed = call_buildah(
            *("run", "--isolation", "chroot", "--network", "host", container, "--"),
            *("sh", "-c", script),
        )
    finally:
        call_buildah("rm", container)
    assert printed.startswith("assay\n"), "it does not run as root"
    assert "<title>Sign in" in printed
    assert "No such file" in printed, "neither tests nor history are in the image"
