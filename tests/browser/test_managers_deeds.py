"""What a manager does to names, topics, campaigns and files, and takes back; and who reads the
results by a link. By touch on a phone, and within reach on a desktop."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import BrowserContext, Locator, Page, expect

from annotation.models import Campaign
from pooling.models import Collection, Pool
from pooling.services import pools
from pooling.services.collections import create_collection
from tests.browser.conftest import DESKTOP, PHONE
from tests.builders import judge, make_annotator, make_campaign, make_user
from tests.pooling.conftest import DOCUMENTS, RUN_A, RUN_B, TOPICS, bring_in, run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHONE_IN_HAND: dict[str, Any] = {"viewport": PHONE, "has_touch": True}


class Hands:
    """A manager's, on glass; what they press is in reach of a mouse on a desktop as well, and both
    windows hold the page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def at(self, address: str) -> None:
        self.page.goto(address)
        assert self.fits()

    def fits(self) -> bool:
        wide = []
        for screen in (DESKTOP, PHONE):
            self.page.set_viewport_size(screen)  # type: ignore[arg-type]
            wide.append(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        return not any(wide)

    def press(self, what: str | Locator, *, role: Any = "button") -> None:
        one = self.page.get_by_role(role, name=what, exact=True) if isinstance(what, str) else what
        self.page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
        one.click(trial=True)
        self.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        one.tap()

    def told(self, words: str) -> None:
        expect(self.page.locator(".messages").get_by_text(words)).to_be_visible()
        assert self.fits()


@pytest.fixture
def collection(settings: Any, tmp_path: Path) -> Collection:
    """Topics 051, 7 (the same text) and 8 (no word), two runs A and B, their texts, and a pool of
    depth 2 of both: a, b and d of topic 051, x of 7."""
    settings.MEDIA_ROOT = tmp_path / "files"
    manager = make_user(may_create=True)
    made = create_collection(name="Small", user=manager)
    files = [
        ("topics", TOPICS, "topics.tsv"),
        ("run", RUN_A, "a.run"),
        ("run", RUN_B, "b.run"),
        ("documents", DOCUMENTS, "docs.jsonl"),
    ]
    for kind, content, name in files:
        assert bring_in(made, kind, content, name=name, user=manager).state == "done"
    assert (
        run(
            pools.request_pool(
                made, runs=list(made.runs.all()), depth=2, name="First", user=manager
            )
        ).state
        == "done"
    )
    return made


def manager_of(thing: Collection | Campaign) -> User:
    if isinstance(thing, Collection):
        return thing.managers.get()
    return thing.memberships.get(role="manager").user


def test_runs_and_pools_have_other_names_also_after_pooling(
    signed_in_page: Callable[..., Page], collection: Collection
) -> None:
    page = signed_in_page(manager_of(collection), **PHONE_IN_HAND)
    hands, pool, first = Hands(page), collection.pools.get(), collection.runs.get(tag="A")
    hands.at(f"/collections/{collection.slug}/runs/{first.pk}/")
    expect(page.get_by_text("finished reports and releases keep the old one")).to_be_visible()
    page.get_by_label("Tag").fill("B")
    hands.press("Rename")
    hands.told("A run with the tag B already exists")
    expect(page.get_by_role("heading", name="A", exact=True)).to_be_visible()
    page.get_by_label("Tag").fill("dense retrieval")
    hands.press("Rename")
    hands.told("Renamed the run to dense retrieval.")
    expect(page.get_by_role("heading", name="dense retrieval", exact=True)).to_be_visible()
    hands.press("First", role="link")
    page.wait_for_url(f"**/pools/{pool.pk}/")
    expect(page.get_by_role("link", name="dense retrieval", exact=True).first).to_be_visible()
    with page.expect_download() as got:
        hands.press("Download pool", role="link")
    rows = Path(got.value.path()).read_text()
    assert re.search(r"\ta\t.*dense retrieval:1", rows), rows
    assert "A:1" not in rows
    page.get_by_label("Name", exact=True).fill("Spring pool")
    hands.press("Rename")
    expect(page.get_by_role("heading", name="Spring pool", exact=True)).to_be_visible()
    assert Pool.objects.get().name == "Spring pool"


def test_decisions_of_the_topic_check_and_of_the_list_are_taken_back(
    signed_in_page: Callable[..., Page], collection: Collection
) -> None:
    page = signed_in_page(manager_of(collection), **PHONE_IN_HAND)
    hands = Hands(page)

    def removed() -> list[str]:
        return list(
            collection.topics.exclude(removed_reason="")
            .order_by("position")
            .values_list("topic_id", flat=True)
        )

    hands.at(f"/collections/{collection.slug}/topics/check")
    expect(page.locator(".tile", has_text="To decide").locator("dd")).to_have_text("2")
    assert page.get_by_role("button", name="Undo last decision").count() == 0
    hands.press(page.get_by_role("button", name="Remove all 1").first)
    hands.told("Decisions saved: 1 topic.")
    assert len(removed()) == 1
    hands.press("Undo last decision")
    hands.told("Decisions undone: 1 topic.")
    assert removed() == []
    expect(page.locator(".tile", has_text="To decide").locator("dd")).to_have_text("2")
    assert page.get_by_role("button", name="Undo last decision").count() == 0  # once
    hands.press(page.get_by_role("group", name="Topic 8").get_by_text("Remove"))
    hands.press(page.get_by_role("group", name="Topic 7").get_by_text("Keep"))
    hands.press("Save decisions")
    hands.told("Decisions saved: 2 topics.")
    assert removed() == ["8"]
    hands.press("Undo last decision")
    hands.told("Decisions undone: 2 topics.")
    assert (removed(), collection.topics.filter(decided_at=None).count()) == ([], 3)

    hands.at(f"/collections/{collection.slug}/topics/")
    for topic in ("051", "8"):
        hands.press(page.get_by_label(f"Select topic {topic}"))
    page.get_by_label("Reason for removal").fill("too hard")
    hands.press("Remove selected")
    hands.told("Removed 2 topics.")
    assert removed() == ["051", "8"]
    expect(page.get_by_text("removed: too hard")).to_have_count(2)
    hands.press("Undo last change")
    hands.told("Decisions undone: 2 topics.")
    assert removed() == []


def test_what_goes_with_a_pool_or_a_run_is_shown_before_it_is_deleted(
    signed_in_page: Callable[..., Page], collection: Collection
) -> None:
    page = signed_in_page(manager_of(collection), **PHONE_IN_HAND)
    hands, pool, first = Hands(page), collection.pools.get(), collection.runs.get(tag="A")
    hands.at(f"/collections/{collection.slug}/runs/{first.pk}/")
    hands.press("Delete run…", role="link")
    expect(page.get_by_role("heading", name="Delete the run A?")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text(
        "1 pool was created from it. Delete it first."
    )
    assert page.get_by_role("button", name=re.compile("^Delete")).count() == 0
    hands.at(f"/collections/{collection.slug}/pools/{pool.pk}/")
    for last in (False, True):
        hands.press("Delete pool…", role="link")
        expect(page.get_by_role("heading", name="Delete the pool First?")).to_be_visible()
        expect(page.locator("main")).to_contain_text("4 pairs")
        expect(page.locator("main")).to_contain_text(
            "You can build the same pool again with the same runs, depth and seed."
        )
        assert hands.fits()
        if last:
            hands.press("Delete the pool First")
            break
        hands.press("Cancel", role="link")
        page.wait_for_url(f"**/collections/{collection.slug}/")
        hands.at(f"/collections/{collection.slug}/pools/{pool.pk}/")
    expect(page.locator(".messages")).to_contain_text("First")
    assert not collection.pools.exists()
    hands.at(f"/collections/{collection.slug}/runs/{first.pk}/")
    hands.press("Delete run…", role="link")
    hands.press("Delete the run A")
    hands.told("Deleted the run A.")
    assert list(collection.runs.values_list("tag", flat=True)) == ["B"]


def test_a_campaign_is_duplicated_without_its_judgements(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign = make_campaign(
        name="Spring", n_topics=1, n_documents=3, judgements_per_pair=2, guideline="# Read it whole"
    )
    ada = make_annotator(campaign, "ada")
    judge(ada, 2)
    page = signed_in_page(manager_of(campaign), **PHONE_IN_HAND)
    hands = Hands(page)
    hands.at(f"/campaigns/{campaign.slug}/settings/open/")
    expect(page.get_by_label("Name of the copy")).to_have_value("Spring (copy)")
    page.get_by_label("Name of the copy").fill("Autumn")
    hands.press(page.get_by_label("Copy active annotators"))
    hands.press("Duplicate")
    hands.told("Created the draft Autumn with the settings of Spring.")
    copy = Campaign.objects.get(name="Autumn")
    page.wait_for_url(f"**/campaigns/{copy.slug}/")
    expect(page.get_by_role("button", name="Open campaign")).to_be_visible()
    assert (copy.state, copy.pool_id, copy.judgements_per_pair) == ("draft", campaign.pool_id, 2)
    newest = copy.guidelines.order_by("number").last()
    assert newest is not None
    assert newest.text == "# Read it whole"
    assert [one.user for one in copy.memberships.filter(role="annotator")] == [ada.user]
    assert (
        campaign.memberships.get(pk=ada.pk).judgements.count(),
        copy.pairs.filter(judgements__isnull=False).count(),
    ) == (1, 0)


def test_the_results_are_read_by_a_link_until_it_is_revoked(
    signed_in_page: Callable[..., Page], new_context: Callable[..., BrowserContext]
) -> None:
    campaign = make_campaign(name="Spring", n_topics=2, n_documents=3, judgements_per_pair=2)
    ada, bob = make_annotator(campaign, "ada"), make_annotator(campaign, "bob")
    for _ in range(6):
        judge(ada, 2)
        judge(bob, 2)
    page = signed_in_page(manager_of(campaign), **PHONE_IN_HAND)
    hands = Hands(page)
    hands.at(f"/campaigns/{campaign.slug}/readers/")
    page.get_by_label("Recipient").fill("Steering group")
    hands.press("Create link")
    address = page.locator(".callout.good code").inner_text()
    assert hands.fits()

    guest = new_context(**PHONE_IN_HAND).new_page()  # who has no account
    reading = Hands(guest)
    reading.at(address)
    expect(guest.get_by_role("heading", name=re.compile("Spring"))).to_be_visible()
    expect(guest.get_by_text("Anyone with this link can read")).to_be_visible()
    for part in ("Agreement", "Labels", "Systems", "Progress"):
        tabs = guest.get_by_role("navigation", name="Results")
        reading.press(tabs.get_by_role("link", name=part, exact=True))
        expect(tabs.locator("[aria-current]")).to_have_text(part)
        assert reading.fits(), part
        assert guest.locator("main form[method=post]").count() == 0, part
        words = guest.content()
        assert not [
            said
            for said in ("ada", "bob", ada.pseudonym, bob.pseudonym)
            if re.search(rf"\b{re.escape(said)}\b", words)
        ], part

    page.on("dialog", lambda dialog: dialog.accept())
    hands.press("Revoke the link for Steering group")
    hands.told("Link revoked")
    answer = guest.goto(address)
    assert answer is not None
    assert answer.status == 410
    expect(guest.locator("main")).to_contain_text("was revoked")
    expect(guest.locator("main")).not_to_contain_text("Spring")
    assert reading.fits()


def test_hours_and_payment_are_taken_along_as_a_file(signed_in_page: Callable[..., Page]) -> None:
    """Ada: three answers of 20 minutes; at 18 an hour that is 18. Bob has judged nothing."""
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=2)
    ada, bob = make_annotator(campaign, "ada"), make_annotator(campaign, "bob")
    for _ in range(3):
        judge(ada, 1, now=timezone.now() - timedelta(hours=2))
    ada.judgements.update(active_ms=20 * 60_000)
    page = signed_in_page(manager_of(campaign), **PHONE_IN_HAND)
    hands = Hands(page)
    hands.at(f"/campaigns/{campaign.slug}/people/")
    hands.press("Hours and payment…")
    page.get_by_label("Rate").fill("18")
    page.get_by_label("per", exact=True).select_option("hour")
    with page.expect_download() as got:
        hands.press("Download payment.csv")
    assert got.value.suggested_filename == f"{campaign.slug}-payment.csv"
    rows = {
        row["annotator"]: row
        for row in csv.DictReader(io.StringIO(Path(got.value.path()).read_text()))
    }
    paid = {
        name: (row["judgements"], row["active_hours"], row["amount"]) for name, row in rows.items()
    }
    assert paid == {ada.pseudonym: ("3", "1.0000", "18.00"), bob.pseudonym: ("0", "0.0000", "0.00")}
