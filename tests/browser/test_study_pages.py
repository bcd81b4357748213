"""A manager makes a study on the pages: the form, the study in the page's colours, its folder."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from pooling.models import Job
from tests.analysis.systems.builders import small_campaign, small_collection, work_off

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_study_is_asked_for_read_and_taken_along(
    settings, tmp_path: Path, signed_in_page, photograph
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    campaign = small_campaign(small_collection())
    page = signed_in_page(campaign.collection.managers.get())
    page.goto(reverse("campaign-systems", args=[campaign.slug]))
    page.get_by_role("link", name="Systems compared").click()
    page.get_by_label("Correction").select_option("holm")
    photograph(page, "study-new")
    page.get_by_role("button", name="Compute study").click()
    assert work_off(Job.objects.get(kind="study")).state == "done"
    page.reload()
    expect(page.get_by_role("heading", name="Certainty of the ranks")).to_be_visible()
    expect(
        page.get_by_text("a file of topics and their groups")
    ).to_be_visible()  # what was left out
    photograph(page, "study")
    with page.expect_download() as waited:
        page.get_by_role("link", name="Download folder").click()
    with zipfile.ZipFile(waited.value.path()) as archive:
        assert "tables/scores.tex" in archive.namelist()
