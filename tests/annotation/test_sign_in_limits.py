"""Failed sign-ins are counted by all processes together, and a stranger's failures lock nobody else
out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.utils import timezone

from annotation.models import Attempts, Invitation
from annotation.services.people import accounts, attempts
from config import environment
from pooling.platform.requests import client_address
from tests.builders import PASSWORD, do_urgent_jobs, make_campaign, make_user

pytestmark = pytest.mark.django_db
TOO_MANY = "Too many failed attempts"


def sign_in(
    name: str,
    password: str = "wrong",
    *,
    client: Client | None = None,
    address: str = "203.0.113.9",
    **headers: str,
):
    return (client or Client()).post(
        "/sign-in", {"username": name, "password": password}, REMOTE_ADDR=address, headers=headers
    )


def fail(name: str, times: int = attempts.MOST_OF_ACCOUNT, **where: str) -> None:
    for _ in range(times):
        assert sign_in(name, **where).status_code == 400


def test_ten_failures_lock_the_account_at_this_address_only():
    make_user("ada")
    fail("ada")
    assert TOO_MANY in sign_in("ada", PASSWORD).content.decode()
    assert sign_in("ada", PASSWORD, address="198.51.100.4").status_code == 302


def test_the_count_is_of_all_processes_and_ends_after_five_minutes():
    make_user("ada")
    fail("ada")
    cache.clear()  # what a process keeps for itself
    assert TOO_MANY in sign_in("ada", PASSWORD).content.decode()
    Attempts.objects.update(began_at=timezone.now() - timedelta(minutes=5))
    assert sign_in("ada", PASSWORD).status_code == 302


def test_behind_one_proxy_a_strangers_failures_do_not_lock_out_whoever_has_been_here_before():
    make_user("ada")
    make_user("bob")
    browser = Client()
    assert sign_in("ada", PASSWORD, client=browser).status_code == 302
    fail("ada")
    assert TOO_MANY in sign_in("ada", PASSWORD).content.decode(), (
        "a new browser at the same address"
    )
    assert sign_in("ada", PASSWORD, client=browser).status_code == 302
    assert sign_in("bob", PASSWORD).status_code == 302, "another account at the same address"


def test_a_known_browser_is_known_to_its_own_account_only_and_has_its_own_limit():
    make_user("ada")
    make_user("bob")
    browser = Client()
    sign_in("ada", PASSWORD, client=browser)
    for _ in range(attempts.MOST_OF_ACCOUNT):
        sign_in("bob", client=browser)
    assert TOO_MANY in sign_in("bob", PASSWORD, client=browser).content.decode()
    for _ in range(attempts.MOST_OF_ACCOUNT):
        sign_in("ada", client=browser)
    assert TOO_MANY in sign_in("ada", PASSWORD, client=browser).content.decode()
    browser.cookies[attempts.COOKIE] = "made:up"
    assert TOO_MANY not in sign_in("ada", PASSWORD, client=browser).content.decode()


def test_an_address_may_fail_only_so_often_with_names_of_all_kinds(monkeypatch):
    monkeypatch.setattr(attempts, "MOST_OF_ADDRESS", 20)
    make_user("ada")
    for number in range(20):
        sign_in(f"guess{number}")
    assert TOO_MANY in sign_in("ada", PASSWORD).content.decode()
    assert sign_in("ada", PASSWORD, address="198.51.100.4").status_code == 302


def test_a_forged_forwarding_header_avoids_neither_limit(monkeypatch):
    """No proxy is named: whatever the header says, the machine that connects is counted."""
    monkeypatch.setattr(attempts, "MOST_OF_ADDRESS", 20)
    make_user("ada")
    fail("ada")
    assert TOO_MANY in sign_in("ada", PASSWORD, x_forwarded_for="192.0.2.1").content.decode()
    for number in range(10):
        sign_in(f"guess{number}", x_forwarded_for=f"192.0.2.{number}")
    assert TOO_MANY in sign_in("another", x_forwarded_for="192.0.2.77").content.decode()


def test_visitors_whose_address_is_unknown_share_a_higher_limit(monkeypatch):
    monkeypatch.setattr(attempts, "MOST_OF_ADDRESS", 5)
    monkeypatch.setattr(attempts, "MOST_OF_NOBODY", 20)
    make_user("ada")
    for number in range(19):
        sign_in(f"guess{number}", address="")
    assert TOO_MANY not in sign_in("guess19", address="").content.decode()
    assert TOO_MANY in sign_in("ada", PASSWORD, address="").content.decode()


@pytest.mark.parametrize(
    ("proxies", "nearest", "written", "address"),
    [
        ([], "203.0.113.9", "", "203.0.113.9"),
        ([], "203.0.113.9", "192.0.2.1", "203.0.113.9"),  # a proxy that is not named, or a forgery
        (["127.0.0.1"], "127.0.0.1", "192.0.2.1", "192.0.2.1"),
        (
            ["127.0.0.1"],
            "127.0.0.1",
            "6.6.6.6, 192.0.2.1",
            "192.0.2.1",
        ),  # the first was written by the person
        (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", "6.6.6.6, 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        (["127.0.0.1"], "203.0.113.9", "192.0.2.1", "203.0.113.9"),  # past the proxy
        (["127.0.0.1"], "127.0.0.1", "nonsense", "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", "6.6.6.6, nonsense", "127.0.0.1"),
        (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", "nonsense, 10.1.2.3", "10.1.2.3"),
        ([], "", "192.0.2.1", ""),  # a Unix socket
        (["127.0.0.1"], "127.0.0.1", "", "127.0.0.1"),
        (["::1"], "::1", "2001:db8::5", "2001:db8::5"),
    ],
)
def test_the_address_comes_from_proxies_that_are_named(
    settings, proxies, nearest, written, address
):
    settings.TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": written} if written else {}
    assert (
        client_address(RequestFactory().get("/", REMOTE_ADDR=nearest, headers=headers)) == address
    )


def test_a_proxy_that_is_no_address_stops_the_start(monkeypatch):
    monkeypatch.setenv("ASSAY_TRUSTED_PROXIES", "127.0.0.1, proxy.example.org")
    with pytest.raises(
        Exception, match=r"'proxy\.example\.org' is neither an address nor a network"
    ):
        environment.networks("TRUSTED_PROXIES")


def wrong_codes(times: int, client: Client | None = None, **where: str) -> None:
    for number in range(times):
        answer = (client or Client()).post("/join", {"code": f"WRONG{number:03d}"}, **where)
        assert (answer.status_code, "Invitation not found" in answer.content.decode()) == (
            400,
            True,
        )


def test_a_hundred_wrong_codes_are_the_last_of_an_address_and_its_links_still_open():
    invitation = accounts.create_invitation(campaign=make_campaign(), actor=None)
    here = {"REMOTE_ADDR": "203.0.113.9"}
    wrong_codes(100, **here)
    refused = Client().post("/join", {"code": invitation.code}, **here)
    assert (refused.status_code, "Too many wrong codes" in refused.content.decode()) == (400, True)
    assert Client().get(f"/join/{invitation.token}", **here).status_code == 200
    assert (
        Client().post("/join", {"code": invitation.code}, REMOTE_ADDR="198.51.100.4").status_code
        == 302
    )
    known = Client()
    known.force_login(make_user("ada"))
    assert known.post("/join", {"code": invitation.code}, **here).status_code == 302, (
        "who is signed in has an own count"
    )


def test_a_forged_address_gives_no_new_count_of_codes(monkeypatch):
    monkeypatch.setattr(attempts, "MOST_CODES", 3)
    for number in range(3):
        wrong_codes(1, headers={"x-forwarded-for": f"192.0.2.{number}"})
    answer = Client().post("/join", {"code": "WRONGONE"}, headers={"x-forwarded-for": "192.0.2.77"})
    assert "Too many wrong codes" in answer.content.decode()


def test_who_uses_up_anothers_mails_keeps_nobody_out():
    ada = make_user("ada")
    ada.email = "ada@example.org"
    ada.save()
    for number in range(10):
        Client().post("/sign-in/link", {"email": ada.email}, REMOTE_ADDR=f"192.0.2.{number}")
    do_urgent_jobs()
    assert len(mail.outbox) == 3
    path = mail.outbox[-1].body.split("http://testserver")[1].split()[0]
    assert Client().post(path).status_code == 302


def test_one_address_has_twenty_mails_sent_to_people_of_all_kinds():
    for number in range(25):
        user = make_user(f"person{number}x")
        user.email = f"p{number}@example.org"
        user.save()
        assert (
            Client()
            .post("/sign-in/link", {"email": user.email}, REMOTE_ADDR="203.0.113.9")
            .status_code
            == 200
        )
    do_urgent_jobs()
    assert len(mail.outbox) == 20


def test_an_invitation_without_an_end_is_good_for_half_a_year(client):
    invitation = accounts.create_invitation(campaign=make_campaign(), actor=None)
    made = type(invitation).objects.filter(pk=invitation.pk)
    made.update(created_at=timezone.now() - timedelta(days=179))
    assert client.get(f"/join/{invitation.token}").status_code == 200
    made.update(created_at=timezone.now() - timedelta(days=181))
    assert client.get(f"/join/{invitation.token}").status_code == 410
    assert "expired" in client.post("/join", {"code": invitation.code}).content.decode()
    made.update(expires_at=timezone.now() + timedelta(days=1))
    assert client.get(f"/join/{invitation.token}").status_code == 200


def test_the_administration_has_no_way_in_of_its_own():
    """Where passwords could be tried past the limits."""
    boss, ada = make_user("boss", superuser=True), make_user("ada")
    client = Client()
    for address in ("/admin/", "/admin/login/"):
        assert client.get(address, follow=True).redirect_chain[-1][0] == "/sign-in?next=/admin/"
    assert (
        client.post("/admin/login/", {"username": "boss", "password": PASSWORD})
        .headers["Location"]
        .startswith("/sign-in")
    )
    assert client.get("/admin/").status_code == 302, "nobody is signed in by it"
    signed_in = client.post(
        "/sign-in?next=/admin/", {"username": boss.username, "password": PASSWORD}, follow=True
    )
    assert (signed_in.redirect_chain, signed_in.status_code) == ([("/admin/", 302)], 200)
    assert client.get("/admin/login/", follow=True).redirect_chain == [("/admin/", 302)]
    client.force_login(ada)
    assert client.get("/admin/", follow=True).status_code == 403


def test_ones_own_password_cannot_be_tried_without_end_in_a_browser_that_was_left_open():
    client = Client()
    client.force_login(make_user("ada"))

    def change(current: str):
        return client.post(
            "/account", {"action": "password", "current": current, "new": "another long password"}
        )

    for _ in range(attempts.MOST_OF_ACCOUNT):
        assert "The current password is wrong." in change("wrong").content.decode()
    assert TOO_MANY in change(PASSWORD).content.decode()
    Attempts.objects.update(began_at=timezone.now() - timedelta(minutes=5))
    assert change(PASSWORD).status_code == 302


def test_of_two_who_open_a_sign_in_link_at_once_one_is_let_in():
    """Both have been read before either signs in."""
    ada = make_user("ada")
    identifier, token = accounts.sign_in_path(ada).split("/")
    first, second = (accounts.get_sign_in_link_user(identifier, token) for _ in range(2))
    assert [accounts.use_sign_in_link(one) for one in (first, second)] == [True, False]
    assert accounts.get_sign_in_link_user(identifier, token) is None


def test_a_sign_in_link_is_good_once_within_one_second_too():
    ada, moment = make_user("ada"), timezone.now()
    User.objects.update(last_login=moment.replace(microsecond=1))
    ada.refresh_from_db()
    identifier, token = accounts.sign_in_path(ada).split("/")
    assert accounts.get_sign_in_link_user(identifier, token) == ada
    User.objects.update(last_login=moment.replace(microsecond=2))
    assert accounts.get_sign_in_link_user(identifier, token) is None


def test_who_comes_too_late_for_an_invitation_gets_no_account(monkeypatch):
    """Somebody else has used it between the look at it and the joining."""
    campaign = make_campaign()
    invitation = accounts.create_invitation(campaign=campaign, actor=None, max_uses=1)
    monkeypatch.setattr("annotation.views.people.people.find_invitation", lambda token: invitation)
    Invitation.objects.update(n_uses=1)
    client = Client()
    answer = client.post(
        f"/join/{invitation.token}", {"username": "late", "password": PASSWORD, "email": ""}
    )
    assert (answer.status_code, User.objects.filter(username="late").exists()) == (410, False)
    assert "_auth_user_id" not in client.session


def test_the_cookie_of_one_account_gives_no_count_for_another():
    ada = make_user("ada")
    cookie = attempts.make_browser_cookie(ada)
    assert attempts.SignInAttempt(" Ada ", address="203.0.113.9", cookie=cookie).known
    assert not attempts.SignInAttempt("bob", address="203.0.113.9", cookie=cookie).known


def test_mails_to_one_recipient_are_counted_whatever_the_case_of_the_address():
    sent = [
        attempts.can_send_mail(email, address=f"203.0.113.{n}")
        for n, email in enumerate(("a@b.org", "A@b.org", "a@B.org", "A@B.ORG"))
    ]
    assert sent == [True, True, True, False]
