"""Less depth while people judge, and deeper again: what nobody has judged waits, what is judged
stays and is judged to its end."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import Campaign, Pair
from annotation.selectors.judging import check_invariants
from annotation.selectors.pairs import count_missing_judgements
from annotation.services.campaigns import lifecycle, pairs
from annotation.services.campaigns.depth import full_depth_reason, set_depth
from annotation.services.errors import CampaignError
from annotation.services.judging import additional_judgements, scheduling
from annotation.services.judging.recount import recount_campaign
from annotation.services.people import exclusion
from pooling.models import Document, PoolEntry
from tests.builders import judge, judge_pair, lease_of, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db
RANK_2 = 8
"""The priority of rank 2 in a pool of depth 10."""


@pytest.fixture
def campaign() -> Campaign:
    """One topic, ranks 1 to 4, two judgements a pair. ada has judged rank 3 out of turn."""
    made = make_campaign(n_topics=1, n_documents=4, judgements_per_pair=2, min_active_seconds=0)
    judge_pair(make_annotator(made, "ada"), pair(made, 3), 1, now=timezone.now())
    return made


def pair(campaign: Campaign, rank: int) -> Pair:
    return campaign.pairs.get(entry__best_rank=rank)


def slots_of(campaign: Campaign) -> list[tuple[int, int]]:
    """(needed, open) of each rank."""
    return list(campaign.pairs.order_by("position").values_list("needed", "open_slots"))


def test_what_nobody_has_judged_beyond_it_waits_and_what_is_judged_goes_on(
    campaign: Campaign,
) -> None:
    assert slots_of(campaign) == [(2, 2), (2, 2), (2, 1), (2, 2)]
    assert set_depth(campaign, RANK_2, actor=None) == 2
    assert slots_of(campaign) == [(2, 2), (2, 2), (2, 1), (0, 0)]
    assert (campaign.judged_to, count_missing_judgements(campaign)) == (2, 5)
    bob = make_annotator(campaign, "bob")
    served = [judge(bob, 1).pair.entry.best_rank for _ in range(3)]
    assert sorted(served) == [1, 2, 3]
    assert scheduling.claim_pair(bob) is None
    assert check_invariants(campaign) == []
    event = campaign.audit.get(action="changed the depth")
    assert (event.subject, event.details) == (
        "rank 2",
        {"least_priority": [None, RANK_2], "pairs": 2},
    )


def test_deeper_again_brings_back_what_waits(campaign: Campaign) -> None:
    before = slots_of(campaign)
    for least in (RANK_2, RANK_2 + 1, RANK_2, None):
        set_depth(campaign, least, actor=None)
        assert check_invariants(campaign) == []
    assert slots_of(campaign) == before
    assert (
        campaign.judged_to,
        campaign.audit.filter(action="changed the depth").first().subject,
    ) == (None, "the whole pool")
    assert set_depth(campaign, None, actor=None) == 0
    assert campaign.audit.filter(action="changed the depth").count() == 4


def test_what_was_on_somebodys_screen_counts(campaign: Campaign) -> None:
    cleo = make_annotator(campaign, "cleo")
    lease = lease_of(cleo, pair(campaign, 4), now=timezone.now())
    set_depth(campaign, RANK_2, actor=None)
    assert slots_of(campaign)[3] == (1, 0)
    assert check_invariants(campaign) == []
    assert submit(cleo, lease, 1).judgement.status == "counted"
    assert slots_of(campaign)[3] == (2, 1)  # begun, so judged to its end
    assert check_invariants(campaign) == []


def test_a_lease_that_ends_without_a_judgement_leaves_the_pair_waiting(campaign: Campaign) -> None:
    cleo = make_annotator(campaign, "cleo")
    lease_of(cleo, pair(campaign, 4), now=timezone.now())
    set_depth(campaign, RANK_2, actor=None)
    scheduling.leases.release_leases(cleo)
    assert slots_of(campaign)[3] == (0, 0)
    assert check_invariants(campaign) == []


def test_a_pair_whose_only_judgement_is_excluded_waits_and_comes_back_with_it(
    campaign: Campaign,
) -> None:
    set_depth(campaign, RANK_2, actor=None)
    ada = campaign.memberships.get(user__username="ada")
    exclusion.exclude_annotator(ada, reason="left", actor=None)
    assert slots_of(campaign)[2] == (0, 0)
    exclusion.include_annotator(ada, actor=None)
    assert slots_of(campaign)[2] == (2, 1)
    assert check_invariants(campaign) == []


def test_another_number_a_pair_leaves_the_depth(campaign: Campaign) -> None:
    set_depth(campaign, RANK_2, actor=None)
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=3)
    assert slots_of(campaign) == [(3, 3), (3, 3), (3, 2), (0, 0)]
    assert check_invariants(campaign) == []


def test_pairs_that_come_later_lie_beyond_it_too(campaign: Campaign) -> None:
    set_depth(campaign, RANK_2, actor=None)
    assert campaign.pool is not None
    topic = campaign.collection.topics.get()
    for number, (rank, priority) in enumerate(((2, RANK_2), (7, 3))):
        document = Document.objects.create(
            collection=campaign.collection, docno=f"late{rank}", title="", text="Late.", n_words=1
        )
        PoolEntry.objects.create(
            pool=campaign.pool,
            topic=topic,
            docno=document.docno,
            document=document,
            best_rank=rank,
            priority=priority,
            position=10 + number,
            contributions={"late": rank},
        )
    assert pairs.add_new_pairs(campaign) == 2
    late = {
        pair.entry.docno: (pair.beyond_depth, pair.needed, pair.open_slots)
        for pair in campaign.pairs.filter(entry__docno__startswith="late")
    }
    assert late == {"late2": (False, 2, 2), "late7": (True, 0, 0)}
    PoolEntry.objects.filter(docno="late7").update(priority=RANK_2)  # a later run has it higher up
    pairs.add_new_pairs(campaign)
    assert slots_of(campaign)[-1] == (2, 2)
    assert check_invariants(campaign) == []


def test_what_an_interruption_left_is_told_and_mended(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(least_priority=RANK_2)
    campaign.refresh_from_db()
    assert len(check_invariants(campaign)) == 2
    assert recount_campaign(campaign) == 2
    assert check_invariants(campaign) == []
    assert slots_of(campaign) == [(2, 2), (2, 2), (2, 1), (0, 0)]


def test_one_more_judgement_of_a_pair_that_waits_is_refused_and_of_one_that_is_judged_is_not(
    campaign: Campaign,
) -> None:
    set_depth(campaign, RANK_2, actor=None)
    with pytest.raises(CampaignError, match="increase the depth"):
        additional_judgements.request_additional_judgement(
            campaign, [pair(campaign, 4).pk], actor=None
        )
    additional_judgements.request_additional_judgement(campaign, [pair(campaign, 3).pk], actor=None)
    assert slots_of(campaign)[2] == (3, 2)
    assert check_invariants(campaign) == []


@pytest.mark.parametrize(
    ("kind", "why"),
    [("sampled", "estimates need every drawn pair"), ("ordered", "plan no further batch")],
)
def test_a_staged_pool_has_no_less_depth(campaign: Campaign, kind: str, why: str) -> None:
    assert campaign.pool is not None
    campaign.pool.kind = kind
    assert why in full_depth_reason(campaign)
    with pytest.raises(CampaignError, match=why):
        set_depth(campaign, RANK_2, actor=None)
    assert campaign.audit.filter(action="changed the depth").count() == 0
