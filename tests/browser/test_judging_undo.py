"""What was just done besides judging is taken back, too: a note, one's own keys. (Reading controls: test_judging_reading.py.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SCREENS
from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


@pytest.mark.parametrize("screen", SCREENS, ids=["desktop", "phone"])
def test_a_note_that_was_kept_is_taken_back(signed_in_page: Signed, screen: dict[str, Any]) -> None:
    """Saved or left by Esc, by the button and by the key; once it belongs to an answer, the answer is what was done last."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user, **screen)
    judging = JudgingPage(page, campaign).open()
    undo, label = judging.toast.get_by_role("button", name="Undo"), page.locator("#note-label")
    judging.press("n")
    page.keyboard.type("dates are wrong")
    page.get_by_role("button", name="Save note").click()
    expect(judging.toast).to_contain_text("Note kept.")
    expect(label).to_have_text("Note •")
    expect(page.locator(".bar-more [data-action=undo]")).to_be_enabled()
    undo.tap() if "has_touch" in screen else undo.click()
    expect(label).to_have_text("Note")
    expect(judging.toast).to_be_hidden()
    expect(page.locator(".bar-more [data-action=undo]")).to_be_disabled()
    expect(judging.title).to_be_focused()
    judging.press("n")
    expect(page.locator("#note-text")).to_have_value("")
    page.keyboard.type("a list")
    page.keyboard.press("Escape")
    expect(judging.toast).to_be_visible()  # a hidden one still has its words
    expect(judging.toast).to_contain_text("Note kept.")
    judging.press("z")
    expect(label).to_have_text("Note")
    judging.press("n")
    page.keyboard.type("it stays")
    page.keyboard.press("Escape")
    expect(judging.toast).to_be_visible()  # a hidden one still has its words
    expect(judging.toast).to_contain_text("Note kept.")
    judging.judge("2")
    expect(judging.title).to_contain_text("part 2")
    judging.press("n")
    page.keyboard.press("Escape")  # nothing was typed
    expect(page.locator("#note-dialog")).to_be_hidden()
    expect(judging.toast).to_contain_text("Judged Topic")
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    expect(label).to_have_text("Note •")
    judging.saved()
    [row] = own_judgements(ada)
    assert row.note == "it stays"


@pytest.mark.parametrize("screen", SCREENS, ids=["desktop", "phone"])
def test_own_keys_come_back_after_the_original_ones(signed_in_page: Signed, photograph: Callable[[Page, str], None], screen: dict[str, Any]) -> None:
    campaign, ada = make_job()
    ada.user.profile.choices = {"keys": {"later": "x"}}
    ada.user.profile.save()
    page = signed_in_page(ada.user, **screen)
    judging = JudgingPage(page, campaign).open()
    later = page.locator(".bar-more [data-key=later]")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=settings]").click()
    dialog = page.locator("#settings-dialog")
    undo = dialog.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_hidden()
    dialog.get_by_role("button", name="Original keys").click()
    expect(later).to_have_text("L")
    photograph(page, f"original-keys-{screen['viewport']['width']}")
    with page.expect_response(lambda response: response.url.endswith("/profile")):
        undo.tap() if "has_touch" in screen else undo.click()
    expect(undo).to_be_hidden()
    expect(dialog.get_by_role("button", name="Original keys")).to_be_focused()
    expect(later).to_have_text("X")
    dialog.get_by_role("button", name="Original keys").click()
    dialog.locator("[data-close]").click()
    judging.press("x")
    expect(judging.title).to_contain_text("part 1")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=settings]").click()
    dialog.get_by_role("button", name="Original keys").click()
    expect(undo).to_be_hidden()  # they are it already
