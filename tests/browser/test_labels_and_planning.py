"""The table of labels and what one does from it, and the planning option for depth: shown before it acts. On a
desktop and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from annotation.models import Campaign, Pair
from tests.browser.conftest import DESKTOP, PHONE
from tests.builders import campaign_on_its_way, judged_campaign

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("rows_read_anew"),
]
Signed = Callable[..., Page]
Photograph = Callable[[Page, str], None]


@pytest.fixture
def campaign() -> Campaign:
    """Two topics, three documents, two judgements a pair. Labels by hand, by majority, else the
    lowest: of t1 Fully answers (all agree), Not relevant (of Not relevant and Fully answers), Related (all agree); of t2
    Partly answers (all agree), Related (of Related and Partly answers), and d3 judged once, so without one."""
    grades = {
        ("t1", "d1"): (3, 3),
        ("t1", "d2"): (0, 3),
        ("t1", "d3"): (1, 1),
        ("t2", "d1"): (2, 2),
        ("t2", "d2"): (2, 1),
        ("t2", "d3"): (3,),
    }
    return judged_campaign(
        grades, names=("ada", "bob", "carol"), now=timezone.now() - timedelta(hours=1)
    )


def pair_of(campaign: Campaign, topic: str, document: str) -> Pair:
    return campaign.pairs.get(entry__topic__topic_id=topic, entry__docno=document)


def signed_in(signed_in_page: Signed, campaign: Campaign) -> Page:
    """The manager's, on a phone; `fits` looks at a desktop as well."""
    return signed_in_page(campaign.memberships.get(role="manager").user, viewport=PHONE)


def rows(page: Page) -> Locator:
    return page.locator("#labels tbody tr")


def lists(page: Page, *pairs: str) -> None:
    """The list has come to show these pairs and no other, such as "t1 d2"."""
    boxes = rows(page).get_by_role("checkbox")
    expect(boxes).to_have_count(len(pairs))
    for place, pair in enumerate(pairs):
        expect(boxes.nth(place)).to_have_attribute("aria-label", f"Select {pair}")


def choose(page: Page, **choices: str) -> None:
    """Narrows the list, such as grade="1"."""
    for name, value in choices.items():
        page.locator(f"#labels select[name={name}]").select_option(value)
    page.locator("#labels .list-tools").get_by_role("button").click()
    for name, value in choices.items():
        page.wait_for_url(re.compile(rf"[?&]{name}={value}\b"))


def view(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Views").get_by_role(
        "link", name=re.compile(f"^{name} [0-9]")
    ).click()


def fits(page: Page, photograph: Photograph, name: str = "") -> bool:
    """Whether the page is as wide as its window on a desktop and on a phone. name: of pictures."""
    wide = []
    for screen in (DESKTOP, PHONE):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        wide.append(page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        if name:
            photograph(page, f"{name}-{screen['width']}")
    return not any(wide)


def test_pairs_are_found_by_view_topic_and_grade(
    signed_in_page: Signed, photograph: Photograph, campaign: Campaign
) -> None:
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/labels/")
    page.wait_for_url("**/judgements/")
    lists(
        page, "t1 d2", "t2 d2"
    )  # disputed: Not relevant and Fully answers, and a tie of Related and Partly answers
    view(page, "All")
    lists(page, "t1 d1", "t1 d2", "t1 d3", "t2 d1", "t2 d2", "t2 d3")
    expect(rows(page).nth(1)).to_contain_text(
        re.compile(
            r"Not relevant\s+A001\s+Fully answers\s+A002\s+Not relevant\s+tie: lower grade\s+3"
        )
    )
    expect(rows(page).nth(5)).to_contain_text("none yet")
    assert fits(page, photograph, "judgements")
    page.get_by_text("By topic").click()
    page.locator("#by-topic").get_by_role("link", name="t2", exact=True).click()
    page.wait_for_url(re.compile(r"topic=t2"))
    lists(page, "t2 d1", "t2 d2", "t2 d3")
    expect(page.locator("#labels select[name=topic]")).to_have_value("t2")
    page.get_by_role("link", name="Show all").click()
    expect(rows(page)).to_have_count(6)
    choose(page, grade="1")
    lists(page, "t1 d3", "t2 d2")
    view(page, "Too few judgements")
    lists(page, "t2 d3")
    page.goto(f"/campaigns/{campaign.slug}/judgements/?view=few&grade=0")
    lists(page)
    expect(rows(page)).to_contain_text("No matches.")


def test_one_more_judgement_is_shown_requested_and_withdrawn(
    signed_in_page: Signed, photograph: Photograph, campaign: Campaign
) -> None:
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/judgements/")
    request = page.get_by_role("button", name="Request another judgement…")
    expect(request).to_be_hidden()  # until a row is ticked
    page.get_by_label("Select all pairs on this page").check()
    request.click()
    summary = page.locator("section[aria-labelledby=additional-judgements]")
    expect(summary).to_contain_text("2 pairs")
    assert fits(page, photograph, "additional-judgements")
    page.get_by_role("link", name="Back", exact=True).click()
    lists(page, "t1 d2", "t2 d2")
    assert not campaign.pairs.filter(asked_more__gt=0).exists()
    page.get_by_label("Select t1 d2").check()
    request.click()
    page.locator("button[name=confirm]").click()
    expect(page.locator(".messages, [role=status]").first).to_contain_text(
        "1 additional judgement was requested."
    )
    lists(page, "t2 d2")  # the other one waits for its judgement, which may settle it
    assert [
        (pair.entry.topic.topic_id, pair.entry.docno)
        for pair in campaign.pairs.filter(asked_more=1)
    ] == [("t1", "d2")]
    view(page, "Requested")
    expect(rows(page)).to_contain_text("1 requested")
    rows(page).get_by_role("link").click()
    expect(page.get_by_text("2 of 3 made")).to_be_visible()
    page.get_by_role("button", name="Withdraw request…").click()
    page.locator("button[name=confirm]").click()
    expect(page.get_by_text("1 requested judgement was cancelled.")).to_be_visible()
    assert not campaign.pairs.filter(asked_more__gt=0).exists()


def test_one_adjudicates_pair_after_pair_with_the_mouse_and_undoes_it(
    signed_in_page: Signed, photograph: Photograph, campaign: Campaign
) -> None:
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/judgements/")
    first, second = pair_of(campaign, "t1", "d2"), pair_of(campaign, "t2", "d2")
    page.get_by_role("link", name="Adjudicate 2").click()
    page.wait_for_url(f"**/pairs/{first.pk}/?view=disputed")
    expect(page.locator(".jhead-progress")).to_contain_text("2 of 2 left")
    assert page.get_by_role("link", name="Back", exact=True).count() == 0
    assert fits(page, photograph, "adjudication")
    grade = page.locator(".bar-grades label")
    grade.nth(2).click()
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url(f"**/pairs/{second.pk}/?view=disputed")
    expect(page.get_by_text("Saved:")).to_be_visible()
    first.refresh_from_db()
    assert first.adjudicated_grade == 2  # the third from the lowest on
    expect(page.locator(".jhead-progress")).to_contain_text("1 of 2 left")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/pairs/{first.pk}/?view=disputed")
    first.refresh_from_db()
    assert first.adjudicated_grade is None
    grade.nth(2).click()
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url(f"**/pairs/{second.pk}/?view=disputed")
    grade.first.click()
    page.get_by_label("Reason (optional)").fill("Nothing of it is said.")
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url("**/judgements/?view=disputed")
    expect(page.get_by_text("Saved:")).to_be_visible()
    second.refresh_from_db()
    assert (second.adjudicated_grade, second.adjudicated_reason) == (0, "Nothing of it is said.")
    expect(page.locator("#labels")).to_contain_text("No disputed pairs.")
    view(page, "Adjudicated")
    lists(page, "t1 d2", "t2 d2")
    rows(page).last.get_by_role("link").click()
    page.wait_for_url(re.compile(rf"/pairs/{second.pk}/\?view=adjudicated"))
    page.get_by_role("link", name="Back", exact=True).click()
    page.wait_for_url(re.compile(rf"/pairs/{first.pk}/\?view=adjudicated"))
    page.get_by_role("button", name="Withdraw label").click()
    expect(page.get_by_text("Your label has been withdrawn.")).to_be_visible()
    first.refresh_from_db()
    assert first.adjudicated_grade is None


def test_less_depth_is_shown_before_it_acts_and_taken_back(
    signed_in_page: Signed, photograph: Photograph
) -> None:
    """Ten topics, eight ranks, two judgements a pair: 160. One annotator has judged ranks 1 to 6
    once, 60 pairs in 120 hours: 100 are missing, of ranks 7 and 8 twenty each, which nobody has
    judged."""
    every, left = timedelta(hours=2), timedelta(hours=20)
    campaign = campaign_on_its_way(
        n_judged=60, every=every, left=left, n_topics=10, n_documents=8, judgements_per_pair=2
    )
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/")
    page.get_by_role("link", name="Planning options").click()
    expect(page.locator(".answer")).to_contain_text("100 judgements missing.")
    depth = page.get_by_role("region", name="Depth").first
    fold = depth.locator("summary").first
    fold.click()
    expect(depth.locator("tbody tr").last).to_contain_text(re.compile(r"rank 8\s+100"))
    assert fits(page, photograph, "planning")

    def pull() -> None:
        depth.get_by_role("button", name="Preview: Stop at rank 6").click()
        shown = page.locator("section[aria-labelledby=pull]")
        expect(shown).to_contain_text(
            "40 fewer judgements. 20 unjudged pairs below this depth are set aside and can be restored."
        )
        expect(shown).to_contain_text("Effect:")

    def stored() -> tuple[int | None, int]:
        """(to which rank, pairs that wait)"""
        known = Campaign.objects.select_related("pool").get(pk=campaign.pk)
        return known.judged_to, known.pairs.filter(beyond_depth=True).count()

    pull()
    assert fits(page, photograph, "planning-option")
    assert stored() == (None, 0)
    page.get_by_role("link", name="Cancel").click()
    assert stored() == (None, 0)
    fold.click()
    pull()
    page.get_by_role("button", name="Stop at rank 6", exact=True).click()
    expect(page.get_by_text("Judging now stops at rank 6.")).to_be_visible()
    assert stored() == (6, 20)
    page.goto(f"/campaigns/{campaign.slug}/planning")
    expect(page.locator(".answer")).to_contain_text("60 judgements missing.")
    expect(depth).to_contain_text("Judging stops at rank 6.")
    fold.click()
    depth.get_by_role("button", name="Preview: Judge the whole pool").click()
    page.get_by_role("button", name="Judge the whole pool", exact=True).click()
    expect(page.get_by_text("Judging now covers the whole pool.")).to_be_visible()
    assert stored() == (None, 0)
