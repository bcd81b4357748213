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
    lowest: of t1 Perfect (all agree), Wrong (of Wrong and Perfect), Topic (all agree); of t2
    Partial (all agree), Topic (of Topic and Partial), and d3 judged once, so without one."""
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
        expect(boxes.nth(place)).to_have_attribute("aria-label", f"Choose {pair}")


def choose(page: Page, **choices: str) -> None:
    """Narrows the list, such as state="disputed"."""
    for name, value in choices.items():
        page.locator(f"#labels select[name={name}]").select_option(value)
    page.locator("#labels .list-tools").get_by_role("button").click()
    for name, value in choices.items():
        page.wait_for_url(re.compile(rf"[?&]{name}={value}\b"))


def fits(page: Page, photograph: Photograph, name: str = "") -> bool:
    """Whether the page is as wide as its window on a desktop and on a phone. name: of pictures."""
    wide = []
    for screen in (DESKTOP, PHONE):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        wide.append(page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        if name:
            photograph(page, f"{name}-{screen['width']}")
    return not any(wide)


def test_labels_are_found_by_topic_grade_decision_and_status(
    signed_in_page: Signed, photograph: Photograph, campaign: Campaign
) -> None:
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/labels/")
    page.get_by_role("link", name="All labels as a list").click()
    lists(page, "t1 d1", "t1 d2", "t1 d3", "t2 d1", "t2 d2", "t2 d3")
    expect(rows(page).nth(1)).to_contain_text(
        re.compile(r"Wrong\s+lowest grade\s+2\s+2\.25\s+disputed")
    )  # 1.5 to each side of the mean
    expect(rows(page).nth(5)).to_contain_text(re.compile(r"none yet\s+1\s+still to be judged"))
    assert fits(page, photograph, "label-list")
    page.locator("#by-topic").get_by_role("link", name="t2", exact=True).click()
    page.wait_for_url(re.compile(r"topic=t2"))
    lists(page, "t2 d1", "t2 d2", "t2 d3")
    expect(page.locator("#labels .list-tools")).to_contain_text("3 matches.")
    expect(page.locator("#labels select[name=topic]")).to_have_value("t2")
    choose(page, state="disputed")
    lists(page, "t2 d2")
    page.get_by_role("link", name="Show all").click()
    expect(rows(page)).to_have_count(6)
    choose(page, grade="1")
    lists(page, "t1 d3", "t2 d2")
    choose(page, decision="unanimous")
    lists(page, "t1 d3")
    page.get_by_role("link", name="Show all").click()
    expect(rows(page)).to_have_count(6)
    choose(page, state="undecided")
    lists(page, "t2 d3")
    choose(page, grade="0")
    lists(page)
    expect(rows(page)).to_contain_text("No matches.")


def test_one_more_judgement_is_shown_asked_for_and_taken_back(
    signed_in_page: Signed, photograph: Photograph, campaign: Campaign
) -> None:
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/labels/list/?state=disputed")
    page.get_by_label("Choose all pairs of this page").check()
    page.get_by_role("button", name="Ask for one more judgement…").click()
    expect(
        page.get_by_role("heading", name="Request an additional judgement for 2 pairs?")
    ).to_be_visible()
    expect(page.locator("section[aria-labelledby=additional-judgements]")).to_contain_text(
        "Missing judgements: 1 now, 3 afterwards."
    )
    assert fits(page, photograph, "additional-judgements")
    page.get_by_role("link", name="Back", exact=True).click()
    lists(page, "t1 d2", "t2 d2")
    assert not campaign.pairs.filter(asked_more__gt=0).exists()
    page.get_by_label("Choose t1 d2").check()
    page.get_by_role("button", name="Ask for one more judgement…").click()
    page.get_by_role("button", name="Request 1 judgement").click()
    expect(page.locator(".messages, [role=status]").first).to_contain_text(
        "1 additional judgement was requested."
    )
    lists(
        page, "t2 d2"
    )  # the other one waits for its judgement: nobody can say yet that it is disputed
    assert [
        (pair.entry.topic.topic_id, pair.entry.docno)
        for pair in campaign.pairs.filter(asked_more=1)
    ] == [("t1", "d2")]
    choose(page, state="asked")
    expect(rows(page)).to_contain_text("1 more asked for")
    rows(page).get_by_role("link").click()
    expect(page.get_by_text("2 of 3 count")).to_be_visible()
    page.get_by_role("button", name="Take one back…").click()
    page.get_by_role("button", name="Cancel request").click()
    expect(page.get_by_text("1 requested judgement was cancelled.")).to_be_visible()
    assert not campaign.pairs.filter(asked_more__gt=0).exists()


def test_from_the_list_one_adjudicates_pair_after_pair(
    signed_in_page: Signed, photograph: Photograph, campaign: Campaign
) -> None:
    page = signed_in(signed_in_page, campaign)
    page.goto(f"/campaigns/{campaign.slug}/labels/list/?state=disputed")
    first, second = pair_of(campaign, "t1", "d2"), pair_of(campaign, "t2", "d2")
    rows(page).first.get_by_role("link").click()
    page.wait_for_url(f"**/pairs/{first.pk}/?of=labels&state=disputed")
    way = page.get_by_role("navigation", name="Labels")
    expect(way).to_contain_text("1 of 2")
    assert way.get_by_role("link", name="Back").count() == 0
    assert fits(page, photograph, "pair-of-the-list")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/pairs/{second.pk}/?of=labels&state=disputed")
    expect(page.get_by_text("Saved:")).to_be_visible()
    first.refresh_from_db()
    assert first.adjudicated_grade == 2  # the third from the lowest on
    expect(way).to_contain_text("1 of 1")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/pairs/{first.pk}/")
    first.refresh_from_db()
    assert first.adjudicated_grade is None
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/pairs/{second.pk}/")
    page.goto(f"/campaigns/{campaign.slug}/pairs/{second.pk}/?of=labels&state=disputed")
    page.locator("#adjudicate").get_by_role("radio").first.check()
    page.get_by_label("Reason").fill("Nothing of it is said.")
    page.get_by_role("button", name="Adjudicate").click()
    expect(page.get_by_text("Saved:")).to_be_visible()
    second.refresh_from_db()
    assert (second.adjudicated_grade, second.adjudicated_reason) == (0, "Nothing of it is said.")
    way.get_by_role("link", name="The list of labels").click()
    expect(rows(page)).to_contain_text("No matches.")
    choose(page, state="ruled")
    lists(page, "t1 d2", "t2 d2")
    rows(page).last.get_by_role("link").click()
    page.wait_for_url(re.compile(rf"/pairs/{second.pk}/\?of=labels&.*state=ruled"))
    page.keyboard.press("b")
    page.wait_for_url(re.compile(rf"/pairs/{first.pk}/\?of=labels&.*state=ruled"))
    page.get_by_role("button", name="Withdraw the label").click()
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
    page.get_by_role("link", name="Ways to finish on time").click()
    expect(page.locator("section[aria-labelledby=as-it-is]")).to_contain_text(
        "100 judgements missing."
    )
    depth = page.locator("section[aria-labelledby=depths]")
    expect(depth.locator("tbody tr").last).to_contain_text(re.compile(r"rank 8\s+100"))
    assert fits(page, photograph, "planning")

    def pull() -> None:
        depth.get_by_role("button", name="Preview: Stop at rank 6").click()
        shown = page.locator("section[aria-labelledby=pull]")
        expect(shown).to_contain_text(
            "40 fewer judgements. 20 unjudged pairs below it are set aside and can be restored."
        )
        expect(shown).to_contain_text("Then:")

    def stored() -> tuple[int | None, int]:
        """(to which rank, pairs that wait)"""
        known = Campaign.objects.select_related("pool").get(pk=campaign.pk)
        return known.judged_to, known.pairs.filter(beyond_depth=True).count()

    pull()
    assert fits(page, photograph, "planning-option")
    assert stored() == (None, 0)
    page.get_by_role("link", name="Cancel").click()
    assert stored() == (None, 0)
    pull()
    page.get_by_role("button", name="Stop at rank 6", exact=True).click()
    expect(page.get_by_text("Judging now stops at rank 6.")).to_be_visible()
    assert stored() == (6, 20)
    page.goto(f"/campaigns/{campaign.slug}/planning")
    expect(page.locator("section[aria-labelledby=as-it-is]")).to_contain_text(
        "60 judgements missing."
    )
    expect(depth).to_contain_text("Judging stops at rank 6.")
    depth.get_by_role("button", name="Preview: Judge the whole pool").click()
    page.get_by_role("button", name="Judge the whole pool", exact=True).click()
    expect(page.get_by_text("Judging now covers the whole pool.")).to_be_visible()
    assert stored() == (None, 0)
