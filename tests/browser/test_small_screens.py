"""What a phone shows: legible pictures, and dialogs from their beginning."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PHONE
from tests.browser.judging import JudgingPage, make_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SMALLEST = """() => Math.min(...[...document.querySelectorAll('.picture text')].map(
  text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


def test_words_in_pictures_have_11_pixels_and_the_page_does_not_scroll_sideways(signed_in_page: Callable[..., Page]) -> None:
    campaign, _ = make_job()
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    page.set_viewport_size(PHONE)
    page.goto(f"/campaigns/{campaign.slug}/")
    page.locator(".picture text").first.wait_for()
    assert page.evaluate(SMALLEST) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_sheet_of_keys_opens_at_its_beginning(signed_in_page: Callable[..., Page]) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.set_viewport_size(PHONE)
    judging = JudgingPage(page, campaign).open()
    judging.press("?")
    page.locator("#help-dialog[open]").wait_for()
    assert page.evaluate("document.querySelector('#help-dialog').scrollTop") == 0
    assert page.evaluate("document.activeElement.id") == "help-title"
