"""The page of the API's documents works under our own content policy."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_operations_are_listed_and_can_be_tried(signed_in_page: Callable[..., Page]) -> None:
    page = signed_in_page(make_user("ada", may_create=True))
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("/api/docs")
    operation = (
        page.locator(".opblock", has=page.locator("[data-path='/api/v1/collections/']"))
        .filter(has_text="GET")
        .first
    )
    expect(operation).to_be_visible()
    assert page.locator(".opblock").count() > 30
    operation.locator("button").first.click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table tbody .response-col_status")).to_contain_text(
        "200"
    )
    assert errors == []
