"""Near-duplicates on the judging page: the line in the bar, both documents side by side, what
differs, and that judging never waits for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Campaign
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]
BASE = "\n\n".join(
    f"In week {n} the group walked {n * 7} minutes after each meal, and its sugar in the evening "
    f"was measured by nurse {n} of ward {n + 20}. "
    f"Those who rested in week {n} served as controls, with the same food and the same hours of "
    f"sleep as the {n * 3} others."
    for n in range(1, 13)
).replace("walked 35 minutes", "walked 35 brisk minutes")
CHANGED = BASE.replace("35 brisk minutes", "35 slow minutes") + " Nothing else was changed."
OTHER = (
    "Strength training needs rest between the days, which is why plans alternate the muscles of "
    "arms and legs over the week."
)
TINTED = (
    "() => [...CSS.highlights.get('differs')].map((one) => "
    "one.startContainer.data.slice(one.startOffset, one.endOffset))"
)
LINE = ".near-line"


def asks_in(page: Page) -> list[str]:
    """The addresses of requests for near-duplicates, as they are made."""
    asks: list[str] = []
    page.on(
        "request",
        lambda request: asks.append(request.url)
        if request.url.endswith("/near-duplicates")
        else None,
    )
    return asks


def side_by_side(page: Page) -> bool:
    """Else one below the other."""
    one, other = (page.locator("#compare-dialog article").nth(n).bounding_box() for n in (0, 1))
    assert one is not None
    assert other is not None
    if abs(one["y"] - other["y"]) < 1:
        assert other["x"] >= one["x"] + one["width"]
        return True
    assert one["x"] == other["x"]
    assert other["y"] >= one["y"] + one["height"]
    return False


def test_a_copy_is_read_beside_the_document_that_was_graded_and_the_reading_place_is_kept(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(texts=[BASE, CHANGED, OTHER], n_documents=3, show_near_duplicates=True)
    page = signed_in_page(ada.user, viewport=DESKTOP, has_touch=True)
    judging = JudgingPage(page, campaign).open()
    line, dialog = page.locator(LINE), page.locator("#compare-dialog")
    expect(line).to_be_hidden()
    judging.judge("3")
    for screen in (DESKTOP, PHONE):
        on_phone, width = screen is PHONE, screen["width"]
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        expect(line).to_contain_text("Very similar to a document you graded: Partly answers")
        expect(judging.title).to_have_text("Exercise and blood sugar, part 2")
        photograph(page, f"near-duplicate-{width}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("scrollTo(0, 400)")
        page.wait_for_function("() => scrollY === 400")
        if on_phone:
            line.get_by_role("button", name="Compare").tap()
        else:
            judging.press("c")
        expect(dialog.locator("article")).to_have_count(2)
        expect(dialog.locator("section").nth(0)).to_contain_text("This document")
        expect(dialog.locator("section").nth(0)).to_contain_text("5 words only here")
        expect(dialog.locator("section").nth(1)).to_contain_text(
            "You judged this as Partly answers."
        )
        expect(dialog.locator("section").nth(1)).to_contain_text("1 word only here")
        assert page.evaluate(TINTED) == ["slow", "Nothing else was changed", "brisk"]
        assert side_by_side(page) != on_phone
        expect(dialog.get_by_label("Compared with")).to_be_hidden()
        photograph(page, f"near-duplicates-{width}")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        assert page.evaluate("scrollY") == 400
        expect(judging.title).to_be_focused()
        assert not page.evaluate("CSS.highlights.has('differs')")
    judging.press("c")
    expect(dialog).to_be_visible()
    judging.press("2")  # judges nothing while both are read
    judging.press("c")
    expect(dialog).to_be_hidden()
    assert page.evaluate("scrollY") == 400
    assert len(own_judgements(ada)) == 1
    judging.judge("2")
    expect(judging.title).to_have_text("Exercise and blood sugar, part 3")
    expect(line).to_be_hidden()
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [2, 1]


def test_where_the_campaign_does_not_allow_it_nothing_is_asked_and_the_key_does_nothing(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(texts=[BASE, BASE], n_documents=2)
    page = signed_in_page(ada.user)
    asks = asks_in(page)
    judging = JudgingPage(page, campaign).open()
    judging.judge("3")
    judging.saved()
    judging.press("c")
    page.wait_for_timeout(300)
    assert asks == []
    assert page.locator(f"{LINE}, #compare-dialog").count() == 0


def test_judging_does_not_wait_for_it(signed_in_page: Signed) -> None:
    campaign, ada = make_job(texts=[BASE] * 4, n_documents=4, show_near_duplicates=True)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign)
    hanging: list[Route] = []
    judging.pretend("near-duplicates", hanging.append)
    judging.open()
    for key in ("1", "2", "3"):
        judging.judge(key)
    judging.saved()
    expect(page.locator(LINE)).to_be_hidden()
    while len(hanging) < 2:  # of the first document, and of the one on the page
        page.wait_for_timeout(50)
    page.unroute_all(behavior="ignoreErrors")
    judging.pretend("near-duplicates", {"code": "broken", "detail": "broken"}, status=500)
    judging.judge("4")
    judging.saved()
    judging.shows_state("done")
    expect(page.locator(".banner")).to_have_count(0)
    assert [row.grade for row in own_judgements(ada)] == [0, 1, 2, 3]


def test_it_is_asked_when_the_grade_just_given_has_arrived(signed_in_page: Signed) -> None:
    campaign, ada = make_job(texts=[BASE, BASE], n_documents=2, show_near_duplicates=True)
    page = signed_in_page(ada.user)
    asks = asks_in(page)
    with page.expect_request("**/near-duplicates"):  # of the first document
        judging = JudgingPage(page, campaign).open()
    held: list[Route] = []
    judging.pretend("/judgements", held.append)
    judging.judge("3")
    page.wait_for_timeout(500)
    assert (len(held), len(asks)) == (1, 1)
    held[0].continue_()
    expect(page.locator(LINE)).to_contain_text(
        "Very similar to a document you graded: Partly answers"
    )
    judging.press("p")
    expect(page.locator(LINE)).to_be_hidden()
    judging.press("c")  # goes on, and opens nothing
    expect(page.locator(LINE)).to_be_visible()
    assert page.locator("dialog[open]").count() == 0


def test_of_several_each_can_be_read_and_opened_again(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(texts=[CHANGED, BASE, BASE], n_documents=3, show_near_duplicates=True)
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    judging.judge("2")
    judging.judge("4")
    expect(page.locator(LINE)).to_contain_text(
        "Very similar to 2 documents you graded: Fully answers, Related"
    )
    page.locator(LINE).get_by_role("button", name="Compare").click()
    dialog = page.locator("#compare-dialog")
    expect(dialog).to_contain_text("Both have the same words in the same order.")
    choice = dialog.get_by_label("Compared with")
    assert choice.locator("option").all_inner_texts() == [
        "Fully answers: Exercise and blood sugar, part 2",
        "Related: Exercise and blood sugar, part 1",
    ]
    choice.select_option(index=1)
    expect(dialog).to_contain_text("You judged this as Related.")
    assert page.evaluate(TINTED) == ["brisk", "slow", "Nothing else was changed"]
    photograph(page, "near-duplicates-several")
    dialog.get_by_role("button", name="Open").click()
    expect(page.locator(".banner[data-name=review]")).to_contain_text("You judged this as Related")
    expect(judging.title).to_have_text("Exercise and blood sugar, part 1")
    expect(page.locator(LINE)).to_contain_text(
        "Very similar to a document you graded: Fully answers"
    )  # the third is not graded
    judging.judge("4")
    judging.saved()
    expect(page.locator(LINE)).to_contain_text(
        "Very similar to 2 documents you graded: Fully answers, Fully answers"
    )


def test_in_arabic_it_speaks_arabic_and_begins_on_the_right(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    """Where a language is written to the right: test_a_copy_is_read_beside… That every word comes
    from a catalogue: test_languages.py."""
    text = (
        "المشي السريع بعد كل وجبة يخفض سكر الدم عند المصابين بالنوع الثاني من السكري، كما وجدت "
        "تجربة دامت اثني عشر أسبوعا في ثلاثة مستشفيات."
    )
    texts = [text, text.replace("السريع", "البطيء")]
    campaign, ada = make_job(
        texts=texts, titles=["المشي", "المشي مرة أخرى"], n_documents=2, show_near_duplicates=True
    )
    page = signed_in_page(ada.user, locale="ar")
    judging = JudgingPage(page, campaign).open()
    judging.judge("3")
    expect(page.locator(LINE)).to_contain_text("Partly answers")
    assert "Very similar" not in page.locator(LINE).inner_text()
    judging.press("c")
    expect(page.locator("#compare-dialog article")).to_have_count(2)
    one, other = (page.locator("#compare-dialog article").nth(n).bounding_box() for n in (0, 1))
    assert one is not None
    assert other is not None
    assert one["x"] > other["x"]
    assert page.evaluate(TINTED) == ["البطيء", "السريع"]
    assert (
        page.locator("#compare-dialog .doc-body p").first.evaluate(
            "one => getComputedStyle(one).direction"
        )
        == "rtl"
    )
    photograph(page, "near-duplicates-ar")


def test_a_managers_trial_shows_them_as_annotators_see_them_or_not_at_all(
    signed_in_page: Signed,
) -> None:
    campaign, _ada = make_job(
        texts=[BASE, OTHER, CHANGED], n_documents=3, show_near_duplicates=True
    )
    page = signed_in_page(campaign.created_by)
    asks = asks_in(page)
    judging, line = JudgingPage(page, campaign), page.locator(LINE)

    def judge_two() -> None:
        page.goto(f"/judge/{campaign.slug}/try")
        page.get_by_role("button", name="I have read the guidelines").click()
        judging.title.wait_for()
        judging.judge("3")
        judging.judge("1")

    judge_two()
    expect(line).to_contain_text("Very similar to a document you graded: Partly answers")
    judging.press("c")
    dialog = page.locator("#compare-dialog")
    expect(dialog.locator("section").nth(1)).to_contain_text("You judged this as Partly answers.")
    expect(dialog.locator("section").nth(0)).to_contain_text("5 words only here")
    dialog.get_by_role("button", name="Open").click()
    expect(judging.title).to_have_text("Exercise and blood sugar, part 1")
    assert asks == []  # the browser plays the server's part
    Campaign.objects.filter(pk=campaign.pk).update(show_near_duplicates=False)
    judge_two()
    judging.saved()
    expect(judging.title).to_have_text("Exercise and blood sugar, part 3")
    expect(line).to_have_count(0)
