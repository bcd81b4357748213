"""Nothing on the judging page lies under anything else: windows of every size, zoom, many grades,
long texts; the reading place is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.judging import WORDS, JudgingPage, make_job, own_judgements
from tests.builders import judge

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]

WINDOWS = {
    "wide": (2560, 1300),
    "desktop": (1280, 860),
    "laptop": (1366, 650),
    "150 %": (853, 573),
    "200 %": (640, 430),
    "400 %": (320, 256),
    "400 %, low": (320, 215),
    "tablet": (820, 1180),
    "tablet on its side": (1180, 820),
    "phone": (390, 844),
    "small phone": (320, 568),
    "phone on its side": (844, 390),
    "small phone on its side": (667, 375),
}
MANY_GRADES = ["desktop", "200 %", "tablet", "phone", "small phone", "phone on its side"]
LONG_QUERY = (
    "which evidence is there that "
    + "regular exercise after each meal " * 12
    + "lowers blood sugar"
)
LONG_TEXT = "\n\n".join(
    f"Paragraph {n}: walking lowers blood sugar in people who walk after meals, as a trial has found."
    for n in range(60)
)

OVERLAPS = """() => {
  const fast = ['.jhead', '.query', '.banners', '.finder', '.guidelines', '.bar'];
  const seen = fast.map(name => [name, document.querySelector(name)])
    .filter(([, e]) => e && !e.hidden && e.offsetHeight > 0)
    .map(([name, e]) => [name, e.getBoundingClientRect()])
    .filter(([, r]) => r.bottom > 1 && r.top < innerHeight - 1);
  const wrong = [];
  const sheet = innerWidth < 1024 && innerHeight <= 480;  // there the guidelines take the whole window above the grades
  for (let i = 0; i < seen.length; i++) for (let j = i + 1; j < seen.length; j++) {
    const [a, p] = seen[i], [b, q] = seen[j];
    if (sheet && [a, b].includes('.guidelines') && ![a, b].includes('.bar')) continue;
    const w = Math.min(p.right, q.right) - Math.max(p.left, q.left), h = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (w > 1 && h > 1) wrong.push(`${a} and ${b} overlap by ${Math.round(w)} x ${Math.round(h)}`);
  }
  const words = '.guidelines:not([hidden]) .guidelines-head h2, .bar-say > :not([hidden]), .query h1, .query button:not([hidden])';
  for (const e of document.querySelectorAll(words)) {
    if (e.closest('.query') && sheet && !document.querySelector('.guidelines').hidden) continue;
    const r = e.getBoundingClientRect();
    if (r.height === 0 || r.top < 0) continue;  // scrolled away
    const hit = document.elementFromPoint(r.left + r.width / 2, r.top + Math.min(8, r.height / 2));
    if (!hit || !(e.contains(hit) || hit.contains(e))) wrong.push(`${e.id || e.tagName} is covered by ${hit?.className || hit?.tagName}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page scrolls sideways: ${document.documentElement.scrollWidth}`);
  return wrong;
}"""
LAST_LINE = """() => {
  scrollTo(0, document.documentElement.scrollHeight);
  const last = [...document.querySelectorAll('.doc-body p, #marks:not([hidden]) li, #marks:not([hidden]) button')]
    .map(e => e.getBoundingClientRect().bottom);
  const cover = [...document.querySelectorAll('.bar, .toast:not([hidden])')].filter(e => e.offsetHeight).map(e => e.getBoundingClientRect().top);
  return Math.min(...cover) - Math.max(...last);
}"""
CUT_BUTTONS = """() => [...document.querySelectorAll('#bar button')].filter(e => e.offsetHeight).map(e => {
  const name = e.querySelector('.name') ?? e, r = e.getBoundingClientRect(), n = name.getBoundingClientRect();
  const row = e.closest('.bar-row');
  const away = row && row.scrollWidth > row.clientWidth ? false : r.left < -1 || r.right > innerWidth + 1;
  const out = n.bottom > r.bottom + 1 || n.right > r.right + 2 || name.scrollWidth > name.clientWidth + 1;
  return away || out || r.bottom > innerHeight + 1 ? e.textContent : null;
}).filter(Boolean)"""


def scale_of(n: int) -> list[dict[str, Any]]:
    names = [
        "Not relevant",
        "Off topic",
        "Marginal",
        "Related",
        "Somewhat",
        "Partly answers",
        "Mostly",
        "Good",
        "Fully answers",
    ]
    return [
        {"value": value, "name": names[value], "explanation": "", "example": ""}
        for value in range(n)
    ]


def look(page: Page, name: str) -> None:
    """With ASSAY_SCREENSHOTS set, a picture."""
    if folder := os.environ.get("ASSAY_SCREENSHOTS"):
        page.screenshot(
            path=str(
                Path(folder)
                / f"layout-{name}.png".replace(" %", "").replace(" ", "-").replace(",", "")
            )
        )


def settled(page: Page) -> None:
    """Until what was measured has reached the page."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


@pytest.mark.parametrize(("n_grades", "windows"), [(4, [*WINDOWS]), (9, MANY_GRADES)])
def test_nothing_lies_under_anything_else(
    signed_in_page: Signed, n_grades: int, windows: list[str]
) -> None:
    campaign, ada = make_job(
        texts=[LONG_TEXT] * (len(windows) + 2),
        scale=scale_of(n_grades),
        min_relevant=1,
        spans="required",
        spans_from=1,
        n_documents=len(windows) + 2,
    )
    topic = campaign.collection.topics.get()
    topic.text = LONG_QUERY
    topic.save()
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    # no load returns to where the page was scrolled to
    judging.page.add_init_script("sessionStorage.clear(); history.scrollRestoration = 'manual'")
    wrong = {window: overlaps_by_state(judging, window, n_grades) for window in windows}
    assert {window: states for window, states in wrong.items() if states} == {}


def overlaps_by_state(judging: JudgingPage, window: str, n_grades: int) -> dict[str, list[str]]:
    """State -> what lies under something else there, while a document is judged in a window of this
    size."""
    page = judging.page
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    judging.open()
    assert page.evaluate("scrollY") == 0
    states: dict[str, list[str]] = {}

    def check(name: str) -> None:
        settled(page)
        look(page, f"{window}-{n_grades}-{name}")
        wrong = page.evaluate(OVERLAPS) + [f"cut: {text}" for text in page.evaluate(CUT_BUTTONS)]
        if wrong:
            states[name] = wrong

    def check_last_line(name: str) -> None:
        if page.evaluate(LAST_LINE) < 0:
            states[f"{name}, at the end"] = ["the last lines lie behind the bar or the note above"]

    check("begin")
    if page.locator("#guidelines").is_hidden():
        judging.press("g")
        check("guidelines")
        judging.press("g")
    else:
        check("guidelines")
    judging.press("i")
    check("need")
    page.mouse.wheel(0, 600)
    page.wait_for_function("() => scrollY > 0")
    check("need, scrolled")
    if width >= 1024:
        assert page.locator("#guidelines").is_visible()
    judging.press("i", "/")
    page.locator("#find-input").fill("walking")
    check("find")
    page.keyboard.press("Escape")
    judging.press("3")
    check("passage missing")
    judging.press("s", "Enter")
    check("passage marked")
    check_last_line("passage marked")
    judging.press("Enter")
    expect(judging.toast).to_be_visible()
    check("toast")
    check_last_line("toast")
    judging.saved()
    return states


def test_a_long_query_is_opened_and_closed(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    topic = campaign.collection.topics.get()
    topic.text = LONG_QUERY
    topic.save()
    page = signed_in_page(ada.user)
    query, button = (
        page.locator("#query-text"),
        page.get_by_role("button", name="Show the whole query"),
    )
    is_cut = "e => e.scrollHeight > e.clientHeight + 1"
    for window in ("desktop", "phone on its side"):
        width, height = WINDOWS[window]
        page.set_viewport_size({"width": width, "height": height})
        JudgingPage(page, campaign).open()
        assert query.evaluate(is_cut), window
        expect(button).to_have_text("More")
        before = query.evaluate("e => e.clientHeight")
        button.click()
        expect(button).to_have_text("Less")
        expect(button).to_have_attribute("aria-expanded", "true")
        # all of it is there, in a low window by scrolling with the keys
        assert not query.evaluate(is_cut) or query.evaluate(
            "e => e.tabIndex === 0 && getComputedStyle(e).overflowY === 'auto'"
        ), window
        assert query.evaluate("e => e.clientHeight") > before, window
        button.click()
        expect(button).to_have_text("More")
        assert query.evaluate("e => e.clientHeight") == before, window


def test_a_short_query_on_a_wide_screen_on_paper_and_in_forced_colours(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    width, height = WINDOWS["wide"]
    page = signed_in_page(ada.user, viewport={"width": width, "height": height})
    judging = JudgingPage(page, campaign).open()
    expect(page.locator("#query-more")).to_be_hidden()  # nothing to open
    left = "e => e.getBoundingClientRect().left"
    for guidelines in (True, False):
        if not guidelines:
            judging.press("g")
            expect(page.locator("#guidelines")).to_be_hidden()
        settled(page)
        query, document = page.locator("#query-label"), page.locator(".doc")
        assert abs(query.evaluate(left) - document.evaluate(left)) <= 2, guidelines
    page.emulate_media(media="print")
    expect(page.locator("#query-text")).to_be_visible()
    expect(page.locator(".doc-body")).to_be_visible()
    expect(page.locator("#bar")).to_be_hidden()
    page.emulate_media(media="screen", forced_colors="active")
    judging.judge("2")
    judging.saved()
    judging.press("z")
    chosen = page.locator("#grades [aria-pressed=true]")
    expect(chosen).to_have_count(1)
    colour = "e => getComputedStyle(e).backgroundColor"
    assert chosen.evaluate(colour) != page.locator("#grades [aria-pressed=false]").first.evaluate(
        colour
    )
    assert (
        page.locator("#progress-bar").evaluate("e => getComputedStyle(e).borderTopWidth") == "1px"
    )


def test_the_logo_is_a_target_for_fingers_and_a_finger_leaves_no_grade_that_looks_chosen(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(
        ada.user, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    judging = JudgingPage(page, campaign).open()
    box = page.locator(".jhead .brand").bounding_box()
    assert box
    assert min(box["width"], box["height"]) >= 24  # WCAG 2.5.8
    assert page.evaluate(
        "([x, y]) => Boolean(document.elementFromPoint(x, y).closest('.brand'))",
        [box["x"] + 2, box["y"] + 2],
    )
    before = judging.title.inner_text()
    page.locator("#grades button").nth(1).tap()
    expect(judging.title).not_to_have_text(before)
    colours = page.locator("#grades button").evaluate_all(
        "all => all.map(e => getComputedStyle(e).backgroundColor)"
    )
    assert len(set(colours)) == 1


def test_dialogs_in_a_low_window_keep_their_button_in_view_and_enter_presses_it(
    signed_in_page: Signed,
) -> None:
    """The guidelines that must be read, and the settings, where keys of one character are switched
    off."""
    campaign, ada = make_job(
        guideline="# Long\n\n" + "Read every word of the document before you judge it.\n\n" * 60
    )
    ada.guideline_read = 0
    ada.save()
    page = signed_in_page(ada.user, viewport={"width": 1280, "height": 500})
    judging = JudgingPage(page, campaign).open(shows="#guideline-dialog[open]")
    button = page.get_by_role("button", name="I have read the guidelines")
    expect(button).to_be_in_viewport(ratio=1)
    assert page.locator("#guideline-dialog").evaluate("e => e.scrollTop") == 0
    for _ in range(40):  # Enter is heard once the module that listens has come, after the page
        page.keyboard.press("Enter")
        if button.is_hidden():
            break
        page.wait_for_timeout(250)
    expect(button).to_be_hidden()
    expect(page.locator(".doc .doc-title")).to_be_visible()
    done = page.get_by_role("button", name="Done")
    judging.press("?")
    page.get_by_role("button", name="Change keys").click()
    expect(done).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(done).to_be_hidden()
    judging.press("?")
    page.get_by_role("button", name="Change keys").click()
    with page.expect_response(lambda response: response.url.endswith("/profile")):
        page.get_by_label("Single-key shortcuts").uncheck()
    done.click()
    expect(done).to_be_hidden()
    title = judging.title.inner_text()
    judging.press("2", "l", "0")
    expect(page.locator("#bar kbd").first).to_be_hidden()
    page.wait_for_timeout(200)
    assert judging.title.inner_text() == title
    page.locator("#grades button").nth(1).click()
    expect(judging.title).not_to_have_text(title)


def test_place_of_reading_is_kept(signed_in_page: Signed) -> None:
    """Over a pause, an undo and back, a grade that needs a passage, a reload; of a text longer than
    what is painted at once."""
    campaign, ada = make_job(
        texts=["Short.", LONG_TEXT * 20], n_documents=3, spans="required", spans_from=2
    )
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.judge("1")
    judging.saved()
    long_enough = "() => document.documentElement.scrollHeight > 60000"
    page.wait_for_function(long_enough)
    page.evaluate("scrollTo(0, 40000)")
    place = page.evaluate("scrollY")
    assert place == 40000

    judging.press("p")
    expect(page.locator("#panel")).to_be_visible()
    judging.press("x")
    expect(judging.title).to_be_visible()
    page.wait_for_function("y => scrollY === y", arg=place)

    judging.press("3")
    expect(judging.bar_message).to_contain_text("needs a marked passage")
    assert page.evaluate("scrollY") == place
    judging.press("Escape")

    judging.press("z")
    expect(page.locator(".banner")).to_contain_text("You judged this")
    assert page.evaluate("scrollY") == 0
    judging.press("Escape")
    page.wait_for_function("y => scrollY === y", arg=place)

    page.reload()
    page.locator("html[data-complete]").wait_for()
    page.wait_for_function("y => Math.abs(scrollY - y) < 3", arg=place)


def test_a_script_that_does_not_come_is_said(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    page.route("**/js/judge/main.js", lambda route: route.abort())
    page.goto(f"/judge/{campaign.slug}/")
    expect(page.get_by_role("link", name="Reload the page")).to_be_visible()


def test_lists_of_judgements_are_read_whole_and_open_one_at_any_width(
    signed_in_page: Signed,
) -> None:
    long = (
        "Effects of moderate exercise on postprandial hyperglycaemia_and_insulin_sensitivity_in_adults "
        * 3
    )
    campaign, ada = make_job(titles=[long, "Another"], n_documents=6)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    judging.saved()
    for width in (390, 820, 1024, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        page.locator("#menu summary").click()
        page.get_by_role("button", name="My judgements", exact=True).click()
        button = page.locator("#history-list tbody button")
        expect(button).to_be_in_viewport(ratio=1)
        look(page, f"history-{width}")
        reached = (
            "e => { const r = e.getBoundingClientRect(); return "
            "e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); }"
        )
        assert button.evaluate(reached), width
        button.click()
        expect(page.locator(".banner")).to_contain_text("You judged this as Related")
        judging.press("Escape")
        expect(page.locator(".banner")).to_be_hidden()
    judge(ada, None, cannot_reason="expertise")
    page.goto(f"/judge/{campaign.slug}/history")
    expect(page.locator("#history-page tbody")).to_contain_text("Cannot judge: needs expertise")
    for width in (1280, 700, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        sizes = page.locator("#history-page td").evaluate_all(
            "all => all.map(one => [one.scrollWidth, one.clientWidth])"
        )
        assert all(inside <= room for inside, room in sizes), (width, sizes)


def test_a_required_passage_is_marked_by_touch(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    widths = (360, 390, 740, 820)
    campaign, ada = make_job(n_documents=len(widths) + 1, spans="required", spans_from=2)
    page = signed_in_page(
        ada.user, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    judging = JudgingPage(page, campaign).open()
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        judging.unhurried()
        before = judging.title.inner_text()
        page.locator("#grades button").nth(3).tap()
        expect(judging.bar_message).to_contain_text("Tap its first word, then its last")
        expect(judging.bar_message).not_to_contain_text("Enter")
        page.evaluate(
            "() => { const n = document.querySelector('.doc-body p').firstChild; "
            "document.getSelection().setBaseAndExtent(n, 8, n, 15); }"
        )
        mark = page.get_by_role("button", name="Mark this passage")
        expect(mark).to_be_in_viewport(ratio=1)
        settled(page)
        look(page, f"touch-{width}")
        assert page.evaluate(OVERLAPS) == [], width
        if width == widths[0]:
            photograph(page, "mark-by-touch")
            page.set_viewport_size({"width": width, "height": 800})
        mark.tap()
        expect(mark).to_be_hidden()
        expect(judging.bar_message).to_contain_text(
            "Passage marked. Press Fully answers again to send it."
        )
        page.locator("#grades button").nth(3).tap()
        expect(judging.title).not_to_have_text(before)
        judging.saved()
    rows = own_judgements(ada)
    assert [[WORDS[start:end] for start, end in row.spans] for row in rows] == [
        ["walking"] for _ in widths
    ]
    assert {row.device for row in rows} == {"touch"}
