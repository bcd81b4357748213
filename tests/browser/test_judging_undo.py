"""What was just done besides judging is taken back, too: a note, a new version of an earlier
judgement, one's own keys. And a screen reader is told of each once. (Reading controls:
test_judging_reading.py.)"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Skip
from tests.browser.conftest import DESKTOP, PHONE, SCREENS
from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def test_a_note_that_was_kept_is_taken_back(signed_in_page: Signed) -> None:
    """Saved or left by Esc, by the button on a phone and by the key; once it belongs to an answer, the answer
    is what was done last."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user, **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    undo, label = judging.toast.get_by_role("button", name="Undo"), page.locator("#note-label")
    judging.press("n")
    page.keyboard.type("dates are wrong")
    page.get_by_role("button", name="Save note").click()
    expect(judging.toast).to_contain_text("Note saved.")
    expect(label).to_have_text("Note •")
    expect(page.locator(".bar-more [data-action=undo]")).to_be_enabled()
    undo.tap()
    expect(label).to_have_text("Note")
    expect(judging.toast).to_be_hidden()
    expect(page.locator(".bar-more [data-action=undo]")).to_be_disabled()
    expect(judging.title).to_be_focused()
    judging.press("n")
    expect(page.locator("#note-text")).to_have_value("")
    page.keyboard.type("a list")
    page.keyboard.press("Escape")
    expect(judging.toast).to_be_visible()  # a hidden one still has its words
    expect(judging.toast).to_contain_text("Note saved.")
    judging.press("z")
    expect(label).to_have_text("Note")
    judging.press("n")
    page.keyboard.type("it stays")
    page.keyboard.press("Escape")
    expect(judging.toast).to_be_visible()  # a hidden one still has its words
    expect(judging.toast).to_contain_text("Note saved.")
    judging.judge("2")
    expect(judging.title).to_contain_text("part 2")
    judging.press("n")
    page.keyboard.press("Escape")  # nothing was typed
    expect(page.locator("#note-dialog")).to_be_hidden()
    expect(judging.toast).to_contain_text("Judged Related")
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    expect(label).to_have_text("Note •")
    judging.saved()
    [row] = own_judgements(ada)
    assert row.note == "it stays"


def test_a_new_version_of_an_earlier_judgement_is_taken_back(signed_in_page: Signed) -> None:
    """Its note, then its grade: by the key and by the button. Every version is kept, and taking
    back takes no time."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    undo = judging.toast.get_by_role("button", name="Undo")
    judging.judge("2")
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    judging.press("n")
    page.keyboard.type("dates are wrong")
    page.get_by_role("button", name="Save note").click()
    expect(judging.title).to_contain_text("part 2")
    expect(judging.toast).to_contain_text("Note saved.")
    expect(undo).to_be_visible()
    judging.press("z")
    expect(judging.toast).to_have_text("Restored.")
    expect(judging.title).to_contain_text("part 2")  # who takes it back reads on
    judging.saved()
    rows = own_judgements(ada)
    assert [(row.revision, row.grade, row.note, row.current) for row in rows] == [
        (1, 1, "", False),
        (2, 1, "dates are wrong", False),
        (3, 1, "", True),
    ]
    assert rows[2].active_ms == rows[1].active_ms  # all openings together
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    expect(page.locator("#note-label")).to_have_text("Note")
    judging.judge("4")
    expect(judging.toast).to_contain_text("Changed to Fully answers (was Related)")
    undo.click()
    expect(judging.toast).to_have_text("Restored.")
    judging.saved()
    assert [(row.revision, row.grade, row.current) for row in own_judgements(ada)[3:]] == [
        (4, 3, False),
        (5, 1, True),
    ]


def test_without_a_connection_everything_is_taken_back_all_the_same_and_sent_in_order(
    signed_in_page: Signed,
) -> None:
    """A version of an answer that the server has, then what was put aside, then an answer that it
    has not."""
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    judging.saved()
    page.context.set_offline(True)
    judging.press("z")
    expect(judging.title).to_contain_text("part 1")
    judging.judge("4")
    expect(judging.toast).to_contain_text("Changed to Fully answers")
    judging.press("z")
    expect(judging.toast).to_have_text("Restored.")
    expect(judging.title).to_contain_text("part 2")
    judging.unhurried()
    judging.press("l")
    expect(judging.title).to_contain_text("part 3")
    judging.press("z")
    expect(judging.title).to_contain_text("part 2")
    judging.judge("2")
    judging.press("z")
    expect(judging.title).to_contain_text("part 2")
    judging.judge("4")
    page.context.set_offline(False)
    judging.saved()
    assert [
        (row.pair.position, row.revision, row.grade, row.current) for row in own_judgements(ada)
    ] == [
        (0, 1, 1, False),
        (0, 2, 3, False),
        (0, 3, 1, True),
        (1, 1, 1, False),
        (1, 2, 3, True),
    ]
    assert not Skip.objects.filter(membership=ada).exists()


SPEAKS = """() => {
  window.spoken = [];
  const said = new Map();
  const listen = () => {
    for (const region of document.querySelectorAll('[aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log], output')) {
      const text = region.hidden || region.closest('[hidden]') ? '' : region.textContent.trim();
      if (text && said.get(region) !== text) window.spoken.push(text);
      said.set(region, text);
    }
  };
  new MutationObserver(listen).observe(document.body, { childList: true, characterData: true, subtree: true, attributes: true });
}"""
"""What a screen reader says: each text that a live region newly has."""


def test_a_screen_reader_is_told_once_what_was_done(signed_in_page: Signed) -> None:
    campaign, ada = make_job()
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    page.evaluate(f"({SPEAKS})()")

    def told(what: str) -> list[str]:
        """Each time that it is said, when it has been said."""
        page.wait_for_function(
            "(what) => window.spoken.some((one) => one.includes(what))", arg=what
        )
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        spoken: list[str] = page.evaluate("window.spoken.splice(0)")
        return [one for one in spoken if what in one]

    for leave in ("Control+Enter", "Escape"):
        judging.press("n")
        page.keyboard.type("a list")
        page.keyboard.press(leave)
        assert told("Note saved.") == ["Note saved."]
        judging.press("z")
        assert told("Restored.") == ["Restored."]
    judging.judge("2")
    title = "Exercise and blood sugar, part"
    assert [one.partition(title)[0] for one in told("Judged Related")] == ["Judged Related. "]
    judging.judge("l")
    assert [one.partition(title)[0] for one in told("Skipped")] == ["Skipped for now. "]
    judging.press("[")  # past what was put aside, to what was judged
    expect(judging.title).to_contain_text("part 2")
    judging.press("[")
    expect(judging.title).to_contain_text("part 1")
    judging.judge("4")
    assert [one.partition(title)[0] for one in told("Changed to")] == [
        "Changed to Fully answers (was Related). "
    ]
    judging.press("z")
    assert told("Restored.") == ["Restored."]


def test_own_keys_come_back_after_the_original_ones(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job()
    ada.user.profile.choices = {"keys": {"later": "x"}}
    ada.user.profile.save()
    page = signed_in_page(ada.user, **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    later = page.locator(".bar-more [data-key=later]")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=settings]").click()
    dialog = page.locator("#settings-dialog")
    undo = dialog.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_hidden()
    dialog.get_by_role("button", name="Reset keys").click()
    expect(later).to_have_text("L")
    for screen in (DESKTOP, PHONE):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        expect(undo).to_be_in_viewport(ratio=1)
        photograph(page, f"original-keys-{screen['width']}")
    with page.expect_response(lambda response: response.url.endswith("/profile")):
        undo.tap()
    expect(undo).to_be_hidden()
    expect(dialog.get_by_role("button", name="Reset keys")).to_be_focused()
    expect(later).to_have_text("X")
    dialog.get_by_role("button", name="Reset keys").click()
    dialog.locator("[data-close]").click()
    judging.press("x")
    expect(judging.title).to_contain_text("part 1")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=settings]").click()
    dialog.get_by_role("button", name="Reset keys").click()
    expect(undo).to_be_hidden()  # they are it already
