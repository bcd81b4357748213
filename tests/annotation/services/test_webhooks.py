"""Webhooks: which events become messages, what receivers get, and repeated attempts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.audit_actions import AuditAction
from annotation.core.webhook_messages import MessageForm, WebhookEvent
from annotation.models import AuditEvent, Campaign, Webhook, WebhookMessage
from annotation.services import webhooks
from annotation.services.audit import record_event
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import questions, scheduling
from annotation.services.webhooks import RETRY_DELAYS, NewWebhook
from pooling import hooks
from pooling.models import Job
from tests.annotation.core.test_webhook_messages import openssl_signature
from tests.builders import judge, make_annotator, make_campaign
from tests.documented import block
from tests.pooling.conftest import run as do
from tests.receivers import Receiver, receiver

pytestmark = pytest.mark.django_db
EVERY_EVENT = [event for event in WebhookEvent if event != WebhookEvent.TEST]


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as started:
        yield started


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings) -> None:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]


def add_webhook(
    campaign: Campaign,
    url: str = "https://example.org/",
    *,
    form: MessageForm = MessageForm.STANDARD,
    events: list[WebhookEvent] = EVERY_EVENT,
) -> Webhook:
    wanted = NewWebhook("team", url, form, events, "https://assay.example.org/")
    return webhooks.create_webhook(campaign, wanted, actor=campaign.created_by)


def work() -> int:
    """What the worker does by itself. -> number of jobs"""
    made = webhooks.request_due_messages()
    for job in made:
        assert do(job).state == "done", job.message
    return len(made)


def ask_question(campaign: Campaign, text: str = "Why?"):
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada)
    return ada, questions.ask_question(ada, pair_id=lease.pair_id, key=uuid.uuid4(), text=text)


def test_the_worker_sends_them():
    assert webhooks.request_due_messages in hooks.upkeep


def test_a_message_is_signed_and_its_answer_is_stored(server):
    campaign = make_campaign(name="Spring")
    webhook = add_webhook(campaign, f"{server.url}/in?to=team")
    ada, question = ask_question(campaign, "Is secret-words a trial?")
    server.status, server.answer = 202, "Thänks\0".encode() + b"x" * 300
    assert work() == 1
    [got] = server.requests
    message = WebhookMessage.objects.get()
    assert (got.method, got.path, got.headers["content-type"]) == (
        "POST",
        "/in?to=team",
        "application/json",
    )
    content = json.loads(got.body)
    assert content["type"] == "question.asked"
    assert content["data"] == {
        "campaign": {"slug": campaign.slug, "name": "Spring"},
        "annotator": ada.pseudonym,
        "question": question.pk,
        "url": f"https://assay.example.org/campaigns/{campaign.slug}/questions/",
    }
    assert ada.user.username not in got.body.decode()
    assert "secret-words" not in got.body.decode()
    assert got.headers["webhook-id"] == message.message_id
    assert abs(int(got.headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    signed = f"{message.message_id}.{got.headers['webhook-timestamp']}.".encode() + got.body
    assert got.headers["webhook-signature"] == openssl_signature(webhook.secret, signed)
    documented: dict = {}
    exec(block("reference/webhooks.md", "import base64"), documented)
    assert documented["is_genuine"](webhook.secret, got.headers, got.body)
    assert not documented["is_genuine"](webhook.secret, got.headers, got.body + b" ")
    assert (message.state, message.status, message.n_attempts) == ("sent", 202, 1)
    assert message.answer == ("Thänks " + "x" * 300)[:200]
    assert work() == 0, "nothing is left"


def test_a_chat_gets_one_sentence(server):
    campaign = make_campaign(name="Spring")
    add_webhook(campaign, server.url, form=MessageForm.TEXT)
    lifecycle.close_campaign(campaign)
    work()
    assert json.loads(server.requests[0].body) == {
        "text": f"Spring: The campaign was closed. https://assay.example.org/campaigns/{campaign.slug}/"
    }


def test_opening_and_closing_are_events_and_a_pause_is_not():
    campaign = make_campaign(state="draft")
    add_webhook(campaign)
    lifecycle.open_campaign(campaign)
    lifecycle.pause_campaign(campaign)
    lifecycle.resume_campaign(campaign)
    lifecycle.close_campaign(campaign)
    lifecycle.open_campaign(campaign)
    events = WebhookMessage.objects.order_by("pk").values_list("event", flat=True)
    assert list(events) == ["campaign.opened", "campaign.closed", "campaign.opened"]


def test_a_built_release_is_an_event_with_its_digest():
    campaign = make_campaign()
    add_webhook(campaign, events=[WebhookEvent.RELEASE_BUILT])
    record_event(
        campaign, None, AuditAction.BUILT_A_RELEASE, "public", digest="0f0f", same_as_before=False
    )
    content = json.loads(WebhookMessage.objects.get().body)
    told = {name: content["data"][name] for name in ("name", "sha256", "same_as_before")}
    assert (content["type"], told) == (
        "release.built",
        {"name": "public", "sha256": "0f0f", "same_as_before": False},
    )


def test_only_subscribed_events_of_the_own_campaign_are_sent():
    campaign, other = make_campaign(), make_campaign()
    add_webhook(campaign, events=[WebhookEvent.CAMPAIGN_CLOSED])
    ask_question(campaign)
    lifecycle.close_campaign(other)
    assert WebhookMessage.objects.count() == 0
    lifecycle.close_campaign(campaign)
    assert WebhookMessage.objects.count() == 1


def test_an_event_that_is_rolled_back_sends_nothing():
    campaign = make_campaign()
    add_webhook(campaign)

    def close_and_fail() -> None:
        lifecycle.close_campaign(campaign)
        assert WebhookMessage.objects.count() == 1
        raise RuntimeError

    with pytest.raises(RuntimeError), transaction.atomic():
        close_and_fail()
    assert WebhookMessage.objects.count() == 0


def test_a_question_that_is_sent_again_is_one_event():
    campaign = make_campaign()
    add_webhook(campaign)
    ada, question = ask_question(campaign)
    questions.ask_question(ada, pair_id=question.pair_id, key=question.key, text="Why?")
    assert WebhookMessage.objects.count() == 1


def test_a_judgement_costs_no_statement_more_with_a_webhook():
    def statements(campaign: Campaign) -> int:
        ada = make_annotator(campaign)
        judge(ada, 1)
        with CaptureQueriesContext(connection) as made:
            judge(ada, 1)
        return len(made)

    without, watched = make_campaign(), make_campaign()
    add_webhook(watched)
    assert statements(watched) == statements(without)


def pass_time(time: timedelta) -> None:
    for message in WebhookMessage.objects.all():
        message.due_at -= time
        message.save(update_fields=["due_at"])


def test_a_refused_message_is_sent_again_after_growing_delays_with_the_same_id(server):
    campaign = make_campaign()
    add_webhook(campaign, server.url)
    lifecycle.close_campaign(campaign)
    server.status, server.answer = 500, b"down"
    work()
    for delay in RETRY_DELAYS:
        message = WebhookMessage.objects.get()
        assert (message.state, message.status, message.answer) == ("pending", 500, "down")
        pass_time(delay - timedelta(seconds=30))
        assert work() == 0, "not yet due"
        pass_time(timedelta(seconds=31))
        assert work() == 1
    assert list(RETRY_DELAYS) == sorted(RETRY_DELAYS)
    message = WebhookMessage.objects.get()
    assert (message.state, message.n_attempts) == ("failed", len(RETRY_DELAYS) + 1)
    assert len({got.headers["webhook-id"] for got in server.requests}) == 1
    assert len(server.requests) == len(RETRY_DELAYS) + 1
    pass_time(timedelta(days=30))
    assert work() == 0


def test_a_server_that_is_down_is_called_once_and_an_accepted_test_sends_the_rest(server):
    campaign = make_campaign()
    webhook = add_webhook(campaign, server.url)
    lifecycle.close_campaign(campaign)
    lifecycle.open_campaign(campaign)
    server.status = 503
    work()
    assert len(server.requests) == 1, "the second message waits as well"
    assert work() == 0
    server.status = 200
    webhooks.queue_test(webhook)
    assert work() == 1
    states = WebhookMessage.objects.order_by("pk").values_list("event", "state")
    assert list(states) == [
        ("campaign.closed", "sent"),
        ("campaign.opened", "sent"),
        ("webhook.test", "sent"),
    ]


def test_without_an_answer_the_error_is_stored(server):
    campaign = make_campaign()
    add_webhook(campaign, "http://127.0.0.1:1/")
    lifecycle.close_campaign(campaign)
    work()
    message = WebhookMessage.objects.get()
    assert (message.state, message.status) == ("pending", None)
    assert "Connection refused" in message.answer


@pytest.mark.parametrize("networks", [[], ["10.0.0.0/8"]])
def test_a_private_address_is_not_called_and_the_reason_is_stored(server, settings, networks):
    campaign = make_campaign()
    add_webhook(campaign, server.url)
    settings.WEBHOOK_NETWORKS = networks
    lifecycle.close_campaign(campaign)
    work()
    message = WebhookMessage.objects.get()
    assert message.state == "failed"
    assert message.answer.startswith(
        "Not sent: the server has the address 127.0.0.1, which is not public"
    )
    assert server.requests == []


def test_a_redirect_is_a_refusal(server):
    campaign = make_campaign()
    add_webhook(campaign, server.url)
    lifecycle.close_campaign(campaign)
    server.status, server.headers = 307, {"Location": f"{server.url}/elsewhere"}
    work()
    assert [got.path for got in server.requests] == ["/"]
    message = WebhookMessage.objects.get()
    assert (message.state, message.status) == ("pending", 307)


def test_a_job_killed_during_an_attempt_is_followed_by_another_attempt(server, monkeypatch):
    campaign = make_campaign()
    add_webhook(campaign, server.url)
    lifecycle.close_campaign(campaign)
    with monkeypatch.context() as patch:
        patch.setattr(webhooks, "attempt_message", lambda message: 1 / 0)
        [job] = webhooks.request_due_messages()
        assert do(job).state == "failed"
    assert webhooks.request_due_messages() == []
    pass_time(RETRY_DELAYS[0])
    assert work() == 1
    assert len(server.requests) == 1


def test_only_one_job_sends_at_a_time():
    campaign = make_campaign()
    add_webhook(campaign)
    lifecycle.close_campaign(campaign)
    assert len(webhooks.request_due_messages()) == 1
    assert webhooks.request_due_messages() == []
    assert Job.objects.filter(kind=webhooks.MESSAGES_JOB).count() == 1


def test_the_audit_log_names_the_host_and_neither_path_nor_secret():
    campaign = make_campaign()
    webhook = add_webhook(campaign, "https://hooks.example.org/T0/secret-path")
    webhooks.delete_webhook(webhook, actor=None)
    events = AuditEvent.objects.filter(action__contains="webhook").order_by("pk")
    assert [event.action for event in events] == ["created a webhook", "deleted a webhook"]
    for event in events:
        assert event.details["address"] == "https://hooks.example.org/…"
        assert "secret-path" not in str(event.details)
        assert webhook.secret not in str(event.details)


def test_a_campaign_has_a_maximum_of_webhooks(monkeypatch):
    monkeypatch.setattr(webhooks, "MAX_WEBHOOKS", 1)
    campaign = make_campaign()
    add_webhook(campaign)
    with pytest.raises(CampaignError, match="maximum of 1"):
        add_webhook(campaign)


def test_a_name_occurs_once_per_campaign():
    campaign = make_campaign()
    add_webhook(campaign)
    with pytest.raises(CampaignError, match="already has a webhook with the name team"):
        add_webhook(campaign)
    add_webhook(make_campaign())
    assert Webhook.objects.count() == 2


def test_waiting_messages_go_to_a_changed_address_with_the_new_secret(server):
    campaign = make_campaign()
    webhook = add_webhook(campaign, "http://127.0.0.1:1/")
    lifecycle.close_campaign(campaign)
    work()
    old = webhook.secret
    webhooks.renew_secret(webhook, actor=None)
    webhooks.update_webhook(webhook, {"url": server.url}, actor=None)
    pass_time(RETRY_DELAYS[0])
    work()
    [got] = server.requests
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    assert webhook.secret != old
    assert got.headers["webhook-signature"] == openssl_signature(webhook.secret, signed)
