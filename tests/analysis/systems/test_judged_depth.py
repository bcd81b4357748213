"""The default cutoff is the judged depth, on the page, in forms, studies and commands alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from analysis.studies.papers import get_study
from analysis.studies.settings import read_settings
from analysis.studies.sources import write_campaign_inputs
from analysis.systems import answers
from annotation.models import Campaign
from annotation.services.campaigns.depth import set_depth
from tests.analysis.commands.judged_file import run
from tests.analysis.systems.builders import small_campaign, small_collection

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def defaults(campaign: Campaign, client, folder: Path) -> dict[str, str]:
    """The measures that nobody chose."""
    client.force_login(campaign.created_by)
    form = client.get(
        reverse("campaign-report-new", args=[campaign.slug, "compare_systems"])
    ).context["form"]
    study = get_study("comparison")
    settings = read_settings(write_campaign_inputs(study, campaign.slug, folder), study)
    command = run("compare_systems", "--campaign", campaign.slug)
    return {
        "page": answers.default_measure(campaign) + " AP",
        "form": form["measures"].initial,
        "study": settings.values["measures"],
        "command": " ".join(
            name for name, one in command.items() if isinstance(one, dict) and "means" in one
        ),
    }


def test_defaults_follow_the_depth_of_the_pool(campaign, client, tmp_path) -> None:
    assert campaign.judged_depth == 10
    assert set(defaults(campaign, client, tmp_path / "ten").values()) == {"nDCG@10 AP"}
    set_depth(campaign, campaign.pool.depth - 4, actor=campaign.created_by)
    assert campaign.judged_depth == 4
    assert set(defaults(campaign, client, tmp_path / "four").values()) == {"nDCG@4 AP"}


def test_chosen_measures_keep_their_cutoffs(campaign) -> None:
    set_depth(campaign, campaign.pool.depth - 4, actor=campaign.created_by)
    assert "nDCG@10" in run(
        "compare_systems", "--campaign", campaign.slug, "--measures", "nDCG@10 AP"
    )


def test_the_page_says_to_which_rank_the_pool_is_judged(campaign, client) -> None:
    set_depth(campaign, campaign.pool.depth - 4, actor=campaign.created_by)
    client.force_login(campaign.created_by)
    assert (
        "judged to rank 4"
        in client.get(reverse("campaign-systems", args=[campaign.slug])).content.decode()
    )
