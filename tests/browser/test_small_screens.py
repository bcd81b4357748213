"""What a phone shows: legible pictures, and dialogs from their beginning."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.core.audit_actions import AuditAction
from annotation.services.audit import record_event
from annotation.services.campaigns.pairs import set_pair_kind
from pooling.models import Document, Run
from pooling.platform.jobs import run_job
from pooling.services import uploads
from pooling.services.collections import create_collection
from tests.browser.conftest import PHONE, session_cookie
from tests.browser.judging import make_job
from tests.browser.test_pictures import SHOWN
from tests.builders import judge, make_annotator, make_campaign, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("width", [PHONE["width"], 320])
def test_words_in_pictures_have_11_pixels_and_the_page_does_not_scroll_sideways(
    signed_in_page: Callable[..., Page], width: int
) -> None:
    campaign = make_campaign(n_topics=3, n_documents=6, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(12):
        judge(ada, 2)
        judge(bob, 2)
    page = signed_in_page(
        campaign.memberships.get(role="manager").user, viewport={**PHONE, "width": width}
    )
    page.goto(f"/campaigns/{campaign.slug}/")
    page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
    page.locator(".picture > .narrow text").first.wait_for()
    shown = page.evaluate(SHOWN)
    assert len(shown) >= 2
    assert min(one["pixels"] for one in shown) >= 11
    assert max(one["scrolled"] for one in shown) <= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_long_list_is_shortened_on_a_phone_until_the_reader_asks_for_more(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign = make_campaign(n_topics=1, n_documents=1)
    manager = campaign.memberships.get(role="manager").user
    for _ in range(40):
        record_event(campaign, manager, AuditAction.OPENED, campaign.name)
    page = signed_in_page(manager, viewport=PHONE)
    page.goto(f"/campaigns/{campaign.slug}/audit/")
    rows = page.locator("table.card-rows tbody tr")
    assert rows.count() >= 40
    more = page.get_by_role("button", name="Show more")
    expect(more).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") <= 3000
    expect(rows.last).to_be_hidden()
    more.click()
    expect(rows.last).to_be_visible()
    expect(more).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.reload()
    expect(rows.last).to_be_visible()
    expect(more).to_have_count(0)


def test_a_long_document_and_table_are_shortened_and_sorting_shows_the_whole_table(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign = make_campaign(n_topics=1, n_documents=1)
    document = Document.objects.get()
    Document.objects.filter(pk=document.pk).update(text="A long line of text.\n" * 400)
    page = signed_in_page(campaign.memberships.get(role="manager").user, viewport=PHONE)
    page.goto(f"/collections/{campaign.collection.slug}/documents/{document.pk}/")
    assert page.evaluate("document.documentElement.scrollHeight") <= 3000
    page.get_by_role("button", name="Show more").click()
    assert page.evaluate("document.documentElement.scrollHeight") > 3000
    page.evaluate(
        """() => {
      const rows = Array.from({ length: 200 }, (_, i) => `<tr><td>${i}</td></tr>`).join("");
      document.querySelector("main").innerHTML = `<table class="table" data-sortable>
        <thead><tr><th><button>n</button></th></tr></thead><tbody>${rows}</tbody></table>`;
      document.dispatchEvent(new Event("htmx:afterSettle"));
    }"""
    )
    last = page.locator("tbody tr").last
    expect(last).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") <= 3000
    page.get_by_role("button", name="n", exact=True).click()
    expect(last).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_a_list_is_a_card_a_row_on_a_phone_and_still_sorted(
    signed_in_page: Callable[..., Page],
) -> None:
    """A tag stood in two lines and its numbers beside the window."""
    manager = make_user(may_create=True)
    collection = create_collection(name="Questions", user=manager)
    for tag, n_rows in (("TF-IDF_with-query-expansion", 12), ("BM25", 1200)):
        Run.objects.create(
            collection=collection,
            tag=tag,
            group="university of somewhere",
            n_rows=n_rows,
            n_topics=3,
            max_depth=10,
        )
    page = signed_in_page(manager, viewport={**PHONE, "width": 320})
    page.goto(f"/collections/{collection.slug}/runs/")
    wrap = page.get_by_role("region", name="Runs")
    assert wrap.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    title = wrap.get_by_role("link", name="TF-IDF_with-query-expansion")
    assert title.evaluate("e => e.getClientRects().length") == 1, "in one line"
    rows = wrap.locator("tbody [data-label=Rows]")
    expect(rows).to_have_text(["1,200", "12"])  # by tag
    assert rows.first.evaluate("e => getComputedStyle(e, '::before').content") == '"Rows"'
    wrap.get_by_role("link", name="Rows").click()
    wrap.get_by_role("link", name="Rows").click()
    expect(rows).to_have_text(["12", "1,200"])
    page.set_viewport_size({"width": 1280, "height": 800})
    assert rows.first.evaluate("e => getComputedStyle(e, '::before').content") == "none"
    assert (
        wrap.locator("thead th").first.evaluate("e => getComputedStyle(e).display") == "table-cell"
    )


def test_a_picture_wider_than_the_phone_is_scrolled_to_its_end(
    signed_in_page: Callable[..., Page],
) -> None:
    """Kappa without its dot, bars cut off: nothing of a picture is out of reach, by finger or by
    keys."""
    campaign = make_campaign(n_topics=3, n_documents=6, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(12):
        judge(ada, 2)
        judge(bob, 2)
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    page.set_viewport_size(PHONE)
    for address in ("", "people/", "agreement/"):
        page.goto(f"/campaigns/{campaign.slug}/{address}")
        pictures = page.locator(".figure .picture")
        for number in range(pictures.count()):
            picture = pictures.nth(number)
            if not picture.is_visible():
                continue
            picture.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
            over = picture.locator("svg:visible").evaluate(
                "e => e.getBoundingClientRect().right - e.parentElement.getBoundingClientRect().right"
            )
            assert over <= 1, address
            if picture.evaluate("e => e.scrollWidth > e.clientWidth"):
                picture.focus()
                assert picture.evaluate("e => document.activeElement === e"), (
                    f"{address}: not reached by keys"
                )


def test_the_deadline_on_home_is_told_in_the_readers_zone(
    new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    """Not in that of the server, where nobody has chosen one."""
    deadline = timezone.now().replace(year=2030, month=1, day=15, hour=12, minute=0)
    ada = make_annotator(make_campaign(deadline=deadline))
    context = new_context(base_url=live_server.url, timezone_id="Asia/Tokyo", locale="en-GB")
    context.add_cookies([session_cookie(ada.user, live_server.url)])
    page = context.new_page()
    page.goto("/")
    expect(page.locator("time[data-local]")).to_contain_text("21:00")


def test_a_file_that_waits_is_decided_on_a_phone_without_moving_sideways(
    signed_in_page: Callable[..., Page],
) -> None:
    """Its button stood a window's width to the right, and the kinds of files one letter below
    another."""
    manager = make_user(may_create=True)
    collection = create_collection(name="Questions", user=manager)
    topics = ContentFile(
        b"1\twhat helps against a headache\n2\thow long does a cold last\n", name="topics.tsv"
    )
    upload = uploads.store_upload(
        collection, kind="topics", file=topics, name="topics.tsv", user=manager
    )
    job = uploads.request_import(upload, mode="inspect", options={}, user=manager)
    assert job is not None
    run_job(job.pk)
    page = signed_in_page(manager, viewport={**PHONE, "width": 320})
    page.goto(f"/collections/{collection.slug}/")
    button = page.get_by_role("region", name="Files to review").get_by_role(
        "button", name="Import", exact=True
    )
    box = button.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    heights = page.locator("fieldset .segments label").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) == 6
    assert max(heights) <= 40, "each kind in one line"
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_tab_of_the_page_is_in_view_on_a_phone(signed_in_page: Callable[..., Page]) -> None:
    campaign, _ = make_job()
    page = signed_in_page(
        campaign.memberships.get(role="manager").user, viewport={**PHONE, "width": 320}
    )
    for address, name in (("", "Overview"), ("audit/", "Settings"), ("settings/", "Settings")):
        page.goto(f"/campaigns/{campaign.slug}/{address}")
        tab = page.locator(".tabs [aria-current]")
        expect(tab).to_have_text(name)
        expect(tab).to_be_in_viewport(ratio=0.9)  # its line lies over that of all


def test_selected_gold_pairs_are_changed_from_a_bar_and_one_in_a_dialog(
    signed_in_page: Callable[..., Page],
) -> None:
    campaign, _ = make_job()
    pair = campaign.pairs.select_related("entry__topic").order_by("position").first()
    assert pair is not None
    manager = campaign.memberships.get(role="manager").user
    set_pair_kind(pair, "gold", gold_grade=1, explanation="It says so.", actor=manager)
    page = signed_in_page(manager, viewport={"width": 390, "height": 800})
    page.goto(f"/campaigns/{campaign.slug}/gold/")
    wrap = page.locator("#known .table-wrap")
    assert wrap.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    bar = page.locator("#chosen-known")
    expect(bar).to_be_hidden()
    page.get_by_label("Select all pairs on this page").check()
    expect(bar).to_be_in_viewport()
    expect(bar.locator("output")).to_have_text("1")
    page.get_by_role("button", name=re.compile("^Edit ")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Explanation").fill("The last sentence says so.")
    dialog.get_by_role("button", name="Save").click()
    page.wait_for_load_state()
    pair.refresh_from_db()
    assert (pair.kind, pair.gold_grade, pair.gold_explanation) == (
        "gold",
        1,
        "The last sentence says so.",
    )


def test_a_tag_stays_in_one_line_where_numbers_leave_it_no_room(chromium: Browser) -> None:
    """In the table of a study and in that of a report."""
    style = "".join(
        Path("static/css", name).read_text()
        for name in ("tokens.css", "base.css", "components.css", "study.css", "reports.css")
    )
    head = (
        "<thead><tr><th>run</th><th>B</th>"
        + '<th class="number">expected rank</th>' * 6
        + "</tr></thead>"
    )
    row = (
        '<tr><th scope="row"><i>TF-IDF</i></th><td><i>TF-IDF</i></td>'
        + '<td class="number">0.1234567</td>' * 6
        + "</tr>"
    )
    table = f"{head}<tbody>{row}</tbody></table></div>"
    page = chromium.new_page(viewport={"width": 320, "height": 600})
    page.set_content(
        f'<style>{style}</style><div class="study"><div class="scroll"><table>{table}</div>'
    )
    assert page.locator("i").evaluate_all("all => all.map(one => one.getClientRects().length)") == [
        1,
        1,
    ]
    report = table.replace('scope="row"', 'scope="row" class="nowrap"')
    page.set_content(
        f'<style>{style}</style><div class="table-wrap"><table class="table compact" data-sortable>{report}'
    )
    assert page.locator("i").evaluate_all("all => all.map(one => one.getClientRects().length)") == [
        1,
        1,
    ]
    page.close()
