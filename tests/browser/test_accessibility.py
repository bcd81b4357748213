"""axe-core finds nothing of WCAG 2.2 level A and AA in what people open on the judging page, in light and dark; the page works at 400 % zoom,
with a screen reader and without motion. Every page as it is first seen is looked at by test_pages.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems, problems_in_both_schemes
from tests.browser.judging import JudgingPage, make_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def test_axe_would_find_a_mistake(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.page.evaluate("document.querySelector('.doc-body').append(Object.assign(document.createElement('input'), {type: 'text'}))")
    assert any(problem.startswith("label:") for problem in problems(judging.page))


STATES: dict[str, Callable[[JudgingPage], None]] = {
    "reasons": lambda judging: judging.press("0"),
    "note": lambda judging: judging.press("n"),
    "shortcuts": lambda judging: judging.press("?"),
    "settings": lambda judging: judging.page.evaluate("document.querySelector('#menu [data-action=settings]').click()"),
    "menu": lambda judging: judging.page.locator("#menu > summary").click(),
    "history": lambda judging: judging.page.evaluate("document.querySelector('#menu [data-action=history]').click()"),
    "find": lambda judging: judging.press("/"),
    "information need": lambda judging: judging.press("i"),
    "pause": lambda judging: judging.press("p"),
    "reopened": lambda judging: (judging.judge("3"), judging.press("z"), judging.page.locator("[data-name=review]").wait_for()),
    "passage": lambda judging: judging.press("3", "s", "s", "ArrowRight", "Enter"),
    "offline": lambda judging: (judging.page.context.set_offline(True), judging.judge("1")),
}


@pytest.mark.parametrize("state", sorted(STATES))
def test_axe_finds_nothing_in_the_states_of_judging(signed_in_page: Signed, state: str) -> None:
    campaign, ada = make_job(spans="required")
    page = signed_in_page(ada.user, reduced_motion="reduce")
    judging = JudgingPage(page, campaign).open()
    if state == "reopened":
        campaign.spans = "optional"
        campaign.save()
        judging.open()
    STATES[state](judging)
    page.wait_for_timeout(150)
    assert problems_in_both_schemes(page) == {}


@pytest.mark.parametrize("zoomed", [{"width": 320, "height": 256}, {"width": 320, "height": 180}, {"width": 844, "height": 390}])
def test_judging_works_at_400_percent_and_on_a_phone_on_its_side(
    signed_in_page: Signed, photograph: Callable[[Page, str], None], zoomed: dict[str, int]
) -> None:
    """A window of 1280 x 1024 (or 720) at 400 % has the room of 320 x 256 (or 180)."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user, viewport=zoomed)
    judging = JudgingPage(page, campaign).open()
    assert page.evaluate("document.documentElement.scrollWidth") <= zoomed["width"]
    top, bottom = page.locator(".query").bounding_box(), page.locator("#bar").bounding_box()
    assert top is not None
    assert bottom is not None
    assert bottom["height"] <= zoomed["height"] * 0.4
    page.mouse.wheel(0, 150)
    page.wait_for_timeout(150)
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
    expect(said).to_contain_text("Judged Partial. Exercise and blood sugar, part 2. 1 of 300")
    assert page.evaluate("document.activeElement.className") == "doc-title"
    expect(page.locator("#say")).to_have_attribute("aria-live", "polite")
    expect(page.locator("#say-now")).to_have_attribute("aria-live", "assertive")
    judging.press("0")
    expect(said).to_contain_text("Why can this not be judged? 1: Query unclear, 2: Document broken")
    judging.press("Escape", "p")
    expect(page.locator("#say-now")).to_contain_text("Paused")
    judging.press("x", "2")
    expect(said).to_contain_text("Judged Topic.")
    expect(page.locator("#say-now")).to_be_empty()


def test_nothing_moves_when_the_reader_asks_for_reduced_motion(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user, reduced_motion="reduce")
    judging = JudgingPage(page, campaign).open()
    judging.judge("3")
    durations = page.evaluate("document.getAnimations().map(animation => animation.effect.getTiming().duration)")
    assert all(duration < 1 for duration in durations)
