"""The tasks of managers on the pages of the first version."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.tasks.hands import JOB_MS, Hands
from tests.tasks.managers import CAMPAIGN, FILES, N_DISPUTED, RUNS


def open_campaign(hands: Hands, tab: str = "") -> None:
    hands.click(
        "link",
        CAMPAIGN,
        within=hands.page.get_by_role("region", name="Campaigns you manage"),
        exact=True,
    )
    if tab:
        hands.click(
            "link", tab, within=hands.page.get_by_role("navigation", name="Campaign"), exact=True
        )


def files_to_campaign(hands: Hands) -> None:
    page = hands.page
    hands.click("link", "New collection")
    hands.fill("Name", "Health questions")
    hands.click("button", "Create collection")
    page.wait_for_url("**/collections/health-questions/")
    for kind, names in (
        ("Topics", ("topics.tsv",)),
        ("Documents", ("documents.jsonl",)),
        ("Run", RUNS),
    ):
        hands.touch(page.locator(".upload .segments label", has_text=kind).first)
        hands.drop(*(FILES / name for name in names))
        for name in names:
            expect(page.locator("section.job", has_text=name).locator(".badge")).to_have_text(
                "done", timeout=JOB_MS
            )
    hands.click("link", "Pools", within=page.get_by_role("navigation", name="Collection"))
    hands.click(
        "link",
        re.compile("pool", re.IGNORECASE),
        within=page.locator(".page-head .actions, main .empty, main .button-row"),
    )
    hands.fill("Depth", "2")
    hands.click("button", "Preview", exact=True)
    expect(page.get_by_role("heading", name=re.compile("A pool of"))).to_be_visible(timeout=JOB_MS)
    hands.click("button", "Build pool")
    expect(page.locator(".tile", has_text="Pairs without text").locator("dd").first).to_have_text(
        "0", timeout=JOB_MS
    )
    hands.click("link", "Campaigns", within=page.get_by_role("navigation", name="Main"))
    hands.click("link", "New campaign")
    hands.fill("Name", "Health questions")
    hands.choose(page.get_by_label("Collection"), label="Health questions")
    hands.click("button", "Continue")
    hands.click("link", "Continue")
    for _ in range(4):  # pool, rules, scale, guidelines
        hands.click("button", "Save and continue")
    hands.click("button", "Create link")
    hands.click("link", "Continue")
    hands.click("button", "Open campaign")
    page.wait_for_url("**/campaigns/health-questions/")


def best_system(hands: Hands) -> None:
    """Request two reports: one on the certainty of ranks, and one that compares the best two
    systems."""
    n_tables = 0
    open_campaign(hands, "Systems")
    for title in ("Certainty of the ranks", "Scores of runs"):
        hands.click("link", title)
        hands.click("button", "Compute")
        hands.page.get_by_role("link", name="The whole result as JSON").wait_for(timeout=JOB_MS)
        n_tables += hands.page.locator("main table[data-sortable]").count()
        if title == "Certainty of the ranks":
            hands.click("link", "All reports")
    hands.note = f"{n_tables} tables to read"


def who_needs_me(hands: Hands) -> None:
    open_campaign(hands, "People")
    hands.note = "only flags of annotators; no questions, failed tests or deadline"


def deadline(hands: Hands) -> None:
    open_campaign(hands)


def pause_clicker(hands: Hands) -> None:
    open_campaign(hands, "People")
    hands.click(
        "link", hands.given["fast"], within=hands.page.get_by_role("region", name="Annotators")
    )
    hands.click("button", re.compile("^Pause A"))
    hands.type_into(
        hands.page.locator("#pause-person-text"), "Please read the guidelines on Partial once more."
    )
    hands.click("button", "Pause", within=hands.page.locator("#pause-person"), exact=True)
    expect(
        hands.page.locator("main h2 .badge", has_text=re.compile("paused", re.IGNORECASE)).first
    ).to_be_visible()


def gold_from_file(hands: Hands) -> None:
    """Enter the gold pairs one by one."""
    open_campaign(hands, "Gold")
    for row in hands.given["known"].splitlines():
        topic, _, docno, grade = row.split()
        hands.type_into(hands.page.locator("#q"), docno)
        hands.click("button", "Search")
        form = (
            hands.page.get_by_role("region", name="Found pairs")
            .locator("tr")
            .filter(has=hands.page.locator("form"))
            .first
        )
        hands.choose(form.locator("[name=kind]"), value="gold")
        hands.choose(form.locator("[name=grade]"), value=grade)
        hands.type_into(form.locator("[name=explanation]"), f"Topic {topic}: known.")
        hands.click("button", "Save", within=form)


def disputed(hands: Hands) -> None:
    open_campaign(hands, "Agreement")
    for number in range(N_DISPUTED):
        hands.touch(
            hands.page.get_by_role("region", name="Most disputed pairs")
            .get_by_role("link", name="Adjudicate")
            .nth(number)
        )
        hands.touch(hands.page.locator("form [name=grade]").nth(2))
        hands.click("button", "Adjudicate")
        hands.see("Your label stands")
        if number < N_DISPUTED - 1:
            hands.click(
                "link",
                "Agreement",
                within=hands.page.get_by_role("navigation", name="Campaign"),
                exact=True,
            )


def another_recipe(hands: Hands) -> None:
    """Compare two recipes. The task ends at the table of labels, because no label links to its
    pair."""
    open_campaign(hands, "Export")
    hands.click("button", "Show what differs")
    expect(
        hands.page.get_by_role("region", name="How both rank the systems").locator("tbody tr").first
    ).to_be_visible(timeout=JOB_MS)
    hands.note = "no link from a changed label to its pair"


def picture_for_the_paper(hands: Hands) -> None:
    open_campaign(hands, "Systems")
    hands.click("link", "Certainty of the ranks")
    hands.click("button", "Compute")
    link = hands.page.get_by_role("link", name="SVG").first
    link.wait_for(timeout=JOB_MS)
    hands.take(link)


def show_a_colleague(hands: Hands) -> None:
    open_campaign(hands, "Settings")
    hands.click(
        "link", re.compile("People"), within=hands.page.get_by_role("navigation", name="Steps")
    )


def pay(hands: Hands) -> None:
    open_campaign(hands, "People")
