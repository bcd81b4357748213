"""Failed sign-ins are counted by all processes together, and a stranger's failures lock nobody else out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.utils import timezone

from annotation.models import Attempts
from annotation.services import attempts
from config import environment
from pooling.requests import address_of
from tests.builders import PASSWORD, make_user

pytestmark = pytest.mark.django_db
TOO_MANY = "Too many failed attempts"


def sign_in(name: str, password: str = "wrong", *, client: Client | None = None, address: str = "203.0.113.9", **headers: str):
    return (client or Client()).post("/sign-in", {"username": name, "password": password}, REMOTE_ADDR=address, headers=headers)


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
    assert TOO_MANY in sign_in("ada", PASSWORD).content.decode(), "a new browser at the same address"
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


def test_an_address_that_stands_for_everybody_is_no_limit_for_everybody(monkeypatch):
    monkeypatch.setattr(attempts, "MOST_OF_ADDRESS", 20)
    make_user("ada")
    for number in range(20):
        sign_in(f"guess{number}", address="127.0.0.1", x_forwarded_for="192.0.2.1")
    assert sign_in("ada", PASSWORD, address="127.0.0.1", x_forwarded_for="192.0.2.7").status_code == 302


@pytest.mark.parametrize(
    ("proxies", "nearest", "written", "address"),
    [
        ([], "203.0.113.9", "", "203.0.113.9"),
        ([], "203.0.113.9", "192.0.2.1", ""),  # a proxy that nobody named, or a forgery: nobody can tell
        (["127.0.0.1"], "127.0.0.1", "192.0.2.1", "192.0.2.1"),
        (["127.0.0.1"], "127.0.0.1", "6.6.6.6, 192.0.2.1", "192.0.2.1"),  # the first was written by the person
        (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", "6.6.6.6, 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        (["127.0.0.1"], "203.0.113.9", "192.0.2.1", "203.0.113.9"),  # past the proxy
        (["127.0.0.1"], "127.0.0.1", "nonsense", ""),
        (["127.0.0.1"], "127.0.0.1", "", "127.0.0.1"),
        (["::1"], "::1", "2001:db8::5", "2001:db8::5"),
    ],
)
def test_the_address_comes_from_proxies_that_are_named(settings, proxies, nearest, written, address):
    settings.TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": written} if written else {}
    assert address_of(RequestFactory().get("/", REMOTE_ADDR=nearest, headers=headers)) == address


def test_a_proxy_that_is_no_address_stops_the_start(monkeypatch):
    monkeypatch.setenv("ASSAY_TRUSTED_PROXIES", "127.0.0.1, proxy.example.org")
    with pytest.raises(Exception, match=r"'proxy\.example\.org' is neither an address nor a network"):
        environment.networks("TRUSTED_PROXIES")
