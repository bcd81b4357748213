"""An annotator is paused by rule after so many too fast judgements."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import translation

from annotation.models import AuditEvent, Campaign, Lease, Membership
from annotation.services.campaigns import lifecycle
from annotation.services.judging import assignment, leases, scheduling, submission
from annotation.services.people import exclusion
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def fast(member: Membership) -> None:
    judge(member, 1, active_ms=200)
    member.refresh_from_db()


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(
        n_topics=2, n_documents=8, judgements_per_pair=2, min_active_seconds=2, pause_after_fast=3
    )


def test_the_third_too_fast_judgement_pauses_and_says_why(campaign):
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    fast(ada)
    judge(ada, 1)
    fast(ada)
    assert ada.status == "active"
    fast(bob)
    fast(ada)
    assert ada.status == "paused"
    assert ada.status_reason == "too-fast judgements: 3"
    assert not Lease.objects.filter(membership=ada, state="live").exists()
    bob.refresh_from_db()
    assert bob.status == "active"
    event = AuditEvent.objects.get(campaign=campaign, action="paused an annotator")
    assert (event.subject, event.actor) == (ada.pseudonym, None)
    ada = Membership.objects.select_related("campaign").get(pk=ada.pk)
    told = assignment.refill_leases(ada, want=1).situation
    assert told.state == "paused"
    assert told.details["reason"].startswith("You made 3 judgements faster than")
    with translation.override("de"):
        told = assignment.refill_leases(ada, want=1).situation
    assert told.details["reason"].startswith("Sie haben 3 Urteile schneller abgegeben")


def test_who_was_let_go_on_is_counted_anew(campaign):
    ada = make_annotator(campaign)
    for _ in range(3):
        fast(ada)
    exclusion.resume_annotator(ada, actor=None)
    fast(ada)
    fast(ada)
    assert ada.status == "active"
    fast(ada)
    assert ada.status == "paused"


def test_versions_of_one_too_fast_judgement_count_once(campaign):
    ada = make_annotator(campaign)
    number = judge(ada, 1, active_ms=200).pk
    for grade in (2, 3):
        answer = submission.Answer(grade=grade, active_ms=1)
        changed = submission.revise_judgement(ada, number, key=uuid.uuid4(), answer=answer)
        assert changed.judgement.status == "too fast"
    ada.refresh_from_db()
    assert ada.status == "active"


def test_without_the_rule_nobody_is_paused(campaign):
    Campaign.objects.filter(pk=campaign.pk).update(pause_after_fast=0)
    ada = make_annotator(campaign)
    for _ in range(6):
        fast(ada)
    assert ada.status == "active"


def test_leases_of_a_campaign_that_is_paused_are_not_renewed(campaign):
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada)
    later = lease.expires_at + timedelta(minutes=5)
    lifecycle.pause_campaign(campaign, actor=None, reason="lunch")
    ada = Membership.objects.select_related("campaign").get(pk=ada.pk)
    leases.renew_leases(ada, [lease.token], now=later)
    ends = lease.expires_at
    lease.refresh_from_db()
    assert lease.expires_at == ends
