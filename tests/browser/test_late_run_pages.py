"""A manager settles a late run on the pages: one click makes the campaign, and the report closes
itself; a sampled pool takes the run as strata."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from analysis.systems import top_ups
from annotation.models import Campaign
from pooling.models import Pool
from tests.analysis.publishing.test_sampled_campaigns import (
    TOPICS,
    judge_stage,
    make_collection_with_runs,
    make_sampled,
)
from tests.analysis.systems.builders import small_collection
from tests.analysis.systems.test_late_run_report import asked
from tests.analysis.systems.test_top_ups import finished, judged, opened
from tests.browser.test_sampled_pool_pages import do_waiting
from tests.pooling.conftest import bring_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_one_click_on_the_report_makes_the_campaign_that_closes_it(
    settings, tmp_path: Path, signed_in_page, photograph
):
    settings.MEDIA_ROOT = tmp_path / "files"
    collection = small_collection()
    report = finished(asked(collection, unpooled_run="sys.3", judge=8))
    page = signed_in_page(collection.managers.get())
    page.goto(reverse("report", args=[report.pk]))
    expect(page.get_by_label("Pairs", exact=True)).to_have_value("8")
    photograph(page, "late-run-open")
    page.get_by_label("Pairs", exact=True).fill(str(len(report.result["order"])))
    page.get_by_role("button", name="Create top-up campaign").click()
    expect(page.get_by_text("Check its settings, invite people and open it.")).to_be_visible()
    campaign = Campaign.objects.get()
    page.goto(reverse("report", args=[report.pk]))
    expect(page.get_by_text("Top-up campaign:")).to_be_visible()
    photograph(page, "late-run-judged")
    judged(opened(campaign))
    top_ups.request_follow_up_reports()
    do_waiting()
    page.reload()
    expect(page.get_by_text("No more judgements are needed.")).to_be_visible()
    photograph(page, "late-run-closed")
    page.get_by_role("link", name="Score bounds before and after").click()
    expect(page.get_by_role("heading", name="Effect of the top-up")).to_be_visible()
    photograph(page, "late-run-then-and-now")


def test_a_late_run_comes_to_a_sampled_pool(settings, tmp_path: Path, signed_in_page, photograph):
    settings.MEDIA_ROOT = tmp_path / "files"
    collection = make_collection_with_runs()
    campaign = make_sampled(collection)
    judge_stage(campaign, 1)
    lines = (
        f"{topic} Q0 new{topic}-{k:02d} {k} {900 - k} C\n" for topic in TOPICS for k in range(1, 13)
    )
    assert bring_in(collection, "run", "".join(lines), name="C.run").state == "done"
    page = signed_in_page(User.objects.get(username="owner"))
    page.goto(reverse("pool", args=[collection.slug, campaign.pool_id]))
    expect(page.get_by_role("heading", name="Add unpooled runs")).to_be_visible()
    expect(page.get_by_role("heading", name="Draw another stage")).to_be_visible()
    photograph(page, "sampled-late-runs")
    page.get_by_role("group", name="Unpooled runs").get_by_label("C").check()
    page.get_by_role("button", name="Preview extension").click()
    do_waiting()
    page.reload()
    expect(page.get_by_text("would be drawn in a separate stage")).to_be_visible()
    photograph(page, "sampled-late-preview")
    page.get_by_role("button", name="Extend pool").click()
    do_waiting()
    assert len(Pool.objects.get(pk=campaign.pool_id).parameters["stages"]) == 3
