"""A manager's trial of the judging page, by the API: what it holds, in which order, and what it never holds."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Campaign, Lease, Pair
from annotation.services import campaigns
from tests.builders import make_annotator, make_campaign, make_collection, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    manager = make_user(may_create=True)
    return make_campaign(collection=make_collection(n_topics=5, n_documents=6, manager=manager), manager=manager, qualification_pass=0.5)


def asked(campaign: Campaign, user) -> dict:
    client = Client()
    client.force_login(user)
    answer = client.get(f"/api/v1/campaigns/{campaign.slug}/trial")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_qualification_comes_first_then_four_pairs_of_each_of_three_topics(campaign):
    tests = list(Pair.objects.filter(campaign=campaign).order_by("-position")[:2])
    for pair in tests:
        campaigns.set_kind(pair, Pair.Kind.QUALIFICATION, gold_grade=2, explanation="A trial.", actor=campaign.created_by)
    answer = asked(campaign, campaign.created_by)
    practice, others = answer["pairs"][:2], answer["pairs"][2:]
    assert {row["pair"] for row in practice} == {pair.pk for pair in tests}
    assert [row["known"] for row in practice] == [{"grade": 2, "explanation": "A trial."}] * 2
    assert answer["needed"] == 1  # half of two
    topics = [row["topic"]["id"] for row in others]
    assert [topics.count(topic) for topic in dict.fromkeys(topics)] == [4, 4, 4]
    assert topics == sorted(topics, key=topics.index)  # one topic after the other
    assert [row["known"] for row in others] == [None] * 12


def test_gold_grades_are_not_told_for_pairs_that_annotators_meet_unawares(campaign):
    pair = Pair.objects.filter(campaign=campaign).order_by("position").first()
    assert pair
    campaigns.set_kind(pair, Pair.Kind.GOLD, gold_grade=3, explanation="Secret.", actor=campaign.created_by)
    answer = asked(campaign, campaign.created_by)
    [row] = [row for row in answer["pairs"] if row["pair"] == pair.pk]
    assert row["known"] is None
    assert "Secret" not in str(answer)


def test_nothing_is_leased_and_settings_are_those_of_the_real_page(campaign):
    ada = make_annotator(campaign)
    answer = asked(campaign, campaign.created_by)
    assert not Lease.objects.exists()
    client = Client()
    client.force_login(ada.user)
    real = client.get(f"/api/v1/judging/{campaign.slug}/setup").json()
    assert [answer[name] for name in ("campaign", "scale", "consent_html")] == [real[name] for name in ("campaign", "scale", "consent_html")]


def test_a_campaign_without_a_pool_leads_to_the_pool(campaign):
    Pair.objects.filter(campaign=campaign).delete()
    client = Client()
    client.force_login(campaign.created_by)
    answer = client.get(f"/judge/{campaign.slug}/try")
    assert (answer.status_code, answer["Location"]) == (302, f"/campaigns/{campaign.slug}/settings/pool/")
