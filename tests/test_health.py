"""What machines that watch are told."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.test import Client

from config import health
from tests.builders import judge, make_annotator, make_campaign
from tests.commands import call_command

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


def refuse(execute, *_):
    raise OperationalError("connection refused")


def test_a_whole_installation_is_alive_and_ready(client):
    assert client.get("/healthz").content == b"alive\n"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"], set(answer.json()["checks"].values())) == (
        200,
        True,
        {"ok"},
    )


def test_without_its_database_it_is_alive_but_not_ready(client):
    with connection.execute_wrapper(lambda execute, *rest: refuse(execute)):
        assert client.get("/healthz").status_code == 200
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "connection refused")


def test_a_folder_that_cannot_be_written_a_broker_that_is_away_and_a_drained_machine_are_not_ready(
    client, settings, tmp_path
):
    (tmp_path / "file").write_text("")
    settings.MEDIA_ROOT = tmp_path / "file" / "files"
    settings.BROKER_URL = "redis://127.0.0.1:1/0"
    settings.DATA_DIR = tmp_path
    health.drain_file().touch()
    answer = client.get("/readyz")
    checks = answer.json()["checks"]
    assert answer.status_code == 503
    assert "cannot be written" in checks["storage"]
    assert "the message broker is not responding" in checks["broker"]
    assert checks["drain"] == "this machine is being drained"
    assert (checks["database"], checks["migrations"]) == ("ok", "ok")


def test_the_command_takes_the_machine_out_and_puts_it_back(client, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    for options, status in (([], 503), ([], 503), (["--end"], 200), (["--end"], 200)):
        call_command("drain", *options, stdout=StringIO())
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["database"]) == (status, "ok")
        assert client.get("/healthz").status_code == 200


@pytest.mark.redis
def test_a_broker_that_answers_is_fine(client, settings, redis_url):
    settings.BROKER_URL = redis_url
    assert client.get("/readyz").json()["checks"]["broker"] == "ok"


def test_figures_are_for_who_has_the_token(client, settings):
    judge(make_annotator(make_campaign()), 2)
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "a token"
    assert client.get("/metrics").status_code == 404
    text = client.get("/metrics", headers={"Authorization": "Bearer a token"}).content.decode()
    assert "# TYPE assay_judgements_total counter\n" in text
    assert '\nassay_jobs{state="queued"} 0\n' in text
    assert "\nassay_leases_live 0\n" in text


def test_the_documents_of_the_api_answer_every_method_without_a_mistake_of_ours(client):
    for path in ("/api/docs", "/api/schema"):
        assert client.get(path).status_code == 200
        for method in (client.options, client.post, client.put, client.delete):
            assert method(path).status_code == 405


def test_a_number_given_by_a_proxy_is_kept_and_nonsense_is_not(client):
    assert (
        client.get("/healthz", headers={"X-Request-ID": "abc-123456"})["X-Request-ID"]
        == "abc-123456"
    )
    assert (
        "\n"
        not in client.get("/healthz", headers={"X-Request-ID": "no spaces here"})["X-Request-ID"]
    )
    assert client.get("/healthz")["X-Request-ID"] != client.get("/healthz")["X-Request-ID"]


@pytest.mark.long
def test_a_deployment_behind_https_has_nothing_to_warn_of(tmp_path):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASSAY_", "DJANGO_"))
    }
    env |= {
        "ASSAY_HTTPS": "1",
        "ASSAY_DATA_DIR": str(tmp_path),
        "ASSAY_SECRET_KEY": "a-key-of-a-deployment-that-is-long-enough-to-be-one-0123456789",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "System check identified no issues" in done.stdout + done.stderr
