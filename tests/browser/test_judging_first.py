"""The first requests leave the page before its scripts have all come: once each, and only from the tab that judges."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route

from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = pytest.mark.django_db(transaction=True)
Signed = Callable[..., Page]


def heard(page: Page) -> list[str]:
    """Grows by each request of the judging API that the page sends, such as `GET setup`."""
    asked: list[str] = []

    def hear(request: Request) -> None:
        if "/api/v1/judging/" in request.url:
            asked.append(f"{request.method} {request.url.rpartition('/')[2]}")

    page.on("request", hear)
    return asked


def test_setup_and_pairs_are_asked_for_once_before_the_scripts_have_come(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    asked, warned, held = heard(page), list[str](), list[Route]()
    page.on("console", lambda message: warned.append(message.text))
    page.route("**/judge/judging.js", lambda route: held.append(route), times=1)  # main.js cannot run without it
    with page.expect_response("**/setup"), page.expect_response("**/leases"):
        page.goto(f"/judge/{campaign.slug}/", wait_until="commit")
    assert page.locator("html[data-complete], .doc-title").count() == 0
    assert sorted(asked) == ["GET setup", "POST leases"]
    for route in held:
        route.continue_()
    judging = JudgingPage(page, campaign)
    judging.title.wait_for()
    assert sorted(asked) == ["GET setup", "POST leases"]
    page.locator("html[data-complete]").wait_for()
    page.wait_for_timeout(5000)  # what was fetched ahead and not used the browser says by then
    assert warned == []
    assert ada.leases.filter(state="live").count() == 4
    judging.judge("2")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [1]


def test_a_second_tab_asks_for_nothing(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    first = JudgingPage(signed_in_page(ada.user), campaign).open()
    other = first.page.context.new_page()
    asked = heard(other)
    other.goto(f"/judge/{campaign.slug}/")
    second = JudgingPage(other, campaign)
    second.shows_state("other-tab")
    assert asked == []
    second.panel.get_by_role("button", name="Use it here instead").click()
    second.title.wait_for()
    assert sorted(asked[:2]) == ["GET setup", "POST leases"]
    assert asked.count("GET setup") == asked.count("POST leases") == 1


def test_with_answers_that_wait_to_be_sent_no_pairs_are_asked_for_before_them(signed_in_page: Signed) -> None:
    """The answers bring the pairs: those in hand would be offered again otherwise."""
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.pretend("judgements", lambda route: route.abort())
    title = judging.title.inner_text()
    judging.judge("4")
    page = judging.page
    page.unroute_all(behavior="ignoreErrors")
    asked = heard(page)
    page.reload()
    judging.title.wait_for()
    judging.saved()
    assert asked.index("POST judgements") < (asked.index("POST leases") if "POST leases" in asked else len(asked))
    assert judging.title.inner_text() != title
    assert [row.grade for row in own_judgements(ada)] == [3]


@pytest.mark.parametrize("lost", ["setup", "leases"])
def test_a_first_request_that_is_lost_is_sent_again(signed_in_page: Signed, lost: str) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    asked = heard(judging.page)
    judging.pretend(lost, lambda route: route.abort(), times=1)
    judging.open()
    assert len([one for one in asked if one.endswith(f" {lost}")]) == 2
    judging.judge("2")
    judging.saved()


def test_a_first_request_that_is_refused_for_a_while_is_not_taken_for_the_next_answer(signed_in_page: Signed) -> None:
    """Both say 503; when the settings have come, the pairs are asked for anew."""
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    for what in ("setup", "leases"):
        judging.pretend(what, {"error": {"code": "busy", "message": "Later."}}, status=503, times=1)
    judging.open()
    assert ada.leases.filter(state="live").count() == 4


def test_keys_pressed_before_their_part_has_come_are_not_lost(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    held: list[Route] = []
    page.route("**/key_presses.js", lambda route: held.append(route), times=1)
    page.goto(f"/judge/{campaign.slug}/")
    judging = JudgingPage(page, campaign)
    judging.title.wait_for()
    page.wait_for_timeout(400)
    page.keyboard.press("3")
    page.wait_for_timeout(200)
    assert own_judgements(ada) == []
    for route in held:
        route.continue_()
    page.wait_for_function("() => performance.getEntriesByName('assay:next').length > 0")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [2]
