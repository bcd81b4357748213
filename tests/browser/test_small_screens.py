"""What a phone shows: legible pictures, and dialogs from their beginning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import PHONE, session_cookie
from tests.browser.judging import JudgingPage, make_job
from tests.builders import judge, make_annotator, make_campaign

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


def test_a_picture_wider_than_the_phone_is_scrolled_to_its_end(signed_in_page: Callable[..., Page]) -> None:
    """Kappa without its dot, bars cut off: nothing of a picture is out of reach, by finger or by keys."""
    campaign = make_campaign(n_topics=3, n_documents=6, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(12):
        judge(ada, 2)
        judge(bob, 2)
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    page.set_viewport_size(PHONE)
    for address in ("", "people/", "time/"):
        page.goto(f"/campaigns/{campaign.slug}/{address}")
        pictures = page.locator(".figure .picture")
        for number in range(pictures.count()):
            picture = pictures.nth(number)
            if not picture.is_visible():
                continue
            picture.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
            over = picture.evaluate("e => e.querySelector('svg').getBoundingClientRect().right - e.getBoundingClientRect().right")
            assert over <= 1, address
            if picture.evaluate("e => e.scrollWidth > e.clientWidth"):
                picture.focus()
                assert picture.evaluate("e => document.activeElement === e"), f"{address}: not reached by keys"


def test_the_deadline_on_home_is_told_in_the_readers_zone(new_context: Callable[..., BrowserContext], live_server: Any) -> None:
    """Not in that of the server, where nobody has chosen one."""
    deadline = timezone.now().replace(year=2030, month=1, day=15, hour=12, minute=0)
    ada = make_annotator(make_campaign(deadline=deadline))
    context = new_context(base_url=live_server.url, timezone_id="Asia/Tokyo", locale="en-GB")
    context.add_cookies([session_cookie(ada.user, live_server.url)])
    page = context.new_page()
    page.goto("/")
    expect(page.locator("time[data-local]")).to_contain_text("21:00")


def test_the_sheet_of_keys_opens_at_its_beginning(signed_in_page: Callable[..., Page]) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.set_viewport_size(PHONE)
    judging = JudgingPage(page, campaign).open()
    judging.press("?")
    page.locator("#help-dialog[open]").wait_for()
    assert page.evaluate("document.querySelector('#help-dialog').scrollTop") == 0
    assert page.evaluate("document.activeElement.id") == "help-title"
