"""The places of a campaign's pages."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from annotation.models import Campaign, LlmJudge
from annotation.templatetags.campaign_places import PLACES, SETTINGS, campaign_places
from pooling.models import Job
from pooling.templatetags.places import count_unfinished_jobs
from tests.builders import make_campaign, make_user


def shown(campaign: Campaign, tab: str) -> list[tuple[str, bool]]:
    places = campaign_places({"campaign": campaign, "tab": tab})
    return [(str(place.name), place.is_current) for place in places.places]


@pytest.mark.django_db
def test_a_running_campaign_has_six_places_and_its_settings() -> None:
    campaign = make_campaign(state=Campaign.State.OPEN)
    places = campaign_places({"campaign": campaign, "tab": "agreement"})
    assert [str(place.name) for place in places.places] == [
        *("Overview", "People", "Judgements", "Quality", "Results", "Export"),
    ]
    assert [str(place.name) for place in places.places if place.is_current] == ["Quality"]
    assert [(str(page.name), page.is_current) for page in places.pages] == [
        ("Agreement", True),
        ("Gold questions", False),
    ]
    assert places.settings is not None
    assert places.settings.url == f"/campaigns/{campaign.slug}/settings/"


@pytest.mark.django_db
def test_a_place_with_one_page_has_no_second_row() -> None:
    campaign = make_campaign(state=Campaign.State.OPEN)
    places = campaign_places({"campaign": campaign, "tab": "export"})
    assert places.pages == []


@pytest.mark.django_db
def test_a_draft_shows_its_overview_and_gold_questions_only_with_a_pool() -> None:
    campaign = make_campaign(state=Campaign.State.DRAFT)
    names = ["Overview", "Gold questions"]
    assert [name for name, _ in shown(campaign, "settings")] == names
    campaign.pool_id = None
    assert [name for name, _ in shown(campaign, "settings")] == ["Overview"]


def settings_pages(campaign: Campaign, tab: str = "settings") -> list[str]:
    return [str(page.name) for page in campaign_places({"campaign": campaign, "tab": tab}).pages]


@pytest.mark.django_db
def test_settings_have_a_page_for_each_part_and_llm_judges_only_if_there_can_be_one(
    settings,
) -> None:
    campaign = make_campaign(state=Campaign.State.OPEN)
    names = ["General", "Scale", "Guidelines", "Pool", "Publication"]
    names += ["Webhooks", "Audit log", "Close, duplicate, delete"]
    assert settings_pages(campaign) == names
    assert settings_pages(campaign, "llm_judges") == [*names[:5], "LLM judges", *names[5:]]
    settings.LLM_ENDPOINTS = {"local": "http://localhost:8000"}
    assert "LLM judges" in settings_pages(campaign)
    settings.LLM_ENDPOINTS = {}
    LlmJudge.objects.create(campaign=campaign, name="Umbrela", model="m")
    assert "LLM judges" in settings_pages(campaign)


@pytest.mark.django_db
def test_a_draft_has_steps_in_place_of_settings_pages() -> None:
    campaign = make_campaign(state=Campaign.State.DRAFT)
    assert settings_pages(campaign) == ["General", "Publication", "Webhooks", "Audit log"]


def test_no_page_belongs_to_two_places() -> None:
    tabs = [page.tab for place in (*PLACES, SETTINGS) for page in place.pages]
    assert len(tabs) == len(set(tabs))


@pytest.mark.django_db
def test_the_bell_counts_waiting_and_running_jobs_of_the_user() -> None:
    user, other = make_user("m"), make_user("n")
    for state, owner in (("queued", user), ("running", user), ("done", user), ("queued", other)):
        Job.objects.create(kind="import run", state=state, created_by=owner)
    assert count_unfinished_jobs({"user": user}) == 2
    page = Template("{% load places %}{% count_unfinished_jobs as n %}{{ n }}")
    assert page.render(Context({"user": other})) == "1"
