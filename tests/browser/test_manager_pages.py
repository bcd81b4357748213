"""The manager's pages in Chromium, over a campaign on its second day with eight good annotators, a
random clicker, a speeder, a contrarian and one who confuses Related and Partly answers. Jobs are done by the
installation's own worker."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.chromium import browser_path
from tests.browser.manager_site import N_JUDGEMENTS
from tests.conftest import absent
from tests.installation import Installation

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("manager")]
JOB_MS = 60_000
"""Within which the worker has done a small job, on a busy machine."""
NUMBER = re.compile(r"[-−]?\d+\.\d+")


def value(text: str | None) -> float:
    """A figure as a page writes it, with the typographic minus sign."""
    return float((text or "").strip().replace("−", "-"))


@dataclass
class Manager:
    """The signed-in manager's browser. said: errors and warnings of the console."""

    context: BrowserContext
    given: dict[str, Any]
    said: list[str]

    def open(self, path: str = "") -> Page:
        page = self.context.new_page()
        page.on(
            "console",
            lambda message: self.said.append(message.text)
            if message.type in {"error", "warning"}
            else None,
        )
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())
        answer = page.goto(f"/campaigns/{self.given['slug']}/{path}")
        assert answer is not None
        assert answer.status == 200
        return page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, dict[str, Any]]]:
    if browser_path() is None:
        absent("browser", "no Chromium was found in PATH or at ASSAY_TEST_CHROMIUM")
    with Installation(tmp_path_factory.mktemp("manager"), prepared=True) as installation:
        made = installation.run("from tests.browser.manager_site import prepare; prepare()")
        yield installation, json.loads(made.strip().splitlines()[-1])


@pytest.fixture
def manager(site: tuple[Installation, dict[str, Any]], chromium: Browser) -> Iterator[Manager]:
    installation, given = site
    context = chromium.new_context(
        base_url=installation.url, accept_downloads=True, viewport={"width": 1280, "height": 860}
    )
    context.set_default_timeout(30_000)
    context.add_cookies([{"name": "sessionid", "value": given["session"], "url": installation.url}])
    made = Manager(context, given, [])
    yield made
    context.close()
    assert made.said == []


def tile(page: Page, name: str) -> Locator:
    words = r"\s+".join(
        re.escape(word) for word in name.split()
    )  # a template may break its lines between any two
    return page.locator(".tile").filter(
        has=page.locator("dt", has_text=re.compile(rf"^\s*{words}\s*$"))
    )


def picture(page: Page, caption: str) -> Locator:
    """A figure that is drawn, and has its table behind it."""
    found = page.locator("figure", has_text=caption).first
    expect(found.locator("svg[role=img]").first).to_be_visible()
    assert found.locator("table tr").count() > 1
    return found


def alpha_on(page: Page) -> float:
    """Ordinal alpha on all grades, of the Quality page once it is computed."""
    page.locator("#verdict").wait_for(timeout=JOB_MS)
    return coefficient(page, "Krippendorff's alpha")


def coefficient(page: Page, name: str, column: int = 0) -> float:
    """A coefficient of the Quality page on all grades (column 0) or on two (1)."""
    row = page.locator("tr", has=page.locator("th", has_text=name))
    return value(row.locator("td").nth(column).text_content())


def test_the_overview_says_how_far_when_done_what_needs_the_manager_and_folds_the_rest(
    manager: Manager,
) -> None:
    page = manager.open()
    expect(page.locator(".answer h2")).to_contain_text("% judged")
    expect(tile(page, "Judged")).to_contain_text(f"{manager.given['counted']} of 864")
    expect(tile(page, "Expected finish")).to_contain_text(
        "A forecast needs two working days of judgements."
    )  # it has a day of history
    expect(tile(page, "Active annotators")).to_contain_text("of 12")
    expect(tile(page, "Agreement").locator("dd").first).to_have_text(
        re.compile(r"^\s*0\.\d\d"), timeout=JOB_MS
    )  # nobody reloads
    first = page.locator(".to-do > li").first
    expect(first).to_contain_text(re.compile("grades opposite|only by chance"))
    expect(page.get_by_role("link", name="Invite")).to_be_visible()
    picture(page, "Progress and forecast")
    leases = page.get_by_role("region", name="Assigned pairs").locator("tbody tr")
    expect(leases).to_be_hidden()
    for name in ("Judgements by topic and rank", "Pace", "Pairs", "Being judged now"):
        page.locator(".folds summary", has_text=name).click()
    for caption in (
        "Judgements per half day",
        "Complete pairs by rank",
        "Judgements by topic and rank",
    ):
        picture(page, caption)
    expect(page.locator(".folds")).to_contain_text("One judgement so far")
    expect(leases).to_have_count(1)
    expect(leases).to_contain_text(manager.given["pseudonyms"][0])


def test_the_overview_fits_two_screens_of_a_phone_and_its_chart_opens_on_request(
    manager: Manager,
) -> None:
    page = manager.open()
    page.set_viewport_size({"width": 390, "height": 844})
    folded = page.locator("details.phone-fold")
    expect(folded.locator("figure")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("main").evaluate("main => main.scrollHeight") <= 2 * 844
    page.locator("details.phone-fold > summary").click()
    expect(folded.locator("figure")).to_be_visible()


RAISED = {
    "random": "agreement may be chance",
    "speeder": "fast",
    "contrarian": "against the others",
    "confuser": "confuses Related and Partly answers",
}


def test_people_lists_each_bad_annotator_first_with_the_flag(manager: Manager) -> None:
    page = manager.open("people/")
    expect(page.get_by_role("heading", name="4 of 12 annotators need review.")).to_be_visible()
    rows = page.get_by_role("region", name="Annotators").locator("tbody tr")
    expect(rows).to_have_count(12)
    names = manager.given["names"]
    worst = [row.get_by_role("rowheader").inner_text().split()[0] for row in rows.all()[:4]]
    assert worst[0] == names["contrarian"]
    assert set(worst[1:3]) == {names["random"], names["speeder"]}
    assert worst[3] == names["confuser"]
    expect(rows.nth(3).locator(".flags .badge")).to_have_text(RAISED["confuser"])
    expect(rows.nth(4).locator(".flags .badge")).to_have_count(0)
    page.get_by_role("columnheader", name="Kappa").get_by_role("link").click()
    page.wait_for_url("**sort=kappa*")
    expect(rows.first.get_by_role("rowheader")).to_contain_text(names["contrarian"])
    page.locator("summary", has_text="Charts").click()
    picture(page, "Kappa with the others")
    picture(page, "Grades given by each annotator")


def test_a_panel_shows_one_annotator_after_another_by_keys(manager: Manager) -> None:
    page = manager.open("people/")
    links = page.locator("a[data-annotator]")
    first, second = (link.inner_text() for link in links.all()[:2])
    links.first.click()
    panel = page.locator("#panel aside")
    expect(panel.get_by_role("heading", level=2)).to_contain_text(first)
    expect(panel.locator(".disagreements li")).to_have_count(8)
    expect(page).to_have_url(re.compile(rf"annotator={first}"))
    page.keyboard.press("ArrowDown")
    expect(panel.get_by_role("heading", level=2)).to_contain_text(second)
    panel.get_by_role("button", name="Previous annotator").click()
    expect(panel.get_by_role("heading", level=2)).to_contain_text(first)
    panel.get_by_role("button", name="Message…").click()
    expect(page.get_by_role("heading", name=f"Message to {first}")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_visible()  # it closed the dialog alone
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(links.first).to_be_focused()
    page.goto(page.url.split("?")[0] + f"?annotator={second}")
    expect(panel.get_by_role("heading", level=2)).to_contain_text(second)


def test_actions_for_several_annotators_appear_when_rows_are_ticked(manager: Manager) -> None:
    page = manager.open("people/")
    message = page.get_by_role("button", name="Message…")
    expect(message).to_be_hidden()
    boxes = page.get_by_role("region", name="Annotators").locator("tbody [type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(page.locator("[data-chosen-count]")).to_have_text("2")
    message.click()
    page.get_by_label("Shown on the judging page until it is read").fill("Thank you so far.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("They will see it on the judging page.")).to_be_visible()


def test_the_page_of_a_bad_annotator_has_the_evidence_and_what_it_does_not_prove(
    manager: Manager,
) -> None:
    for kind in RAISED:
        assert_has_evidence(manager, kind, manager.given["names"][kind])


def assert_has_evidence(manager: Manager, kind: str, pseudonym: str) -> None:
    page = manager.open(f"people/{pseudonym}/")
    flag = page.locator(".flag-list li", has_text=re.compile(RAISED[kind], re.IGNORECASE)).first
    assert len(flag.locator("p").inner_text()) > 40
    assert len(flag.locator("p .muted").inner_text()) > 20
    page.locator("summary", has_text="Charts").click()
    picture(page, "Judgements per half day (UTC)")
    picture(page, "Confusion with the others")
    picture(page, "Grades compared with others")
    expect(
        page.get_by_role("region", name="Disagreements").locator("tbody tr").first
    ).to_be_visible()
    for name in ("Message…", "Pause…", "Exclude…"):
        expect(page.get_by_role("button", name=name, exact=True).first).to_be_visible()
    page.get_by_role("button", name="Message…").click()
    expect(page.locator("#message-dialog")).to_be_visible()
    page.keyboard.press("Escape")


def test_agreement_has_every_form_with_its_interval(
    manager: Manager,
) -> None:
    page = manager.open("agreement/")
    assert 0.2 < alpha_on(page) < 0.8
    expect(page.locator(".answer")).to_contain_text(
        "No confidence interval: 8 topics; a confidence interval needs 10"
    )
    worst = page.get_by_role("region", name="By annotator").locator("tbody tr").first
    expect(worst).to_contain_text(manager.given["names"]["contrarian"])
    page.get_by_text("All coefficients").click()
    for column in (0, 1):
        floor = coefficient(page, "Expected by chance", column)
        against_label = coefficient(page, "Kappa with final label", column)
        assert 0.1 < floor < against_label  # the own vote makes it high
        assert coefficient(page, "Kappa with the others", column) < against_label
    page.get_by_text("By topic, document length and guidelines version").click()
    for caption in (
        "Daily ordinal alpha",
        "Confusion between annotators",
        "Alpha by topic",
        "Alpha by document length",
        "Alpha by guideline version",
    ):
        picture(page, caption)
    expect(page.locator("summary", has_text="Overlap")).to_be_visible()


def test_the_first_disputed_pair_is_adjudicated_and_the_label_withdrawn(manager: Manager) -> None:
    page = manager.open("judgements/")
    row = page.get_by_role("region", name="Pairs", exact=True).locator("tbody tr").first
    expect(row).to_contain_text("Not relevant")
    expect(row).to_contain_text("Fully answers")  # the farthest apart
    page.get_by_role("link", name=re.compile("^Adjudicate [0-9]+$")).click()
    page.wait_for_url("**/pairs/**")
    page.locator(".bar-grades label").nth(2).click()
    page.get_by_label("Reason (optional)").fill("It answers a part.")
    page.get_by_role("button", name="Save and next").click()
    expect(page.get_by_text("Saved:")).to_be_visible()
    page.get_by_role("link", name=re.compile("Back$")).click()
    page.get_by_role("button", name="Withdraw label").click()
    expect(page.get_by_text("Your label has been withdrawn")).to_be_visible()


def test_time_shows_active_hours_and_distributions_and_feedback_is_summarised(
    manager: Manager,
) -> None:
    page = manager.open("time/")
    expect(tile(page, "Active")).to_contain_text("h")
    expect(tile(page, "Too fast").locator("dd").first).to_have_text("0")
    assert page.locator("figure svg").count() >= 4
    for figure in page.locator("figure").all():
        assert figure.locator("table tr").count() > 1
    page = manager.open("feedback/")
    picture(page, "(n = 2)")
    expect(page.get_by_text("The keys saved me hours.")).to_be_visible()


def test_gold_shows_who_misses_known_pairs(manager: Manager) -> None:
    page = manager.open("gold/")
    expect(page.get_by_text("1 to 10 of 24, page 1 of 3")).to_be_visible()
    rows = page.get_by_role("region", name="Results per annotator").locator("tbody tr")
    right, judged = Counter[str](), Counter[str]()
    kinds = {pseudonym: kind for kind, pseudonym in manager.given["names"].items()}
    for row in rows.all():
        cells = row.locator("th, td").all_inner_texts()
        kind = kinds.get(cells[0].strip(), "good")
        judged[kind] += int(cells[1])
        right[kind] += int(cells[2].split()[0])
    assert judged["contrarian"] > 0 == right["contrarian"], (
        "3 - grade is never the grade; the other bad ones may have luck with three pairs"
    )
    assert right["good"] / judged["good"] > 0.6  # 9 of 10 in the mean, of more than 20
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("region", name="Control pairs").locator("tbody tr")).to_have_count(10)


def test_judgements_show_decisions_numbers_and_what_the_method_changes(manager: Manager) -> None:
    page = manager.open("judgements/")
    for fold in ("Statistics", "Effect of the aggregation method"):
        page.locator("summary", has_text=fold).click()
    picture(page, "Labels on 4 grades")
    picture(page, "Labels on 2 grades")
    numbers = page.get_by_role("region", name="Campaign statistics")
    expect(
        numbers.get_by_role("row", name=re.compile(f"^Judgements {N_JUDGEMENTS}"))
    ).to_be_visible()
    methods = page.get_by_role("region", name="Methods").locator("tbody tr")
    methods.first.wait_for(timeout=JOB_MS)  # nobody reloads
    for row in methods.all():
        for cell in row.locator("td").all()[1:]:
            assert -1 <= value(cell.inner_text()) <= 1


def test_systems_ranks_the_runs_and_compares_with_clicks(manager: Manager) -> None:
    page = manager.open("systems/")
    page.get_by_role("button", name="Compare with 2 qrels from clicks").click()
    link = page.get_by_role("link", name="Rankings by judgements and by clicks").first
    link.wait_for(timeout=JOB_MS)
    link.click()
    expect(
        page.get_by_role("heading", level=2, name="Rankings by judgements and by clicks")
    ).to_be_visible()
    expect(page.locator("figure svg, .report-figure img, figure img").first).to_be_visible(
        timeout=JOB_MS
    )
    expect(page.get_by_text("assay compare rankings")).to_be_visible()
    page.locator("details.part-files summary").first.click()
    for name in ("CSV", "LaTeX"):
        expect(page.get_by_role("link", name=name).first).to_be_visible()


def test_export_builds_a_release_without_a_reload_and_compares_recipes(
    manager: Manager, tmp_path: Path
) -> None:
    page = manager.open("export/")
    speeder = manager.given["names"]["speeder"]
    for name, without, button in (
        ("without the speeder", speeder, "Save as a recipe only"),
        ("public", "", "Publish release"),
    ):
        form = page.locator("#publish form")
        form.locator("[name=recipe-name]").fill(name)
        if without:
            form.locator("summary").click()
            form.locator("[name=recipe-exclude]").select_option(without)
        form.get_by_role("button", name=button).click()
    page.get_by_role("button", name="Build release anyway").click()  # no licence, no author
    download = page.get_by_role("link", name="Download public")
    download.wait_for(timeout=JOB_MS)  # nobody reloads
    with page.expect_download() as got:
        download.click()
    got.value.save_as(tmp_path / "release.zip")
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        assert {
            "qrels.txt",
            "qrels-binary.txt",
            "judgements.tsv",
            "datasheet.md",
            "SHA256SUMS",
        } <= set(archive.namelist())
        assert b"**Simulated.**" in archive.read("datasheet.md")
    page.get_by_role("button", name="Compare recipes").click()
    rankings = page.get_by_role("region", name="Rankings of systems").locator("tbody tr")
    rankings.first.wait_for(timeout=JOB_MS)  # nobody reloads
    expect(rankings).to_have_count(4)
    for row in rankings.all():
        tau, tau_ap = (value(cell.inner_text()) for cell in row.locator("td.number").all()[:2])
        assert -1 <= tau <= 1
        assert -1 <= tau_ap <= 1
    expect(
        page.get_by_role("region", name="Labels", exact=True).first.locator("tbody tr").first
    ).to_be_visible()


def test_excluding_the_clicker_and_the_speeder_is_previewed_raises_alpha_and_is_in_the_audit_trail(
    manager: Manager,
) -> None:
    page = manager.open("agreement/")
    before = alpha_on(page)
    for kind in ("random", "speeder"):
        pseudonym = manager.given["names"][kind]
        page = manager.open(f"people/{pseudonym}/")
        page.get_by_role("button", name="Exclude…").click()
        reason = page.get_by_label("Reason")
        reason.wait_for(timeout=JOB_MS)
        assert int(tile(page, "Judgements").locator("dd").first.inner_text()) > 40
        expect(tile(page, "Lost labels")).to_contain_text("fewer than two judgements")
        expect(tile(page, "Changed labels").locator("dd").first).not_to_have_text("0")
        for measure in ("nDCG@10", "AP"):
            expect(tile(page, f"tau by {measure}").locator("dd").first).to_have_text(NUMBER)
        reason.fill(f"{kind}: see the flags")
        page.get_by_role("button", name="Exclude", exact=True).click()
        expect(page.get_by_text(f"Excluded {pseudonym}.")).to_be_visible()
        expect(page.get_by_text(f"Reason: {kind}: see the flags")).to_be_visible()
        expect(page.get_by_role("button", name="Include again")).to_be_visible()
    page = manager.open("agreement/")
    anew = page.get_by_role("button", name="Recalculate")
    if anew.is_visible():
        anew.click()
        page.wait_for_load_state()  # not the page before, nor an empty one
    stamp = page.get_by_text("Newer judgements exist.")
    expect(stamp).to_have_count(0, timeout=JOB_MS)
    after = alpha_on(page)
    assert after > before + 0.05
    page = manager.open("audit/")
    excluded = page.get_by_role("row").filter(has_text="excluded an annotator")
    expect(excluded).to_have_count(2)
    expect(excluded.filter(has_text=manager.given["names"]["random"])).to_contain_text(
        "random: see the flags"
    )
