"""Sessions: a new key at every sign-in, seen and ended by who they belong to, gone at once when
ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from annotation.models import OpenSession
from annotation.services.people.sessions import describe_device
from tests.builders import PASSWORD, make_annotator, make_campaign, make_user
from tests.commands import call_command

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
)


def signed_in(name: str, agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    assert client.post("/sign-in", {"username": name, "password": PASSWORD}).status_code == 302
    return client


def key_of(client: Client) -> str:
    return client.cookies["sessionid"].value


def may_in(client: Client) -> bool:
    return client.get("/account").status_code == 200


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (FIREFOX, "Firefox on Linux"),
        (PHONE, "Safari on iPhone"),
        (
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
                "Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0"
            ),
            "Edge on Windows",
        ),
        (
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
                "Chrome/126.0.0.0 Mobile Safari/537.36"
            ),
            "Chrome on Android",
        ),
        ("curl/8.5.0", ""),
        ("<script>alert(1)</script>", ""),
    ],
)
def test_a_browser_is_named_without_what_tells_people_apart(agent, device):
    assert describe_device(agent) == device


def test_a_session_that_somebody_else_knew_before_the_sign_in_is_worth_nothing_after_it():
    make_user("ada")
    planted = Client()
    session = planted.session
    session["time_zone"] = "UTC"
    session.save()
    known = session.session_key
    victim = Client()
    victim.cookies["sessionid"] = known
    victim.post("/sign-in", {"username": "ada", "password": PASSWORD})
    assert may_in(victim)
    assert key_of(victim) != known
    planted.cookies["sessionid"] = known
    assert not may_in(planted)


def test_signing_in_again_and_as_another_makes_a_new_key_and_ends_the_old():
    make_user("ada")
    make_user("bob")
    client, keys = signed_in("ada"), []
    for name in ("ada", "bob", "bob"):
        keys.append(key_of(client))
        client.post("/sign-in", {"username": name, "password": PASSWORD})
    assert len({*keys, key_of(client)}) == 4
    assert list(Session.objects.values_list("pk", flat=True)) == [key_of(client)]
    assert [(one.session_id, one.user.username) for one in OpenSession.objects.all()] == [
        (key_of(client), "bob")
    ]


def test_one_sees_ones_own_sessions_and_ends_one_or_all_others():
    make_user("ada")
    here, phone, third, other = (
        signed_in("ada"),
        signed_in("ada", PHONE),
        signed_in("ada", ""),
        signed_in(make_user("bob").username),
    )
    page = here.get("/account").content.decode()
    assert page.count(">this browser<") == 1
    assert "Safari on iPhone" in page
    assert page.count("Firefox on Linux") == 1, "bob's is not listed"
    assert not [key for key in map(key_of, (here, phone, third, other)) if key in page], (
        "a key would open the session"
    )
    here.post(
        "/account",
        {"action": "end-session", "session": OpenSession.objects.get(session_id=key_of(phone)).pk},
    )
    assert [may_in(client) for client in (here, phone, third, other)] == [True, False, True, True]
    here.post(
        "/account",
        {"action": "end-session", "session": OpenSession.objects.get(session_id=key_of(other)).pk},
    )
    here.post("/account", {"action": "end-session", "session": "9" * 30})
    assert may_in(other), "another's session"
    here.post("/account", {"action": "end-others"})
    assert [may_in(client) for client in (here, third, other)] == [True, False, True]


def test_a_new_password_signs_out_all_others_and_this_browser_gets_a_new_key():
    make_user("ada")
    here, other = signed_in("ada"), signed_in("ada")
    before = key_of(here)
    assert (
        here.post(
            "/account", {"action": "password", "current": PASSWORD, "new": "another good one"}
        ).status_code
        == 302
    )
    assert (may_in(here), may_in(other), key_of(here) == before) == (True, False, False)
    assert [one.session_id for one in OpenSession.objects.all()] == [key_of(here)]


def test_a_session_that_was_ended_judges_no_more_though_the_process_has_met_it():
    member = make_annotator(make_campaign())
    client = signed_in(member.user.username)
    address = f"/api/v1/judging/{member.campaign.slug}/setup"
    assert [client.get(address).status_code for _ in range(2)] == [200, 200]
    Session.objects.get(pk=key_of(client)).delete()
    answer = client.get(address)
    assert (answer.status_code, answer.json()["code"]) == (401, "signed_out")


def test_what_is_signed_out_or_over_leaves_nothing_behind():
    make_user("ada")
    client, old = signed_in("ada"), signed_in("ada")
    client.post("/sign-out")
    Session.objects.filter(pk=key_of(old)).update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not may_in(old)
    call_command("clearsessions")
    assert not OpenSession.objects.exists()
