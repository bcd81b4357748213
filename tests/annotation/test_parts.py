"""An annotator's part: what is asked of them, and no more than the pool has for one person."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Campaign, Invitation, Membership, Pair
from annotation.selectors.annotator_quotas import annotator_quota, annotator_quotas
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.depth import set_depth
from annotation.services.people import messages
from pooling.models import Pool
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def twelve(**settings) -> Campaign:
    """Two topics with six documents each, one at each rank."""
    return make_campaign(n_topics=2, n_documents=6, target_per_annotator=300, **settings)


def fresh(member: Membership) -> Membership:
    return Membership.objects.select_related("campaign", "user").get(pk=member.pk)


def test_no_more_than_there_is():
    ada = make_annotator(twelve())
    assert annotator_quota(ada) == 12
    Membership.objects.filter(pk=ada.pk).update(target=7)
    assert annotator_quota(fresh(ada)) == 7
    Membership.objects.filter(pk=ada.pk).update(target=0)
    assert annotator_quota(fresh(ada)) is None


def test_pairs_of_the_test_and_those_beyond_the_depth_are_none_of_it():
    campaign = twelve()
    ada = make_annotator(campaign)
    pair = Pair.objects.filter(campaign=campaign).order_by("position").last()
    lifecycle.set_pair_kind(pair, Pair.Kind.QUALIFICATION, gold_grade=1, actor=None)
    assert annotator_quota(fresh(ada)) == 11
    set_depth(campaign, 8, actor=None)  # ranks 1 and 2 of a pool of depth 10: four pairs
    assert annotator_quota(fresh(ada)) == 4


def test_of_a_pool_that_grows_by_itself_the_target_stands():
    campaign = twelve()
    ada = make_annotator(campaign)
    Pool.objects.filter(pk=campaign.pool_id).update(kind="ordered")
    assert annotator_quota(fresh(ada)) == 300


def test_topics_of_ones_own_bound_it_and_what_was_judged_is_never_more():
    campaign = twelve()
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    Membership.objects.filter(pk=ada.pk).update(topic_rows=[campaign.collection.topics.first().pk])
    Membership.objects.filter(pk=bob.pk).update(n_judged=13)
    assert annotator_quotas([fresh(ada), fresh(bob)]) == [6, 13]


def test_many_campaigns_cost_one_statement(django_assert_num_queries):
    members = [fresh(make_annotator(twelve())) for _ in range(4)]
    with django_assert_num_queries(1):
        assert annotator_quotas(members) == [12] * 4


def test_home_the_invitation_the_judging_page_and_the_reminder_say_it():
    campaign = twelve()
    ada = make_annotator(campaign)
    judge(ada, 2, now=timezone.now())
    client = Client()
    client.force_login(ada.user)
    assert "1 of 12" in " ".join(client.get("/").content.decode().split())
    setup = client.get(f"/api/v1/judging/{campaign.slug}/setup").json()
    assert (setup["part"], setup["progress"]["target"], setup["state"]) == (12, 300, "judging"), (
        json.dumps(setup["progress"])
    )
    invitation = Invitation.objects.create(campaign=campaign)
    assert "12 judgements" in " ".join(
        Client().get(f"/join/{invitation.token}").content.decode().split()
    )
    manager = Client()
    manager.force_login(campaign.created_by)
    for address in ("people/", "remind"):
        assert "of 12" in " ".join(
            manager.get(f"/campaigns/{campaign.slug}/{address}").content.decode().split()
        )
    ada.user.email = "ada@example.org"
    ada.user.save()
    [mail] = messages.preview_reminders(
        campaign, [fresh(ada)], "Please go on.", address="https://assay.example"
    ).ready
    assert "You have judged 1 of 12 documents." in mail.body
