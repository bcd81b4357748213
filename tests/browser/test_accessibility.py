"""The judging page works at 400% zoom, with a screen reader and without motion. axe-core looks at
every page as it is first seen in test_pages.py, and at what people open on the judging page wherever
a test calls `photograph`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems
from tests.browser.judging import JudgingPage, make_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def test_axe_would_find_a_mistake_and_nothing_moves_when_the_reader_asks_for_reduced_motion(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user, reduced_motion="reduce")
    judging = JudgingPage(page, campaign).open()
    judging.judge("3")
    durations = page.evaluate(
        "document.getAnimations().map(animation => animation.effect.getTiming().duration)"
    )
    assert all(duration < 1 for duration in durations)
    page.evaluate(
        "document.querySelector('.doc-body').append(Object.assign(document.createElement('input'), {type: 'text'}))"
    )
    assert any(problem.startswith("label:") for problem in problems(page))


def test_judging_works_at_400_percent_and_on_a_phone_on_its_side(signed_in_page: Signed) -> None:
    """A window of 1280 x 1024 (or 720) at 400 % has the room of 320 x 256 (or 180)."""
    campaign, ada = make_job(n_documents=15)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign)
    for width, height in ((320, 256), (320, 180), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        judging.open()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        bottom = page.locator("#bar").bounding_box()
        assert page.locator(".query").bounding_box() is not None
        assert bottom is not None
        assert bottom["height"] <= height * 0.4
        page.mouse.wheel(0, 150)
        page.wait_for_function("() => scrollY > 0")
        expect(page.locator("#query-text")).to_be_in_viewport()
        expect(page.locator("#grades button").first).to_be_in_viewport()
        for place in range(4):
            before = judging.title.inner_text()
            page.locator("#grades button").nth(place).click()
            expect(judging.title).not_to_have_text(before)
        judging.saved()


def test_screen_reader_is_told_what_happens(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_topics=2, n_documents=2)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    said = page.locator("#say")
    judging.press("3")  # the same document under another query comes next
    expect(said).to_contain_text(
        "Judged Partly answers. Exercise and blood sugar, part 2. 1 of 4"
    )  # of 300, if there were as many pairs
    expect(judging.title).to_be_focused()
    expect(page.locator("#say")).to_have_attribute("aria-live", "polite")
    expect(page.locator("#say-now")).to_have_attribute("aria-live", "assertive")
    judging.press("0")
    expect(said).to_contain_text(
        "Why can't you judge this document? 1: Query unclear, 2: Document broken"
    )
    judging.press("Escape", "p")
    expect(page.locator("#say-now")).to_contain_text("Paused")
    judging.press("x", "2")
    expect(said).to_contain_text("Judged Related.")
    expect(page.locator("#say-now")).to_be_empty()
