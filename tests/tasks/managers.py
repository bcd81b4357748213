"""The tasks of managers on the current pages."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.tasks.hands import JOB_MS, Hands
from tests.tasks.site import N_DOUBLES, N_KNOWN

FILES = Path(__file__).resolve().parents[1] / "data" / "end_to_end"
RUNS = ("bm25.run", "dense.run", "ensemble.run")
CAMPAIGN = "Python documentation"
N_DISPUTED = 5


def open_campaign(hands: Hands, tab: str = "") -> None:
    """Open the campaign from Home."""
    hands.click(
        "link", CAMPAIGN, within=hands.page.locator("main .campaign-rows, main td"), exact=True
    )
    if tab:
        hands.click(
            "link", tab, within=hands.page.get_by_role("navigation", name="Campaign"), exact=True
        )


def open_page(hands: Hands, name: str) -> None:
    """Open a page from the navigation of the current campaign or collection."""
    hands.click("link", name, within=hands.page.get_by_role("navigation", name="Pages"), exact=True)


def files_to_campaign(hands: Hands) -> None:
    page = hands.page
    hands.click("link", "New collection")
    hands.fill("Name", "Health questions")
    hands.click("button", "Create collection")
    page.wait_for_url("**/collections/health-questions/")
    hands.drop(*(FILES / name for name in ("documents.jsonl", "topics.tsv", *RUNS)))
    waiting = page.get_by_role("region", name="Files to review").locator("tbody tr")
    expect(waiting).to_have_count(1, timeout=JOB_MS)  # four short texts: topics or documents?
    expect(
        page.locator("section.job .badge").filter(has_text=re.compile(r"^\s*done\s*$"))
    ).to_have_count(4, timeout=JOB_MS)
    hands.click("button", "Import", within=waiting, exact=True)
    expect(page.locator("section.job .badge")).to_have_text("done", timeout=JOB_MS)
    hands.click("link", "Health questions")
    hands.click("button", "Preview pool")
    expect(page.get_by_role("heading", name=re.compile("A pool of"))).to_be_visible(timeout=JOB_MS)
    hands.type_into(page.locator("#build-depth"), "2")
    hands.click("button", "Create campaign")
    for _ in range(4):
        with page.expect_navigation():  # the response: the new campaign, or the same page again
            hands.click("button", "Create campaign")
        if page.get_by_role("button", name="Open campaign").count():
            break
        expect(page.get_by_text("The pool is still being built")).to_be_visible()
        page.wait_for_timeout(2000)
    hands.click("button", "Open campaign")
    hands.see("Campaign opened.")


def best_system(hands: Hands) -> None:
    open_campaign(hands, "Results")
    hands.see(re.compile("leads by nDCG@10|no system leads", re.IGNORECASE))


def who_needs_me(hands: Hands) -> None:
    expect(hands.page.get_by_role("heading", name="Needs you")).to_be_visible()


def deadline(hands: Hands) -> None:
    open_campaign(hands)
    hands.click("link", "Planning options")
    hands.touch(hands.page.get_by_role("button", name=re.compile("^Preview")).first)
    hands.see("Effect:")


def pause_clicker(hands: Hands) -> None:
    open_campaign(hands, "People")
    hands.click("checkbox", f"Select {hands.given['fast']}")
    hands.touch(hands.page.locator("#chosen-people").get_by_role("button", name="Pause…"))
    hands.type_into(
        hands.page.locator("#pause-chosen-text"),
        "Please read the guidelines on Partly answers once more.",
    )
    hands.touch(hands.page.locator("#pause-chosen").get_by_role("button", name="Pause"))
    expect(
        hands.page.locator("tr", has_text=hands.given["fast"])
        .get_by_text("paused", exact=False)
        .first
    ).to_be_visible()


def gold_from_file(hands: Hands) -> None:
    open_campaign(hands, "Quality")
    open_page(hands, "Gold questions")
    hands.drop_text(hands.given["known"], "known.qrels", on="[name=known_file]")
    hands.click("button", "Add questions")
    expect(
        hands.page.get_by_role("region", name="Control pairs").locator("tbody tr")
    ).to_have_count(N_KNOWN)


def disputed(hands: Hands) -> None:
    open_campaign(hands, "Judgements")
    hands.click("link", re.compile("^Adjudicate [0-9]"))
    hands.page.wait_for_url("**/pairs/**")
    for _number in range(N_DISPUTED):
        hands.key("3")
        address = hands.page.url
        hands.key("Enter")
        hands.page.wait_for_function(
            "address => location.href !== address && document.readyState === 'complete'",
            arg=address,
        )
        hands.see("Saved:")


def another_recipe(hands: Hands) -> None:
    open_campaign(hands, "Export")
    hands.click("button", "Compare recipes")
    expect(
        hands.page.get_by_role("region", name="Rankings of systems").locator("tbody tr").first
    ).to_be_visible(timeout=JOB_MS)
    hands.touch(
        hands.page.get_by_role("region", name="Labels", exact=True)
        .first.locator("tbody")
        .get_by_role("link")
        .first
    )
    hands.see("Grades so far")


def picture_for_the_paper(hands: Hands) -> None:
    open_campaign(hands, "Results")
    figure = hands.page.locator("figure").filter(has=hands.page.locator("svg[role=img]")).first
    figure.wait_for(timeout=JOB_MS)
    hands.touch(figure.locator(".part-files summary"))
    link = figure.get_by_role("link", name=re.compile("^SVG"))
    assert hands.take(link).suggested_filename.endswith(".svg")


def show_a_colleague(hands: Hands) -> None:
    open_campaign(hands, "People")
    open_page(hands, "Invitations")
    hands.click("link", "Results access")
    hands.type_into(hands.page.locator("#id_name"), "Steering group")
    hands.click("button", "Create link")
    expect(hands.page.locator(".callout.good code")).to_contain_text("/results/")


def pay(hands: Hands) -> None:
    open_campaign(hands, "People")
    hands.click("button", "Hours and payment…")
    hands.fill("Rate", "18")
    assert hands.take(hands.one("button", "Download payment.csv")).suggested_filename.endswith(
        ".csv"
    )


def remove_doubles(hands: Hands) -> None:
    hands.click("link", "Topics", within=hands.page.get_by_role("navigation", name="Collection"))
    open_page(hands, "Topic check")
    if not hands.page.get_by_text(re.compile(r"Duplicate: \d")).count():
        hands.click("button", "Check again")
    hands.click("button", f"Remove all {N_DOUBLES}")
    expect(hands.page.locator(".tile", has_text="Removed").locator("dd").first).to_have_text(
        str(N_DOUBLES), timeout=JOB_MS
    )
