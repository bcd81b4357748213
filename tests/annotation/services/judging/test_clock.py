"""The server's clock is set while people judge: no judgement is refused for it, and no lease ends
by it."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Lease
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle
from annotation.services.judging import leases, scheduling, submission
from annotation.services.judging.submission import Answer
from pooling.models import Job
from pooling.platform import jobs
from tests.builders import judge, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db
HOURS = timedelta(hours=3)
TIMES = {"active_ms": 20_000, "idle_ms": 1_000, "hidden_ms": 0, "wall_ms": 21_000}


@pytest.fixture
def set_clock(monkeypatch):
    """Sets the server's clock on (or back) by a span; the clock that only runs on knows nothing of
    it."""
    now, wall = timezone.now, time.time

    def by(span: timedelta) -> None:
        monkeypatch.setattr(timezone, "now", lambda: now() + span)
        monkeypatch.setattr(time, "time", lambda: wall() + span.total_seconds())

    monkeypatch.setattr(leases, "watch", leases.Watch())
    return by


def test_a_pair_served_before_the_clock_was_set_back_is_judged_as_ever(set_clock):
    ada = make_annotator(make_campaign(min_active_seconds=5))
    lease = scheduling.claim_pair(ada)
    set_clock(-HOURS)
    judgement = submit(ada, lease, 2, **TIMES).judgement
    assert (judgement.status, judgement.late) == ("counted", False)
    assert (judgement.active_ms, judgement.server_ms) == (20_000, None), (
        "the page's time stands, for the server's says nothing"
    )
    assert judgement.judged_at <= timezone.now()
    assert check_invariants(ada.campaign) == []


def test_a_judgement_made_before_the_clock_was_set_back_can_be_revised(set_clock):
    ada = make_annotator(make_campaign(min_active_seconds=5))
    first = judge(ada, 2, **TIMES)
    set_clock(-HOURS)
    again = submission.revise_judgement(
        ada, first.pk, key="0" * 31 + "1", answer=Answer(grade=1, **TIMES)
    ).judgement
    assert (again.status, again.grade) == ("counted", 1)
    assert (again.active_ms, again.server_ms) == (first.active_ms + 20_000, None)


def test_a_step_forward_expires_nobody(set_clock):
    ada = make_annotator(make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1))
    bob = make_annotator(ada.campaign)
    lease = scheduling.claim_pair(ada)
    set_clock(HOURS)
    assert scheduling.claim_pair(bob) is None, "the only pair is still with the first"
    lease.refresh_from_db()
    assert lease.state == Lease.State.LIVE
    assert lease.expires_at > timezone.now()
    assert submit(ada, lease, 2, **TIMES).judgement.status == "counted"


def test_a_step_back_keeps_no_lease_alive_for_hours(set_clock):
    ada = make_annotator(make_campaign())
    lease = scheduling.claim_pair(ada)
    set_clock(-HOURS)
    leases.end_expired_leases()
    lease.refresh_from_db()
    assert lease.expires_at <= timezone.now() + timedelta(minutes=ada.campaign.lease_minutes)
    assert (
        leases.end_expired_leases(
            timezone.now() + timedelta(minutes=ada.campaign.lease_minutes + 1)
        )
        == 1
    )


def test_without_a_step_leases_expire(set_clock):
    ada = make_annotator(make_campaign())
    scheduling.claim_pair(ada)
    assert leases.end_expired_leases(timezone.now() + HOURS) == 1


def test_a_clock_set_back_does_not_open_a_closed_campaign(set_clock):
    ada = make_annotator(make_campaign())
    lease = scheduling.claim_pair(ada)
    lifecycle.close_campaign(ada.campaign, actor=None)
    set_clock(-HOURS)
    assert submit(ada, lease, 2, **TIMES).judgement.after_deadline


@pytest.mark.parametrize(
    ("sign_of_life", "waits"), [(timedelta(hours=-1), True), (timedelta(0), False), (HOURS, True)]
)
def test_a_job_whose_sign_of_life_lies_in_the_future_belongs_to_nobody(sign_of_life, waits):
    job = Job.objects.create(
        kind="import run",
        label="",
        state=Job.State.RUNNING,
        owner="x",
        attempt=1,
        heartbeat=timezone.now() + sign_of_life,
    )
    assert ((job.pk, 1) in jobs.list_waiting_jobs()) == waits
