"""Several questions about one document: one row of buttons, one question at a time, one judgement."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Membership
from tests.annotation.core.test_campaign_questions import make_question
from tests.browser.conftest import DESKTOP, SCREENS
from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def make_scale(*grades: tuple[str, str, str]) -> list[dict[str, object]]:
    return [
        {"value": value, "name": name, "explanation": explanation, "shape": shape}
        for value, (name, shape, explanation) in enumerate(grades)
    ]


def make_facets() -> tuple[Campaign, Membership]:
    easy = make_scale(
        ("Hard", "cross", "A reader without training would give up."),
        ("With effort", "half", "Some terms stay unexplained."),
        ("Easy", "disc", "A reader without training understands it at once."),
    )
    trust = make_scale(
        ("Low", "cross", "Claims without a source."), ("High", "disc", "Sources are named.")
    )
    questions = [
        make_question(scale=easy, asked_from=1),
        make_question(
            "credibility",
            prompt="Would you trust it for a decision?",
            scale=trust,
            asked_from=1,
            required=False,
        ),
    ]
    return make_job(further_questions=questions)


def stored(member: Membership) -> list[tuple[int | None, dict[str, int | None]]]:
    return [(row.grade, row.answers) for row in own_judgements(member)]


def test_keys_answer_one_question_after_the_other(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    """A digit answers, Tab moves, a reload keeps unfinished answers, Z goes back answer by answer."""
    campaign, ada = make_facets()
    page = signed_in_page(ada.user, viewport=DESKTOP)
    judging = JudgingPage(page, campaign).open()
    current, prompt = page.locator("#steps [aria-current=step]"), page.locator("#prompt")
    title = judging.title.inner_text()
    expect(current).to_have_text("Relevance")
    judging.press("3")
    expect(current).to_have_text("Understandability")
    expect(prompt).to_have_text("How easily would a layperson understand it?")
    expect(page.locator("#guidelines")).to_contain_text("Some terms stay unexplained.")
    photograph(page, "facets-second-question")
    page.reload()
    page.locator("html[data-complete]").wait_for()
    expect(current).to_have_text("Understandability")
    page.keyboard.press("Shift+Tab")
    expect(current).to_have_text("Relevance")
    expect(page.locator("#grades [aria-pressed=true]")).to_contain_text("Partly answers")
    page.keyboard.press("Tab")
    judging.press("3")
    expect(current).to_have_text("Credibility")
    judging.press("z")
    expect(current).to_have_text("Understandability")
    judging.press("2")
    expect(page.locator("#grades")).to_contain_text("No answer")
    photograph(page, "facets-optional-question")
    assert judging.title.inner_text() == title
    judging.judge("0")  # of this question alone
    judging.judge("1")  # not relevant: one key
    judging.saved()
    assert stored(ada) == [(2, {"understandability": 1, "credibility": None}), (0, {})]
    judging.press("z")
    expect(current).to_have_text("Relevance")
    judging.press("z")  # the document before, at its last question
    expect(current).to_have_text("Credibility")
    expect(page.locator("#banners")).to_contain_text("Partly answers · With effort · Cannot judge")
    photograph(page, "facets-earlier-judgement")
    judging.judge("2")
    judging.saved()
    assert stored(ada)[:2] == [
        (2, {"understandability": 1, "credibility": None}),
        (2, {"understandability": 1, "credibility": 1}),
    ]


def test_thumbs_answer_offline_and_right_to_left(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    """Answers wait for the connection; the buttons stay in the same place; My judgements shows all
    answers."""
    campaign, ada = make_facets()
    page = signed_in_page(ada.user, locale="ar", **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    grades = page.locator("#grades")
    page.context.set_offline(True)
    before = grades.bounding_box()
    grades.locator("button").nth(1).tap()
    expect(page.locator("#steps [aria-current=step]")).to_have_text("Understandability")
    after = grades.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["y"] - after["y"]) < 1
    photograph(page, "facets-arabic")
    page.wait_for_timeout(320)
    grades.locator("button").nth(2).tap()
    page.wait_for_timeout(320)
    grades.locator("button").last.tap()  # no answer
    expect(judging.chip).not_to_have_attribute("data-status", "saved")
    page.context.set_offline(False)
    judging.saved()
    assert stored(ada) == [(1, {"understandability": 2})]
    page.goto(f"/judge/{campaign.slug}/history")
    expect(page.locator("#history-page")).to_contain_text("Understandability: Easy")
