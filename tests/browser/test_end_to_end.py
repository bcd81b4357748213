"""The main job through the real pages of a real installation: files in, topics removed, a pool, a
campaign, two annotators, qrels out.

The files are tests/data/end_to_end. Topic t3 repeats t1 but for case, t4 is `#1 or #2`; the union
of the first two documents of the three runs for the other topics are seven pairs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import PHONE
from tests.installation import Installation

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("from files")]
FILES = Path(__file__).resolve().parents[1] / "data" / "end_to_end"
PASSWORD = "correct horse battery"

TITLES = {
    ("t1", "d1"): "Running with a sore knee",
    ("t1", "d2"): "The runner's knee",
    ("t1", "d3"): "Shoes for every foot",
    ("t1", "d8"): "Marathon results",
    ("t2", "d4"): "Sleeping after a night shift",
    ("t2", "d5"): "Coffee in the office",
    ("t2", "d6"): "Rotating rosters",
}
ADA = {
    ("t1", "d1"): 3,
    ("t1", "d2"): 2,
    ("t1", "d3"): 1,
    ("t1", "d8"): 0,
    ("t2", "d4"): 3,
    ("t2", "d5"): 0,
    ("t2", "d6"): 1,
}
BEA = {
    ("t1", "d1"): 3,
    ("t1", "d2"): 3,
    ("t1", "d3"): 2,
    ("t1", "d8"): 0,
    ("t2", "d4"): 2,
    ("t2", "d5"): 3,
    ("t2", "d6"): 1,
}
# By hand (methods/aggregation.md): equal grades stand; of two different ones, a tie, the lower. On two grades
# each judgement is made relevant or not first (from Partly answers, 2, up): d2 and d4 are relevant for
# both, d3 (1, 2) and d5 (0, 3) are ties again.
QRELS = "t1 0 d1 3\nt1 0 d2 2\nt1 0 d3 1\nt1 0 d8 0\nt2 0 d4 2\nt2 0 d5 0\nt2 0 d6 1\n"
QRELS_BINARY = "t1 0 d1 1\nt1 0 d2 1\nt1 0 d3 0\nt1 0 d8 0\nt2 0 d4 1\nt2 0 d5 0\nt2 0 d6 0\n"


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until the element has the focus, as somebody without a mouse does."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def bring(page: Page, collection: str, kind: str, *names: str) -> None:
    """Uploads files of one kind on the collection's page and waits until the background worker has
    taken them in."""
    page.goto(collection)
    page.locator(".upload .segments label", has_text=kind).click()
    page.set_input_files("#upload-file", [str(FILES / name) for name in names])
    for name in names:
        row = page.locator("section.job", has_text=name)
        row.locator(".badge").filter(has_text=re.compile(r"^\s*(done|to review)\s*$")).wait_for(
            timeout=120_000
        )
        expect(row.locator(".badge")).to_have_text("done")


def judged(page: Page, grades: dict[tuple[str, str], int], press: Callable[[int], None]) -> int:
    """Judges what is shown until there is nothing more. -> how many"""
    of_title = {TITLES[pair]: grade for pair, grade in grades.items()}
    title, panel = page.locator(".doc .doc-title"), page.locator("#panel")
    n = 0
    while True:
        title.or_(panel).filter(visible=True).first.wait_for()
        if panel.is_visible() and panel.get_attribute("data-state") == "card":
            page.get_by_role("button", name="Start").click()
            panel.wait_for(state="hidden")
            continue
        if panel.is_visible():
            expect(panel).to_have_attribute("data-state", re.compile("done|target_reached"))
            return n
        shown = title.inner_text()
        page.wait_for_timeout(1150)  # less than a second is too fast and counts nowhere
        press(of_title[shown])
        n += 1
        page.wait_for_function(
            "before => { const title = document.querySelector('.doc .doc-title');"
            " return (title && title.textContent !== before) || document.querySelector('#panel')?.hidden === false; }",
            arg=shown,
        )


def test_from_files_to_qrels_with_two_annotators(
    assay: Installation, new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    assay.run(f"make_user('mona', may_create=True); assert PASSWORD == {PASSWORD!r}")
    page = new_context(base_url=assay.url, accept_downloads=True).new_page()
    page.on("dialog", lambda dialog: dialog.accept())

    # The manager signs in and brings the files.
    page.goto("/sign-in?next=/collections/new")
    page.get_by_label("Username").fill("mona")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Name", exact=True).fill("Health questions")
    page.get_by_role("button", name="Create collection").click()
    page.wait_for_url("**/collections/health-questions/")
    collection = page.url
    bring(page, collection, "Topics", "topics.tsv")
    bring(page, collection, "Documents", "documents.jsonl")
    bring(page, collection, "Run", "bm25.run", "dense.run", "ensemble.run")

    # The check proposes two topics for removal, with reasons; the manager agrees.
    page.goto(collection + "topics/check")
    rows = page.get_by_role("region", name="Proposals").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="Knee Pain in RUNNERS")).to_contain_text("duplicate")
    expect(rows.filter(has_text="#1 or #2")).to_contain_text("no text")
    for reason in ("Duplicate", "No text"):
        page.locator("form", has_text=re.compile(f"{reason}: 1 to decide")).get_by_role(
            "button", name="Remove"
        ).click()
    page.goto(collection + "topics/?show=removed")
    expect(page.get_by_role("region", name="Topics").locator("tbody tr")).to_have_count(2)

    # Preview, then build.
    page.goto(collection + "pools/new")
    page.get_by_role("spinbutton", name="Depth").fill("2")
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_role("heading", name="A pool of 7 pairs")).to_be_visible(timeout=120_000)
    page.get_by_role("button", name="Build pool").click()
    expect(page.locator(".tile", has_text="Pairs without text").locator("dd").first).to_have_text(
        "0", timeout=120_000
    )
    expect(
        page.locator(".tile")
        .filter(has=page.locator("dt", has_text=re.compile(r"^\s*Pairs\s*$")))
        .locator("dd")
        .first
    ).to_have_text("7")

    # The campaign, step by step.
    page.goto("/campaigns/new")
    page.get_by_label("Name", exact=True).fill("Spring 2026")
    page.get_by_label("Collection", exact=True).select_option(label="Health questions")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Judgements per pair").fill("2")
    page.get_by_role("button", name="Save and continue").click()
    expect(page.locator("#id_form-3-name")).to_have_value("Fully answers")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Guidelines").fill("# Judge the document\n\nNot its *source*.")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_role("button", name="Create link", exact=True).click()
    link = page.locator("[data-copy-text]").get_attribute("data-copy-text") or ""
    assert link.startswith(assay.url + "/join/")
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_role("region", name="Workload")).to_contain_text(
        re.compile(r"Judgements\s+14\b")
    )
    page.get_by_role("button", name="Open campaign").click()
    page.wait_for_url("**/campaigns/spring-2026/")

    # Ada uses nothing but the keyboard.
    ada = new_context().new_page()
    ada.goto(link)
    tab_to(ada, "#id_username")
    ada.keyboard.type("ada")
    tab_to(ada, "#id_password")
    ada.keyboard.type(PASSWORD)
    ada.keyboard.press("Enter")
    ada.locator("#guideline-dialog[open]").wait_for()
    expect(ada.locator("#guideline-new")).to_contain_text("Not its source.")
    tab_to(ada, "#guideline-read")
    ada.keyboard.press("Enter")
    assert judged(ada, ADA, lambda grade: ada.keyboard.press(str(grade + 1))) == 7
    expect(ada.locator("#chip")).to_have_attribute("data-status", "saved")

    # Bea has a telephone.
    bea = new_context(viewport=PHONE, has_touch=True, is_mobile=True).new_page()
    bea.goto(link)
    bea.locator("#id_username").tap()
    bea.keyboard.type("bea")
    bea.locator("#id_password").tap()
    bea.keyboard.type(PASSWORD)
    bea.get_by_role("button", name="Create account and join").tap()
    bea.locator("#guideline-read").tap()
    assert judged(bea, BEA, lambda grade: bea.locator("#grades button").nth(grade).tap()) == 7
    expect(bea.locator("#chip")).to_have_attribute("data-status", "saved")

    # The manager sees that all is done, and takes the qrels.
    page.goto("/campaigns/spring-2026/")
    # Figures are up to five seconds old, and fetched anew every five.
    expect(page.locator(".tile", has_text="Judged").first).to_contain_text("14 of 14")
    expect(page.locator(".folds")).to_contain_text("7 of 7 complete")
    page.goto("/campaigns/spring-2026/export/")
    for name, expected in (("Qrels, all grades", QRELS), ("Qrels, relevant or not", QRELS_BINARY)):
        with page.expect_download() as download:
            page.get_by_role("link", name=re.compile(f"^{name}")).click()
        kept = tmp_path / "downloaded.txt"
        download.value.save_as(kept)
        assert kept.read_bytes().decode() == expected
