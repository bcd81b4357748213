"""axe-core finds nothing of WCAG 2.2 level A and AA in what people open on the judging page, in
light and dark; the page works at 400 % zoom, with a screen reader and without motion. Every page as
it is first seen is looked at by test_pages.py."""

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
    judging.page.evaluate(
        "document.querySelector('.doc-body').append(Object.assign(document.createElement('input'), {type: 'text'}))"
    )
    assert any(problem.startswith("label:") for problem in problems(judging.page))


def opened(name: str) -> Callable[[JudgingPage], object]:
    return lambda judging: judging.page.evaluate(
        f"document.querySelector('#menu [data-action={name}]').click()"
    )


STATES: dict[str, tuple[Callable[[JudgingPage], object], str, str]] = {
    "reasons": (lambda judging: judging.press("0"), "#grades .reason", "Escape"),
    "note": (lambda judging: judging.press("n"), "#note-dialog", "Escape"),
    "shortcuts": (lambda judging: judging.press("?"), "#help-dialog", "Escape"),
    "settings": (opened("settings"), "#settings-dialog", "Escape"),
    "menu": (
        lambda judging: judging.page.locator("#menu > summary").click(),
        "#menu [data-action=leave]",
        "Escape",
    ),
    "history": (opened("history"), "#history-dialog", "Escape"),
    "find": (lambda judging: judging.press("/"), "#finder", "Escape"),
    "information need": (lambda judging: judging.press("i"), "#need", "i"),
    "pause": (lambda judging: judging.press("p"), "#panel[data-state=user-pause]", "x"),
    "passage": (
        lambda judging: judging.press("3", "s", "s", "ArrowRight", "Enter"),
        "#marks li",
        "",
    ),
    "reopened": (
        lambda judging: (judging.judge("3"), judging.press("z")),
        "[data-name=review]",
        "Escape",
    ),
    "offline": (
        lambda judging: (judging.page.context.set_offline(True), judging.judge("1")),
        "[data-name=connection]",
        "",
    ),
}
"""What an annotator does one after another -> what is seen then, the key that ends it."""


def test_axe_finds_nothing_in_the_states_of_judging(signed_in_page: Signed) -> None:
    campaign, ada = make_job(spans="required")
    judging = JudgingPage(signed_in_page(ada.user, reduced_motion="reduce"), campaign).open()
    wrong = {}
    for state, (do, shown, end) in STATES.items():
        do(judging)
        judging.page.locator(shown).first.wait_for()
        if problems_found := problems_in_both_schemes(judging.page):
            wrong[state] = problems_found
        if end:
            judging.page.keyboard.press(end)
            judging.page.locator(shown).first.wait_for(state="hidden")
    assert wrong == {}


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
        "Judged Partial. Exercise and blood sugar, part 2. 1 of 4"
    )  # of 300, if there were as many pairs
    expect(judging.title).to_be_focused()
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
    durations = page.evaluate(
        "document.getAnimations().map(animation => animation.effect.getTiming().duration)"
    )
    assert all(duration < 1 for duration in durations)
