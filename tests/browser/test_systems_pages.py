"""The page Systems in Chromium: the answer comes by itself, another measure is one press away, and
a phone shows all of it."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from pooling.models import Job
from pooling.platform.jobs import run_job
from tests.analysis.systems.builders import small_campaign, small_collection
from tests.browser.conftest import PHONE
from tests.browser.test_pictures import SHOWN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def campaign(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return small_campaign(small_collection())


def work_off_all() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        run_job(job.pk)


def test_the_answer_appears_when_it_is_computed_and_the_measure_is_switched(
    campaign, signed_in_page, photograph
):
    page = signed_in_page(campaign.created_by)
    page.goto(reverse("campaign-systems", args=[campaign.slug]))
    expect(page.get_by_text("The answer is being computed")).to_be_visible()
    work_off_all()
    expect(page.get_by_text("sys.1 leads by nDCG@10")).to_be_visible()  # the page asks by itself
    expect(page.locator("#figures .picture:visible")).to_have_count(1)
    heads = page.locator("main h2").all_inner_texts()
    assert heads.index("More analyses") > next(
        place for place, words in enumerate(heads) if "(Holm correction)" in words
    )
    photograph(page, "systems-answer")
    page.get_by_role("navigation", name="Measure").get_by_role("link", name="AP", exact=True).press(
        "Enter"
    )
    expect(page.get_by_text("The answer is being computed")).to_be_visible()
    work_off_all()
    expect(page.get_by_text("leads by AP")).to_be_visible()
    page.get_by_text("Other…").click()
    page.get_by_label("Another measure").fill("P@5000x")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown measure", ignore_case=True)


def test_a_phone_shows_the_answer_without_moving_sideways(campaign, signed_in_page):
    page = signed_in_page(campaign.created_by, viewport={**PHONE, "width": 320})
    page.goto(reverse("campaign-systems", args=[campaign.slug]))
    work_off_all()
    expect(page.get_by_text("sys.1 leads by nDCG@10")).to_be_visible()
    page.get_by_text("Significance tests, scores and ranks").click()
    expect(page.locator("#figures .picture:visible")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    shown = page.evaluate(SHOWN)
    assert [one["form"] for one in shown] == ["narrow"] * 3
    assert [one for one in shown if one["scrolled"] > 1 or one["pixels"] < 10] == []
