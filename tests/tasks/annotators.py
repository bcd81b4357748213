"""The tasks of annotators on the current judging page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.tasks.hands import Hands

MIDDLE_OF = """word => { const node = document.querySelector('.doc-body p').firstChild, at = node.data.indexOf(word), range = document.createRange();
  range.setStart(node, at + 1); range.setEnd(node, at + word.length - 1);
  const box = range.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }"""
PASSWORD = "correct horse battery"
N_OF_ONE_QUERY = 8
SIZE = "() => parseFloat(getComputedStyle(document.querySelector('.doc-body')).fontSize)"


def join(hands: Hands) -> None:
    page = hands.page
    hands.type_into(page.locator("#id_username"), "newcomer")
    hands.type_into(page.locator("#id_password"), PASSWORD)
    hands.click("button", "Create account and join")
    hands.touch(page.locator("#guideline-read"))
    page.locator(".doc .doc-title").wait_for()
    hands.page.wait_for_timeout(1150)  # less than a second is too fast and does not count
    hands.touch(page.locator("#grades button").nth(1))
    expect(page.locator("#chip")).to_have_attribute("data-status", "saved")


def tap(hands: Hands, word: str) -> None:
    hands.actions += 1
    hands.page.touchscreen.tap(*hands.page.evaluate(MIDDLE_OF, word))


def passage(hands: Hands) -> None:
    hands.judging()
    hands.touch(hands.page.locator("#grades button").nth(3))
    expect(hands.page.locator("#bar-message")).to_contain_text("needs a marked passage")
    tap(hands, "walking")
    tap(hands, "people")
    expect(hands.page.locator("#marks li")).to_have_count(1)


def reopen(hands: Hands) -> None:
    hands.judging()
    for key in ("2", "4", "1"):
        hands.grade(key)
    # the list shows what the server has stored
    expect(hands.page.locator("#chip")).to_have_attribute("data-status", "saved")
    hands.begin()
    hands.key("t")
    hands.page.locator("#history-dialog tbody tr").nth(1).wait_for()
    hands.key("2")
    expect(hands.page.locator(".banner").first).to_contain_text("You judged this as Fully answers")


def larger(hands: Hands) -> None:
    hands.judging()
    hands.begin()
    hands.touch(hands.page.get_by_label("Reading settings"))
    hands.type_into(hands.page.get_by_role("slider", name="Size"), "22")
    expect(hands.page.locator(".doc-body")).to_have_css("font-size", "22px")


def stay(hands: Hands) -> None:
    """Judge until this many documents of one query are judged."""
    hands.judging()
    hands.begin()
    query, judged, switches = hands.page.locator("#query-text"), dict[str, int](), 0
    while max(judged.values(), default=0) < N_OF_ONE_QUERY:
        before = query.inner_text()
        hands.grade("2")
        judged[before] = judged.get(before, 0) + 1
        switches += query.inner_text() != before
    hands.note = f"{switches} changes of the query"


def answered(desk: Page) -> None:
    desk.get_by_role("textbox", name="Answer").fill("Yes, where it is systematic.")
    desk.get_by_role("button", name="Answer", exact=True).click()
    expect(desk.locator("article")).to_contain_text("Yes, where it is systematic.")


def ask(hands: Hands) -> None:
    hands.judging()
    hands.begin()
    hands.key("q")
    dialog = hands.page.locator("#ask-dialog")
    hands.type_into(dialog.get_by_role("textbox"), "Does a review count as a trial?")
    hands.key("Control+Enter")
    expect(dialog.locator(".questions li")).to_contain_text("No answer yet")
    hands.click("button", "Close", within=dialog)
    assert hands.as_other
    slug = hands.given["ask"].split("/")[2]
    answered(hands.as_other("manager of ask", f"/campaigns/{slug}/questions/"))
    hands.grade("2")
    hands.grade("2")
    hands.actions -= 2  # judging continued
    hands.click("button", "Read the answer")
    expect(dialog.locator(".questions li")).to_contain_text("Yes, where it is systematic.")


def practice(hands: Hands) -> None:
    hands.judging()
    hands.page.wait_for_timeout(400)
    hands.begin()
    hands.key("2")
    expect(hands.page.locator("#practice")).to_contain_text(
        "You: Related. Expected: Fully answers."
    )


def language(hands: Hands) -> None:
    hands.choose(hands.page.locator("#id_language"), value="ar")
    hands.touch(
        hands.page.locator("form", has=hands.page.locator("[value=details]")).locator(
            "button.primary"
        )
    )
    expect(hands.page.locator("html")).to_have_attribute("dir", "rtl")
    hands.touch(hands.page.locator(".site-head .brand"))
    hands.touch(hands.page.locator("main .button.primary").first)
    hands.judging()
