"""Making, opening, changing, extending and closing campaigns."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import AuditEvent, Lease, Pair
from annotation.selectors.judging import check_invariants
from annotation.selectors.kept_figures import deferred_faults, immediate_faults
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.control_pairs import change_known_pairs
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling
from pooling.models import PoolEntry
from tests.builders import (
    judge,
    judge_pair,
    make_annotator,
    make_campaign,
    make_collection,
    make_pool,
    make_user,
    submit,
)

pytestmark = pytest.mark.django_db


def test_the_maker_of_a_campaign_becomes_its_manager():
    ada = make_user()
    campaign = lifecycle.create_campaign(name="Medical Q", collection=make_collection(), actor=ada)
    assert (campaign.slug, campaign.state) == ("medical-q", "draft")
    assert campaign.memberships.get().role == "manager"


def test_two_campaigns_of_one_name_get_two_addresses():
    collection = make_collection()
    slugs = [
        lifecycle.create_campaign(name="Same", collection=collection, actor=None).slug
        for _ in range(3)
    ]
    assert slugs == ["same", "same-2", "same-3"]
    with pytest.raises(CampaignError, match="already in use"):
        lifecycle.create_campaign(name="Other", slug="same", collection=collection, actor=None)


def test_every_pool_entry_becomes_a_pair_except_those_of_removed_topics():
    collection = make_collection(n_topics=3, n_documents=4)
    pool = make_pool(collection)
    collection.topics.filter(topic_id="t2").update(removed_reason="duplicate")
    campaign = lifecycle.create_campaign(
        name="c", collection=collection, actor=None, judgements_per_pair=2
    )
    assert lifecycle.set_pool(campaign, pool) == 8
    assert lifecycle.set_pool(campaign, pool) == 8  # repeating it adds nothing
    assert (campaign.n_pairs, campaign.n_topics) == (8, 2)
    row = campaign.pairs.select_related("entry").order_by("position").last()
    assert (row.priority, row.position, row.needed, row.open_slots) == (
        row.entry.priority,
        row.entry.position,
        2,
        2,
    )


def test_a_pool_of_another_collection_is_refused():
    campaign = lifecycle.create_campaign(name="c", collection=make_collection(), actor=None)
    with pytest.raises(CampaignError, match="another collection"):
        lifecycle.set_pool(campaign, make_pool(make_collection()))


def test_another_pool_can_be_chosen_until_something_was_served():
    campaign = make_campaign(n_topics=2, n_documents=2)
    other = make_pool(campaign.collection)
    lifecycle.set_pool(campaign, other)
    assert campaign.pairs.count() == 4
    scheduling.claim_pair(make_annotator(campaign))
    with pytest.raises(CampaignError, match="already been assigned"):
        lifecycle.set_pool(campaign, make_pool(campaign.collection))


def test_a_campaign_opens_only_with_pairs_and_a_deadline_to_come():
    campaign = make_campaign(state="draft", deadline=timezone.now() - timedelta(hours=1))
    with pytest.raises(CampaignError, match="deadline has passed"):
        lifecycle.open_campaign(campaign)
    empty = lifecycle.create_campaign(name="c", collection=make_collection(), actor=None)
    with pytest.raises(CampaignError, match="no pairs"):
        lifecycle.open_campaign(empty)


def test_states_change_only_along_their_way_and_leave_a_trail():
    campaign = make_campaign(state="draft")
    with pytest.raises(CampaignError, match="is draft"):
        lifecycle.pause_campaign(campaign)
    lifecycle.open_campaign(campaign)
    lifecycle.pause_campaign(campaign, reason="lunch")
    assert (campaign.state, campaign.paused_reason) == ("paused", "lunch")
    lifecycle.resume_campaign(campaign)
    lifecycle.close_campaign(campaign)
    with pytest.raises(CampaignError, match="is closed"):
        lifecycle.resume_campaign(campaign)
    assert lifecycle.open_campaign(campaign).closed_at is None
    actions = list(
        AuditEvent.objects.filter(campaign=campaign).order_by("pk").values_list("action", flat=True)
    )
    assert actions[-5:] == ["opened", "paused", "resumed", "closed", "opened"]


def test_closing_gives_all_leases_back():
    campaign = make_campaign()
    for _ in range(3):
        scheduling.claim_pair(make_annotator(campaign))
    lifecycle.close_campaign(campaign)
    assert not Lease.objects.filter(state="live").exists()
    assert check_invariants(campaign) == []


def test_more_judgements_per_pair_open_complete_pairs_again():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=1)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge(ada, 1)
    judge(ada, 1)
    assert scheduling.claim_pair(bob) is None
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=2)
    assert check_invariants(campaign) == []
    assert [judge(bob, 1).status for _ in range(2)] == ["counted", "counted"]
    assert AuditEvent.objects.get(action="changed settings").details["changes"] == {
        "judgements_per_pair": [1, 2]
    }


def test_fewer_judgements_per_pair_take_nothing_away_that_counted():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=3, block_length=1)
    members = [make_annotator(campaign) for _ in range(4)]
    judge(members[0], 1)
    judge(members[1], 1)
    lease = scheduling.claim_pair(members[2])
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=1)
    first, second = campaign.pairs.order_by("position")
    assert (first.needed, first.counted, first.held, first.open_slots) == (2, 2, 1, -1)
    assert (second.needed, second.open_slots) == (1, 1)
    assert submit(members[2], lease, 1).judgement.status == "extra"
    assert scheduling.claim_pair(members[3]).pair_id == second.pk
    assert check_invariants(campaign) == []


def test_fewer_or_more_judgements_per_pair_decide_anew_which_pairs_nobody_can_judge():
    """Two of three say that the document is broken: enough where two judgements are wanted, not
    where three are."""
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=3)
    ada, bob, cyd = (make_annotator(campaign) for _ in range(3))
    for annotator in (ada, bob):
        judge(annotator, None, cannot_reason="document")
    for n, unjudgeable, numbers in (
        (2, True, (0, 0)),
        (3, False, (3, 3)),
        (1, True, (0, 0)),
        (5, False, (5, 5)),
    ):
        lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=n)
        pair = campaign.pairs.get()
        assert (pair.unjudgeable, (pair.needed, pair.open_slots)) == (unjudgeable, numbers), n
        assert [
            *check_invariants(campaign),
            *immediate_faults(campaign),
            *deferred_faults(campaign),
        ] == []
    assert scheduling.claim_pair(cyd) is not None


def test_a_pair_that_is_gold_for_a_while_is_one_that_nobody_can_judge_afterwards_and_not_meanwhile():
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1)
    judge(make_annotator(campaign), None, cannot_reason="query")
    for kind, grade, unjudgeable in (("gold", 1, False), ("normal", None, True)):
        set_pair_kind(campaign.pairs.get(), kind, gold_grade=grade)
        assert campaign.pairs.get().unjudgeable is unjudgeable
        assert [
            *check_invariants(campaign),
            *immediate_faults(campaign),
            *deferred_faults(campaign),
        ] == []


def test_a_pool_that_has_grown_is_taken_up_without_touching_judgements():
    collection = make_collection(n_topics=1, n_documents=3)
    pool = make_pool(collection)
    PoolEntry.objects.filter(pool=pool, docno="d3").delete()
    campaign = make_campaign(collection=collection, pool=pool, judgements_per_pair=1)
    ada = make_annotator(campaign)
    judge(ada, 1)
    entry = PoolEntry.objects.get(pool=pool, docno="d2")
    PoolEntry.objects.filter(pk=entry.pk).update(priority=3, position=7)
    document = collection.documents.get(docno="d3")
    PoolEntry.objects.create(
        pool=pool,
        topic=entry.topic,
        docno="d3",
        document=document,
        best_rank=1,
        priority=9,
        position=1,
    )
    assert lifecycle.add_new_pairs(campaign) == 1
    assert list(
        campaign.pairs.order_by("position").values_list("entry__docno", "priority", "counted")
    ) == [
        ("d1", 9, 1),
        ("d3", 9, 0),
        ("d2", 3, 0),
    ]
    assert scheduling.claim_pair(ada).pair.entry.docno == "d3"
    assert check_invariants(campaign) == []


def test_a_grade_that_was_given_stays_in_the_scale():
    campaign = make_campaign(judgements_per_pair=1)
    judge(make_annotator(campaign), 3)
    with pytest.raises(CampaignError, match="Grade 3 can't be removed"):
        lifecycle.update_campaign(campaign, actor=None, scale=campaign.scale[:3])
    campaign.refresh_from_db()
    assert len(campaign.scale) == 4


def test_a_mistake_in_the_settings_changes_nothing():
    campaign = make_campaign()
    with pytest.raises(CampaignError, match="must be at least 1"):
        lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=0, name="New")
    campaign.refresh_from_db()
    assert campaign.name != "New"


def test_guidelines_have_versions_and_the_same_text_makes_none():
    campaign = make_campaign(guideline="first")
    assert lifecycle.save_guideline(campaign, "second", note="clearer").number == 2
    assert lifecycle.save_guideline(campaign, "second").number == 2
    assert campaign.guidelines.count() == 2


def test_a_judged_pair_cannot_become_a_qualification_pair():
    campaign = make_campaign(judgements_per_pair=1)
    row = judge(make_annotator(campaign), 1)
    with pytest.raises(CampaignError, match="has judgements"):
        lifecycle.set_pair_kind(row.pair, Pair.Kind.QUALIFICATION, gold_grade=1)
    with pytest.raises(CampaignError, match="must be on the scale"):
        lifecycle.set_pair_kind(row.pair, Pair.Kind.GOLD, gold_grade=9)


def test_control_pairs_that_cannot_be_removed_are_named_and_all_stay():
    campaign = make_campaign(n_topics=1, n_documents=2, qualification_pass=0.5)
    first, second = campaign.pairs.order_by("position")
    lifecycle.set_pair_kind(first, Pair.Kind.GOLD, gold_grade=1)
    lifecycle.set_pair_kind(second, Pair.Kind.QUALIFICATION, gold_grade=1)
    judge_pair(make_annotator(campaign), second, 1, now=timezone.now())
    with pytest.raises(CampaignError, match="t1 d2: The pair has judgements"):
        change_known_pairs(campaign, [first.pk, second.pk], remove=True, actor=None)
    first.refresh_from_db()
    assert first.kind == Pair.Kind.GOLD
