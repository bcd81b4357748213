"""The whole job on the judging page: by keyboard alone, with a touch screen; undo, history, notes,
cannot judge, settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Judgement, Skip
from annotation.services.campaigns import lifecycle
from tests.browser.conftest import PHONE
from tests.browser.judging import WORDS, JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def press_in_page(page: Page, key: str, code: str) -> None:
    """A key as another keyboard sends it."""
    page.evaluate(
        (
            "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code, "
            "bubbles: true, cancelable: true}))"
        ),
        [key, code],
    )


def test_the_whole_job_by_keyboard_alone(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=6, guideline="")
    version = lifecycle.save_guideline(campaign, "Read it *all*.", actor=campaign.created_by)
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    page = judging.page
    judging.open(shows="#guideline-dialog[open]")
    photograph(page, "guideline-first")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the only button: I have read this
    judging.title.wait_for()
    expect(judging.title).to_be_focused()

    judging.judge("3")
    expect(judging.toast).to_contain_text("Judged Partly answers")
    press_in_page(page, "1", "Numpad1")
    expect(judging.title).to_contain_text("part 3")
    judging.press("n")
    expect(page.locator("#note-text")).to_be_focused()
    page.keyboard.type("1 2 3 mentions trials")  # digits in a field are no grades
    photograph(page, "note")
    page.keyboard.press("Control+Enter")
    judging.judge("4")
    judging.press("0")
    photograph(page, "cannot-judge")
    judging.judge("2")  # document broken
    judging.press("l")
    page.wait_for_function(
        "() => document.querySelector('.doc-title')?.textContent.endsWith('part 6')"
    )
    judging.judge("2")
    judging.judge("1")  # the one put aside comes last
    judging.shows_state("done")
    judging.saved()

    rows = own_judgements(ada)
    assert [(row.grade, row.cannot_reason) for row in rows] == [
        (2, ""),
        (0, ""),
        (3, ""),
        (None, "document"),
        (0, ""),
        (1, ""),
    ]
    assert rows[2].note == "1 2 3 mentions trials"
    assert {row.device for row in rows} == {"keyboard"}
    assert {row.guideline_version for row in rows} == {version.number}
    assert not Skip.objects.exists()


def test_the_whole_job_with_a_touch_screen(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_documents=4)
    page = signed_in_page(
        ada.user, viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True
    )
    judging = JudgingPage(page, campaign).open()
    for place in (3, 0):
        before = judging.title.inner_text()
        page.locator("#grades button").nth(place).tap()
        expect(judging.title).not_to_have_text(before)
    page.locator("[data-action=cannot]").tap()
    page.get_by_role("button", name="Query unclear").tap()
    expect(judging.title).to_contain_text("part 4")
    page.locator(".bar-more [data-action=undo]").tap()
    expect(page.locator("[data-name=review]")).to_contain_text("Cannot judge: query unclear")
    page.locator("#grades button").nth(1).tap()
    expect(judging.title).to_contain_text("part 4")
    page.locator("#grades button").nth(2).tap()
    judging.shows_state("done")
    judging.saved()
    current = Judgement.objects.filter(membership=ada, current=True).order_by("pair__position")
    assert [row.grade for row in current] == [3, 0, 1, 2]
    assert {row.device for row in current} == {"touch"}


def test_grade_bar_is_never_moved_by_a_long_document_and_has_big_targets(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(texts=["short", "long line of text " * 4000], n_documents=3)
    page = signed_in_page(ada.user, viewport=PHONE)
    judging = JudgingPage(page, campaign).open()
    grades = page.locator("#grades")
    before = grades.bounding_box()
    judging.judge("1")
    expect(judging.toast).to_be_visible()  # it makes the bar higher, above the grades
    page.mouse.wheel(0, 3000)
    assert grades.bounding_box() == before
    for button in page.locator("#bar button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44


def test_undo_reopens_the_last_ones_also_after_a_reload_and_keeps_old_labels_as_revisions(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.judge("2")
    judging.judge("4")
    judging.press("Control+z")
    expect(judging.title).to_contain_text("part 2")
    expect(judging.page.locator("#grades [aria-pressed=true]")).to_contain_text("Fully answers")
    photograph(judging.page, "review")
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    judging.press("]")
    expect(judging.title).to_contain_text("part 2")
    judging.judge("1")
    expect(judging.title).to_contain_text("part 3")
    expect(judging.toast).to_contain_text("Changed to Not relevant (was Fully answers)")
    judging.press("z")
    expect(judging.toast).to_have_text("Restored.")
    judging.press("[")
    expect(judging.title).to_contain_text("part 2")
    judging.press("Escape")  # leaves it as it was
    expect(judging.title).to_contain_text("part 3")
    judging.saved()

    def rows() -> list[tuple[int, int | None, int, bool]]:
        stored = own_judgements(ada)
        return [(row.pair.position, row.grade, row.revision, row.current) for row in stored]

    expected = [(0, 1, 1, True), (1, 3, 1, False), (1, 0, 2, False), (1, 3, 3, True)]
    assert rows() == expected
    judging.open()
    judging.press("z")
    expect(judging.title).to_contain_text("part 2")
    judging.press("[")
    expect(judging.title).to_contain_text("part 1")
    judging.press("[")
    expect(judging.toast).to_contain_text("No earlier document")
    judging.judge("4")
    judging.saved()
    assert rows() == [(0, 1, 1, False), (0, 3, 2, True), *expected[1:]]


def test_cannot_judge_for_another_reason_asks_which_and_escape_leaves_the_reasons(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    judging.press("0", "Escape")
    expect(page.locator("#grades")).to_contain_text("Fully answers")
    judging.press("0", "7")  # no such reason: nothing happens
    expect(judging.title).to_contain_text("part 1")
    judging.press("5")
    expect(page.locator("#note-text")).to_be_focused()
    page.keyboard.type("  ")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#note-error")).to_contain_text("why the document can't be judged")
    page.get_by_role("button", name="Save note").click()
    expect(page.locator("#note-dialog")).to_be_visible()
    photograph(page, "reason-missing")
    page.locator("#note-text").fill("cut off")
    page.get_by_role("button", name="Save note").click()
    expect(judging.title).to_contain_text("part 2")
    judging.press("0", "5")
    page.keyboard.type("a list of links only")
    page.keyboard.press("Control+Enter")
    expect(judging.title).to_contain_text("part 3")
    judging.saved()
    assert [(row.grade, row.cannot_reason, row.note) for row in own_judgements(ada)] == [
        (None, "other", "cut off"),
        (None, "other", "a list of links only"),
    ]
    judging.press("z")
    expect(page.locator(".banner")).to_contain_text("You answered “Cannot judge: other reason” at")


def test_keys_with_modifiers_and_held_keys_do_nothing_and_other_layouts_have_the_same_keys(
    signed_in_page: Signed,
) -> None:
    """Key values as an AZERTY (top row without shift) and a Russian keyboard send them. The tables
    are tested in tests/javascript/keyboard.test.mjs."""
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("Control+1", "Alt+2", "Meta+3", "Shift+L", "Shift+Digit1")
    judging.page.keyboard.down("1")
    for _ in range(5):
        judging.page.keyboard.down("1")  # the key repeats
    judging.page.keyboard.up("1")
    expect(judging.title).to_contain_text("part 2")
    judging.saved()
    assert len(own_judgements(ada)) == 1
    judging.unhurried()
    press_in_page(judging.page, "é", "Digit2")
    expect(judging.title).to_contain_text("part 3")
    press_in_page(judging.page, "я", "KeyZ")
    expect(judging.title).to_contain_text("part 2")


def test_confirm_mode_waits_for_enter(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    ada.user.profile.choices = {"confirm": True}
    ada.user.profile.save()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("2")
    expect(judging.bar_message).to_contain_text("Related is selected")
    photograph(judging.page, "confirm")
    judging.press("3")
    expect(judging.bar_message).to_contain_text("Partly answers is selected")
    judging.judge("Enter")
    judging.press("4")
    expect(judging.bar_message).to_contain_text("Fully answers is selected")
    judging.judge("4")
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [2, 3]


def test_keys_can_be_remapped_and_are_kept_for_the_person(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(deadline=timezone.now() + timedelta(days=3))
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    page.get_by_role("button", name="Menu").or_(page.locator("#menu > summary")).first.click()
    photograph(page, "menu")
    page.locator("#menu [data-action=settings]").click()
    page.locator("[data-remap=later]").click()
    page.keyboard.press("n")
    expect(page.locator("#key-message")).to_contain_text("already used for “Note”")
    page.locator("[data-remap=later]").click()
    page.keyboard.press("5")
    expect(page.locator("#key-message")).to_contain_text("is reserved")
    page.locator("[data-remap=later]").click()
    with page.expect_response(re.compile("/profile$")):
        page.keyboard.press("x")
    photograph(page, "settings")
    page.locator("#settings-dialog [data-close]").click()
    judging.open()
    expect(page.locator(".bar-more [data-key=later]")).to_have_text("X")
    judging.press("l")
    expect(judging.title).to_contain_text("part 1")
    judging.press("x")
    expect(judging.title).to_contain_text("part 2")


def test_shortcut_sheet_lists_every_key_and_opens_at_its_beginning_on_a_phone(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(show_near_duplicates=True)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("?")
    sheet = judging.page.locator("#help-list")
    expect(sheet).to_be_visible()
    photograph(judging.page, "shortcuts")
    assert judging.page.evaluate(
        "(({scrollHeight, clientHeight}) => scrollHeight <= clientHeight)(document.querySelector('#help-dialog'))"
    )
    expect(sheet.locator("h3")).to_have_text(["Grade", "Read", "Mark", "Move", "Help"])
    for word in (
        "Fully answers",
        "Skip for now",
        "Cannot judge",
        "Undo",
        "Note",
        "Guidelines",
        "Information need",
        "Pause",
        "Find",
        "Mark a passage",
        "history",
    ):
        expect(sheet).to_contain_text(word)
    row = sheet.locator(".keys > div", has_text="Compare with a similar document I graded")
    expect(row.locator("kbd")).to_have_text("C")
    judging.press("Escape")
    judging.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    judging.press("?")
    judging.page.locator("#help-dialog[open]").wait_for()
    assert judging.page.evaluate("document.querySelector('#help-dialog').scrollTop") == 0
    assert judging.page.evaluate("document.activeElement.id") == "help-title"


def test_find_guidelines_need_and_highlighting_by_key(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    assert page.evaluate(
        "[...CSS.highlights.get('term')].map(r => r.startContainer.data.slice(r.startOffset, r.endOffset))"
    ) == [
        "type",
        "2",
        "diabetes",
    ]
    judging.press("h")
    assert not page.evaluate("CSS.highlights.has('term')")
    judging.press("i")
    expect(page.locator("#need")).to_contain_text("Which evidence is there")
    photograph(page, "information-need")
    judging.press("i")
    expect(page.locator("#need")).to_be_hidden()
    judging.press("g")
    expect(page.locator("#guidelines")).to_be_hidden()
    judging.press("g")
    expect(page.locator("#guidelines")).to_contain_text("Read the whole document")
    judging.press("/")
    page.keyboard.type("THE")
    count, hits = page.locator("#find-count"), WORDS.lower().count("the")
    expect(count).to_have_text(f"1 of {hits}")
    page.keyboard.press("Enter")
    expect(count).to_have_text(f"2 of {hits}")
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text(f"1 of {hits}")
    photograph(page, "find")
    page.keyboard.press("Escape")
    expect(page.locator("#finder")).to_be_hidden()
    judging.judge("1")


def test_history_lists_every_version_and_opens_one(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    judging.judge("2")
    judging.press("z")
    judging.judge("4")
    judging.judge("1")
    judging.saved()
    page.goto(f"/judge/{campaign.slug}/history")
    rows = page.locator("#history-page tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("Fully answers")
    expect(rows.nth(1)).to_contain_text("before: Related")
    photograph(page, "history-page")
    rows.nth(1).get_by_role("button").click()
    expect(judging.title).to_contain_text("part 1")
    expect(page.locator("[data-name=review]")).to_contain_text("Fully answers")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=history]").click()
    expect(page.locator("#history-list tbody tr")).to_have_count(2)
    photograph(page, "history-dialog")


def test_nothing_but_the_pair_is_told_to_annotators_and_leaving_by_the_menu_releases_leases(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(n_documents=8)
    page = signed_in_page(ada.user)
    told: list[str] = []
    page.on(
        "response",
        lambda response: told.append(response.text())
        if "/api/v1/judging/" in response.url
        else None,
    )
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    judging.saved()
    for word in ("rank", "score", "contribution", "gold", "priority", '"run"'):
        assert not [text for text in told if word in text.lower().replace("gold_grade", "")], word
    assert ada.leases.filter(state="live").count() == 4  # one on screen, three behind it
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=leave]").click()
    page.wait_for_url(lambda url: "/judge/" not in url)
    assert ada.leases.filter(state="live").count() == 0


def test_scales_of_2_to_9_grades_fit_the_bar_of_a_small_phone(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
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
    scale = [
        {"value": value, "name": name, "explanation": "", "example": ""}
        for value, name in enumerate(names)
    ]
    small = {"width": 320, "height": 640}
    campaign, ada = make_job(scale=scale[:2], min_relevant=1)
    page = signed_in_page(ada.user, viewport=small)
    judging = JudgingPage(page, campaign)
    for n_grades in (2, 5, 9):
        Campaign.objects.filter(pk=campaign.pk).update(scale=scale[:n_grades])
        judging.open()
        photograph(page, f"scale-{n_grades}")
        page.set_viewport_size(small)  # type: ignore[arg-type]
        expect(page.locator("#grades button")).to_have_count(n_grades)
        assert page.evaluate("document.documentElement.scrollWidth") <= small["width"]
        judging.judge(str(n_grades))
        judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [1, 4, 8]
