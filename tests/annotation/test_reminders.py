"""Reminders to chosen annotators: seen before they are sent, at most one a day to each."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from annotation.models import AuditEvent, Campaign, Membership
from annotation.services.errors import CampaignError
from annotation.services.people import messages
from pooling.models import Job
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judge, make_annotator, make_campaign
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db
ADDRESS = "https://assay.example/"


def reachable(campaign: Campaign, name: str, **fields) -> Membership:
    member = make_annotator(campaign, name, **fields)
    member.user.email = f"{name}@example.org"
    member.user.save()
    return member


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(name="Spring", target_per_annotator=8)


def remind(campaign: Campaign, *members: Membership, text: str = "please go on.") -> dict:
    return messages.deliver_reminders(
        campaign, members, text, address=ADDRESS, actor=campaign.created_by
    )


def test_the_mail_names_what_was_judged_the_deadline_the_address_and_is_noted_in_the_trail(
    campaign,
):
    ada = reachable(campaign, "ada")
    judge(ada, 1)
    ada.refresh_from_db()
    campaign.deadline = timezone.now().replace(year=2030, month=1, day=15, hour=12, minute=0)
    campaign.save()
    assert remind(campaign, ada) == {"sent": [ada.pseudonym], "left_out": [], "failed": []}
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["ada@example.org"], "Spring: documents to judge")
    assert (
        "Hello ada,\n\nplease go on.\n\nYou have judged 1 of 8 documents. The deadline is Tue 15 Jan 2030, 12:00 UTC. Judging page:"
        in sent.body
    )
    assert f"https://assay.example/judge/{campaign.slug}/" in sent.body
    event = AuditEvent.objects.get(action="reminded an annotator")
    assert (event.subject, event.actor, event.details) == (
        ada.pseudonym,
        campaign.created_by,
        {"text": "please go on."},
    )


def test_nobody_gets_a_second_one_within_a_day(campaign):
    ada, bob = reachable(campaign, "ada"), reachable(campaign, "bob")
    remind(campaign, ada)
    report = remind(campaign, ada, bob)
    assert (report["sent"], report["left_out"]) == (
        [bob.pseudonym],
        [[ada.pseudonym, "reminded within the last 24 hours"]],
    )
    AuditEvent.objects.update(at=timezone.now() - timedelta(hours=25))
    assert remind(campaign, ada)["sent"] == [ada.pseudonym]
    assert [one.to for one in mail.outbox] == [
        ["ada@example.org"],
        ["bob@example.org"],
        ["ada@example.org"],
    ]


def test_who_cannot_or_may_not_judge_is_left_out_with_the_reason(campaign):
    away, out = (
        reachable(campaign, "away", status="paused"),
        reachable(campaign, "out", status="excluded"),
    )
    unknown = make_annotator(campaign, "unknown")
    robot = reachable(campaign, "robot", annotator_type="simulated")
    report = remind(campaign, away, out, unknown, robot)
    assert dict(report["left_out"]) == {
        away.pseudonym: "is paused",
        out.pseudonym: "is excluded",
        unknown.pseudonym: "no email address",
        robot.pseudonym: "not a human annotator",
    }
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("text", "says"), [("  ", "Enter a message"), ("x" * 2001, "2,001 characters")]
)
def test_no_text_or_too_much_is_refused(campaign, text, says):
    with pytest.raises(CampaignError, match=says):
        remind(campaign, reachable(campaign, "ada"), text=text)


def test_where_nobody_can_judge_nobody_is_reminded():
    campaign = make_campaign(state="paused")
    with pytest.raises(CampaignError, match="No annotator can judge now"):
        remind(campaign, reachable(campaign, "ada"))


def test_a_mail_that_the_server_refuses_is_told_and_the_others_are_sent(campaign, monkeypatch):
    ada, bob = reachable(campaign, "ada"), reachable(campaign, "bob")
    send = messages.EmailMessage.send

    def refuse(self, *args, **kwargs):
        if self.to == ["ada@example.org"]:
            raise OSError("mailbox full")
        return send(self, *args, **kwargs)

    monkeypatch.setattr(messages.EmailMessage, "send", refuse)
    assert remind(campaign, ada, bob) == {
        "sent": [bob.pseudonym],
        "left_out": [],
        "failed": [[ada.pseudonym, "mailbox full"]],
    }


def test_the_page_shows_the_mail_before_it_is_sent_and_the_job_sends_it(campaign):
    ada, bob = reachable(campaign, "ada"), reachable(campaign, "bob")
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/remind"
    page = client.get(f"{address}?annotator={ada.pseudonym}").content.decode()
    assert f'value="{ada.pseudonym}" checked' in page
    assert f'value="{bob.pseudonym}" checked' not in page
    form = {"annotator": [ada.pseudonym], "text": "a word from me."}
    chosen = client.post(
        address, {"annotator": [bob.pseudonym], "text": "", "action": "choose"}
    )  # from People
    assert f'value="{bob.pseudonym}" checked' in chosen.content.decode()
    assert "could you continue" in text_of(chosen).lower()
    shown = client.post(address, form)
    assert "a word from me." in text_of(shown)
    assert f"http://testserver/judge/{campaign.slug}/" in text_of(shown)
    assert mail.outbox == []
    assert "Select at least one annotator." in text_of(client.post(address, {"text": "a word"}))
    answer = client.post(address, {**form, "action": "send"})
    job = Job.objects.get(kind="reminders")
    assert answer.url == f"/jobs/{job.pk}/"
    do(job)
    assert [one.to for one in mail.outbox] == [["ada@example.org"]]
    assert client.get(answer.url).status_code == 200
    do(Job.objects.create(kind="reminders", campaign_id=campaign.pk, parameters=job.parameters))
    assert len(mail.outbox) == 1, "the same job again reminds nobody twice"


def test_without_a_mail_server_page_and_job_say_that_nobody_gets_anything(
    campaign, settings, capsys
):
    ada = reachable(campaign, "ada")
    client = manager_of(campaign)
    page = f"/campaigns/{campaign.slug}/remind"
    warning = "Emails are not sent because no mail server is configured"
    assert warning not in text_of(client.get(page))
    settings.EMAIL_BACKEND = messages.CONSOLE_BACKEND
    assert warning in text_of(client.get(page))
    asked = messages.request_reminders(
        campaign, [ada], "please go on.", address=ADDRESS, actor=campaign.created_by
    )
    job = do(asked)
    assert job.report["facts"] == {"emails printed": 1}
    assert job.report["warnings"] == [
        "The emails were not sent because no mail server is configured (ASSAY_EMAIL_HOST). "
        "They were printed to the worker's console. Ask an administrator to set up email."
    ]
    assert "To: ada@example.org" in capsys.readouterr().out
