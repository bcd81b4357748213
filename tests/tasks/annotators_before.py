"""The tasks of annotators on the judging page of the first version."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.tasks.annotators import SIZE
from tests.tasks.hands import Hands


def passage(hands: Hands) -> None:
    """Try to mark a passage. A message covers the button that marks the selected text."""
    hands.judging()
    hands.touch(hands.page.locator("#grades button").nth(3))
    expect(hands.page.locator("#bar-message")).to_be_visible()
    hands.page.evaluate(
        """() => { const range = document.createRange(), node = document.querySelector('.doc-body p').firstChild;
        range.setStart(node, 8); range.setEnd(node, 40); getSelection().removeAllRanges(); getSelection().addRange(range); }"""
    )
    hands.actions += 1
    hands.page.wait_for_timeout(500)


def reopen(hands: Hands) -> None:
    hands.judging()
    for key in ("2", "4", "1"):
        hands.grade(key)
    hands.begin()
    for _ in range(2):
        hands.key("[")
        hands.page.wait_for_timeout(500)
    expect(hands.page.locator(".banner").first).to_contain_text("You judged this Perfect")


def larger(hands: Hands) -> None:
    hands.judging()
    hands.begin()
    before = hands.page.evaluate(SIZE)
    hands.touch(hands.page.locator("#menu > summary"))
    hands.click("button", "Settings and keys")
    hands.type_into(hands.page.get_by_label("Text size"), "22")
    hands.click("button", "Done")
    assert hands.page.evaluate(SIZE) == before


def ask(hands: Hands) -> None:
    hands.judging()
    hands.begin()
    hands.touch(hands.page.locator("#menu > summary"))


def practice(hands: Hands) -> None:
    hands.judging()
    hands.page.wait_for_timeout(400)
    hands.begin()
    hands.key("2")
    expect(hands.page.locator("#feedback-dialog[open]")).to_be_visible()


def language(hands: Hands) -> None:
    pass
