"""Excluding and including annotators: reversible, previewable, with the reason."""

from __future__ import annotations

import uuid

import pytest
from django.utils import timezone

from annotation.models import AuditEvent, Judgement, Lease
from annotation.selectors.judging import check_invariants
from annotation.selectors.kept_figures import deferred_faults, immediate_faults
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.judging import scheduling, submission
from annotation.services.judging.submission import Answer
from annotation.services.people import exclusion
from assay.labels.annotator_types import AnnotatorType
from tests.builders import judge, judge_pair, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


def statuses(member):
    return sorted(
        Judgement.objects.filter(membership=member, current=True).values_list("status", flat=True)
    )


def agrees(campaign):
    return [
        *check_invariants(campaign),
        *immediate_faults(campaign),
        *deferred_faults(campaign),
    ] == []


def test_an_exclusion_takes_judgements_out_of_the_labels_and_gives_their_slots_back():
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=1)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge(ada, 1)
    judge(ada, 2)
    scheduling.claim_pair(ada)
    assert exclusion.exclude_annotator(ada, reason="random clicks", actor=campaign.created_by) == 2
    assert statuses(ada) == ["excluded", "excluded"]
    assert not Lease.objects.filter(state="live").exists()
    assert check_invariants(campaign) == []
    assert [judge(bob, 3).status for _ in range(3)] == ["counted"] * 3
    event = AuditEvent.objects.get(action="excluded an annotator")
    assert (event.details["reason"], event.actor) == ("random clicks", campaign.created_by)


def test_what_an_excluded_annotator_called_broken_is_offered_again():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=1, block_length=1)
    liar, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(2):
        judge(liar, None, cannot_reason="document")
    assert scheduling.claim_pair(bob) is None
    exclusion.exclude_annotator(liar, reason="random clicks", actor=None)
    assert campaign.pairs.filter(unjudgeable=True).count() == 0
    assert judge(bob, 2).status == "counted"
    assert agrees(campaign)
    exclusion.include_annotator(liar, actor=None, reason="cleared")
    assert list(campaign.pairs.order_by("position").values_list("unjudgeable", "counted")) == [
        (True, 1),
        (True, 0),
    ]
    assert agrees(campaign)


def test_an_inclusion_counts_only_where_the_slot_is_still_free():
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=1, block_length=1)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(3):
        judge(ada, 1)
    exclusion.exclude_annotator(ada, reason="suspected", actor=None)
    judge(bob, 2)
    scheduling.claim_pair(bob)  # holds the second pair
    done = exclusion.include_annotator(ada, actor=None, reason="cleared")
    assert (done.counted, done.extra) == (1, 2)
    assert statuses(ada) == ["counted", "extra", "extra"]
    ada.refresh_from_db()
    assert ada.status == "active"
    assert check_invariants(campaign) == []


def test_excluding_and_including_at_once_changes_nothing():
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2)
    ada = make_annotator(campaign)
    rows = [
        judge(ada, grade, **({"cannot_reason": "other"} if grade is None else {}))
        for grade in (1, None, 2, 0)
    ]
    before = statuses(ada)
    exclusion.exclude_annotator(ada, reason="by mistake", actor=None)
    exclusion.include_annotator(ada, actor=None)
    assert statuses(ada) == before
    assert len(rows) == 4
    assert check_invariants(campaign) == []


def test_an_answer_that_arrives_after_the_exclusion_is_kept_as_excluded():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=1)
    ada = make_annotator(campaign)
    first = judge(ada, 1)
    lease = scheduling.claim_pair(ada)
    exclusion.exclude_annotator(ada, reason="random", actor=None)
    assert submit(ada, lease, 1).judgement.status == "excluded"
    with pytest.raises(AnswerRefused, check=lambda error: error.code == "excluded"):
        submission.revise_judgement(ada, first.pk, key=uuid.uuid4(), answer=Answer(grade=2))
    assert check_invariants(campaign) == []
    assert exclusion.include_annotator(ada, actor=None).counted == 2
    assert check_invariants(campaign) == []


def test_an_exclusion_needs_its_reason_and_only_the_excluded_can_be_included():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    with pytest.raises(CampaignError, match="reason"):
        exclusion.exclude_annotator(ada, reason=" ", actor=None)
    with pytest.raises(CampaignError, match="not excluded"):
        exclusion.include_annotator(ada, actor=None)


def test_a_pause_gives_leases_back_and_takes_nothing_from_the_labels():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=1)
    ada = make_annotator(campaign)
    judge(ada, 1)
    scheduling.claim_pair(ada)
    exclusion.pause_annotator(ada, reason="please read the guidelines again", actor=None)
    assert statuses(ada) == ["counted"]
    assert scheduling.claim_pair(ada) is None
    exclusion.resume_annotator(ada, actor=None)
    assert scheduling.claim_pair(ada) is not None
    assert check_invariants(campaign) == []


def test_an_excluded_annotator_is_not_resumed_by_the_way():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    exclusion.exclude_annotator(ada, reason="random", actor=None)
    with pytest.raises(CampaignError, match="excluded"):
        exclusion.resume_annotator(ada, actor=None)


def test_the_number_of_queries_of_an_exclusion_does_not_grow_with_the_judgements(
    django_assert_max_num_queries,
):
    for n_documents in (2, 30):
        campaign = make_campaign(
            n_topics=1,
            n_documents=n_documents,
            judgements_per_pair=1,
            ranks=range(1, n_documents + 1),
        )
        ada, now = make_annotator(campaign), timezone.now()
        for pair in campaign.pairs.all():
            judge_pair(ada, pair, 1, now=now)
        with django_assert_max_num_queries(18):
            exclusion.exclude_annotator(ada, reason="random", actor=None)


def test_judgements_of_an_llm_judge_count_again_also_where_people_have_filled_the_pair():
    """They are stored separately and take no place."""
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1)
    judge_member, bob = make_annotator(campaign), make_annotator(campaign)
    pair = judge(judge_member, 1).pair
    exclusion.exclude_annotator(judge_member, reason="another model", actor=None)
    judge_member.annotator_type = AnnotatorType.LLM
    judge_member.save(update_fields=["annotator_type"])
    judge(bob, 2)
    outcome = exclusion.include_annotator(judge_member, actor=None)
    assert (outcome.counted, outcome.extra) == (1, 0)
    pair.refresh_from_db()
    assert (pair.counted, pair.open_slots) == (1, 0)
