"""A manager draws a sampled pool on the pages: the form, the preview with what half of it answers,
the pool with its stages, Systems."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from pooling.models import Job, Pool
from tests.analysis.judgements.test_interim_checks import make_judged
from tests.analysis.publishing.test_sampled_campaigns import (
    judge_stage,
    make_collection_with_runs,
    make_sampled,
)
from tests.pooling.conftest import run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def collection(settings, tmp_path: Path):
    settings.MEDIA_ROOT = tmp_path / "files"
    return make_collection_with_runs()


def do_waiting() -> None:
    """What the worker would do."""
    for job in Job.objects.filter(state="queued").order_by("pk"):
        assert run(job).state == "done", job.message


def test_a_pool_is_sampled_previewed_built_and_drawn_on(collection, signed_in_page, photograph):
    page = signed_in_page(User.objects.get(username="owner"))
    page.goto(reverse("collection-pool-new", args=[collection.slug]))
    page.get_by_label("Random sample: pairs drawn").check()
    page.get_by_role("spinbutton", name="Depth").fill("40")
    page.get_by_label("Sampling stages").fill("20 40")
    photograph(page, "pool-sampled-form")
    page.get_by_role("button", name="Preview", exact=True).click()
    do_waiting()
    page.reload()
    expect(page.get_by_role("group", name="Choose how pairs are selected")).to_be_visible()
    page.get_by_role("article").last.get_by_text("Why?").click()
    expect(page.get_by_text("1 of 2 stages are complete")).to_be_visible()
    photograph(page, "pool-sampled-preview")
    page.get_by_role("button", name="Build pool").click()
    do_waiting()
    page.reload()
    pool = Pool.objects.get()
    assert (pool.kind, pool.parameters) == ("sampled", {"strata": "rank", "stages": [0.2, 0.4]})
    expect(page.get_by_role("heading", name="Stages", exact=True)).to_be_visible()
    photograph(page, "pool-sampled")
    page.get_by_label("Target share (% of the pool)").fill("60")
    page.get_by_role("button", name="Draw stage").click()
    do_waiting()
    page.reload()
    expect(page.get_by_role("region", name="Stages").get_by_role("row")).to_have_count(4)


def test_a_pool_is_ordered_previewed_built_and_its_next_batch_planned(
    collection, signed_in_page, photograph
):
    page = signed_in_page(User.objects.get(username="owner"))
    page.goto(reverse("collection-pool-new", args=[collection.slug]))
    page.get_by_label("Most likely relevant first: batches").check()
    page.get_by_role("spinbutton", name="Depth").fill("40")
    expect(page.get_by_label("Sampling stages")).to_be_hidden()
    page.get_by_label("Batch goal").select_option("equal")
    page.get_by_label("Pairs per batch").fill("20")
    page.get_by_label("Audit sample").fill("15")
    photograph(page, "pool-ordered-form")
    page.get_by_role("button", name="Preview", exact=True).click()
    do_waiting()
    page.reload()
    why = page.get_by_role("article").filter(has_text="Most likely relevant first")
    why.get_by_text("Why?").click()
    expect(page.get_by_text("about half more relevant documents for the same work")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(3)
    photograph(page, "pool-ordered-preview")
    page.get_by_role("button", name="Build pool").click()
    do_waiting()
    page.reload()
    pool = Pool.objects.get()
    assert (pool.kind, pool.parameters) == (
        "ordered",
        {"goal": "equal", "batch": 20, "audit": 0.15},
    )
    expect(page.get_by_role("region", name="Batches").get_by_role("row")).to_have_count(2)
    page.get_by_role("button", name="Plan next batch").click()
    do_waiting()
    page.reload()
    expect(page.get_by_role("region", name="Batches").get_by_role("row")).to_have_count(3)
    photograph(page, "pool-ordered")


def test_systems_says_that_scores_are_estimates(collection, signed_in_page, photograph):
    campaign = make_sampled(collection)
    judge_stage(campaign, 1)
    page = signed_in_page(User.objects.get(username="owner"))
    page.goto(reverse("campaign-systems", args=[campaign.slug]))
    expect(page.get_by_text("1 of 2 stages are complete")).to_be_visible()
    photograph(page, "systems-sampled")


def test_results_show_an_interim_check_whether_judging_may_stop(
    settings, tmp_path, signed_in_page, photograph
):
    campaign = make_judged(settings, tmp_path)
    page = signed_in_page(User.objects.get(username="owner"))
    page.goto(reverse("campaign-systems", args=[campaign.slug]))
    page.get_by_role("button", name="Run interim check").click()
    expect(page.get_by_text("An interim check is running")).to_be_visible()
    do_waiting()
    page.goto(reverse("campaign-systems", args=[campaign.slug]))
    page.get_by_role("region", name="Can we stop judging?").get_by_text("Details").click()
    expect(page.get_by_text("audit pairs, about")).to_be_visible()
    expect(page.get_by_text("Interim check 1 of at most 10")).to_be_visible()
    photograph(page, "systems-stopping")
