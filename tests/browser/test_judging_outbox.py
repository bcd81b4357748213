"""No answer is lost and none arrives twice: failing network, failing server, reload, crash of the
tab, restart of the server."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Error, Page, Route, expect

from annotation.models import Judgement, Lease
from tests.browser.conftest import session_cookie
from tests.browser.judging import JudgingPage, make_job, own_judgements
from tests.builders import make_annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def test_all_of_60_judgements_arrive_once_while_network_and_server_fail_at_random(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(n_documents=60, lease_window=6)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    chance = random.Random(7)
    failed = {"lost on the way": 0, "answer lost": 0, "server error": 0}
    fates: list[str] = []

    def unreliable(route: Route) -> None:
        """Of each twelve requests each failure meets one, in an order drawn at random."""
        if not fates:
            fates.extend([*failed, *["none"] * 9])
            chance.shuffle(fates)
        fate = fates.pop()
        if fate == "none":
            return route.continue_()
        failed[fate] += 1
        if fate == "server error":
            return route.fulfill(status=chance.choice([500, 502, 503, 429]), body="<html>no</html>")
        if fate == "answer lost":
            route.fetch()  # the server has it, the page does not know
        return route.abort("connectionreset")

    page.route(lambda url: "/api/v1/judging/" in url, unreliable)
    sent: dict[str, int] = {}
    grade = 0
    for _ in range(60):
        page.wait_for_function(
            "() => !document.querySelector('.grade-button[data-place]')?.disabled"
        )
        title, grade = (
            judging.title.inner_text(),
            chance.choice([other for other in range(4) if other != grade]),
        )  # no double presses
        sent[title] = grade
        page.keyboard.press(str(grade + 1))
        page.wait_for_function(
            "before => { const t = document.querySelector('.doc .doc-title'); return !t || t.textContent !== before; }",
            arg=title,
        )
    page.unroute_all(behavior="ignoreErrors")
    expect(judging.chip).to_have_attribute("data-status", "saved", timeout=90_000)
    judging.shows_state("done")
    rows = Judgement.objects.filter(membership=ada).select_related("pair__entry__document")
    assert len(rows) == 60
    assert {row.pair.entry.document.title: row.grade for row in rows} == sent
    assert min(failed.values()) >= 3  # each kind of failure did happen
    assert page.evaluate("Object.keys(localStorage).filter(key => key.includes(':out:'))") == []


def test_pairs_come_in_the_order_of_service_wherever_the_connection_is_cut(
    signed_in_page: Signed,
) -> None:
    """Four answers wait; in the exchange that follows the k-th request is lost, or its answer, for
    every k that the exchange has."""
    campaign, ada = make_job(n_documents=80, lease_window=3)
    page = signed_in_page(ada.user)
    page.add_init_script(
        "window.shown = []; new MutationObserver(() => { const title = "
        "document.querySelector('.doc .doc-title')?.textContent;"
        " if (title && window.shown.at(-1) !== title) window.shown.push(title); "
        "}).observe(document, {childList: true, subtree: true});"
    )
    judging = JudgingPage(page, campaign).open()
    gone, passed, cut = False, 0, (-1, "")

    def connection(route: Route) -> None:
        nonlocal passed
        if gone:
            return route.abort("internetdisconnected")
        number, passed = passed, passed + 1
        if number != cut[0]:
            return route.continue_()
        if cut[1] == "answer lost":
            route.fetch()  # the server has it, the page does not know
        return route.abort("connectionreset")

    page.route(lambda url: "/api/v1/judging/" in url, connection)
    for lost in ("request lost", "answer lost"):
        for number in itertools.count():
            judging.saved()
            page.wait_for_function("() => document.querySelector('.doc .doc-title')")
            gone = True
            judging.judge_all("1")
            gone, passed, cut = False, 0, (number, lost)
            page.evaluate("window.dispatchEvent(new Event('online'))")
            judging.saved()
            judging.title.wait_for()
            if passed <= number:
                break  # the exchange has no request of this number
            assert number < 8, "the exchange goes on and on"
        assert number >= 4  # each of the four answers was cut at least
    served = (
        Lease.objects.filter(membership=ada)
        .order_by("pk")
        .values_list("pair__entry__document__title", flat=True)
    )
    shown = page.evaluate("window.shown")
    assert shown == list(served)[: len(shown)]
    rows = Judgement.objects.filter(membership=ada)
    assert (
        rows.count() == rows.values("pair").distinct().count() == len(shown) - 1
    )  # the last one is on the page


def test_answers_survive_a_reload_and_a_lost_csrf_cookie_is_fetched_anew(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.pretend("judgements", lambda route: route.abort())
    judging.judge("2")
    judging.judge("3")
    judging.page.unroute_all(behavior="ignoreErrors")
    judging.page.on("dialog", lambda dialog: dialog.accept())
    judging.open()
    judging.saved()
    expect(judging.title).to_contain_text("part 3")
    assert [
        (row.pair.position, row.grade)
        for row in Judgement.objects.filter(membership=ada).order_by("pair__position")
    ] == [
        (0, 1),
        (1, 2),
    ]
    judging.page.context.clear_cookies(name="csrftoken")
    judging.judge("2")
    judging.saved()
    assert len(own_judgements(ada)) == 3
    expect(judging.page.locator("#sign-in-dialog")).to_be_hidden()


def test_answers_survive_a_crash_of_the_tab(uncached_page: Signed) -> None:
    """Uncached, because tests that share a profile also share the process that crashes."""
    campaign, ada = make_job()
    judging = JudgingPage(uncached_page(ada.user), campaign).open()
    judging.pretend("judgements", lambda route: route.abort())
    judging.judge("4")
    context = judging.page.context
    judging.page.wait_for_timeout(400)  # the browser writes its storage behind the page
    with pytest.raises(Error, match="crash"):
        judging.page.goto("chrome://crash")
    judging.page.close()  # otherwise Chromium may give the new page the crashed process
    again = JudgingPage(context.new_page(), campaign).open()
    again.saved()
    assert [row.grade for row in own_judgements(ada)] == [3]


def test_a_lock_that_a_crashed_tab_has_left_is_waited_for(signed_in_page: Signed) -> None:
    """The browser may take a moment to notice the crash; nobody answers for the lock, so no other
    tab is judging."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.goto("/")
    page.evaluate(
        "name => new Promise((held) => navigator.locks.request(name, () => {"
        " held(); return new Promise((release) => setTimeout(release, 1500)); }))",
        f"assay:{ada.user.pk}:{campaign.slug}:tab",
    )
    judging = JudgingPage(page.context.new_page(), campaign).open()
    judging.judge("4")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [3]


def test_a_restarted_server_gets_what_it_missed(signed_in_page: Signed) -> None:
    """Nothing listens for a while, then the server is back; the page goes on by itself."""
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.pretend("", lambda route: route.abort("connectionrefused"))
    for key in ("1", "2", "3"):
        judging.judge(key)
    expect(judging.chip).to_contain_text("not sent, retrying")
    judging.page.unroute_all(behavior="ignoreErrors")
    judging.saved()
    assert [
        row.grade for row in Judgement.objects.filter(membership=ada).order_by("pair__position")
    ] == [0, 1, 2]


def test_two_people_at_one_browser_do_not_send_each_others_answers(
    signed_in_page: Signed, live_server: object
) -> None:
    campaign, ada = make_job()
    bob = make_annotator(campaign)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.pretend("judgements", lambda route: route.abort())
    judging.judge("4")
    context = judging.page.context
    judging.page.close()
    context.add_cookies([session_cookie(bob.user, live_server.url)])  # type: ignore[attr-defined]
    second = JudgingPage(context.new_page(), campaign).open()
    second.judge("1")
    second.saved()
    assert [row.grade for row in own_judgements(bob)] == [0]
    assert own_judgements(ada) == []
    second.page.close()
    context.add_cookies([session_cookie(ada.user, live_server.url)])  # type: ignore[attr-defined]
    JudgingPage(context.new_page(), campaign).open().saved()
    assert [row.grade for row in own_judgements(ada)] == [3]


def test_page_without_secure_context_makes_keys_and_judges(signed_in_page: Signed) -> None:
    """Over plain HTTP in a lab there are neither crypto.randomUUID nor Web Locks."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.add_init_script("delete Crypto.prototype.randomUUID; delete Navigator.prototype.locks;")
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    judging.saved()
    [row] = own_judgements(ada)
    assert row.key.version == 4
    second = JudgingPage(page.context.new_page(), campaign)
    second.page.add_init_script(
        "delete Crypto.prototype.randomUUID; delete Navigator.prototype.locks;"
    )
    second.page.goto(f"/judge/{campaign.slug}/")
    second.shows_state("other-tab")
    second.panel.get_by_role("button", name="Judge here instead").click()
    second.title.wait_for()
    judging.shows_state("other-tab")


def test_forbidden_storage_is_said_and_judging_works_all_the_same(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    )
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    expect(page.locator("[data-name=storage]")).to_contain_text("Don't close this page")
    judging.saved()
    assert len(own_judgements(ada)) == 1


def test_a_server_with_too_much_to_do_says_so_and_is_asked_again_when_it_wants(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    asked: list[float] = []
    refusal = {"code": "busy", "detail": "The server is busy."}

    def busy(route: Route) -> None:
        asked.append(time.monotonic())
        if len(asked) > 1:
            return route.continue_()
        route.fulfill(status=503, headers={"Retry-After": "3"}, json=refusal)

    judging.page.route("**/judgements", busy)
    judging.judge("2")
    expect(judging.page.locator("#banners")).to_contain_text(
        "The server is busy. 1 answer is kept here and will be sent."
    )
    expect(judging.chip).to_have_attribute("data-status", "saved")
    expect(judging.page.locator("#banners")).not_to_contain_text("too much to do")
    assert asked[1] - asked[0] >= 2.2  # three quarters of it at the least
    assert len(own_judgements(ada)) == 1
