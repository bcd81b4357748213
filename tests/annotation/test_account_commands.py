"""Accounts and tokens by command, without a browser."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.utils import timezone

from annotation import permissions
from annotation.models import ApiTokenRow
from tests.builders import PASSWORD, make_user
from tests.commands import call_command

pytestmark = pytest.mark.django_db


def test_the_printed_link_signs_in_once(client, capsys):
    call_command(
        "create_account", "ada", "--email", "ada@example.org", "--url", "https://example.org/"
    )
    said = capsys.readouterr()
    link = said.out.strip()
    assert link.startswith("https://example.org/sign-in/link/")
    assert "works once and expires in 30 minutes" in said.err
    path = link.removeprefix("https://example.org")
    assert client.post(path).status_code == 302
    assert client.get("/").wsgi_request.user.get_username() == "ada"
    assert client.post(path).status_code == 410
    ada = User.objects.get()
    assert (ada.email, ada.has_usable_password(), ada.is_superuser, ada.is_staff) == (
        "ada@example.org",
        False,
        False,
        False,
    )
    assert not permissions.can_create(ada)


@pytest.mark.parametrize(
    ("option", "rights"), [("--creator", (False, True)), ("--admin", (True, True))]
)
def test_a_password_comes_from_standard_input_only(client, monkeypatch, capsys, option, rights):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\nnot this line\n"))
    call_command("create_account", "ada", option, "--password-stdin")
    assert capsys.readouterr().out == ""
    ada = User.objects.get()
    assert (ada.is_superuser and ada.is_staff, permissions.can_create(ada)) == rights
    answer = client.post("/sign-in", {"username": "ada", "password": PASSWORD})
    assert (answer.status_code, answer.url) == (302, "/")


@pytest.mark.parametrize(
    ("words", "typed", "problem"),
    [
        (["Ada"], "", "username: This username is taken"),
        (["two words"], "", "username: Enter a valid username"),
        (["bob", "--email", "nowhere"], "", "email: Enter a valid email address"),
        (["bob", "--password-stdin"], "short\n", "at least 10 characters"),
        (["bob", "--password-stdin"], "", "password: This field is required"),
    ],
)
def test_a_refused_account_is_not_created(monkeypatch, words, typed, problem):
    make_user("ada")
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    with pytest.raises(CommandError, match=problem) as refused:
        call_command("create_account", *words)
    assert refused.value.returncode == 2
    assert User.objects.count() == 1


def test_a_printed_token_opens_the_api_within_its_scopes(client, capsys):
    make_user("ada", may_create=True)
    call_command("create_token", "ada", "--scope", "read", "--expires", "7", "--name", "nightly")
    token = capsys.readouterr().out.strip()
    row = ApiTokenRow.objects.get()
    assert (row.name, row.scopes) == ("nightly", "read")
    assert abs(row.expires_at - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)
    headers = {"authorization": f"Bearer {token}"}
    assert client.get("/api/v1/campaigns/", headers=headers).status_code == 200
    refused = client.post("/api/v1/collections/", {"name": "New"}, headers=headers)
    assert refused.json()["code"] == "out_of_scope"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["bob"], "there is no account with the username 'bob'"),
        (["gone"], "there is no active account with the username 'gone'"),
        (["ada", "--scope", "write"], "invalid choice: 'write'"),
        (["ada", "--expires", "400"], "invalid choice: 400"),
    ],
)
def test_a_refused_token_is_not_created(words, problem):
    make_user("ada")
    gone = make_user("gone")
    gone.is_active = False
    gone.save()
    with pytest.raises(CommandError, match=problem):
        call_command("create_token", *words)
    assert not ApiTokenRow.objects.exists()
