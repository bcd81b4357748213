"""The log: each line with the number that the answer has, errors under the number that people are
told, and no text or secret in it."""

from __future__ import annotations

import io
import json
import logging
import re
import uuid
from collections.abc import Callable, Iterator
from logging.config import DictConfigurator  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client, override_settings

from annotation.services.judging import submission
from config import logs
from tests.builders import make_annotator, make_campaign
from tests.hostile_world import brought, fill
from tests.test_urls_by_role import every_pattern, make_world

pytestmark = pytest.mark.django_db
Log = Callable[[], str]


@pytest.fixture
def written() -> Iterator[Callable[[str], Log]]:
    """-> what begins a log as the settings describe it, in a style; that gives what says what
    stands in it by now"""
    handlers = []
    access = logging.getLogger("assay.access")
    level = access.level
    access.setLevel(logging.INFO)

    def begin(style: str) -> Log:
        described = DictConfigurator(logs.logging_settings("INFO", style=style, access=True))
        for kind, make in (
            ("formatters", described.configure_formatter),
            ("filters", described.configure_filter),
        ):
            for name, said in described.config[kind].items():
                described.config[kind][name] = make(said)
        text = io.StringIO()
        handler = described.configure_handler(
            {**described.config["handlers"]["stderr"], "stream": text}
        )
        logging.getLogger().addHandler(handler)
        handlers.append(handler)
        return text.getvalue

    yield begin
    for handler in handlers:
        logging.getLogger().removeHandler(handler)
    access.setLevel(level)


def failing_skip(monkeypatch: pytest.MonkeyPatch) -> Any:
    """-> the answer to an annotator, where the program has a fault"""

    def fail(*_: object, **__: object) -> None:
        raise ValueError("ours")

    monkeypatch.setattr(submission, "skip_pair", fail)
    ada = make_annotator(make_campaign())
    client = Client(raise_request_exception=False)
    client.force_login(ada.user)
    return client.post(
        f"/api/v1/judging/{ada.campaign.slug}/skip?why=private",
        {"lease": str(uuid.uuid4())},
        content_type="application/json",
    )


def test_an_error_stands_in_the_log_under_the_number_that_the_page_shows(written, monkeypatch):
    log = written("line")
    answer = failing_skip(monkeypatch)
    number = answer.json()["request"]
    lines = log().splitlines()
    [error] = [n for n, line in enumerate(lines) if " ERROR django.request: " in line]
    assert lines[error].endswith(f"/skip [{number}]")
    assert lines[error + 1].startswith("Traceback")
    assert "ValueError: ours" in lines
    [told] = [line for line in lines if " INFO assay.access: " in line]
    assert re.search(rf"POST /api/v1/judging/[\w-]+/skip 500 \d+\.\d ms \[{number}\]$", told)
    assert "private" not in log()


def test_in_json_each_line_is_an_object_with_the_number_and_an_error_has_its_trace(
    written, monkeypatch
):
    log = written("json")
    answer = failing_skip(monkeypatch)
    lines = [json.loads(line) for line in log().splitlines()]
    assert {line["request"] for line in lines} == {answer.json()["request"]}
    [error] = [line for line in lines if line["logger"] == "django.request"]
    assert (error["level"], error["trace"].splitlines()[-1]) == ("ERROR", "ValueError: ours")
    [told] = [line for line in lines if line["logger"] == "assay.access"]
    assert (told["method"], told["status"], told["path"].rpartition("/")[2], told["ms"] > 0) == (
        "POST",
        500,
        "skip",
        True,
    )


def secrets_in_links() -> dict[str, str]:
    """name -> route of the addresses that hold one."""
    return {name: route for name, route in every_pattern().items() if "token>" in route}


@pytest.mark.parametrize("line_end", ["%0a", "%0d", "%c2%85", "%e2%80%a8", "%00"])
def test_an_address_writes_no_line_of_its_own(written, line_end):
    log = written("line")
    for place in ("/{}ERROR forged/", "/campaigns/none/people/{}ERROR%20forged/"):
        Client(enforce_csrf_checks=True).post(place.format(line_end))
        Client().get(place.format(line_end))
    assert not [line for line in log().splitlines() if line.startswith("ERROR forged")]
    assert log().count(" INFO assay.access: ") == 4


def test_a_links_secret_is_hidden_whatever_stands_behind_it(written):
    log = written("line")
    for behind in ("", "%0a", "%c3%a9", "%e2%82%ac"):
        assert (
            Client(enforce_csrf_checks=True).post(f"/join/a-secret-of-a-link{behind}").status_code
            == 403
        )
    assert log().count("Forbidden (CSRF cookie not set.): /join/<str:token>") == 4
    assert "a-secret" not in log()


def test_a_host_that_is_none_of_ours_is_told_in_one_line(written):
    log = written("line")
    assert Client().get("/sign-in", headers={"Host": "other.example"}).status_code == 400
    assert [line.split()[2:4] for line in log().splitlines()] == [
        ["ERROR", "django.security.DisallowedHost:"],
        ["INFO", "assay.access:"],
    ]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_text_no_query_and_no_links_secret_is_written_whatever_is_asked_and_whatever_fails(
    written, settings, tmp_path: Path
):
    """Every address of an installation whose texts can be found by their name, as who may see most
    of it."""
    settings.MEDIA_ROOT = tmp_path / "files"
    world = make_world(brought())
    fill(world)
    routes = every_pattern()
    world.bodies["api-judging-judgements"]["note"] = "zq()"
    log = written("line")
    for role in ("annotator", "manager"):
        for name, route in routes.items():
            world.ask(role, name, route)
    assert log().count(" INFO assay.access: ") == 2 * len(routes)
    assert not [line for line in log().splitlines() if "zq()" in line or "<x-zq" in line]
    links = {name: world.address(name, route) for name, route in secrets_in_links().items()}
    assert {
        "join",
        "sign-in-link-use",
        "results-link",
        "results-link-part",
        "results-link-report",
    } <= set(links)
    secrets = {world.numbers[name]["token"] for name in links}

    def away(*_: object) -> None:
        raise OperationalError("connection refused")

    before = len(log())
    for address in links.values():
        client = Client(raise_request_exception=False)
        with connection.execute_wrapper(away):
            assert client.get(f"{address}?zq").status_code in (405, 503)
        assert Client(enforce_csrf_checks=True).post(address).status_code in (403, 405)
        assert client.get(f"{address.rstrip('/')}x/y/z").status_code == 404
        with override_settings(SECURE_SSL_REDIRECT=True):
            assert Client().get(address).status_code == 301
    after = log()[before:]
    assert " ERROR django.request: Service Unavailable: /join/" in after
    assert " WARNING django.security.csrf: Forbidden " in after
    assert "zq" not in after
    assert [secret for secret in secrets if secret in log()] == []
