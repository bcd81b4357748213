"""The search in the head of managers' pages, by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders import make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_keys_open_the_search_list_results_as_one_types_and_lead_to_one(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign = make_campaign(name="Staff intranet")
    make_campaign(name="Staff canteen", manager=campaign.created_by)
    page = signed_in_page(campaign.created_by)
    page.goto("/campaigns/")
    dialog = page.get_by_role("dialog", name="Search")
    page.locator("body").press("Control+k")
    expect(dialog.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("staff/")  # in the field, the sign is only a sign
    page.keyboard.press("Backspace")
    expect(dialog.get_by_role("link")).to_have_count(2)
    page.keyboard.type(" intra")
    expect(dialog.get_by_role("link")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/campaigns/{campaign.slug}/$"))
    page.locator("body").press("/")
    expect(dialog).to_be_visible()
    page.keyboard.type("canteen")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=canteen$"))
    expect(page.get_by_role("main").get_by_role("link")).to_have_count(1)
