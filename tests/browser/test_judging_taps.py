"""Passages by their first and last word, with the bar as the guide: by thumb on a phone, by mouse
on a desktop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP
from tests.browser.judging import WORDS, JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]
SCREENS: list[dict[str, Any]] = [
    {"viewport": DESKTOP},
    {"viewport": {"width": 360, "height": 800}, "has_touch": True, "is_mobile": True},
]
MIDDLE_OF = """word => { const node = document.querySelector('.doc-body p').firstChild, at = node.data.indexOf(word), range = document.createRange();
  range.setStart(node, at + 1); range.setEnd(node, at + word.length - 1);
  const box = range.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }"""


def tap(page: Page, word: str, screen: dict[str, Any]) -> None:
    """Inside a word of the first paragraph."""
    x, y = page.evaluate(MIDDLE_OF, word)
    if "has_touch" in screen:
        page.touchscreen.tap(x, y)
    else:
        page.mouse.click(x, y)


@pytest.mark.parametrize("screen", SCREENS, ids=["desktop", "phone"])
def test_first_and_last_word_make_a_passage_and_the_bar_says_what_comes_next(
    signed_in_page: Signed, photograph: Callable[[Page, str], None], screen: dict[str, Any]
) -> None:
    campaign, ada = make_job(n_documents=2, spans="required", spans_from=2)
    page = signed_in_page(ada.user, **screen)
    judging = JudgingPage(page, campaign).open()
    perfect, bar = page.locator("#grades button").nth(3), judging.bar_message
    assert (
        page.locator("#grades button.needs").count() == 2
    )  # the sign on grades that need one: Partly answers and Fully answers
    tap(page, "walking", screen)
    expect(page.locator("#marks")).to_be_hidden()  # nobody asked for a passage
    perfect.click()
    expect(bar).to_contain_text("“Fully answers” needs a marked passage")
    tap(page, "diabetes", screen)
    expect(bar).to_contain_text("Starts at “diabetes”. Choose the last word.")
    photograph(page, f"taps-{screen['viewport']['width']}")
    bar.get_by_role("button", name="Start over").click()
    expect(bar).to_contain_text("“Fully answers” needs a marked passage")
    tap(page, "blood", screen)
    tap(page, "lowers", screen)  # backwards is as good
    expect(page.locator("#marks li")).to_have_text("lowers bloodRemove")
    expect(bar).to_contain_text("Passage marked.")
    page.locator("[data-action=undo]").first.click()  # the mark first
    expect(page.locator("#marks")).to_be_hidden()
    expect(bar).to_contain_text("“Fully answers” needs a marked passage")
    tap(page, "walking", screen)
    tap(page, "people", screen)
    photograph(page, f"tapped-{screen['viewport']['width']}")
    assert page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
    title = judging.title.inner_text()
    bar.get_by_role("button", name="Done").click()
    expect(judging.title).not_to_have_text(title)
    judging.saved()
    passage = "walking lowers blood sugar in people"
    start = WORDS.index(passage)
    assert [(row.grade, row.spans) for row in own_judgements(ada)] == [
        (3, [[start, start + len(passage)]])
    ]


def test_the_grade_may_be_changed_instead_and_words_are_no_buttons_any_more(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(n_documents=2, spans="required", spans_from=2)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    page.locator("#grades button").nth(3).click()
    judging.bar_message.get_by_role("button", name="Change grade").click()
    expect(judging.bar_message).to_be_hidden()
    tap(page, "walking", SCREENS[0])
    tap(page, "people", SCREENS[0])
    expect(page.locator("#marks")).to_be_hidden()
    judging.judge("1")


def test_where_passages_are_optional_the_menu_lets_words_be_tapped(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_documents=2, spans="optional")
    screen = SCREENS[1]
    page = signed_in_page(ada.user, **screen)
    judging = JudgingPage(page, campaign).open()
    page.locator("#menu > summary").tap()
    page.get_by_role("button", name="Mark a passage").tap()
    expect(judging.bar_message).to_contain_text(
        "Choose the first word of the passage, then the last."
    )
    tap(page, "walking", screen)
    tap(page, "lowers", screen)
    expect(page.locator("#marks li")).to_have_count(1)
    judging.bar_message.get_by_role("button", name="Stop marking").tap()
    expect(judging.bar_message).to_be_hidden()
    tap(page, "sugar", screen)
    tap(page, "people", screen)
    expect(page.locator("#marks li")).to_have_count(1)
