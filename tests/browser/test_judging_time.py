"""Active, idle and hidden time (methods/judging.md) of the whole page: with the browser's clock faked, and
with the page really hidden. The sums are tested in tests/javascript/clock.test.mjs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.conftest import session_cookie
from tests.browser.judging import WORDS, JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def test_judgement_carries_active_idle_and_hidden_time_of_the_page(signed_in_page: Signed) -> None:
    """10 s of reading, 100 s away from the keyboard (60 count), a pause of 20 s, 4 s more. The
    server bounds them, so it is told here."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    told: list[dict[str, Any]] = []
    page.on(
        "request",
        lambda request: told.append(request.post_data_json)
        if request.url.endswith("/judgements")
        else None,
    )
    judging = JudgingPage(page, campaign).open_with_a_clock_that_stands()
    page.clock.run_for(10_000)
    page.mouse.move(200, 300)
    page.clock.run_for(100_000)
    page.keyboard.press("a")  # only resumes
    page.keyboard.press("p")
    page.clock.run_for(20_000)
    page.keyboard.press("a")
    page.clock.run_for(4_000)
    page.keyboard.press("3")
    wall = judging.shown_ms()
    page.clock.run_for(1_000)
    judging.saved()
    [body] = told
    assert abs(body["idle_ms"] - 40_000) < 1500
    assert abs(body["hidden_ms"] - 20_000) < 1500
    assert abs(body["active_ms"] - (wall - 60_000)) < 3000
    assert body["wall_ms"] == body["active_ms"] + body["idle_ms"] + body["hidden_ms"]
    [row] = own_judgements(ada)
    assert row.wall_ms is not None
    assert row.server_ms is not None
    assert row.active_ms <= row.wall_ms <= row.server_ms  # no longer than the server saw


def test_idle_limit_is_that_of_the_document(signed_in_page: Signed) -> None:
    campaign, ada = make_job(
        texts=["word " * 600], idle_seconds=60
    )  # read in 2.5 minutes: 1.5 more than the base
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open_with_a_clock_that_stands()
    page.mouse.move(200, 300)
    page.clock.run_for(149_000)
    assert judging.title.is_visible()
    page.clock.run_for(2_000)
    judging.shows_state("idle")


def test_time_while_the_page_is_hidden_does_not_count(
    plain_browser: BrowserContext, live_server: Any
) -> None:
    """The page is hidden by the browser itself: through its protocol another tab is brought before
    it."""
    campaign, ada = make_job()
    plain_browser.add_cookies([session_cookie(ada.user, live_server.url)])
    page = plain_browser.new_page()
    told: list[dict[str, Any]] = []
    page.on(
        "request",
        lambda request: told.append(request.post_data_json)
        if request.url.endswith("/judgements")
        else None,
    )
    page.goto(f"{live_server.url}/judge/{campaign.slug}/")
    page.locator("html[data-complete]").wait_for()
    session = page.context.new_cdp_session(page)
    other = plain_browser.new_page()
    other.bring_to_front()
    for _ in range(600):
        if page.evaluate("document.visibilityState") == "hidden":
            break
        other.wait_for_timeout(50)
    assert page.evaluate("document.visibilityState") == "hidden"
    other.wait_for_timeout(1500)
    session.send("Page.bringToFront")
    page.wait_for_function("() => document.visibilityState === 'visible'")
    page.wait_for_timeout(300)
    page.keyboard.press("3")
    JudgingPage(page, campaign).saved()
    [body] = told
    assert body["hidden_ms"] >= 1400
    assert body["active_ms"] < body["wall_ms"] - 1400


def test_time_and_draft_survive_a_reload(signed_in_page: Signed) -> None:
    campaign, ada = make_job(spans="optional")
    page = signed_in_page(ada.user)
    told: list[dict[str, Any]] = []
    page.on(
        "request",
        lambda request: told.append(request.post_data_json)
        if request.url.endswith("/judgements")
        else None,
    )
    judging = JudgingPage(page, campaign).open()
    judging.press("n")
    page.keyboard.type("half read")
    page.keyboard.press("Control+Enter")
    judging.press("s", "Enter")
    page.wait_for_timeout(1000)
    judging.open()
    judging.judge("3")
    judging.saved()
    [body] = told
    assert body["wall_ms"] > 1500
    [row] = own_judgements(ada)
    assert row.note == "half read"
    assert row.spans == [[0, WORDS.index(".")]]
