"""A manager's trial of the judging page, by the API: what it holds, in which order, and what it
never holds."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Campaign, Lease, Pair
from annotation.services.campaigns import lifecycle
from tests.builders import make_annotator, make_campaign, make_collection, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    manager = make_user(may_create=True)
    return make_campaign(
        collection=make_collection(n_topics=5, n_documents=6, manager=manager),
        manager=manager,
        qualification_pass=0.5,
    )


def asked(campaign: Campaign, user) -> dict:
    client = Client()
    client.force_login(user)
    answer = client.get(f"/api/v1/campaigns/{campaign.slug}/trial")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_qualification_comes_first_then_four_pairs_of_each_of_three_topics(campaign):
    tests = list(Pair.objects.filter(campaign=campaign).order_by("-position")[:2])
    for pair in tests:
        lifecycle.set_pair_kind(
            pair,
            Pair.Kind.QUALIFICATION,
            gold_grade=2,
            explanation="A trial.",
            actor=campaign.created_by,
        )
    answer = asked(campaign, campaign.created_by)
    practice, others = answer["pairs"][:2], answer["pairs"][2:]
    assert {row["pair"] for row in practice} == {pair.pk for pair in tests}
    assert [row["known"] for row in practice] == [
        {"grade": 2, "right": [2, 3], "explanation": "A trial."}
    ] * 2
    assert answer["needed"] == 1  # half of two
    topics = [row["topic"]["id"] for row in others]
    assert [topics.count(topic) for topic in dict.fromkeys(topics)] == [4, 4, 4]
    assert topics == sorted(topics, key=topics.index)  # one topic after the other
    assert [row["known"] for row in others] == [None] * 12


def test_gold_grades_are_not_told_for_pairs_that_annotators_meet_unawares(campaign):
    pair = Pair.objects.filter(campaign=campaign).order_by("position").first()
    assert pair
    lifecycle.set_pair_kind(
        pair, Pair.Kind.GOLD, gold_grade=3, explanation="Secret.", actor=campaign.created_by
    )
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
    assert [answer[name] for name in ("campaign", "scale", "consent_html")] == [
        real[name] for name in ("campaign", "scale", "consent_html")
    ]


def test_a_campaign_without_a_pool_leads_to_the_pool(campaign):
    Pair.objects.filter(campaign=campaign).delete()
    client = Client()
    client.force_login(campaign.created_by)
    answer = client.get(f"/judge/{campaign.slug}/try")
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"/campaigns/{campaign.slug}/settings/pool/",
    )


def test_near_duplicates_among_the_pairs_of_a_topic_come_along_where_the_campaign_allows_it(
    campaign,
):
    """16 words have twelve shingles of five; with the last word changed 11 of 13 are shared, and
    with the last four 8 of 16."""
    words = [f"word{n}" for n in range(16)]
    texts = [
        " ".join(words),
        " ".join([*words[:15], "other"]),
        " ".join([*words[:12], *"abcd"]),
        "Nothing of that",
    ]
    collection = make_collection(n_topics=2, n_documents=4, texts=texts)
    campaign = make_campaign(collection=collection, qualification_pass=0.5)
    assert [row["near"] for row in asked(campaign, campaign.created_by)["pairs"]] == [[]] * 8
    Campaign.objects.filter(pk=campaign.pk).update(show_near_duplicates=True)
    row = {
        (one["topic"]["id"], one["document"]["id"]): one
        for one in asked(campaign, campaign.created_by)["pairs"]
    }
    of_pair = {one["pair"]: place for place, one in row.items()}
    near = {
        place: {of_pair[other["pair"]]: round(other["resemblance"], 4) for other in one["near"]}
        for place, one in row.items()
    }
    first, second = sorted({topic for topic, _ in row})
    for topic in (first, second):
        assert near[topic, "d1"] == {(topic, "d2"): round(11 / 13, 4), (topic, "d3"): 0.5}
        assert near[topic, "d4"] == {}
    test = Pair.objects.get(pk=row[first, "d2"]["pair"])
    lifecycle.set_pair_kind(test, Pair.Kind.QUALIFICATION, gold_grade=2, actor=campaign.created_by)
    after = {
        one["pair"]: [other["pair"] for other in one["near"]]
        for one in asked(campaign, campaign.created_by)["pairs"]
    }
    assert after[test.pk] == []
    assert after[row[first, "d1"]["pair"]] == [row[first, "d3"]["pair"]]
