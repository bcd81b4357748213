"""Tests that take a browser profile after another have nothing of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Error

from tests.browser.profiles import HAS_OWN_CLOCK, Profiles

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OPTIONS = {"locale": "en-NZ"}
"""No other test takes these."""


def take_after(profiles: Profiles, change: str) -> tuple[BrowserContext, BrowserContext]:
    """Return a profile that a test changed, and the next one."""
    first = profiles.take(**OPTIONS)
    page = first.new_page()
    page.goto("/sign-in")
    if change == "clock":
        page.clock.install()
    elif change == "crash":
        with pytest.raises(Error, match="crash"):
            page.goto("chrome://crash")
    else:
        page.evaluate("localStorage.setItem('a', '1'); sessionStorage.setItem('a', '1')")
        first.add_cookies([{"name": "sessionid", "value": "1", "url": profiles.url}])
        first.set_offline(True)
    profiles.give_back()
    return first, profiles.take(**OPTIONS)


def test_the_next_page_has_no_cookies_stored_values_or_pages_and_is_online(profiles: Profiles):
    first, second = take_after(profiles, "values")
    assert second is first
    page = second.new_page()
    page.goto("/sign-in")
    assert page.evaluate("localStorage.a ?? sessionStorage.a ?? null") is None
    assert [cookie["name"] for cookie in second.cookies()] == ["csrftoken"]
    assert len(second.pages) == 2
    profiles.give_back()


@pytest.mark.parametrize("change", ["clock", "crash"])
def test_a_profile_with_a_clock_or_a_crash_is_not_taken_again(profiles: Profiles, change: str):
    first, second = take_after(profiles, change)
    assert second is not first
    page = second.new_page()
    page.goto("/sign-in")
    assert not page.evaluate(HAS_OWN_CLOCK)
    profiles.give_back()
