"""Two documents side by side: one key says which is better, on every screen and in every script."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.core.preferences import BOTH_BAD, LEFT, TIE
from annotation.models import Judgement, Membership
from annotation.selectors.judging import get_shown_grade
from tests.battles import make_battle_campaign
from tests.browser.conftest import DESKTOP, SCREENS
from tests.browser.judging import JudgingPage
from tests.builders import make_annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]
TEXTS = (
    "Little of the aluminium in antiperspirants gets through the skin. Trials found no harm. " * 12,
    "I gave up antiperspirants for thirty days, and this is what happened to me at work. " * 15,
    "Sweat glands open on the skin and cool the body. " * 8,
)


def answers(member: Membership) -> list[int | None]:
    """By side, in the order in which the pairs were first judged."""
    current = Judgement.objects.filter(membership=member, current=True).order_by("pair__position")
    return [get_shown_grade(row) for row in current]


def test_keys_choose_a_side_and_undo_returns_to_both_documents(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign = make_battle_campaign(texts=TEXTS)
    ada = make_annotator(campaign)
    page = signed_in_page(ada.user, viewport=DESKTOP)
    judging = JudgingPage(page, campaign).open()
    sides, grades = page.locator(".battle .side"), page.locator("#grades button")
    expect(sides).to_have_count(2)
    expect(grades).to_have_text(
        ["1Left is better", "2Equally good", "3Right is better", "4Both bad"]
    )
    boxes = [sides.nth(i).bounding_box() for i in range(2)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] < boxes[1]["x"]
    assert abs(boxes[0]["width"] - boxes[1]["width"]) < 1
    photograph(page, "battle")
    titles = page.locator(".battle .doc-title").all_inner_texts()
    page.keyboard.press("/")
    page.locator("#find-input").fill("the")
    expect(page.locator("#find-count")).to_contain_text("of")
    page.keyboard.press("Escape")
    judging.unhurried()
    judging.press("1")
    expect(judging.toast).to_contain_text("Judged Left is better")
    judging.saved()
    assert answers(ada) == [LEFT]
    judging.press("z")
    expect(page.locator(".battle .doc-title")).to_have_text(titles)
    expect(page.locator("#grades [aria-pressed=true]")).to_contain_text("Left is better")
    judging.unhurried()
    judging.press("4")
    expect(judging.toast).to_contain_text("Changed to Both bad")
    judging.saved()
    assert answers(ada) == [BOTH_BAD]
    page.goto(f"/judge/{campaign.slug}/history")
    expect(page.locator("#history-page")).to_contain_text(" / ".join(titles))
    expect(page.locator("#history-page")).to_contain_text("Both bad")


def test_thumbs_swipe_offline_and_left_stays_left_in_arabic(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign = make_battle_campaign(texts=TEXTS)
    ada = make_annotator(campaign)
    page = signed_in_page(ada.user, locale="ar", **SCREENS[1])
    judging = JudgingPage(page, campaign).open()
    left, right = page.locator(".battle .side").all()
    expect(left.locator(".side-name")).to_have_text("اليسار")
    photograph(page, "battle-arabic")
    boxes = left.bounding_box(), right.bounding_box()
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] < boxes[1]["x"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".battle").evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    expect(right).to_be_in_viewport(ratio=0.1)
    page.context.set_offline(True)
    judging.unhurried()
    page.locator("#grades button").nth(1).tap()
    page.context.set_offline(False)
    judging.saved()
    assert answers(ada) == [TIE]
