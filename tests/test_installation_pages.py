"""The pages for administrators: one truth with the command, figures that are so, and ends that end
at once."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from annotation.models import ApiTokenRow
from annotation.services.people import tokens
from config import installation
from pooling.models import Job, Upload
from tests.builders import PASSWORD, make_collection, make_user
from tests.commands import call_command

pytestmark = pytest.mark.django_db


def signed_in(name: str) -> Client:
    client = Client(
        headers={
            "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
        }
    )
    assert client.post("/sign-in", {"username": name, "password": PASSWORD}).status_code == 302
    return client


@pytest.fixture
def root() -> Client:
    make_user("root", superuser=True)
    return signed_in("root")


def text_of(answer) -> str:
    """What a person reads, with single blanks."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def test_the_page_says_what_the_command_says(root, settings):
    settings.METRICS_TOKEN, settings.ALLOWED_HOSTS = "short", ["testserver", "assay.example.org"]
    Job.objects.create(kind="import", label="an import", created_at=timezone.now())
    Job.objects.update(created_at=timezone.now() - timedelta(hours=1))
    said = StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", stdout=said)
    *sentences, _ = said.getvalue().splitlines()
    page = text_of(root.get("/installation"))
    assert len(sentences) >= 3
    for line in sentences:
        kind, sentence = line.split(maxsplit=1)
        assert f"{'to fix' if kind == 'WRONG' else 'note'} {re.sub(' +', ' ', sentence)}" in page


def test_figures_are_counted(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    make_user("root", superuser=True)
    make_user("maker", may_create=True)
    gone = make_user("gone", may_create=True)
    gone.is_active = False
    gone.save()
    tokens.create_api_token(user=gone, name="good")
    tokens.create_api_token(user=gone, name="over", days=-1)
    signed_in("root")
    assert installation.count_people() == {
        "n": 3,
        "active": 2,
        "administrators": 1,
        "creators": 1,
        "sessions": 1,
        "tokens": 1,
    }
    now = timezone.now()
    for state, heartbeat, finished in (
        ("queued", None, None),
        ("running", now, None),
        ("running", now - timedelta(hours=1), None),
        ("failed", None, now - timedelta(hours=23)),
        ("failed", None, now - timedelta(hours=25)),
    ):
        Job.objects.create(
            kind="import", label="x", state=state, heartbeat=heartbeat, finished_at=finished
        )
    figures = installation.count_jobs()
    assert {key: figures[key] for key in ("waiting", "running", "lost", "failed")} == {
        "waiting": 1,
        "running": 1,
        "lost": 1,
        "failed": 1,
    }
    Upload.objects.create(
        collection=make_collection(),
        kind="run",
        name="a",
        file=ContentFile(b"12345", name="a"),
        n_bytes=5,
    )
    assert installation.measure_storage()["waiting"] == 5
    assert installation.measure_storage()["database"] > 0


def test_an_administrator_ends_one_session_one_token_or_all_of_a_person(root):
    ada, bob = make_user("ada"), make_user("bob")
    of_ada, of_bob = [signed_in("ada"), signed_in("ada")], signed_in("bob")
    scripts = {
        name: tokens.create_api_token(user=user, name=name)
        for user, name in ((ada, "one"), (ada, "two"), (bob, "three"))
    }

    def good() -> dict[str, bool]:
        asked = {
            name: Client().get("/api/v1/jobs/", headers={"authorization": f"Token {token}"})
            for name, token in scripts.items()
        }
        return {name: answer.status_code == 200 for name, answer in asked.items()}

    page = root.get("/installation/sessions").content.decode()
    assert not [
        client for client in (*of_ada, of_bob, root) if client.cookies["sessionid"].value in page
    ]
    assert page.count("Firefox on Linux</td>") + page.count("Firefox on Linux <span") == 4
    first = ada.open_sessions.get(session_id=of_ada[0].cookies["sessionid"].value)
    root.post("/installation/sessions", {"action": "session", "number": first.pk})
    root.post(
        "/installation/sessions",
        {"action": "token", "number": ApiTokenRow.objects.get(name="two").pk},
    )
    assert [client.get("/account").status_code for client in (*of_ada, of_bob)] == [302, 200, 200]
    assert good() == {"one": True, "two": False, "three": True}
    assert (
        "Sign out ada and revoke all tokens"
        in root.get("/installation/sessions", {"name": "ada"}).content.decode()
    )
    answer = root.post(
        "/installation/sessions", {"action": "person", "number": ada.pk, "name": "ada"}, follow=True
    )
    assert "Ended 1 session. Revoked 1 token." in text_of(answer)
    assert [client.get("/account").status_code for client in (*of_ada, of_bob, root)] == [
        302,
        302,
        200,
        200,
    ]
    assert good() == {"one": False, "two": False, "three": True}
    assert "No open sessions or valid tokens were found." in text_of(
        root.post("/installation/sessions", {"action": "person", "number": "x"}, follow=True)
    )


def test_nobody_else_ends_anything():
    make_user("ada", may_create=True)
    client = signed_in("ada")
    bob = signed_in(make_user("bob").username)
    assert client.get("/installation").status_code == 403
    assert (
        client.post(
            "/installation/sessions", {"action": "person", "number": bob.session["_auth_user_id"]}
        ).status_code
        == 403
    )
    assert bob.get("/account").status_code == 200


def test_addresses_from_before_lead_to_the_pages_of_today(client):
    assert client.get("/installation/doors?name=ada").url == "/installation/sessions?name=ada"
    assert client.get("/campaigns/spring/levers").url == "/campaigns/spring/planning"
    assert client.get("/campaigns/spring/machines/").url == "/campaigns/spring/llm-judges/"
