"""One more judgement for chosen pairs: a slot more than the campaign's number, another person's,
taken back while nobody has it."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Campaign, Lease, Pair
from annotation.selectors.judging import check_invariants
from annotation.selectors.pairs import count_missing_judgements
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.pairs import apply_topic_decisions, set_pair_kind
from annotation.services.errors import CampaignError
from annotation.services.judging import additional_judgements, scheduling, submission
from annotation.services.judging.recount import recount_campaign
from annotation.services.judging.submission import Answer
from annotation.services.people import exclusion
from tests.builders import (
    judge,
    judge_pair,
    judged_campaign,
    lease_of,
    make_annotator,
    make_campaign,
    submit,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """One topic, two documents, two judgements a pair, all judged by ada and bob."""
    made = judged_campaign({("t1", "d1"): (1, 1), ("t1", "d2"): (1, 1)}, min_active_seconds=0)
    assert count_missing_judgements(made) == 0
    return made


def first(campaign: Campaign) -> Pair:
    return campaign.pairs.get(entry__docno="d1")


def ask(campaign: Campaign, *pairs: Pair) -> additional_judgements.SelectionResult:
    return additional_judgements.request_additional_judgement(
        campaign, [pair.pk for pair in pairs], actor=None
    )


def take_back(campaign: Campaign, *pairs: Pair) -> additional_judgements.SelectionResult:
    return additional_judgements.undo_additional_judgement(
        campaign, [pair.pk for pair in pairs], actor=None
    )


def slots_of(pair: Pair) -> tuple[int, int, int, int]:
    pair.refresh_from_db()
    return pair.asked_more, pair.needed, pair.counted, pair.open_slots


def test_one_more_is_another_persons_and_counts(campaign: Campaign) -> None:
    ask(campaign, first(campaign))
    assert slots_of(first(campaign)) == (1, 3, 2, 1)
    assert count_missing_judgements(campaign) == 1
    ada, bob = (campaign.memberships.get(user__username=name) for name in ("ada", "bob"))
    assert (scheduling.claim_pair(ada), scheduling.claim_pair(bob)) == (None, None)
    cleo = make_annotator(campaign, "cleo")
    judgement = judge(cleo, 3)
    assert (judgement.pair, judgement.status) == (first(campaign), "counted")
    assert slots_of(first(campaign)) == (1, 3, 3, 0)
    assert scheduling.claim_pair(cleo) is None
    assert check_invariants(campaign) == []
    event = campaign.audit.get(action="requested an additional judgement")
    assert (event.subject, event.details) == ("t1 d1", {"pairs": ["t1 d1"]})


def test_it_is_taken_back_until_somebody_has_it_on_screen(campaign: Campaign) -> None:
    ask(campaign, first(campaign))
    take_back(campaign, first(campaign))
    assert slots_of(first(campaign)) == (0, 2, 2, 0)
    with pytest.raises(CampaignError, match="no additional judgement was requested"):
        take_back(campaign, first(campaign))
    ask(campaign, first(campaign))
    cleo = make_annotator(campaign, "cleo")
    lease = scheduling.claim_pair(cleo)
    assert lease is not None
    with pytest.raises(CampaignError, match="an annotator has the pair on screen"):
        take_back(campaign, first(campaign))
    assert submit(cleo, lease, 1).judgement.status == "counted"
    with pytest.raises(CampaignError, match="the additional judgement has been made"):
        take_back(campaign, first(campaign))
    assert check_invariants(campaign) == []
    assert campaign.audit.filter(action="cancelled an additional judgement").count() == 1


def test_asking_twice_asks_for_two(campaign: Campaign) -> None:
    ask(campaign, first(campaign))
    ask(campaign, first(campaign))
    assert slots_of(first(campaign)) == (2, 4, 2, 2)


@pytest.mark.parametrize(("per_pair", "needed"), [(1, 2), (2, 3), (3, 4)])
def test_another_number_a_pair_leaves_the_one_more(
    campaign: Campaign, per_pair: int, needed: int
) -> None:
    ask(campaign, first(campaign))
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=per_pair)
    assert slots_of(first(campaign)) == (1, needed, 2, needed - 2)
    assert check_invariants(campaign) == []


def test_a_pair_with_more_judgements_than_the_campaign_asks_for_today_gets_one_more_than_it_has(
    campaign: Campaign,
) -> None:
    lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=1)
    ask(campaign, first(campaign))
    assert slots_of(first(campaign)) == (2, 3, 2, 1)
    assert check_invariants(campaign) == []


def test_counting_anew_keeps_it(campaign: Campaign) -> None:
    ask(campaign, first(campaign))
    Pair.objects.filter(pk=first(campaign).pk).update(
        needed=2, open_slots=0
    )  # as a program that does not know of it would
    assert check_invariants(campaign) != []
    assert recount_campaign(campaign) == 1
    assert slots_of(first(campaign)) == (1, 3, 2, 1)


def test_as_many_as_the_pair_needs_have_to_say_that_it_cannot_be_judged() -> None:
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1, min_active_seconds=0)
    ask(campaign, first(campaign))
    for name, unjudgeable in (("ada", False), ("bob", True)):
        judge(make_annotator(campaign, name), None, cannot_reason="document")
        assert first(campaign).unjudgeable is unjudgeable


def test_where_one_more_is_taken_back_fewer_have_to_say_so() -> None:
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1, min_active_seconds=0)
    ask(campaign, first(campaign))
    judge(make_annotator(campaign, "ada"), None, cannot_reason="document")
    take_back(campaign, first(campaign))
    assert first(campaign).unjudgeable
    assert slots_of(first(campaign)) == (0, 0, 0, 0)
    assert check_invariants(campaign) == []


def test_a_topic_that_is_removed_and_comes_back_still_asks_for_it(campaign: Campaign) -> None:
    ask(campaign, first(campaign))
    for reason in ("duplicate", ""):
        campaign.collection.topics.update(removed_reason=reason)
        apply_topic_decisions(campaign)
    assert slots_of(first(campaign)) == (1, 3, 2, 1)


def test_a_late_answer_takes_the_place_of_the_one_more(campaign: Campaign) -> None:
    """Its lease had expired before the slot was there."""
    now = timezone.now()
    ask(campaign, first(campaign))
    cleo = make_annotator(campaign, "cleo")
    lease = lease_of(cleo, first(campaign), now=now - timedelta(hours=2))
    assert submit(cleo, lease, 2, now=now).judgement.status == "counted"
    assert check_invariants(campaign) == []


def test_pairs_that_have_rules_of_their_own_are_left_out_with_the_reason(
    campaign: Campaign,
) -> None:
    gold = campaign.pairs.get(entry__docno="d2")
    set_pair_kind(gold, "gold", gold_grade=1)
    with pytest.raises(
        CampaignError,
        match="No judgement was requested: control pairs",
    ):
        ask(campaign, gold)
    done = ask(campaign, gold, first(campaign))
    assert done.ids == [first(campaign).pk]
    assert done.reasons == [
        "1 pair left out: control pairs (gold, qualification, calibration) can't receive additional judgements."
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"unjudgeable": True}, "annotators reported that it can't be judged"),
        ({"without_text": True}, "its document has no text"),
        ({"removed": True}, "the topic is removed"),
        ({"asked_more": 48}, "the pair already has the maximum of 50 judgements"),
    ],
)
def test_why_nobody_can_be_asked(campaign: Campaign, change: dict[str, object], why: str) -> None:
    Pair.objects.filter(pk=first(campaign).pk).update(**change)
    with pytest.raises(CampaignError, match=why):
        ask(campaign, first(campaign))


def test_only_while_people_judge(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(deadline=timezone.now() - timedelta(hours=1))
    campaign.refresh_from_db()
    with pytest.raises(CampaignError, match="deadline has passed"):
        ask(campaign, first(campaign))
    lifecycle.close_campaign(campaign)
    campaign.refresh_from_db()
    with pytest.raises(CampaignError, match="campaign is closed"):
        ask(campaign, first(campaign))
    with pytest.raises(CampaignError, match="not open yet"):
        ask(make_campaign(n_topics=1, n_documents=1, state="draft"), first(campaign))


def test_pairs_of_another_campaign_and_too_many_are_refused(campaign: Campaign) -> None:
    other = make_campaign(n_topics=1, n_documents=1)
    with pytest.raises(CampaignError, match="these pairs are not in this campaign"):
        ask(campaign, first(other))
    with pytest.raises(CampaignError, match="Select pairs first"):
        ask(campaign)
    with pytest.raises(CampaignError, match="Select at most 500"):
        additional_judgements.request_additional_judgement(campaign, range(1, 502), actor=None)
    assert first(other).asked_more == 0


def test_a_look_changes_nothing_and_says_which_pairs_everybody_has_judged(
    campaign: Campaign,
) -> None:
    ids = list(campaign.pairs.values_list("pk", flat=True))
    assert additional_judgements.check_selection(campaign, ids).judged_by_all == 2
    cleo = make_annotator(campaign, "cleo")
    assert additional_judgements.check_selection(campaign, ids).judged_by_all == 0
    ask(campaign, first(campaign))
    judge(cleo, 1)
    assert additional_judgements.check_selection(campaign, ids).judged_by_all == 1
    assert [pair.asked_more for pair in campaign.pairs.order_by("position")] == [1, 0]


def test_its_judgement_is_revised_and_excluded_like_any_other(campaign: Campaign) -> None:
    ask(campaign, first(campaign))
    cleo = make_annotator(campaign, "cleo")
    judgement = judge_pair(cleo, first(campaign), 3, now=timezone.now())
    assert (
        submission.revise_judgement(
            cleo, judgement.pk, key=uuid.uuid4(), answer=Answer(grade=0)
        ).judgement.status
        == "counted"
    )
    exclusion.exclude_annotator(cleo, reason="left", actor=None)
    assert slots_of(first(campaign)) == (1, 3, 2, 1)
    exclusion.include_annotator(cleo, actor=None)
    assert slots_of(first(campaign)) == (1, 3, 3, 0)
    assert Lease.objects.filter(state="live").count() == 0
    assert check_invariants(campaign) == []
