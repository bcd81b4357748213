"""The reading controls in the head of the judging page."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Profile
from tests.browser.conftest import DESKTOP, PHONE, SCREENS
from tests.browser.judging import JudgingPage, make_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]

SENTENCES = "\n\n".join(
    f"Sentence {number} of a long report about diabetes and exercise, which goes on for more than one line here."
    for number in range(300)
)
STYLE = """() => { const body = document.querySelector('.doc-body'), { fontSize, lineHeight, fontFamily } = getComputedStyle(body);
  return { size: parseFloat(fontSize), height: parseFloat(lineHeight), font: fontFamily, width: body.clientWidth,
    page: document.documentElement.scrollWidth }; }"""
AT_THE_TOP = """() => { const top = document.querySelector('.jtop').getBoundingClientRect().bottom;
  const block = [...document.querySelectorAll('.doc-body p')].find((p) => p.getBoundingClientRect().bottom > top + 1);
  return [block.textContent.split(' ')[1], block.getBoundingClientRect().top - top]; }"""


def test_reading_controls_act_at_once_and_are_kept_for_the_person(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(texts=[SENTENCES])
    page = signed_in_page(ada.user)
    JudgingPage(page, campaign).open()
    before = page.evaluate(STYLE)
    assert before["size"] == 17
    page.get_by_label("Reading settings").click()
    panel = page.locator("#reading .menu-list")
    with page.expect_response(lambda response: response.url.endswith("/profile")):
        panel.get_by_role("slider", name="Size").fill("22")
        panel.get_by_role("slider", name="Line width").fill("50")
        panel.get_by_role("slider", name="Line spacing").fill("2")
        panel.get_by_label("Typeface").select_option("sans")
        panel.get_by_label("Query words").select_option("tint")
    for screen in (PHONE, DESKTOP):
        width = screen["width"]
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        box = panel.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        now = page.evaluate(STYLE)
        assert (now["size"], now["height"]) == (22, 44)
        assert now["font"] != before["font"]
        assert now["page"] <= width
        photograph(page, f"reading-controls-{width}")
    # 50 x 0.558 em of 22 px less two borders; a phone has no room to spare
    assert now["width"] == pytest.approx(612, abs=1)
    expected = {"text_size": 22, "measure": 50, "leading": 2, "font": "sans", "terms": "tint"}
    for _ in range(300):  # a machine slow enough makes of these changes more than one request
        choices = Profile.objects.get(user=ada.user).choices
        if choices.items() >= expected.items():
            break
        page.wait_for_timeout(100)
    assert {name: choices[name] for name in expected} == expected


def test_reading_controls_that_were_kept_are_reset_and_the_reset_is_undone_on_a_phone(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(texts=[SENTENCES])
    page = signed_in_page(ada.user, **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    before = page.evaluate(STYLE)
    choices = {"text_size": 22, "measure": 50, "leading": 2, "font": "sans", "terms": "tint"}
    Profile.objects.update_or_create(user=ada.user, defaults={"choices": choices})
    judging.open()
    kept = page.evaluate(STYLE)
    assert (kept["size"], kept["height"]) == (22, 44)
    assert kept["font"] != before["font"]
    page.get_by_label("Reading settings").tap()
    height = page.get_by_role("slider", name="Line spacing")
    expect(height).to_have_value("2")
    page.get_by_role("button", name="Reset").tap()
    assert page.evaluate(STYLE) == before
    page.locator("#toast").get_by_role("button", name="Undo").tap()
    assert page.evaluate(STYLE) == kept
    expect(page.locator("#toast")).to_be_hidden()
    judging.press("a")
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate(STYLE) == before
    judging.press("z")
    expect(height).to_have_value("2")
    assert page.evaluate(STYLE) == kept


@pytest.mark.parametrize("screen", SCREENS, ids=["desktop", "phone"])
def test_the_line_at_the_top_stays_there_while_the_controls_are_moved(
    signed_in_page: Signed, screen: dict[str, Any]
) -> None:
    campaign, ada = make_job(texts=[SENTENCES])
    page = signed_in_page(ada.user, **screen)
    judging = JudgingPage(page, campaign).open()
    page.evaluate("scrollTo(0, 6000)")
    sentence, place = page.evaluate(AT_THE_TOP)
    assert int(sentence) > 20
    judging.press("a")
    size = page.get_by_role("slider", name="Size")
    expect(size).to_be_focused()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(size).to_have_value("25")
    page.get_by_role("slider", name="Line spacing").fill("2.1")
    page.get_by_label("Typeface").select_option("mono")
    there, now = page.evaluate(AT_THE_TOP)
    assert there == sentence
    assert abs(now - place) <= 60  # within a line of the new height
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate(AT_THE_TOP)[0] == sentence


def test_reading_controls_are_worked_by_keys_alone_and_judge_nothing(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    title = judging.title.inner_text()
    judging.press("a")
    for key in ("Tab", "Tab", "ArrowRight", "Escape"):
        page.keyboard.press(key)
    expect(page.locator("#reading .menu-list")).to_be_hidden()
    expect(judging.title).to_be_focused()
    expect(judging.title).to_have_text(title)
    judging.press("h", "a")
    expect(page.get_by_label("Query words")).to_have_value("off")
    page.get_by_label("Query words").select_option("underline")
    assert page.evaluate("CSS.highlights.has('term')")


def test_the_head_of_a_phone_says_in_whole_words_how_many_follow(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_documents=6)
    page = signed_in_page(ada.user, viewport=PHONE, has_touch=True, is_mobile=True)
    judging = JudgingPage(page, campaign)
    for language in ("en", "ar", "de"):
        page.set_extra_http_headers({"Accept-Language": language})
        judging.open()
        assert page.evaluate("document.documentElement.lang") == language
        judging.saved()
        expect(page.locator("#menu .menu-label", has_text=campaign.name)).to_have_count(1)
        expect(page.locator("#place")).to_contain_text("5")
        assert (
            page.evaluate(
                "[...document.querySelectorAll('.jhead-name, #place')].filter((one) => "
                "one.scrollWidth > one.clientWidth).length"
            )
            == 0
        ), language
        assert page.locator("#chip").inner_text().strip()  # who hears the page is told in words
        boxes = [one.bounding_box() for one in page.locator(".jhead > *:visible").all()]
        edges = sorted((box["x"], box["x"] + box["width"]) for box in boxes if box)
        assert all(end <= start + 1 for (_, end), (start, _) in itertools.pairwise(edges)), edges
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
