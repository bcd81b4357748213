"""From files to an open campaign in the browser: how many actions it takes, and what the slider
over depths says."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from tests.browser.test_end_to_end import FILES
from tests.builders import PASSWORD
from tests.installation import Installation
from tests.tasks.hands import Hands

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("from files")]
JOB_MS = 60_000
MOST_ACTIONS = 15
NOTES_DOUBLES = """() => {
  window.doubles = [];
  new MutationObserver(() => {
    for (const row of document.querySelectorAll('[data-waits]')) if (document.getElementById(`job-${row.dataset.waits}`)) window.doubles.push(row.textContent);
  }).observe(document, { childList: true, subtree: true });
}"""


def test_from_files_to_an_open_campaign_in_at_most_fifteen_actions(
    assay: Installation, new_context: Callable[..., BrowserContext]
) -> None:
    assay.run(f"make_user('nora', may_create=True); assert PASSWORD == {PASSWORD!r}")
    page = new_context(base_url=assay.url).new_page()
    page.goto("/sign-in?next=/collections/")
    page.get_by_label("Username").fill("nora")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/collections/")
    hands = Hands(page, {})
    hands.click("link", "New collection")
    hands.fill("Name", "Sleep questions")
    hands.click("button", "Create collection")
    page.wait_for_url("**/collections/sleep-questions/")
    page.evaluate(NOTES_DOUBLES)
    asked: list[Route] = []
    page.route(re.compile("was=active"), lambda route: asked.append(route))
    hands.drop(
        *(
            FILES / name
            for name in ("bm25.run", "documents.jsonl", "dense.run", "topics.tsv", "ensemble.run")
        )
    )
    for _ in range(JOB_MS // 100):  # each card is asked for, however late the others come
        page.wait_for_timeout(100)
        if len(asked) == 5:
            break
    assert len(asked) == 5
    page.unroute(re.compile("was=active"))  # which lets them go on
    # Four short texts may be topics or documents: that file waits, and the others are taken in.
    waiting = page.get_by_role("region", name="Files to review").locator("tbody tr")
    expect(waiting).to_have_count(1, timeout=JOB_MS)
    expect(waiting).to_contain_text("topics.tsv")
    expect(
        page.locator("section.job .badge").filter(has_text=re.compile(r"^\s*done\s*$"))
    ).to_have_count(4, timeout=JOB_MS)
    expect(page.locator(".way .done")).to_have_text(
        [re.compile("3 runs"), re.compile("8 documents")]
    )  # without a reload
    assert page.evaluate("window.doubles") == [], (
        "a file that waits has a row or a card, and never both"
    )
    hands.click("button", "Import", within=waiting, exact=True)
    expect(page.locator("section.job .badge")).to_have_text("done", timeout=JOB_MS)
    hands.click("link", "Sleep questions")
    hands.click("button", "Preview pool")
    expect(page.get_by_role("heading", name=re.compile("A pool of"))).to_be_visible(timeout=JOB_MS)

    # The slider says what the table of the server says, and the field follows it.
    slider, says = page.get_by_label("All depths"), page.locator(".depth-slider output")
    page.get_by_text("Depths and runs").click()
    depths = page.get_by_role("region", name="Pairs per depth").locator("tbody tr")
    rows = [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in depths.all()
    ]
    slider.fill("2")
    expect(page.locator("#build-depth")).to_have_value("2")
    expect(says).to_have_text(
        f"Depth 2: {rows[1][1]} pairs, {rows[1][4]} judgements, {rows[1][5]} hours"
    )
    expect(page.get_by_role("heading", name=f"A pool of {rows[1][1]} pairs")).to_be_visible()
    expect(page.locator(".big-numbers [data-figure=hours]")).to_have_text(rows[1][5])
    page.locator("#build-depth").fill("1")
    expect(says).to_contain_text(f"Depth 1: {rows[0][1]} pairs")
    hands.actions += 1  # the depth is chosen

    hands.click("button", "Create campaign")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Sleep questions")
    for _ in range(4):
        with page.expect_navigation():  # the answer: the new campaign, or the same page again
            hands.click("button", "Create campaign")
        if page.get_by_role("button", name="Open campaign").count():
            break
        expect(page.get_by_text("The pool is still being built")).to_be_visible()
        page.wait_for_timeout(2000)
    expect(page.get_by_text("contradict each other")).to_have_count(0)
    hands.click("button", "Open campaign")
    page.wait_for_url("**/campaigns/sleep-questions/")
    expect(page.get_by_text("Campaign opened.")).to_be_visible()
    assert hands.actions <= MOST_ACTIONS, hands.actions
