"""What a manager's wide pages show at usual widths, and on paper."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from pooling.models import Document, Topic
from tests.analysis.bad_annotators import campaign_with_bad_annotators
from tests.builders import judged_campaign, make_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
A4 = {"width": 718, "height": 1000}
"""A4 less margins of a centimetre, in pixels of a browser."""
HIDDEN = """() => [...document.querySelectorAll('.table-wrap')].filter(wrap => wrap.checkVisibility())
  .map(wrap => wrap.scrollWidth - wrap.clientWidth).filter(excess => excess > 1)"""
BROKEN = """() => [...document.querySelectorAll('.people-table thead th .sort')].flatMap(head => {
  const text = document.createTreeWalker(head, NodeFilter.SHOW_TEXT).nextNode(), range = document.createRange();
  return [...text.data.matchAll(/\\S+/g)].filter(word => {
    range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
    return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1; }).map(word => word[0]); })"""
"""Words of heads that stand in more than one line."""
BEYOND = """() => Math.max(...[...document.querySelectorAll('table :is(th, td)')].map(cell => cell.getBoundingClientRect().right))"""


def test_the_table_of_people_is_seen_whole_at_usual_widths_and_on_paper(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign, _ = campaign_with_bad_annotators(n_judgements=400)
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/campaigns/{campaign.slug}/people/")
        assert page.locator("td.flags .badge").count() > 0
        assert page.evaluate(HIDDEN) == [], width
    page.set_viewport_size(A4)
    page.emulate_media(media="print")
    assert page.evaluate(BEYOND) <= A4["width"]
    heads = [
        " ".join(words.split())
        for words in page.locator(".people-table thead th .sort").all_inner_texts()
    ]
    assert heads[:4] == ["Annotator", "Flags", "Status", "Judged"]
    assert page.evaluate(BROKEN) == [], "words of heads are broken"
    for of_hands in (".list-tools", "textarea", "[type=checkbox]", ".figure summary"):
        assert page.locator(f"{of_hands} >> visible=true").count() == 0, of_hands


def test_a_shorter_scale_takes_names_that_are_a_scale(signed_in_page: Callable[..., Page]) -> None:
    """Of Not relevant, Related, Partly answers, Fully answers the first two were left. Names that somebody has chosen
    stay."""
    campaign = make_campaign(state="draft")
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    page.goto(f"/campaigns/{campaign.slug}/settings/scale/")
    names = page.locator("[data-grade]:not([hidden]) input[name$=-name]")
    given = names.evaluate_all("all => all.map(one => one.value)")
    page.get_by_role("button", name="Remove top grade").click()
    page.get_by_role("button", name="Remove top grade").click()
    two = names.evaluate_all("all => all.map(one => one.value)")
    assert len(two) == 2
    assert two != given[:2]
    assert "changed to match the number of grades" in page.locator("[data-renamed]").inner_text()
    names.first.fill("No")
    names.last.fill("Yes")
    page.get_by_role("button", name="Add grade").click()
    assert names.evaluate_all("all => all.slice(0, 2).map(one => one.value)") == ["No", "Yes"]


def test_the_adjudicator_reads_the_document_as_annotators_do(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign = judged_campaign({("t1", "d1"): (0, 3)}, now=timezone.now() - timedelta(hours=1))
    pair = campaign.pairs.select_related("entry__topic", "entry__document").get()
    broken = (
        "Brisk walking over twelve weeks lowers the pressure of the blood in\npeople over sixty, "
        "as a trial with many people has shown, and so does\n"
    )
    Document.objects.filter(pk=pair.entry.document_id).update(
        text=f"{broken}the diet.\n\n<b>Not bold</b>"
    )
    Topic.objects.filter(pk=pair.entry.topic_id).update(text="walking and pressure")
    page = signed_in_page(campaign.created_by)
    page.goto(f"/campaigns/{campaign.slug}/pairs/{pair.pk}/")
    expect(page.locator("#judge .doc-body .wrapped")).to_have_count(
        1
    )  # lines that a machine broke flow together
    expect(page.locator("#judge .doc-body")).to_contain_text("<b>Not bold</b>")
    assert "serif" in page.locator("#judge .doc-body").evaluate(
        "body => getComputedStyle(body).fontFamily"
    )
    marked = (
        "[...CSS.highlights.get('term')].map(({ startContainer, startOffset, endOffset }) => "
        "startContainer.data.slice(startOffset, endOffset))"
    )
    page.wait_for_function("() => CSS.highlights.get('term')")
    assert page.evaluate(marked) == ["walking", "pressure"]


def test_adjudicating_by_keys_leads_from_pair_to_pair_and_nothing_leaves_its_card(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign = judged_campaign(
        {("t1", "d1"): (0, 3), ("t1", "d2"): (0, 2)}, now=timezone.now() - timedelta(hours=1)
    )
    first, second = campaign.pairs.order_by("position")
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    page.set_viewport_size({"width": 1280, "height": 860})
    page.goto(f"/campaigns/{campaign.slug}/pairs/{first.pk}/")
    excess = (
        "() => [...document.querySelectorAll('aside .card')].map(card => card.scrollWidth - "
        "card.clientWidth).filter(by => by > 0)"
    )
    assert page.evaluate(excess) == []
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/pairs/{second.pk}/")
    expect(page.get_by_text("Saved:")).to_be_visible()
    first.refresh_from_db()
    assert first.adjudicated_grade == 1  # the second grade from the lowest on
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_url("**/judgements/?view=disputed")
    page.keyboard.press("z")
    page.wait_for_url(f"**/pairs/{second.pk}/**")
    expect(page.get_by_text("The label is unchanged.")).to_be_visible()
    second.refresh_from_db()
    assert second.adjudicated_grade is None
    page.keyboard.press("b")
    page.wait_for_url(f"**/pairs/{first.pk}/**")
    page.keyboard.press("s")
    page.wait_for_url(f"**/pairs/{second.pk}/**")
    page.keyboard.press("b")
    page.wait_for_url(f"**/pairs/{first.pk}/**")
    page.keyboard.press("n")
    reason = page.locator("textarea#reason")
    expect(reason).to_be_focused()
    reason.press_sequentially("n1")
    assert reason.input_value() == "n1"
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.keyboard.press("3")  # the same key again saves
    page.wait_for_url(f"**/pairs/{second.pk}/**")
    first.refresh_from_db()
    assert (first.adjudicated_grade, first.adjudicated_reason) == (2, "n1")
