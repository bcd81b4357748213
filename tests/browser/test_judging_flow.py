"""Forgiving presses: double ones, undo of whatever was just done, notes that survive, the same work
open on two devices."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Judgement, Pair, Skip
from tests.browser.judging import JudgingPage, make_job, make_practice, own_judgements
from tests.builders import judge_pair, make_annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]
TWICE = """(what) => { const press = () => what === 'key'
    ? document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '3', code: 'Digit3', bubbles: true, cancelable: true}))
    : document.querySelectorAll('#grades button')[2].click();
  press(); return new Promise((done) => requestAnimationFrame(() => setTimeout(() => { press(); done(); }, 20))); }"""


def test_a_double_press_judges_or_puts_aside_one_document_and_how_many_follow_is_said(
    signed_in_page: Signed,
) -> None:
    """Six documents of one query: five follow the first, as the server has claimed four and sees
    two more that are free. A double tap: test_judging_by_thumb.py."""
    campaign, ada = make_job(n_documents=6)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    place = judging.page.locator("#place")
    expect(place).to_have_text("5 more for this query")
    judging.page.evaluate(TWICE, "key")
    expect(judging.title).to_contain_text("part 2")
    expect(place).to_have_text("4 more for this query")
    judging.unhurried()
    judging.press("3")  # the same grade, on purpose
    expect(judging.title).to_contain_text("part 3")
    judging.unhurried()
    judging.page.evaluate(TWICE, "button")
    expect(judging.title).to_contain_text("part 4")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [2, 2, 2]
    judging.page.evaluate(TWICE.replace("'3', code: 'Digit3'", "'l', code: 'KeyL'"), "key")
    expect(judging.title).to_contain_text("part 5")
    judging.saved()
    assert Skip.objects.filter(membership=ada).count() == 1


def test_a_new_query_begins_with_a_card_unless_cards_are_switched_off(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=2, n_topics=3, block_length=2, judgements_per_pair=1)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    expect(judging.panel).to_be_hidden()  # none before the very first document
    first = page.locator("#query-text").inner_text()
    judging.press("2")
    expect(judging.title).to_contain_text("part 2")
    judging.press("3")
    judging.shows_state("card")
    query = "knee pain in runners"
    assert query != first
    expect(page.locator("#query-text")).to_have_text(query)
    expect(judging.panel).to_contain_text(f"Which evidence is there about {query}?")
    expect(judging.panel).to_contain_text("Relevant are trials and reviews; opinions are not.")
    expect(judging.panel).to_contain_text("2 documents to judge")
    expect(page.locator("#grades [aria-pressed=true]")).to_have_count(
        0
    )  # what was given to the last one is none of this query
    photograph(page, "new-query")
    judging.press("2", "l", "/")  # mean no document that can be seen
    expect(page.locator("#finder")).to_be_hidden()
    expect(judging.panel).to_be_visible()
    judging.saved()
    assert len(own_judgements(ada)) == 2
    judging.press("z")  # back to the document before
    expect(page.locator(".banner")).to_contain_text("You judged this as Partly answers")
    expect(page.locator("#grades [aria-pressed=true]")).to_have_count(1)
    page.keyboard.press("Escape")
    judging.shows_state("card")
    expect(page.locator("#grades [aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(judging.panel).to_be_hidden()
    expect(judging.title).to_contain_text("part 1")
    judging.press("p")  # a pause is no new query
    page.keyboard.press("x")
    expect(judging.title).to_be_visible()
    judging.judge("4")
    judging.saved()
    assert [row.pair.entry.topic.text for row in own_judgements(ada)].count(query) == 1
    judging.press("?")
    page.get_by_role("button", name="Change keys").click()
    page.get_by_label("Show a card before each new query").uncheck()
    page.get_by_role("button", name="Done").click()
    expect(judging.title).to_contain_text("part 2")
    judging.unhurried()
    judging.press("3")
    expect(page.locator("#query-label")).to_have_text("New query")
    expect(judging.panel).to_be_hidden()
    expect(judging.title).to_contain_text("part 1")


def test_this_query_so_far_lists_own_judgements_of_it_and_a_digit_opens_one(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=3, n_topics=2, block_length=3)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.judge_all_of_query("2")
    second = page.locator("#query-text").inner_text()
    judging.judge("4")  # the first of the second query
    judging.judge("1")
    judging.saved()
    for pair in Pair.objects.filter(campaign=campaign).order_by(
        "position"
    ):  # somebody else's are not told
        judge_pair(make_annotator(campaign), pair, 2, now=timezone.now())
    judging.press("t")
    dialog = page.locator("#history-dialog")
    expect(dialog.locator("h2")).to_have_text(f"My judgements for this query: {second}")
    rows = dialog.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Not relevant")  # the newest first
    expect(dialog).to_contain_text("1 Not relevant · 1 Fully answers")
    photograph(page, "query-so-far")
    page.keyboard.press("2")
    expect(page.locator(".banner")).to_contain_text("You judged this as Fully answers")
    judging.judge("3")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=history]").click()
    expect(dialog.locator("h2")).to_have_text("My judgements")
    expect(rows).to_have_count(5)


def test_what_was_put_aside_is_brought_back_by_undo_or_judged_from_the_list(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.press("l")
    expect(judging.title).to_contain_text("part 2")
    judging.saved()
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    assert not Skip.objects.filter(membership=ada).exists()
    judging.judge("2")
    expect(judging.title).to_contain_text("part 2")  # it had to wait, and comes next
    judging.unhurried()
    judging.press("l")
    expect(judging.title).to_contain_text("part 3")
    judging.saved()
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=history]").click()
    aside = page.locator("#history-dialog .put-aside")
    expect(aside).to_contain_text("Skipped (1)")
    photograph(page, "put-aside")
    aside.get_by_role("button", name="Judge now").click()
    expect(judging.title).to_contain_text("part 2")
    judging.judge("4")
    judging.saved()
    assert [(row.pair.position, row.grade, row.status) for row in own_judgements(ada)] == [
        (0, 1, "counted"),
        (1, 3, "counted"),
    ]


def test_undo_is_offered_where_there_is_something_to_undo_and_takes_marks_first(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(spans="optional")
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    undo = page.locator("#bar .bar-more [data-action=undo]")
    expect(undo).to_be_disabled()
    judging.press("s", "Enter")
    expect(undo).to_be_enabled()
    judging.press("z")  # the mark
    expect(undo).to_be_disabled()
    judging.judge("2")
    expect(undo).to_be_enabled()
    judging.saved()
    judging.press("s", "Enter", "s", "Enter")  # two sentences
    marks = page.locator("#marks li")
    expect(marks).to_have_count(2)
    judging.press("Delete")
    expect(marks).to_have_count(1)
    judging.press("z")
    expect(marks).to_have_count(2)
    judging.press("z", "z")
    expect(page.locator("#marks")).to_be_hidden()
    expect(judging.title).to_contain_text("part 2")
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    expect(page.locator(".banner")).to_contain_text("You judged this")
    expect(undo).to_be_disabled()  # this was the first
    page.keyboard.press("Escape")
    judging.open()  # a new page knows nothing of its own, but the server does
    expect(undo).to_be_enabled()


def test_undo_does_not_open_the_answers_of_the_practice(signed_in_page: Signed) -> None:
    """Their solution was shown, so they cannot be changed."""
    campaign, ada = make_practice(1)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.press("4")
    expect(page.locator("#practice")).to_contain_text("Correct")
    judging.press("Enter")
    undo = page.locator("#bar .bar-more [data-action=undo]")
    expect(judging.title).to_contain_text("part 2")
    expect(undo).to_be_disabled()
    judging.open()
    expect(undo).to_be_disabled()
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=history]").click()
    row = page.locator("#history-list tbody tr")
    expect(row).to_contain_text("test")  # not "extra", as the API stores it
    expect(row).not_to_contain_text("extra")
    expect(row.get_by_role("button")).to_have_count(0)


def test_a_note_being_typed_survives_escape_and_a_reload(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.press("n")
    page.keyboard.type("dates are")
    page.keyboard.press("Escape")
    expect(page.locator("#note-label")).to_have_text("Note •")
    judging.press("n")
    expect(page.locator("#note-text")).to_have_value("dates are")
    page.keyboard.press("End")
    page.keyboard.type(" wrong")
    judging.open()
    judging.press("n")
    expect(page.locator("#note-text")).to_have_value("dates are wrong")
    page.keyboard.press("Control+a")
    page.keyboard.type("something else")
    page.get_by_role("button", name="Discard changes").click()
    judging.judge("2")
    judging.saved()
    [row] = own_judgements(ada)
    assert row.note == "dates are wrong"


def test_on_two_devices_nothing_is_refused_and_what_was_judged_on_the_other_one_goes_away(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    desktop, phone = (JudgingPage(signed_in_page(ada.user), campaign).open() for _ in range(2))
    expect(phone.title).to_contain_text("part 1")  # the same leases
    phone.judge("2")
    phone.judge("3")
    phone.saved()
    desktop.judge("4")  # has not heard of it
    desktop.saved()
    notices = desktop.page.locator(".banner")
    expect(notices).to_have_count(1)
    expect(notices).to_contain_text(
        "“Exercise and blood sugar, part 1”: Saved. You had already judged this document on another device"
    )
    desktop.page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(desktop.title).to_contain_text("part 3")
    expect(desktop.toast).to_contain_text("part 2” on another device")
    rows = Judgement.objects.filter(membership=ada).order_by("pair__position", "revision")
    assert [(row.pair.position, row.revision, row.grade, row.current) for row in rows] == [
        (0, 1, 1, False),
        (0, 2, 3, True),
        (1, 1, 2, True),
    ]
