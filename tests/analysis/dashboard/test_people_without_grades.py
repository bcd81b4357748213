"""Annotators of a campaign of preferences: the list, and what managers do there."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.judgements.battles import list_judged_battles
from annotation.core.preferences import LEFT
from annotation.models import Membership
from tests.battles import make_battle_campaign
from tests.builders import judge_pair, make_annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator() -> Membership:
    campaign = make_battle_campaign()
    member = make_annotator(campaign, "ada")
    for pair in campaign.pairs.order_by("position")[:2]:
        judge_pair(member, pair, LEFT, now=timezone.now())
    member.refresh_from_db()
    return member


@pytest.fixture
def manager(annotator: Membership, client: Client) -> Client:
    client.force_login(annotator.campaign.memberships.get(role="manager").user)
    return client


def act(client: Client, member: Membership, action: str, **fields: str) -> str:
    """Send the action for the member. Returns the text of the list to which it leads."""
    address = reverse("campaign-people-chosen", args=[member.campaign.slug])
    data = {"annotator": member.pseudonym, "action": action, **fields}
    page = client.post(address, data, follow=True)
    assert page.status_code == 200
    member.refresh_from_db()
    return " ".join(page.content.decode().split())


def test_the_list_shows_status_and_number_of_judgements(
    annotator: Membership, manager: Client
) -> None:
    page = manager.get(reverse("campaign-people", args=[annotator.campaign.slug]))
    text = page.content.decode()
    assert annotator.pseudonym in text
    assert "Kappa" not in text
    assert [member.n_judged for member, _ in page.context["list"]] == [2]


def test_managers_pause_and_resume(annotator: Membership, manager: Client) -> None:
    assert "Enter a reason." in act(manager, annotator, "pause")
    assert annotator.status == Membership.Status.ACTIVE
    shown = act(manager, annotator, "pause", reason="Please read the guidelines again.")
    assert (annotator.status, annotator.status_reason) == (
        Membership.Status.PAUSED,
        "Please read the guidelines again.",
    )
    assert 'title="Please read the guidelines again.">Paused' in shown
    act(manager, annotator, "resume")
    assert annotator.status == Membership.Status.ACTIVE


def test_an_exclusion_needs_a_reason_and_can_be_undone(
    annotator: Membership, manager: Client
) -> None:
    assert "Enter a reason." in act(manager, annotator, "exclude")
    assert len(list_judged_battles(annotator.campaign)) == 2
    shown = act(manager, annotator, "exclude", exclusion="clicks at random")
    assert f"Excluded {annotator.pseudonym}. 2 judgements no longer count." in shown
    assert list_judged_battles(annotator.campaign) == []
    act(manager, annotator, "include")
    assert len(list_judged_battles(annotator.campaign)) == 2


def test_there_is_no_preview_of_labels(annotator: Membership, manager: Client) -> None:
    address = reverse("campaign-people-chosen", args=[annotator.campaign.slug])
    data = {"annotator": annotator.pseudonym, "action": "preview"}
    assert manager.post(address, data).status_code == 404


def test_links_to_an_annotator_lead_to_the_list(annotator: Membership, manager: Client) -> None:
    slug = annotator.campaign.slug
    page = manager.get(reverse("campaign-person", args=[slug, annotator.pseudonym]))
    assert page.url == reverse("campaign-people", args=[slug])
