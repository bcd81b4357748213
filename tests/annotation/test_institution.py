"""Signing in by the institution: by a provider of the tests' own, and by a header, believed from
the trusted proxy alone."""

from __future__ import annotations

import time

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from annotation.models import InstitutionAccount
from config import single_sign_on as checked
from pooling.permissions import can_create
from tests.builders import PASSWORD, do_urgent_jobs, make_annotator, make_campaign, make_user
from tests.provider import running_provider

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server():
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(server, settings):
    server.claims = {
        "sub": "s-1",
        "preferred_username": "ada",
        "email": "ada@example.org",
        "groups": [],
    }
    server.token, server.userinfo, server.algorithm, server.key = {}, {}, "RS256", server.own_key
    for name, value in server.settings().items():
        setattr(settings, name, value)
    settings.CREATOR_GROUPS, settings.ADMIN_GROUPS, settings.INSTITUTION = (
        ["creators"],
        ["it"],
        "the University",
    )
    return server


def sign_in(provider, client: Client, query: str = ""):
    """-> the answer to who comes back"""
    sent = client.get(f"/sign-in/oidc{query}")
    assert sent.status_code == 302
    return client.get(provider.authorize(sent.url))


def who(client: Client) -> str:
    number = client.session.get("_auth_user_id")
    return User.objects.get(pk=number).username if number else ""


def test_the_first_sign_in_makes_an_account_and_the_second_finds_it_under_another_name(provider):
    assert "Sign in with the University" in " ".join(
        Client().get("/sign-in").content.decode().split()
    )
    first = Client()
    answer = sign_in(provider, first, "?next=/account")
    assert (answer.status_code, answer.url, who(first)) == (302, "/account", "ada")
    user = User.objects.get()
    assert (user.email, user.has_usable_password(), can_create(user), user.is_superuser) == (
        "ada@example.org",
        False,
        False,
        False,
    )
    provider.claims["preferred_username"] = "ada.lovelace"
    second = Client()
    assert (sign_in(provider, second).status_code, who(second), User.objects.count()) == (
        302,
        "ada",
        1,
    )


def test_groups_give_rights_and_take_them_at_the_next_sign_in(provider, settings):
    def rights(*groups: str) -> tuple[bool, bool, bool]:
        provider.claims["groups"] = list(groups)
        assert sign_in(provider, Client()).status_code == 302
        user = User.objects.get()
        return can_create(user), user.is_superuser, user.is_staff

    assert rights("students") == (False, False, False)
    assert rights("students", "creators") == (True, False, False)
    assert rights("it") == (True, True, True), "administrators may, too"
    assert rights() == (False, False, False)
    rights("it")
    settings.ADMIN_GROUPS = settings.CREATOR_GROUPS = []
    assert rights() == (True, True, True), "what the settings do not speak of stays"


def test_an_account_made_here_is_not_handed_to_whoever_is_called_the_same_there(provider):
    root = make_user("Ada", superuser=True)
    client = Client()
    answer = sign_in(provider, client)
    assert (answer.status_code, who(client), User.objects.count()) == (403, "", 1)
    assert "Ask an administrator to link it" in answer.content.decode()
    InstitutionAccount.objects.create(user=root, subject=f"oidc {provider.issuer} s-1")
    assert (sign_in(provider, client).status_code, who(client)) == (302, "Ada")
    root.refresh_from_db()
    assert not root.is_superuser, "the groups decide from then on"


@pytest.mark.parametrize(
    ("token", "userinfo", "algorithm"),
    [
        ({"nonce": "another"}, {}, "RS256"),
        ({"nonce": None}, {}, "RS256"),
        ({"aud": "another program"}, {}, "RS256"),
        ({"aud": None}, {}, "RS256"),
        ({"aud": ["assay", "another"], "azp": "another"}, {}, "RS256"),
        ({"iss": "http://127.0.0.1:1"}, {}, "RS256"),
        ({"exp": int(time.time()) - 600}, {}, "RS256"),
        ({"exp": None}, {}, "RS256"),
        ({"sub": None}, {}, "RS256"),
        ({}, {"sub": "s-2"}, "RS256"),
        ({}, {}, "HS256"),
        ({}, {}, "none"),
    ],
)
def test_a_token_that_is_not_of_this_sign_in_signs_nobody_in(provider, token, userinfo, algorithm):
    provider.token, provider.userinfo, provider.algorithm = token, userinfo, algorithm
    client, before = Client(), provider.n_tokens
    answer = sign_in(provider, client)
    assert (answer.status_code, who(client), User.objects.count()) == (502, "", 0)
    assert provider.n_tokens == before + 1, "it was refused for what it says"


def test_a_token_signed_by_another_key_signs_nobody_in(provider):
    provider.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    client = Client()
    assert (sign_in(provider, client).status_code, who(client), User.objects.count()) == (
        502,
        "",
        0,
    )


def test_a_code_is_good_once_for_the_browser_that_asked(provider):
    client, other = Client(), Client()
    back = provider.authorize(client.get("/sign-in/oidc").url)
    assert (other.get(back).status_code, who(other)) == (400, ""), (
        "another's browser is not signed in by a link"
    )
    assert client.get(back).status_code == 302
    client.post("/sign-out")
    assert (client.get(back).status_code, who(client)) == (400, "")


def test_a_code_without_this_browsers_verifier_is_worth_nothing(provider):
    """Who has caught another's code brings it with an own state: the provider refuses, for the
    challenge was another."""
    victim, thief = Client(), Client()
    caught = provider.authorize(victim.get("/sign-in/oidc").url)
    own = provider.authorize(thief.get("/sign-in/oidc").url)
    mixed = own.replace(own.split("code=")[1].split("&")[0], caught.split("code=")[1].split("&")[0])
    assert (thief.get(mixed).status_code, who(thief)) == (502, "")


def test_a_refusal_or_an_absent_provider_is_said(provider, settings):
    client = Client()
    state = client.get("/sign-in/oidc").url.split("state=")[1].split("&")[0]
    assert client.get(f"/sign-in/oidc/back?error=access_denied&state={state}").status_code == 403
    back = provider.authorize(client.get("/sign-in/oidc").url)
    settings.OIDC_OP_TOKEN_ENDPOINT = "http://127.0.0.1:9/token"
    answer = client.get(back)
    assert (
        answer.status_code,
        "could not sign you in" in answer.content.decode(),
        who(client),
    ) == (502, True, "")


@pytest.mark.parametrize("name", ["", "   ", "a b", "<script>", "x" * 151])
def test_a_name_that_no_account_can_have_is_refused(provider, name):
    provider.claims["preferred_username"] = name
    assert (sign_in(provider, Client()).status_code, User.objects.count()) == (403, 0)


def test_the_page_after_it_is_never_on_another_host(provider):
    assert sign_in(provider, Client(), "?next=https://evil.example/x").url == "/"


def test_such_an_account_has_no_other_way_in_and_judges_like_all(
    provider, django_assert_num_queries
):
    client = Client()
    sign_in(provider, client)
    page = client.get("/account").content.decode()
    assert "This account has no password" in page
    client.post("/account", {"action": "password", "new": "a long enough one"})
    Client().post("/sign-in/link", {"email": "ada@example.org"})
    do_urgent_jobs()
    assert (User.objects.get().has_usable_password(), mail.outbox) == (False, [])
    assert Client().post("/sign-in", {"username": "ada", "password": ""}).status_code == 400
    member = make_annotator(make_campaign())
    member.user_id = User.objects.get(username="ada").pk
    member.save()
    address = f"/judge/{member.campaign.slug}/"
    assert [client.get(address).status_code for _ in range(2)] == [200, 200]
    with django_assert_num_queries(3):  # session, user and membership, as after a password
        client.get(address)


def test_a_closed_account_stays_closed(provider):
    sign_in(provider, Client())
    User.objects.update(is_active=False)
    client = Client()
    answer = sign_in(provider, client)
    assert (answer.status_code, "closed" in answer.content.decode(), who(client)) == (403, True, "")


@pytest.fixture
def header(settings):
    settings.USER_HEADER, settings.GROUPS_HEADER, settings.TRUSTED_PROXIES = (
        "X-Remote-User",
        "X-Remote-Groups",
        ["127.0.0.1"],
    )
    settings.CREATOR_GROUPS = ["creators"]


def test_the_header_is_believed_from_the_trusted_proxy_alone(header):
    headers = {"x-remote-user": "ada", "x-remote-groups": "students;creators"}
    stranger = Client()
    for more in ({}, {"x-forwarded-for": "127.0.0.1"}):
        answer = stranger.get(
            "/sign-in/institution", headers=headers | more, REMOTE_ADDR="203.0.113.9"
        )
        assert (answer.status_code, who(stranger), User.objects.count()) == (403, "", 0)
    client = Client()
    answer = client.get(
        "/sign-in/institution?next=/account", headers=headers, REMOTE_ADDR="127.0.0.1"
    )
    assert (answer.status_code, answer.url, who(client)) == (302, "/account", "ada")
    assert can_create(User.objects.get())
    assert Client().get("/sign-in/institution", REMOTE_ADDR="127.0.0.1").status_code == 403, (
        "the proxy said nobody"
    )
    elsewhere = Client()
    elsewhere.get("/account", headers=headers, REMOTE_ADDR="127.0.0.1")
    assert who(elsewhere) == "", "one address reads it, and no other"


def test_the_header_hands_over_no_account_that_was_made_here(header):
    make_user("root", superuser=True)
    client = Client()
    answer = client.get(
        "/sign-in/institution", headers={"x-remote-user": "ROOT"}, REMOTE_ADDR="127.0.0.1"
    )
    assert (answer.status_code, who(client)) == (403, "")
    assert Client().post("/sign-in", {"username": "root", "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize(
    ("header", "proxies", "issuer", "says"),
    [
        ("X-Remote-User", [], "", "ASSAY_USER_HEADER requires ASSAY_TRUSTED_PROXIES"),
        ("X_Remote_User", ["127.0.0.1"], "", "must be a header name"),
        (
            "X-Remote-User",
            ["127.0.0.1"],
            "https://login.example.org",
            "used together",
        ),
        (
            "",
            [],
            "https://login.example.org",
            "ASSAY_OIDC_ISSUER is set, but not ASSAY_OIDC_CLIENT, ASSAY_OIDC_AUTHORIZE",
        ),
    ],
)
def test_half_a_configuration_stops_the_start(header, proxies, issuer, says):
    with pytest.raises(ImproperlyConfigured, match=says):
        checked.check_settings(header, "", trusted_proxies=proxies, issuer=issuer, secret="")
