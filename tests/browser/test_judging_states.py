"""Every state of the judging page: reached as it is reached in life, with what it says and what can
be done."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import Campaign, Feedback, Judgement, Lease, Message
from annotation.services.campaigns import lifecycle
from annotation.services.judging import leases, scheduling
from annotation.services.people import exclusion
from tests.browser.judging import JudgingPage, make_job, make_practice, own_judgements
from tests.builders import PASSWORD, judge, make_annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]
Photograph = Callable[[Page, str], None]


def test_loading_shows_a_skeleton_of_the_layout_at_once(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    waiting: list[Route] = []
    page.route("**/setup", lambda route: waiting.append(route))
    with page.expect_request("**/setup"):
        page.goto(f"/judge/{campaign.slug}/", wait_until="commit")
    expect(page.locator("#document .skeleton.line").first).to_be_visible()
    expect(page.locator("#bar")).to_be_visible()
    photograph(page, "loading")
    where = (
        "['.doc', '.guidelines'].map((name) => "
        "document.querySelector(name).getBoundingClientRect()).map((r) => [r.x, r.y, r.width])"
    )
    before = page.evaluate(where)
    waiting[0].continue_()
    page.locator(".doc-title").wait_for()
    assert [n for box in page.evaluate(where) for n in box] == pytest.approx(
        [n for box in before for n in box], abs=1
    )  # nothing jumps when the document comes
    assert before[1][2] > 300


def test_next_document_is_there_before_its_answer_is_and_a_failed_answer_is_sent_again(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    photograph(judging.page, "judging")
    held: list[Route] = []
    judging.pretend("judgements", lambda route: held.append(route))
    judging.judge("3")
    expect(judging.title).to_contain_text("part 2")
    expect(judging.chip).to_have_attribute("data-status", "saving")
    photograph(judging.page, "saving")
    judging.judge("3")
    expect(judging.chip).to_contain_text("2 waiting")
    for route in list(held):
        route.continue_()
    judging.page.unroute_all(behavior="ignoreErrors")
    judging.saved()

    down = {"status": 503, "headers": {"X-Request-ID": "77aa"}, "body": "down"}
    judging.pretend("judgements", lambda route: route.fulfill(**down))
    judging.judge("2")
    expect(judging.chip).to_contain_text("1 not sent, retrying")
    connection = judging.page.locator("[data-name=connection]")
    expect(connection).to_contain_text(
        "The server isn't responding. We'll keep trying. (reference 77aa)"
    )
    photograph(judging.page, "saving-failed")
    judging.page.unroute_all(behavior="ignoreErrors")
    judging.chip.click()
    judging.saved()
    expect(connection).to_have_count(0)
    assert len(own_judgements(ada)) == 3


def test_judging_stops_only_when_more_answers_wait_than_are_leased_ahead(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=9, lease_window=3)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    tried: list[
        bool
        # the server answers from the press on: the page tries by itself too, and the button would be
        # gone
    ] = []
    judging.page.expose_function("tried", lambda: tried.append(True))
    judging.page.evaluate("document.addEventListener('click', () => window.tried(), true)")
    judging.pretend("judgements", lambda route: route.continue_() if tried else route.abort())
    for _ in range(4):
        judging.judge("2")
    judging.shows_state("full")
    photograph(judging.page, "outbox-full")
    judging.panel.get_by_role("button", name="Try now").click()
    judging.title.wait_for()
    judging.saved()
    assert len(own_judgements(ada)) == 4


def test_done_says_so_and_asks_how_it_was(signed_in_page: Signed, photograph: Photograph) -> None:
    campaign, ada = make_job(
        n_documents=1, thanks_text="You helped **a lot**.", completion_code="A1B2C3"
    )
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.judge("3")
    judging.shows_state("done")
    expect(judging.panel).to_contain_text("Thank you")
    expect(judging.panel).to_contain_text("You helped a lot.")
    expect(judging.panel).to_contain_text("A1B2C3")
    leave = judging.panel.get_by_role("button", name="Back to my campaigns")
    form = judging.panel.get_by_role("group", name="How was judging here?")
    above, below = leave.bounding_box(), form.bounding_box()
    assert above
    assert below
    assert above["y"] < below["y"]  # leaving needs no scrolling
    photograph(judging.page, "done")
    judging.panel.get_by_label("Good", exact=True).check()
    judging.panel.locator("textarea").fill("Fine. 1 2 3")
    judging.pretend("/feedback", {}, times=1, status=500)
    judging.panel.get_by_role("button", name="Send").click()
    expect(judging.panel.get_by_role("alert")).to_have_text(
        "Your feedback could not be sent. Please try again later."
    )
    judging.panel.get_by_role("button", name="Send").click()
    expect(judging.panel).to_contain_text("Thank you for your feedback")
    feedback = Feedback.objects.get(membership=ada)
    assert (feedback.score, feedback.text) == ("GOOD", "Fine. 1 2 3")


def test_nothing_now_checks_again_and_goes_on_by_itself(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=1, judgements_per_pair=1)
    bob = make_annotator(campaign)
    lease = scheduling.claim_pair(bob)
    assert lease is not None
    page = signed_in_page(ada.user)
    page.clock.install()
    judging = JudgingPage(page, campaign)
    page.goto(f"/judge/{campaign.slug}/")
    judging.shows_state("nothing_now")
    expect(judging.panel).to_contain_text(
        "All remaining documents are assigned to others. We check again every 30 seconds. 1 document may come back in 10 min."
    )
    photograph(page, "nothing-now")
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    page.clock.run_for(31_000)
    judging.title.wait_for()


def test_target_reached_may_go_on(signed_in_page: Signed, photograph: Photograph) -> None:
    campaign, ada = make_job(n_documents=4, target_per_annotator=2)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.judge("2")
    judging.judge("2")
    judging.shows_state("target_reached")
    expect(judging.panel).to_contain_text("You reached your target of 2. Thank you.")
    photograph(judging.page, "target-reached")
    judging.panel.get_by_role("button", name="Continue judging").click()
    expect(judging.title).to_contain_text("part 3")
    judging.judge("1")
    judging.judge("1")
    judging.shows_state("done")
    judging.saved()
    assert len(own_judgements(ada)) == 4


def test_an_answer_overtaken_by_a_later_one_does_not_send_an_annotator_who_is_done_to_wait(
    signed_in_page: Signed,
) -> None:
    """The answer to the last but one says that the last is still out; it arrives after the answer
    to the last."""
    campaign, ada = make_job(n_documents=2)
    page = signed_in_page(ada.user)
    page.add_init_script(
        "const real = window.fetch; let sent = 0, second = null; const answered = new "
        "Promise((done) => { second = done; });"
        "window.fetch = async (...request) => {"
        "  if (!String(request[0]).endsWith('/judgements')) return real(...request);"
        "  sent += 1; const place = sent; const response = await real(...request);"
        "  if (place === 1) { window.firstIsAnswered = true; await answered.then(() => new Promise((later) => setTimeout(later, 400))); }"
        "  if (place === 2) second();"
        "  return response; }"
    )
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    page.wait_for_function("() => window.firstIsAnswered")  # the answer has not reached the page
    judging.press("3")
    judging.shows_state("done")
    assert len(own_judgements(ada)) == 2


def test_target_reached_without_going_on_and_a_daily_limit(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=4, target_per_annotator=1, continue_after_target=False)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.judge("2")
    judging.shows_state("target_reached")
    expect(judging.panel.get_by_role("button", name="Continue judging")).to_have_count(0)
    judging.press("z")  # the last one can still be changed
    judging.title.wait_for()
    judging.judge("3")
    judging.shows_state("target_reached")
    judging.saved()
    Campaign.objects.filter(pk=campaign.pk).update(target_per_annotator=300, daily_limit=2)
    judging.open()
    judging.judge("2")
    judging.shows_state("daily_limit")
    expect(judging.panel).to_contain_text("Come back tomorrow")
    photograph(judging.page, "daily-limit")


def test_deadline_passed_is_read_only_and_takes_what_was_judged_before(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(deadline=timezone.now() + timedelta(hours=50))
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    expect(judging.page.locator("#due")).to_contain_text("2 d")
    judging.page.context.set_offline(True)
    judging.judge("3")
    deadline = timezone.now() + timedelta(
        seconds=0.1
    )  # the next document is shown, so the press lies before, however slow the machine
    judging.page.wait_for_timeout(200)
    Campaign.objects.filter(pk=campaign.pk).update(deadline=deadline)
    judging.page.context.set_offline(False)
    judging.shows_state("deadline_passed")
    judging.saved()
    expect(judging.panel).to_contain_text("The deadline has passed")
    photograph(judging.page, "deadline-passed")
    [row] = own_judgements(ada)
    assert row.after_deadline
    assert row.status == "counted"
    judging.press("3")
    assert len(own_judgements(ada)) == 1


def test_paused_by_the_manager_says_why_and_goes_on_afterwards(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    lifecycle.pause_campaign(
        campaign, reason="We are rewriting the part about reviews.", actor=campaign.created_by
    )
    judging.press("3")
    judging.shows_state("paused")
    expect(judging.panel).to_contain_text("We are rewriting the part about reviews.")
    photograph(judging.page, "paused-by-manager")
    judging.panel.get_by_role("button", name="Open the guidelines").click()
    campaign.refresh_from_db()
    lifecycle.resume_campaign(campaign, actor=campaign.created_by)
    judging.panel.get_by_role("button", name="Check now").click()
    judging.title.wait_for()


def test_pauses_exclusions_and_ends_say_what_happened(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign)

    def opened(state: str) -> None:
        judging.page.goto(f"/judge/{campaign.slug}/")
        judging.shows_state(state)

    exclusion.pause_annotator(
        ada,
        reason="Please read the example of grade Partly answers again.",
        actor=campaign.created_by,
    )
    opened("paused")
    expect(judging.panel).to_contain_text("Please read the example of grade Partly answers again.")
    exclusion.exclude_annotator(
        ada, reason="Did not follow the guidelines.", actor=campaign.created_by
    )
    opened("excluded")
    photograph(judging.page, "excluded")
    exclusion.include_annotator(ada, reason="A mistake.", actor=campaign.created_by)
    for state in ("draft", "closed"):
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        opened(state)
        photograph(judging.page, state)


def test_lease_is_renewed_in_silence_and_an_expired_one_warns_and_counts_when_its_slot_is_free(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=2, judgements_per_pair=1, lease_minutes=1)
    page = signed_in_page(ada.user)
    page.clock.install()
    page.goto(f"/judge/{campaign.slug}/")
    page.clock.run_for(1000)
    page.locator("html[data-complete]").wait_for()
    before = Lease.objects.filter(membership=ada).order_by("pk")[0].expires_at
    with page.expect_response(lambda response: response.url.endswith("leases/renew")):
        page.clock.run_for(16_000)
    assert Lease.objects.filter(membership=ada).order_by("pk")[0].expires_at > before
    expect(page.locator(".banner")).to_have_count(0)
    photograph(page, "lease-renewed")

    Lease.objects.filter(membership=ada).update(expires_at=timezone.now() - timedelta(seconds=1))
    leases.end_expired_leases(timezone.now())
    page.clock.run_for(16_000)
    expect(page.locator("[data-name=expired]")).to_contain_text(
        "Your answer counts if it is still needed"
    )
    photograph(page, "lease-expired")
    page.keyboard.press("3")
    expect(page.locator("[data-name=status]")).to_contain_text(
        "Saved. It arrived late, but it still counts"
    )
    [row] = own_judgements(ada)
    assert (row.late, row.status) == (True, "counted")


def test_late_answer_is_kept_as_extra_when_somebody_else_was_first_and_that_is_said(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=1, judgements_per_pair=1)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    Lease.objects.filter(membership=ada).update(expires_at=timezone.now() - timedelta(seconds=1))
    judge(make_annotator(campaign), 1)
    judging.press("4")
    expect(judging.page.locator("[data-name=status]")).to_contain_text(
        "Saved as an extra judgement"
    )
    photograph(judging.page, "kept-as-extra")
    assert [row.status for row in own_judgements(ada)] == ["extra"]


def test_offline_goes_on_with_what_is_leased_warns_of_closing_and_sends_later(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=8)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    warned = (
        "() => { const e = new Event('beforeunload', {cancelable: true}); "
        "window.dispatchEvent(e); return e.defaultPrevented; }"
    )
    assert judging.page.evaluate(warned) is False
    judging.page.context.set_offline(True)
    banner = judging.page.locator("[data-name=connection]")
    expect(banner).to_contain_text("You are offline. You can judge 4 more documents.")
    judging.judge("2")
    expect(banner).to_contain_text(
        "1 answer is kept here and will be sent. You can judge 3 more documents."
    )
    photograph(judging.page, "offline")
    assert judging.page.evaluate(warned) is True
    for _ in range(3):
        judging.judge("2")
    expect(judging.panel).to_contain_text("saved in this browser")
    photograph(judging.page, "offline-nothing-left")
    judging.page.context.set_offline(False)
    judging.saved()
    assert judging.page.evaluate(warned) is False
    expect(judging.title).to_contain_text("part 5")
    expect(banner).to_have_count(0)
    assert len(own_judgements(ada)) == 4


def test_session_expired_asks_to_sign_in_and_keeps_everything(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    Session.objects.all().delete()
    judging.judge("3")
    dialog = page.locator("#sign-in-dialog")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("1 answer is kept here")
    expect(judging.chip).to_contain_text("1 waiting for sign-in")
    photograph(page, "session-expired")
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    page.keyboard.type("wrong password")
    page.keyboard.press("Enter")
    expect(page.locator("#sign-in-error")).to_contain_text("do not match")
    page.locator("#sign-in-password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    judging.saved()
    expect(judging.title).to_contain_text("part 2")
    assert [row.grade for row in own_judgements(ada)] == [2]
    judging.judge("1")
    judging.saved()


def test_second_tab_is_told_and_can_take_over(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    first = JudgingPage(signed_in_page(ada.user), campaign).open()
    second = JudgingPage(first.page.context.new_page(), campaign)
    second.page.goto(f"/judge/{campaign.slug}/")
    second.shows_state("other-tab")
    photograph(second.page, "other-tab")
    second.panel.get_by_role("button", name="Judge here instead").click()
    second.title.wait_for()
    first.shows_state("other-tab")
    first.press("3")
    second.judge("3")
    second.saved()
    assert len(own_judgements(ada)) == 1
    first.page.reload()
    first.shows_state("other-tab")
    second.page.close()
    first.title.wait_for()
    first.judge("2")
    first.saved()


def test_idle_veils_the_document_and_any_key_only_resumes(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(idle_seconds=60)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open_with_a_clock_that_stands()
    page.mouse.move(100, 300)
    page.clock.run_for(59_000)
    expect(judging.title).to_be_visible()
    page.clock.run_for(2_000)
    judging.shows_state("idle")
    expect(judging.title).to_be_hidden()
    page.clock.resume()  # axe waits by the page's clock
    photograph(page, "idle")
    page.clock.run_for(600_000)
    page.keyboard.press("3")
    expect(judging.title).to_be_visible()
    page.clock.run_for(5_000)
    page.keyboard.press("3")
    expect(judging.title).to_contain_text("part 2")
    page.clock.run_for(1_000)
    judging.saved()
    assert len(own_judgements(ada)) == 1


def test_pause_hides_the_document_until_any_key(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("p")
    judging.shows_state("user-pause")
    expect(judging.title).to_be_hidden()
    photograph(judging.page, "pause")
    judging.press("4")
    expect(judging.title).to_be_visible()
    judging.press("p")
    judging.shows_state("user-pause")
    judging.page.locator("#bar").click(position={"x": 100, "y": 30})  # where a grade is
    expect(judging.title).to_be_visible()
    judging.page.wait_for_timeout(200)
    assert own_judgements(ada) == []
    judging.page.locator("#bar").click(position={"x": 100, "y": 30})
    expect(judging.title).to_contain_text("part 2")


def test_changed_guidelines_are_read_before_the_next_document(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(n_documents=8)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    judging.judge("2")
    judging.saved()
    version = lifecycle.save_guideline(
        campaign,
        "## How to judge\n\nReviews are *Fully answers* now.",
        note="Reviews count.",
        actor=campaign.created_by,
    )
    judging.press("2")
    dialog = page.locator("#guideline-dialog")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("What changed: Reviews count.")
    photograph(page, "guideline-changed")
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="I have read the guidelines").click()
    judging.title.wait_for()
    expect(page.locator("#guidelines")).to_contain_text("Reviews are Fully answers now.")
    judging.judge("2")
    judging.saved()
    assert [row.guideline_version for row in own_judgements(ada)] == [
        version.number - 1,
        version.number - 1,
        version.number,
    ]


def test_consent_is_asked_first_and_a_message_of_the_manager_is_shown_once(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job(consent_text="Your judgements are **published** under a pseudonym.")
    Message.objects.create(
        membership=ada, text="Please look closer at <b>dates</b>.", created_by=campaign.created_by
    )
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    judging.page.goto(f"/judge/{campaign.slug}/")
    judging.shows_state("consent_needed")
    expect(judging.panel).to_contain_text("Your judgements are published under a pseudonym.")
    photograph(judging.page, "consent")
    judging.panel.get_by_role("button", name="I agree").click()
    judging.title.wait_for()
    ada.refresh_from_db()
    assert ada.consented_at is not None

    judging.open()
    banner = judging.page.locator(".banner")
    expect(banner).to_contain_text("Please look closer at <b>dates</b>.")
    photograph(judging.page, "message")
    with judging.page.expect_response(lambda response: response.url.endswith("/read")):
        judging.page.get_by_role("button", name="Got it").click()
    judging.open()
    expect(banner).to_have_count(0)


def test_span_missing_says_exactly_that(signed_in_page: Signed, photograph: Photograph) -> None:
    campaign, ada = make_job(spans="required", spans_from=2)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("3")
    expect(judging.bar_message).to_contain_text(
        "“Partly answers” needs a marked passage. Press S, or click its first word, then its last."
    )
    expect(judging.page.locator("#say")).to_contain_text("needs a marked passage")  # no alarm
    photograph(judging.page, "span-missing")
    judging.press("s")
    expect(judging.bar_message).to_contain_text("S or Enter marks the passage.")
    judging.press(*["ArrowLeft"] * 8, "Enter")  # of eleven words
    expect(judging.bar_message).to_contain_text("Passage marked.")
    photograph(judging.page, "span-marked")
    judging.judge("Enter")
    judging.judge("1")  # below the grade from which a passage is required
    judging.saved()
    rows = own_judgements(ada)
    assert [(row.grade, row.spans) for row in rows] == [
        (2, [[0, len("Regular walking lowers")]]),
        (0, []),
    ]


def test_an_answer_from_before_the_last_practice_pair_does_not_bring_practice_back(
    signed_in_page: Signed,
) -> None:
    """Pairs asked for before the last practice answer was judged arrive after it, and still say
    that this is practice."""
    campaign, ada = make_practice(1)
    page = signed_in_page(ada.user)
    page.add_init_script(
        "const real = window.fetch; let judged = null, asked = 0; const done = new "
        "Promise((resolve) => { judged = resolve; });"
        "window.fetch = async (...request) => {"
        "  const response = await real(...request);"
        "  if (String(request[0]).endsWith('/leases') && ++asked === 2) {"
        "    window.isAnswered = true; await done.then(() => new Promise((later) => setTimeout(later, 300)));"
        "    setTimeout(() => { window.isHere = true; }, 100); }"
        "  if (String(request[0]).endsWith('/judgements')) judged();"
        "  return response; }"
    )
    judging = JudgingPage(page, campaign).open()
    page.wait_for_function("() => window.isAnswered")  # the second request for pairs, by the server
    judging.press("4")
    expect(page.locator("#practice")).to_contain_text("Correct")
    page.wait_for_function("() => window.isHere")  # the page has that answer, too
    judging.press("Enter")
    expect(page.locator("#query-label")).to_have_text("Query")


def test_qualification_explains_each_answer(signed_in_page: Signed, photograph: Photograph) -> None:
    campaign, ada = make_practice(2, explanation="“A trial of twelve weeks” is what was asked for.")
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    label, banner, practice = (
        judging.page.locator(name) for name in ("#query-label", "[data-name=practice]", "#practice")
    )
    expect(label).to_have_text("Query (test 1 of 2)")
    expect(banner).to_contain_text(
        "Start with a short qualification test. Each answer is explained. You need 1 of 2 answers correct."
    )
    first = judging.title.inner_text()
    judging.press("3")  # on the same side of the lowest relevant grade
    expect(practice).to_contain_text("Counts as correct")
    expect(practice).to_contain_text("You: Partly answers. Expected: Fully answers.")
    expect(practice).to_contain_text("1 of 1 correct so far. You need 1 of 2.")
    expect(judging.title).to_have_text(first)  # the document stays while its answer is explained
    judging.press("2")  # judges nothing
    judging.press("Enter")
    expect(practice).to_be_hidden()
    expect(label).to_have_text("Query (test 2 of 2)")
    judging.press("1")
    expect(practice).to_contain_text("Incorrect")
    expect(practice).to_contain_text("You: Not relevant. Expected: Fully answers.")
    expect(practice).to_contain_text("is what was asked for.")
    assert judging.page.evaluate(
        "[...CSS.highlights.get('decisive')].map((range) => "
        "range.startContainer.data.slice(range.startOffset, range.endOffset))"
    ) == ["A trial of twelve weeks"]
    expect(practice).to_contain_text("Passed: 1 of 2 correct. Your judgements count from now on.")
    photograph(judging.page, "qualification-feedback")
    judging.press("Enter")
    expect(label).to_have_text("Query")
    expect(banner).to_have_count(0)
    assert judging.page.evaluate("CSS.highlights.has('decisive')") is False
    assert Judgement.objects.filter(membership=ada).count() == 2


def test_a_failed_qualification_is_explained_before_judging_is_paused(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_practice(1)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("1")
    expect(judging.page.locator("#practice")).to_contain_text("0 of 1 correct. You needed 1.")
    judging.press("Enter")
    judging.shows_state("paused")


def test_refused_answer_is_shown_with_its_reason_until_it_is_understood(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    refusal = {
        "code": "lease_unknown",
        "detail": "This document was not assigned to you in this campaign.",
        "request": "8f3a2c",
    }
    judging.pretend("judgements", refusal, status=404, times=1)
    judging.judge("3")
    banner = judging.page.locator(".banner")
    expect(banner).to_contain_text(
        "One answer was not accepted. “Exercise and blood sugar, part 1”, Partly answers: This document "
        "was not assigned to you in this campaign. (reference 8f3a2c)"
    )
    photograph(judging.page, "refused")
    judging.open()
    expect(banner).to_contain_text("was not accepted")
    judging.page.get_by_role("button", name="Got it").click()
    judging.open()
    expect(banner).to_have_count(0)


def test_newer_page_is_loaded_when_nothing_waits(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.clock.install()
    judging = JudgingPage(page, campaign)
    page.route(
        "**/build",
        lambda route: route.fulfill(
            status=200, content_type="application/json", body=json.dumps({"build": "another"})
        ),
    )
    with page.expect_response(
        "**/presence*.js"
    ):  # what hears the mouse comes after the first document
        page.goto(f"/judge/{campaign.slug}/")
        page.clock.run_for(2000)
    judging.title.wait_for()
    page.wait_for_timeout(1500)
    with page.expect_response("**/build"):
        for _ in range(11):  # in steps, so that the document is not veiled
            page.mouse.move(100, 300)
            page.clock.run_for(28_000)
            page.mouse.move(120, 300)
    page.wait_for_timeout(300)
    with page.expect_navigation():
        page.keyboard.press("3")
        page.clock.run_for(500)
    judging.title.wait_for()
    assert len(own_judgements(ada)) == 1


# The states that the page must have -> what its pictures are called.
PICTURES = {
    "loading": "loading",
    "warm next, saving": "saving",
    "failed": "saving-failed",
    "outbox longer than the window": "outbox-full",
    "done": "done",
    "nothing now": "nothing-now",
    "target reached": "target-reached",
    "deadline passed": "deadline-passed",
    "paused by the manager": "paused-by-manager",
    "lease renewed": "lease-renewed",
    "lease expired": "lease-expired",
    "kept as extra": "kept-as-extra",
    "offline": "offline",
    "session expired": "session-expired",
    "duplicate tab": "other-tab",
    "idle": "idle",
    "paused by the annotator": "pause",
    "guideline changed": "guideline-changed",
    "span missing": "span-missing",
}


def test_every_state_is_looked_at_and_photographed() -> None:
    calls = re.findall(
        r'photograph\([a-z.]+, "([a-z-]+)"\)', Path(__file__).read_text(encoding="utf-8")
    )
    assert [state for state, name in PICTURES.items() if calls.count(name) != 1] == []
