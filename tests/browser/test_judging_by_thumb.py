"""What else annotators do, on a phone by touch alone: double taps, cards, Later, undo, practice,
examples, one's own rhythm, a trial."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Judgement, Skip
from tests.browser.conftest import PHONE
from tests.browser.judging import JudgingPage, make_job, make_practice, own_judgements
from tests.browser.test_judging_flow import TWICE
from tests.browser.test_judging_rhythm import SCALE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]
THUMB: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}


def tap_grade(judging: JudgingPage, place: int) -> None:
    judging.unhurried()
    judging.page.locator("#grades button").nth(place).tap()


def menu(page: Page, action: str) -> None:
    page.locator("#menu > summary").tap()
    page.locator(f"#menu [data-action={action}]").tap()


def within_reach(target: Locator) -> None:
    """Whole in the window, of the size of a thumb, with nothing over it, and nothing that scrolls
    sideways."""
    expect(target).to_be_in_viewport(ratio=1)
    box = target.bounding_box()
    assert box
    assert box["height"] >= 40
    assert target.evaluate(
        "e => { const r = e.getBoundingClientRect(); return "
        "e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); }"
    )
    assert target.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_saved_is_shown_in_words_for_a_moment_after_an_answer(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign)
    for language, word in (("en", "Saved"), ("de", "Gespeichert"), ("ar", "محفوظ")):
        page.set_extra_http_headers({"Accept-Language": language})
        judging.open()
        judging.saved()
        text, head = page.locator("#chip-text"), page.locator(".jhead").bounding_box()
        expect(text).to_have_css("position", "absolute")  # clipped, for screen readers
        tap_grade(judging, 0)
        expect(page.locator("#chip[data-fresh]")).to_have_text(word)
        expect(text).to_have_css("position", "static")
        assert text.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        assert page.locator(".jhead").bounding_box() == head  # nothing below moves
        expect(page.locator("#chip[data-fresh]")).to_have_count(0)
        expect(page.locator("#place")).to_be_visible()


def test_a_double_tap_judges_one_document_and_later_puts_one_aside(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign).open()
    page.evaluate(TWICE, "button")
    expect(judging.title).to_contain_text("part 2")
    judging.unhurried()
    page.locator("#bar .bar-more [data-action=later]").tap()
    expect(judging.title).to_contain_text("part 3")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [2]
    assert Skip.objects.count() == 1
    page.locator("#bar .bar-more [data-action=undo]").tap()  # of Later
    expect(judging.title).to_contain_text("part 2")
    page.locator("#bar .bar-more [data-action=later]").tap()
    expect(judging.title).to_contain_text("part 3")
    menu(page, "history")
    again = page.locator("#history-dialog .put-aside").get_by_role("button", name="Judge now")
    within_reach(again)
    again.tap()
    expect(judging.title).to_contain_text("part 2")


def test_a_card_begins_the_next_query_and_this_query_so_far_opens_a_judgement(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=3, n_topics=2, block_length=3, judgements_per_pair=1)
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign).open()
    expect(page.locator("#place")).to_contain_text("2")  # more of this query
    for place in (1, 2, 3):
        before = judging.title.inner_text()
        tap_grade(judging, place)
        if place < 3:
            expect(judging.title).not_to_have_text(before)
    judging.shows_state("card")
    expect(page.locator("#query-text")).to_have_text(
        page.locator("#panel-title").text_content() or ""
    )
    expect(page.locator("#panel-title")).to_have_css(
        "width", "1px"
    )  # for screen readers: the head says the same
    start = page.get_by_role("button", name="Start")  # in place of the grades
    expect(start).to_have_count(1)
    expect(page.locator("#grades [data-place]").first).to_be_hidden()
    expect(page.locator("#need-button")).to_be_hidden()  # the card shows the need
    within_reach(start)
    photograph(page, "thumb-card")
    start.tap()
    expect(judging.panel).to_be_hidden()
    tap_grade(judging, 0)
    expect(judging.title).to_contain_text("part 2")
    judging.saved()
    menu(page, "sofar")
    dialog = page.locator("#history-dialog")
    expect(dialog.locator("tbody tr")).to_have_count(1)
    opens = dialog.locator("tbody button")
    within_reach(opens)
    photograph(page, "thumb-so-far")
    opens.tap()
    expect(page.locator("[data-name=review]")).to_contain_text("You judged this as Not relevant")
    tap_grade(judging, 2)
    judging.saved()
    assert sorted(
        Judgement.objects.filter(membership=ada, current=True).values_list("grade", flat=True)
    ) == [1, 2, 2, 3]


def test_practice_is_explained_while_its_document_stays(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_practice(2, explanation="“A trial of twelve weeks” is what was asked for.")
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign).open()
    practice, first = page.locator("#practice"), judging.title.inner_text()
    tap_grade(judging, 0)
    expect(practice).to_contain_text("You: Not relevant. Expected: Fully answers.")
    expect(practice).to_contain_text("is what was asked for.")
    expect(judging.title).to_have_text(first)
    assert page.evaluate("CSS.highlights.get('decisive').size") == 1
    on = practice.get_by_role("button")
    within_reach(on)
    photograph(page, "thumb-practice")
    on.tap()
    expect(page.locator("#query-label")).to_have_text("Query (test 2 of 2)")
    tap_grade(judging, 3)
    expect(practice).to_contain_text("Passed: 1 of 2 correct. Your judgements count from now on.")
    within_reach(on)
    on.tap()
    expect(page.locator("#query-label")).to_have_text("Query")


def test_nothing_of_the_practice_is_left_once_it_is_over(signed_in_page: Signed) -> None:
    campaign, ada = make_practice(1, n_topics=2, spans="required", spans_from=3)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    expect(page.locator("[data-name=practice]")).to_be_visible()
    page.keyboard.press("4")
    expect(judging.bar_message).to_contain_text("needs a marked passage")
    for key in ("s", "Enter", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#practice")).to_contain_text("Correct")
    expect(judging.bar_message).to_be_hidden()
    page.locator("#practice").get_by_role("button").click()
    expect(judging.panel).to_contain_text("New query")
    expect(page.locator("[data-name=practice]")).to_be_hidden()


def test_a_judgement_that_was_too_fast_is_reopened(signed_in_page: Signed) -> None:
    campaign, ada = make_job(min_active_seconds=30)
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign).open()
    first = judging.title.inner_text()
    tap_grade(judging, 3)
    notice = page.locator("[data-name=status]")
    expect(notice).to_contain_text("You judged “Exercise and blood sugar, part 1” in")
    expect(notice).to_contain_text("too fast to count")
    reopen = notice.get_by_role("button", name="Reopen")
    expect(reopen).to_be_visible()
    within_reach(reopen)
    reopen.tap()
    expect(judging.title).to_have_text(first)
    expect(page.locator("[data-name=review]")).to_contain_text("You judged this as Fully answers")


def test_a_finger_that_stays_on_a_grade_is_told_what_it_means_and_judges_nothing(
    signed_in_page: Signed,
) -> None:
    """Touches of the browser itself: the finger comes down, stays for 0.7 s, and goes."""
    campaign, ada = make_job(scale=SCALE, min_relevant=1)
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign).open()
    title = judging.title.inner_text()
    button, box = page.locator("#grades button").nth(1), page.locator(".grade-examples")
    place = button.bounding_box()
    assert place
    touch = page.context.new_cdp_session(page)
    judging.unhurried()
    at = {"x": place["x"] + place["width"] / 2, "y": place["y"] + place["height"] / 2}
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    expect(box).to_contain_text("Answers a part.")  # while the finger is there
    page.wait_for_timeout(200)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(400)
    expect(box).to_be_in_viewport(ratio=1)
    assert judging.title.inner_text() == title
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    tap_grade(judging, 1)
    expect(judging.title).not_to_have_text(title)
    expect(box).to_have_count(0)
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [1]


def test_ones_own_rhythm_stands_in_the_menu(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_documents=8, target_per_annotator=20)
    page = signed_in_page(ada.user, **THUMB)
    judging = JudgingPage(page, campaign).open()
    for _ in range(5):
        before = judging.title.inner_text()
        tap_grade(judging, 1)
        expect(judging.title).not_to_have_text(before)
    judging.saved()
    page.locator("#menu > summary").tap()
    line = page.locator("#rhythm")
    expect(line).to_contain_text(re.compile(r"Today: 5 judged, .* on this device\. About"))
    expect(line).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_manager_tries_the_page_on_a_phone_and_nothing_is_stored(signed_in_page: Signed) -> None:
    campaign, _ = make_practice(2)
    page = signed_in_page(campaign.created_by, **THUMB)
    page.goto(f"/judge/{campaign.slug}/try")
    page.get_by_role("button", name="I have read the guidelines").tap()
    judging = JudgingPage(page, campaign)
    expect(page.locator("#query-label")).to_have_text("Query (test 1 of 2)")
    for _ in range(2):
        tap_grade(judging, 3)
        expect(page.locator("#practice")).to_contain_text("Correct")
        page.locator("#practice").get_by_role("button").tap()
    expect(page.locator("#query-label")).to_have_text("Query")
    for place in (0, 1):
        tap_grade(judging, place)
        expect(page.locator("#progress-text")).to_have_text(f"{place + 1}/2")
    judging.shows_state("done")
    within_reach(page.get_by_role("button", name="Back to the campaign"))
    assert not Judgement.objects.exists()
