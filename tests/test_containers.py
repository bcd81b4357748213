"""The container files agree with the program and the units, and the image is built and started where
buildah is installed and the base image can be pulled."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from config.setting_list import SECTIONS
from tests.conftest import absent
from tests.databases import new_database
from tests.documented import block
from tests.installation import free_port

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "how-to" / "container"
SETTINGS = {f"ASSAY_{one.name}" for section in SECTIONS.values() for one in section}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def services(compose) -> dict[str, Any]:
    return compose["services"]


def environment_of(service: dict[str, Any]) -> dict[str, str]:
    """The environment, with variables replaced as Compose does."""
    given = {"ASSAY_HOST": "assay.example.org", "POSTGRES_PASSWORD": "secret"}
    return {
        name: re.sub(r"\$\{(\w+)(:\?[^}]*)?\}", lambda found: given[found[1]], value)
        for name, value in service.get("environment", {}).items()
    }


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


def test_compose_builds_the_image_from_the_repository(services):
    """Compose resolves the context from the folder of its file, and the other path from there."""
    built = [one["build"] for one in services.values() if "build" in one]
    assert len(built) == 3
    for build in built:
        context = (FOLDER / build["context"]).resolve()
        assert context == ROOT
        assert (context / build["dockerfile"]).samefile(FOLDER / "Containerfile")


def test_services_wait_for_what_they_need(compose, services):
    """The rules of the Compose Specification that a wrong name or a missing check would break."""
    for name, service in services.items():
        assert set(service) <= {
            *("build", "image", "command", "environment", "volumes", "ports", "restart"),
            *("healthcheck", "depends_on", "stop_grace_period"),
        }, name
        for needed, condition in service.get("depends_on", {}).items():
            other = services[needed]
            if condition["condition"] == "service_healthy":
                assert other["healthcheck"]["test"][0] == "CMD"
            elif condition["condition"] == "service_completed_successfully":
                assert other["restart"] == "on-failure", "otherwise it never completes"
            else:
                assert condition["condition"] == "service_started"
        mounted = {volume.partition(":")[0] for volume in service.get("volumes", [])}
        assert mounted <= set(compose["volumes"]), name
    data = dict(word.split("=") for word in dict(instructions())["ENV"].split())["ASSAY_DATA_DIR"]
    assert services["web"]["volumes"] == services["worker"]["volumes"] == [f"files:{data}"]


def test_database_and_broker_are_those_of_the_file(services):
    web, database = environment_of(services["web"]), environment_of(services["database"])
    assert services["worker"]["environment"] == services["web"]["environment"]
    address = urlsplit(web["ASSAY_DATABASE_URL"])
    assert (address.username, address.password, address.path, address.hostname, address.port) == (
        database["POSTGRES_USER"],
        database["POSTGRES_PASSWORD"],
        f"/{database['POSTGRES_DB']}",
        "database",
        5432,
    )
    assert urlsplit(web["ASSAY_BROKER_URL"]).hostname in services
    assert {"database", "broker"} <= set(services)


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.timeout(300)
def test_the_commands_of_compose_start_with_its_settings(
    services, postgresql_url, redis_url, tmp_path
):
    """Without an engine: the program's services in their order and with their environment. Only the
    addresses of database, broker, data and port are others."""
    [command] = [json.loads(rest) for word, rest in instructions() if word == "CMD"]
    health = json.loads(dict(instructions())["HEALTHCHECK"].split("CMD ")[1])
    port = str(free_port())
    with new_database(postgresql_url) as database:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
            **environment_of(services["web"]),
            "ASSAY_NO_DEMO": "1",
            "ASSAY_DATABASE_URL": database,
            "ASSAY_BROKER_URL": redis_url,
            "ASSAY_DATA_DIR": str(tmp_path),
        }

        def start(words: list[str]) -> subprocess.Popen[bytes]:
            words = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in words]
            return subprocess.Popen(words, cwd=ROOT, env=environment)

        def is_healthy() -> bool:
            words = [word.replace(":8000/", f":{port}/") for word in health]
            return subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0

        assert start(services["prepare"]["command"]).wait(240) == 0
        started = [start(command), start(services["worker"]["command"])]
        try:
            end = time.monotonic() + 60
            while not is_healthy():
                assert time.monotonic() < end
                time.sleep(0.5)
            asked = urllib.request.Request(
                f"http://127.0.0.1:{port}/sign-in",
                headers={"Host": "assay.example.org", "X-Forwarded-Proto": "https"},
            )
            assert b"<title>Sign in" in urllib.request.urlopen(asked, timeout=60).read()
            assert [process.poll() for process in started] == [None, None]
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(60)


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
