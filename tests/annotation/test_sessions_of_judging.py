"""Whose session it is, asked by the judging page: sessions that have ended, memberships of several
campaigns, settings that come with the membership."""

from __future__ import annotations

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from annotation.models import Profile
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def ask(client: Client, campaign) -> tuple[int, str]:
    """(status, the pseudonym that is told)"""
    answer = client.get(f"/api/v1/judging/{campaign.slug}/setup")
    return answer.status_code, answer.json().get("pseudonym", "")


@pytest.fixture
def met():
    """(the browser of an annotator, the membership)"""
    member, client = make_annotator(make_campaign()), Client()
    client.force_login(member.user)
    for _ in range(2):
        assert ask(client, member.campaign) == (200, member.pseudonym)
    return client, member


def test_it_is_one_statement_each_for_session_user_and_membership(met, django_assert_num_queries):
    client, member = met
    with django_assert_num_queries(3):
        assert client.get(f"/judge/{member.campaign.slug}/").status_code == 200


@pytest.mark.parametrize("ended", ["deleted", "over", "password", "closed"])
def test_a_session_that_has_ended_is_refused_at_once(met, ended):
    client, member = met
    if ended == "deleted":
        Session.objects.all().delete()
    elif ended == "over":
        Session.objects.update(expire_date=timezone.now())
    elif ended == "password":
        member.user.set_password("another password")
        member.user.save()
    else:
        member.user.is_active = False
        member.user.save()
    assert ask(client, member.campaign)[0] == 401
    assert client.get(f"/judge/{member.campaign.slug}/").status_code == 302


@pytest.mark.parametrize("is_of", ["another backend", "nobody", "another key"])
def test_a_session_that_nobody_here_has_signed_in_to_is_a_strangers(met, settings, is_of):
    client, member = met
    session = client.session
    if is_of == "another backend":
        session[BACKEND_SESSION_KEY] = "another.Backend"
    elif is_of == "nobody":
        del session[SESSION_KEY]
    else:
        settings.SECRET_KEY = "another key"
    if is_of != "another key":
        session.save()
    assert ask(client, member.campaign)[0] == 401


def test_a_session_of_the_key_before_goes_on_in_djangos_own_way(met, settings):
    client, member = met
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the next key", [settings.SECRET_KEY]
    before = client.session.session_key
    assert [ask(client, member.campaign) for _ in range(2)] == [(200, member.pseudonym)] * 2
    assert client.session.session_key != before


def test_each_campaign_has_its_own_membership_and_a_removed_one_is_gone(met):
    client, member = met
    elsewhere, strange = make_annotator(make_campaign(), user=member.user), make_campaign()
    assert ask(client, elsewhere.campaign) == (200, elsewhere.pseudonym)
    assert ask(client, strange)[0] == 404
    assert ask(client, member.campaign) == (200, member.pseudonym)
    member.delete()
    assert ask(client, member.campaign)[0] == 404


def test_settings_of_the_page_are_read_with_it(met):
    client, member = met
    Profile.objects.update_or_create(user=member.user, defaults={"choices": {"theme": "dark"}})
    assert client.get(f"/api/v1/judging/{member.campaign.slug}/setup").json()["profile"] == {
        "theme": "dark"
    }
    client.put(
        f"/api/v1/judging/{member.campaign.slug}/profile",
        {"theme": "light"},
        content_type="application/json",
    )
    assert client.get(f"/api/v1/judging/{member.campaign.slug}/setup").json()["profile"] == {
        "theme": "light"
    }


def test_signing_out_and_in_as_another_person_in_the_same_browser(met):
    client, member = met
    other = make_annotator(member.campaign)
    client.logout()
    assert ask(client, member.campaign)[0] == 401
    client.force_login(other.user)
    assert [ask(client, member.campaign) for _ in range(2)] == [(200, other.pseudonym)] * 2
