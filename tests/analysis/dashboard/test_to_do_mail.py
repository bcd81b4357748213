"""The to-do list by mail: for those who want it, at most once a day, never empty."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from analysis.dashboard import to_do_mail
from annotation.models import Campaign, Profile, Question
from pooling import hooks
from pooling.models import Job
from tests.analysis.dashboard.test_pages import manager_of
from tests.builders import PASSWORD, make_annotator, make_campaign
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def campaign() -> Campaign:
    made = make_campaign(name="Spring")
    client = manager_of(made)
    manager = made.created_by
    client.force_login(manager)
    client.post(
        "/account",
        {
            "action": "details",
            "email": "m@example.org",
            "password": PASSWORD,
            "time_zone": "",
            "to_do_mail": "on",
        },
    )
    return made


def ask(campaign: Campaign) -> None:
    Question.objects.create(
        membership=make_annotator(campaign), pair=campaign.pairs.first(), text="Why?"
    )


def worker() -> int:
    """What the worker does by itself. -> mails sent so far"""
    for job in to_do_mail.request_due_mails():
        assert do(job).state == "done"
    return len(mail.outbox)


def passes(time: timedelta) -> None:
    for profile in Profile.objects.exclude(to_do_looked_at=None):
        profile.to_do_looked_at -= time
        profile.to_do_mailed_at = profile.to_do_mailed_at and profile.to_do_mailed_at - time
        profile.save()


def test_it_is_asked_for_by_the_worker():
    assert to_do_mail.request_due_mails in hooks.upkeep


def test_one_mail_a_day_and_none_when_there_is_nothing_to_do(campaign):
    assert worker() == 0
    ask(campaign)
    assert worker() == 0, "looked at a moment ago"
    passes(2 * HOUR)
    assert worker() == 1
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["m@example.org"], "Assay: 1 thing to do")
    line = (
        f"Spring:\n- 1 annotator's question to answer.\n  "
        f"http://testserver/campaigns/{campaign.slug}/questions/\n"
    )
    assert line in sent.body
    assert "Turn it off at http://testserver/account" in sent.body
    passes(22 * HOUR)
    assert worker() == 1
    passes(3 * HOUR)
    assert worker() == 2
    Question.objects.update(answered_at=timezone.now(), answer="So.")
    passes(48 * HOUR)
    assert worker() == 2


def test_who_did_not_ask_for_it_gets_none(campaign):
    ask(campaign)
    Profile.objects.update(to_do_address="")
    assert to_do_mail.request_due_mails() == []
    assert Job.objects.filter(kind=to_do_mail.TO_DO_MAIL_JOB).count() == 0


def test_without_an_address_it_cannot_be_asked_for():
    client = manager_of(make_campaign())
    answer = client.post(
        "/account", {"action": "details", "email": "", "time_zone": "", "to_do_mail": "on"}
    )
    assert answer.status_code == 400
    assert "Enter an email address to receive the to-do list." in answer.content.decode()


def test_only_one_job_is_on_its_way(campaign):
    assert len(to_do_mail.request_due_mails()) == 1
    assert to_do_mail.request_due_mails() == []


def test_a_mail_server_that_refuses_is_asked_again_after_an_hour(campaign, monkeypatch):
    ask(campaign)

    def refuse(self, *args, **kwargs):
        raise OSError("no route to host")

    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.EmailMessage.send", refuse)
        (job,) = to_do_mail.request_due_mails()
        do(job)
    assert Profile.objects.get(user=campaign.created_by).to_do_mailed_at is None
    assert to_do_mail.request_due_mails() == []
    passes(HOUR)
    assert worker() == 1
