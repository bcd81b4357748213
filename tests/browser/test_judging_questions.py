"""Ask the manager: from the question on the judging page to the answer there, on a desktop and on a
phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Membership, Question
from annotation.services.judging import questions
from annotation.services.people import participation
from tests.browser.conftest import DESKTOP, PHONE, SCREENS
from tests.browser.judging import JudgingPage, make_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def test_where_no_document_is_on_the_page_it_says_that_a_question_is_about_one(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(n_topics=2, n_documents=1)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    says = judging.page.locator("#ask-dialog").get_by_text(
        "You can ask a question only while a document is shown."
    )
    judging.press("q")
    expect(judging.page.locator("#ask-dialog").get_by_role("textbox")).to_be_visible()
    expect(says).to_be_hidden()
    judging.press("Escape", "3")
    judging.shows_state("card")
    judging.press("q")
    expect(says).to_be_visible()
    expect(judging.page.locator("#ask-dialog").get_by_role("textbox")).to_be_hidden()


def test_a_list_that_comes_late_does_not_hide_the_question_sent_meanwhile(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    participation.acknowledge_guideline(ada, 1)
    page = signed_in_page(ada.user)
    JudgingPage(page, campaign).open()
    held: list[tuple[Route, Any]] = []

    def hold(route: Route) -> None:
        if route.request.method == "GET":
            held.append((route, route.fetch()))  # as it is before the question
        else:
            route.continue_()

    page.route("**/api/v1/judging/*/questions", hold)
    page.keyboard.press("q")
    while not held:
        page.wait_for_timeout(50)
    dialog = page.locator("#ask-dialog")
    dialog.get_by_role("textbox").fill("Does a review count as a trial?")
    dialog.get_by_role("button", name="Send question").click()
    expect(dialog.locator(".questions li")).to_contain_text("Does a review count as a trial?")
    [(late, as_it_was)] = held
    assert as_it_was.json()["items"] == []
    with page.expect_response("**/api/v1/judging/*/questions"):
        late.fulfill(response=as_it_was)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))")
    expect(dialog.locator(".questions li")).to_have_count(1)


def test_a_list_asked_for_while_the_question_is_on_its_way_has_it(signed_in_page: Signed) -> None:
    """Opened again before the answer to the question: the list waits for it, and what is typed
    meanwhile stays."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    JudgingPage(page, campaign).open()
    held: list[Route] = []
    page.route(
        "**/api/v1/judging/*/questions",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    dialog = page.locator("#ask-dialog")
    page.keyboard.press("q")
    dialog.get_by_role("textbox").fill("Is it one?")
    page.keyboard.press("Control+Enter")
    while not held:
        page.wait_for_timeout(50)
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    dialog.get_by_role("textbox").fill("And is it two?")
    page.wait_for_timeout(300)  # time for a list without the question
    held[0].continue_()
    expect(dialog.locator(".questions li")).to_have_text([re.compile("Is it one")])
    page.wait_for_timeout(300)
    expect(dialog.locator(".questions li")).to_have_count(1)
    expect(dialog.get_by_role("textbox")).to_have_value("And is it two?")
    page.keyboard.press("Control+Enter")
    while len(held) < 2:
        page.wait_for_timeout(50)
    held[1].continue_()
    expect(dialog.locator(".questions li")).to_have_count(2)
    assert sorted(Question.objects.values_list("text", flat=True)) == [
        "And is it two?",
        "Is it one?",
    ]


def test_a_question_that_fails_when_one_has_gone_on_is_told_and_sent_about_its_own_document(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user, **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    first = judging.title.inner_text()
    held: list[Route] = []
    page.route(
        "**/api/v1/judging/*/questions",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=ask]").click()
    dialog = page.locator("#ask-dialog")
    dialog.get_by_role("textbox").fill("Is it one?")
    dialog.get_by_role("button", name="Send question").click()
    while not held:
        page.wait_for_timeout(50)
    dialog.get_by_role("button", name="Close").click()
    judging.judge("2")
    expect(judging.title).not_to_have_text(first)
    held[0].abort()
    line = page.locator(".banner[data-name=unsent]")
    expect(line).to_contain_text("The question was not sent")
    for screen in (DESKTOP, PHONE):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
    line.get_by_role("button", name="Ask the manager").click()
    expect(dialog).to_contain_text(f"About “{first}”")
    expect(dialog.get_by_role("textbox")).to_have_value("Is it one?")
    page.unroute("**/api/v1/judging/*/questions")
    dialog.get_by_role("button", name="Send question").click()
    expect(dialog.locator(".questions li")).to_have_count(1)
    expect(line).to_have_count(0)
    [question] = Question.objects.all()
    assert (question.text, question.pair.entry.docno) == ("Is it one?", "d1")


def test_a_question_is_asked_answered_on_the_managers_page_and_read_without_leaving(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    participation.acknowledge_guideline(ada, 1)
    page = signed_in_page(ada.user, **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    title = judging.title.inner_text()

    def at_both_sizes(name: str) -> None:
        for screen in (DESKTOP, PHONE):
            page.set_viewport_size(screen)  # type: ignore[arg-type]
            assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
            if name:
                photograph(page, f"{name}-{screen['width']}")

    page.locator("#menu > summary").tap()
    page.locator("#menu [data-action=ask]").tap()
    dialog = page.locator("#ask-dialog")
    expect(dialog).to_contain_text(f"About “{title}”")
    dialog.get_by_role("textbox").fill("Does a review count as a trial?")
    at_both_sizes("ask")
    dialog.get_by_role("button", name="Send question").click()
    expect(dialog.locator(".questions li")).to_contain_text("No answer yet")
    dialog.get_by_role("button", name="Close").click()
    judging.judge("2")

    desk = signed_in_page(campaign.created_by)
    desk.goto(f"/campaigns/{campaign.slug}/questions/")
    desk.get_by_role("textbox", name="Answer").fill("Yes, where it is systematic.")
    desk.get_by_label("Publish as an example in the guidelines").check()
    photograph(desk, "questions")
    desk.get_by_role("button", name="Answer", exact=True).click()
    expect(desk.locator("article")).to_contain_text("example in version 2")

    judging.judge("2")
    line = page.locator(".banner[data-name=example]")
    expect(line).to_contain_text(
        "New example in the guidelines (version 2): a question about “diabetes type 2 "
        "exercise”: Yes, where it is systematic."
    )
    at_both_sizes("")
    expect(page.locator("#guidelines-version")).to_have_text("v2")
    judging.saved()
    page.wait_for_function(
        "() => document.querySelectorAll('dialog[open]').length === 0"
    )  # nothing had to be read before going on
    page.get_by_role("button", name="1 more notice").click()
    page.locator(".banner[data-name=answers]").get_by_role("button", name="Read the answer").click()
    item = dialog.locator(".questions li")
    expect(item).to_contain_text("Answer: Yes, where it is systematic.")
    at_both_sizes("answer")
    expect(page.locator(".banner[data-name=answers]")).to_have_count(0)
    item.get_by_role("button", name="Open").click()
    expect(judging.title).to_have_text(title)
    expect(page.locator(".banner[data-name=review]")).to_contain_text("You judged this as Related")
    member = Membership.objects.get(pk=ada.pk)
    assert (member.unread_answers, member.guideline_read) == (0, 2)


def test_a_question_that_could_not_be_sent_stays_in_its_field_and_is_stored_once(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    page.keyboard.press("q")
    dialog = page.locator("#ask-dialog")
    dialog.get_by_role("textbox").fill("Is it one?")
    lost: list[str] = []

    def lose_the_answer(route: Route) -> None:
        if (
            route.request.method == "GET" or lost
        ):  # the questions so far are asked for at moments of the page's own
            route.continue_()
            return
        lost.append(route.fetch().text())
        route.abort()

    judging.pretend("questions", lose_the_answer)
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".field-error")).to_contain_text("Your text is kept")
    expect(dialog.get_by_role("textbox")).to_have_value("Is it one?")
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".questions li")).to_have_count(1)
    assert Question.objects.get().text == "Is it one?"


def test_a_question_just_sent_is_undone_and_an_answered_one_stays_and_is_told_on_opening(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    JudgingPage(page, campaign).open()
    page.keyboard.press("q")
    dialog = page.locator("#ask-dialog")
    for text in ("Is it one?", "Is it two?"):
        dialog.get_by_role("textbox").fill(text)
        page.keyboard.press("Control+Enter")
        expect(dialog.locator(".questions li").first).to_contain_text(text)
    dialog.locator(".questions li", has_text="Is it one?").get_by_role(
        "button", name="Withdraw"
    ).click()
    expect(dialog.locator(".questions li")).to_have_count(1)
    expect(dialog.get_by_role("textbox")).to_have_value("Is it one?")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    left = Question.objects.get()
    assert left.text == "Is it two?"
    questions.answer_question(left, "Yes.", actor=None)
    dialog.locator(".questions li").get_by_role("button", name="Withdraw").click()
    expect(dialog.locator(".questions li")).to_contain_text(
        "This question can't be withdrawn. A manager has already answered it."
    )
    assert Question.objects.get().answer == "Yes."
    page.reload()
    expect(page.locator(".banner[data-name=answers]")).to_contain_text(
        "A manager has answered your question."
    )
