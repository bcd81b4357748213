"""*Try judging*: a manager judges as annotators do, and it counts nowhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import (
    AuditEvent,
    Campaign,
    Feedback,
    Judgement,
    Lease,
    Membership,
    Pair,
    Skip,
)
from annotation.services.campaigns import lifecycle
from tests.browser.judging import JudgingPage, make_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def stored(campaign: Campaign) -> dict[str, list[dict[str, object]]]:
    """All rows that judging writes to."""
    models = (Judgement, Lease, Skip, Feedback, AuditEvent, Membership, Pair)
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in models} | {
        "campaign": list(Campaign.objects.filter(pk=campaign.pk).values())
    }


def open_trial(page: Page, campaign: Campaign) -> JudgingPage:
    page.goto(f"/judge/{campaign.slug}/")  # leads a manager to the trial
    page.locator("html[data-complete]").wait_for()
    assert page.url.endswith("/try")
    return JudgingPage(page, campaign)


def test_a_manager_tries_the_page_from_the_terms_to_the_end_and_nothing_is_stored(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    """Terms, guidelines, a practice pair with its explanation, judging, Later, a note, undo, a
    change, the end."""
    campaign, _ada = make_job(
        n_documents=4,
        n_topics=2,
        spans="required",
        spans_from=3,
        qualification_pass=1,
        consent_text="You agree.",
        min_active_seconds=0,
    )
    practice = Pair.objects.filter(campaign=campaign).order_by("position").first()
    assert practice
    lifecycle.set_pair_kind(
        practice,
        Pair.Kind.QUALIFICATION,
        gold_grade=3,
        explanation="It reports a trial.",
        actor=campaign.created_by,
    )
    before = stored(campaign)
    page = signed_in_page(campaign.created_by)
    requests: list[str] = []
    page.on(
        "request",
        lambda request: requests.append(f"{request.method} {request.url}")
        if "/api/v1/" in request.url
        else None,
    )
    judging = open_trial(page, campaign)
    judging.shows_state("consent_needed")
    expect(page.locator(".jhead .badge")).to_have_text("Trial: not saved")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="I have read the guidelines").click()
    expect(page.locator("#query-label")).to_have_text("Query (test 1 of 1)")
    judging.press("1")
    expect(page.locator("#practice")).to_contain_text("You: Not relevant. Expected: Fully answers.")
    expect(page.locator("#practice")).to_contain_text("It reports a trial.")
    page.keyboard.press("Enter")
    judging.shows_state("card")  # another query
    page.keyboard.press("Enter")
    expect(judging.panel).to_be_hidden()
    expect(page.locator("#progress-text")).to_have_text("0/7")
    photograph(page, "trial")
    judging.judge("2")
    judging.press("z")
    expect(page.locator(".banner")).to_contain_text("You judged this as Related")
    judging.judge("3")  # changed
    expect(page.locator("#progress-text")).to_have_text("1/7")
    put_aside = judging.title.inner_text()
    judging.press("l")
    expect(judging.title).not_to_have_text(put_aside)
    judging.press("4")
    expect(judging.bar_message).to_contain_text("needs a marked passage")
    judging.press("s", "Enter")
    judging.judge("Enter")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=history]").click()
    dialog = page.locator("#history-dialog")
    expect(dialog.locator("tbody tr")).to_have_count(3)
    expect(dialog).to_contain_text("before: Related")
    expect(dialog.locator(".put-aside")).to_contain_text(put_aside)
    dialog.get_by_role("button", name="Close").click()
    judging.judge_all("1")
    judging.shows_state("done")
    expect(judging.panel).to_contain_text(
        "You judged 7 documents in this trial. Nothing was saved."
    )
    photograph(page, "trial-over")
    expect(page.locator("#place")).to_be_empty()
    page.get_by_role("button", name="Back to the campaign").click()
    page.wait_for_url("**/campaigns/**")
    assert requests == [
        f"GET {page.url.split('/campaigns')[0]}/api/v1/campaigns/{campaign.slug}/trial"
    ]
    assert stored(campaign) == before


def test_a_draft_is_tried_from_its_overview_a_judgement_too_fast_is_told_and_a_reload_begins_anew(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(
        min_active_seconds=3600, expected_seconds=7200, idle_seconds=7200, lease_minutes=120
    )
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.DRAFT)
    page = signed_in_page(campaign.created_by)
    judging = JudgingPage(page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/")
    page.locator("main").get_by_role("link", name="Try judging", exact=True).click()
    page.get_by_role("button", name="I have read the guidelines").click()
    expect(judging.title).to_be_visible()
    page.locator("html[data-complete]").wait_for()
    page.keyboard.press("q")
    dialog = page.locator("#ask-dialog")
    dialog.get_by_role("textbox").fill("Does it count?")
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".questions li")).to_contain_text(
        "This is a trial. The question was not sent to a manager."
    )
    assert not ada.questions.exists()
    assert not campaign.pairs.filter(questions__isnull=False).exists()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    first = judging.title.inner_text()
    judging.judge("2")
    expect(page.locator(".banner")).to_contain_text("too fast to count")
    page.reload()
    page.get_by_role("button", name="I have read the guidelines").click()
    expect(judging.title).to_have_text(first)
    expect(page.locator("#progress-text")).to_have_text("0/4")
