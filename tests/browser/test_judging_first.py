"""What comes before the first document is little, and no scripts of judging: its first requests
leave the page before them, once each, and only from the tab that judges; and what is done meanwhile
is not lost."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, Request, Route, expect

from annotation.models import Membership, Message, Pair
from annotation.services.campaigns import lifecycle
from pooling.models import Collection
from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


@pytest.fixture
def signed_in_page(uncached_page: Signed) -> Signed:
    return uncached_page


def heard(page: Page) -> list[str]:
    """Grows by each request of the judging API that the page sends, such as `GET setup`."""
    asked: list[str] = []

    def hear(request: Request) -> None:
        if "/api/v1/judging/" in request.url:
            asked.append(f"{request.method} {request.url.rpartition('/')[2]}")

    page.on("request", hear)
    return asked


LIMIT, HEADERS = 46_000, 300
"""Bytes; the second of each answer, as browsers count (`transferSize`, Resource Timing)."""
STANDS = """() => new MutationObserver((_, observer) => {
  if (!document.querySelector('#document .doc-title')) return;
  observer.disconnect();
  window.stands = performance.now();
}).observe(document, { childList: true, subtree: true })"""
NO_HASTE = """() => {
  const later = setTimeout;
  window.setTimeout = (deed, ms, ...given) => later(deed, ms === 1000 ? 60_000 : ms, ...given);
}"""
"""The scripts of judging come after a second at the latest (early.js), which a busy machine needs for
the first document."""
BEFORE = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter(({ startTime }) => startTime <= window.stands).map(({ name }) => name)"""


@pytest.mark.parametrize("kind", ["plain", "Markdown in Arabic, with formulas"])
def test_all_that_comes_before_the_first_document_fits_into_46_kilobytes(
    signed_in_page: Signed, kind: str
) -> None:
    """Page, styles, scripts, words and answers, compressed as a web server does it, with their
    headers, and the icon; documents of 300 words."""
    text = " ".join(
        f"{word}{n}"
        for n in range(50)
        for word in ("walking", "lowers", "the", "sugar", "after", "meals")
    )
    campaign, ada = make_job(texts=[text + ("\n\n# Why\n\n$x^2$" if kind != "plain" else "")] * 6)
    if kind != "plain":
        Collection.objects.filter(pk=campaign.collection_id).update(text_format="markdown")
    page = signed_in_page(ada.user, **({} if kind == "plain" else {"locale": "ar"}))
    sizes: dict[str, int] = {}
    page.on(
        "response",
        lambda response: sizes.update(
            {response.url: HEADERS + len(gzip.compress(response.body(), 6))}
        ),
    )
    page.add_init_script(f"({STANDS})(); ({NO_HASTE})()")
    page.goto(f"/judge/{campaign.slug}/")
    page.locator("html[data-complete]").wait_for()
    names = page.evaluate(BEFORE)
    came = {name: sizes[name] for name in names} | {
        "icon": HEADERS + (settings.BASE_DIR / "static/img/logo.svg").stat().st_size
    }
    for part in (
        "/judge/first.js",
        "/document_view.js",
        "/css/judge.css",
        "/setup",
        "/leases",
        f"/judge/{campaign.slug}/",
    ):
        assert [name for name in names if name.endswith(part)], part
    if kind != "plain":
        assert [name for name in names if name.endswith(("/typeset.js", "/tex.js", "/typeset.css"))]
        expect(page.locator("#query-label")).to_have_text("الاستعلام")
    assert not [
        name
        for name in names
        if name.endswith(
            (
                "/judging.js",
                "/main.js",
                "/outbox.js",
                "/states.js",
                "/components.css",
                "/words/ar.json",
            )
        )
    ]
    assert sum(came.values()) < LIMIT, sorted(came.items(), key=lambda item: -item[1])


def test_the_first_document_and_what_it_is_asked_of_come_before_the_scripts_of_judging(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(texts=[f"A trial of twelve weeks. {'It went on. ' * 2000}"] * 6)
    page = signed_in_page(ada.user)
    asked, warned, held = heard(page), list[str](), list[Route]()
    page.on("console", lambda message: warned.append(message.text))
    page.route(
        "**/judge/judging.js", lambda route: held.append(route), times=1
    )  # main.js cannot run without it
    with page.expect_request("**/judge/judging.js"):
        page.goto(f"/judge/{campaign.slug}/", wait_until="commit")
    judging = JudgingPage(page, campaign)
    judging.title.wait_for()
    expect(page.locator("#query-text")).to_have_text("diabetes type 2 exercise")
    expect(page.locator(".doc-body")).to_contain_text("A trial of twelve weeks")
    expect(page.locator("#grades button")).to_have_count(0)
    assert page.locator("html[data-complete]").count() == 0
    assert sorted(asked) == ["GET setup", "POST leases"]
    page.evaluate(
        "() => { const title = document.querySelector('.doc-title'); title.isThat = true; scrollTo(0, 400); }"
    )
    for route in held:
        route.continue_()
    page.locator("html[data-complete]").wait_for()
    assert page.evaluate(
        "document.querySelector('.doc-title').isThat"
    )  # it stays, and where it was
    assert page.evaluate("scrollY") == 400
    expect(judging.title).to_be_focused()
    expect(page.locator("#grades button")).to_have_count(4)
    assert sorted(asked) == ["GET setup", "POST leases"]
    page.wait_for_timeout(3500)  # what was fetched ahead and not used the browser says by then
    assert warned == []
    assert ada.leases.filter(state="live").count() == 4
    judging.judge("2")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [1]


def test_time_counts_from_when_the_first_document_stands_and_a_key_pressed_then_is_kept(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    held: list[Route] = []
    page.route("**/judge/judging.js", lambda route: held.append(route), times=1)
    with page.expect_request("**/judge/judging.js"):
        page.goto(f"/judge/{campaign.slug}/", wait_until="commit")
    judging = JudgingPage(page, campaign)
    judging.title.wait_for()
    page.wait_for_timeout(1500)
    page.keyboard.press("3")
    for route in held:
        route.continue_()
    expect(judging.title).to_contain_text("part 2")
    judging.saved()
    [row] = own_judgements(ada)
    assert row.grade == 2
    assert row.active_ms
    assert row.active_ms >= 1500


@pytest.mark.parametrize("what", ["said", "reading", "practice", "paused"])
def test_no_document_is_shown_ahead_that_will_not_stand_there_so(
    signed_in_page: Signed, what: str
) -> None:
    """Put aside before, read half, for practice, or none: the scripts of judging show it, with what
    belongs to it."""
    campaign, ada = make_job(texts=["word " * 3000] * 6, qualification_pass=1)
    if what == "practice":
        practice = Pair.objects.filter(campaign=campaign).order_by("position").first()
        assert practice
        lifecycle.set_pair_kind(
            practice,
            Pair.Kind.QUALIFICATION,
            gold_grade=3,
            explanation="So.",
            actor=campaign.created_by,
        )
        Membership.objects.filter(pk=ada.pk).update(qualified_at=None)
    if what == "paused":
        lifecycle.pause_campaign(campaign, actor=campaign.created_by, reason="Lunch.")
    if what == "said":
        Message.objects.create(membership=ada, text="Well done.", created_by=campaign.created_by)
    page = signed_in_page(ada.user)
    if what == "reading":
        JudgingPage(page, campaign).open()
        page.evaluate("scrollTo(0, 900)")
        page.wait_for_function("scrollY === 900")
    held: list[Route] = []
    page.route("**/judge/judging.js", lambda route: held.append(route), times=1)
    with page.expect_request("**/judge/judging.js"):
        page.goto(f"/judge/{campaign.slug}/", wait_until="commit")
    assert page.locator(".doc-title").count() == 0
    for route in held:
        route.continue_()
    if what == "paused":
        JudgingPage(page, campaign).shows_state("paused")
    else:
        page.locator(".doc-title").wait_for()
    if what == "reading":
        page.wait_for_function("scrollY === 900")


def test_a_second_tab_asks_for_nothing(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    first = JudgingPage(signed_in_page(ada.user), campaign).open()
    other = first.page.context.new_page()
    asked = heard(other)
    other.goto(f"/judge/{campaign.slug}/")
    second = JudgingPage(other, campaign)
    second.shows_state("other-tab")
    assert asked == []
    second.panel.get_by_role("button", name="Judge here instead").click()
    second.title.wait_for()
    assert sorted(asked[:2]) == ["GET setup", "POST leases"]
    assert asked.count("GET setup") == asked.count("POST leases") == 1


def test_with_answers_that_wait_to_be_sent_no_pairs_are_asked_for_before_them(
    signed_in_page: Signed,
) -> None:
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
    assert asked.index("POST judgements") < (
        asked.index("POST leases") if "POST leases" in asked else len(asked)
    )
    assert judging.title.inner_text() != title
    assert [row.grade for row in own_judgements(ada)] == [3]


def test_first_requests_that_are_lost_are_sent_again_and_refusals_are_no_answers(
    signed_in_page: Signed,
) -> None:
    """Both are refused with 503: when the settings have come, the pairs are asked for anew."""
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    asked = heard(judging.page)
    for lost in ("setup", "leases"):
        asked.clear()
        judging.pretend(lost, lambda route: route.abort(), times=1)
        judging.open()
        assert len([one for one in asked if one.endswith(f" {lost}")]) == 2, lost
    judging.judge("2")
    judging.saved()
    for what in ("setup", "leases"):
        judging.pretend(what, {"code": "busy", "detail": "Later."}, status=503, times=1)
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
