"""Events of webhooks that a periodic check finds, each sent once."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.dashboard import webhook_checks
from analysis.dashboard.annotators import RandomLikeAnnotator
from annotation.core.webhook_messages import MessageForm, WebhookEvent
from annotation.models import Campaign, Webhook, WebhookMessage
from annotation.services import webhooks
from annotation.services.campaigns import lifecycle
from annotation.services.people import exclusion
from assay.campaigns.flags import AT_CHANCE
from pooling import hooks
from tests.builders import campaign_on_its_way, judge, judge_pair, make_annotator, make_campaign
from tests.pooling.conftest import run as do

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]
EVERY_EVENT = [event for event in WebhookEvent if event != WebhookEvent.TEST]


def watch(campaign: Campaign, events: list[WebhookEvent] = EVERY_EVENT) -> Webhook:
    wanted = webhooks.NewWebhook(
        "team", "https://example.org/", MessageForm.STANDARD, events, "https://here"
    )
    return webhooks.create_webhook(campaign, wanted, actor=None)


def check() -> list[tuple[str, dict]]:
    """Check as the worker does, after the time between two checks. -> new (event, data)"""
    Webhook.objects.update(checked_at=timezone.now() - webhook_checks.CHECK_EVERY)
    before = set(WebhookMessage.objects.values_list("pk", flat=True))
    [job] = webhook_checks.request_due_checks()
    assert do(job).state == "done", job.message
    made = WebhookMessage.objects.exclude(pk__in=before).order_by("pk")
    return [(message.event, json.loads(message.body)["data"]) for message in made]


def events() -> list[str]:
    return [event for event, _data in check()]


def test_the_worker_checks_every_ten_minutes():
    assert webhook_checks.request_due_checks in hooks.upkeep
    campaign = make_campaign()
    assert webhook_checks.request_due_checks() == [], "no webhook"
    watch(campaign)
    [job] = webhook_checks.request_due_checks()
    assert webhook_checks.request_due_checks() == [], "one is waiting"
    assert do(job).report == {"campaigns": 1}
    assert webhook_checks.request_due_checks() == [], "checked a moment ago"
    Webhook.objects.update(checked_at=timezone.now() - timedelta(minutes=10))
    assert len(webhook_checks.request_due_checks()) == 1


@pytest.mark.parametrize("state", ["draft", "closed"])
def test_only_running_campaigns_are_checked(state):
    watch(make_campaign(state=state))
    assert webhook_checks.request_due_checks() == []


def test_each_complete_depth_and_the_end_are_sent_once():
    campaign = make_campaign(n_topics=2, n_documents=2, judgements_per_pair=1)
    watch(campaign)
    ada = make_annotator(campaign)
    assert events() == []
    first, second, *rest = campaign.pairs.order_by("-priority", "pk")
    judge_pair(ada, first, 1, now=timezone.now())
    assert events() == [], "one of two pairs at rank 1"
    judge_pair(ada, second, 1, now=timezone.now())
    [(event, data)] = check()
    assert (event, data["depth"], data["level"]) == ("campaign.depth_complete", 1, "rank")
    assert events() == []
    for pair in rest:
        judge_pair(ada, pair, 1, now=timezone.now())
    made = check()
    assert [event for event, _ in made] == ["campaign.depth_complete", "campaign.all_judged"]
    assert (made[0][1]["depth"], made[1][1]["judgements"]) == (2, 4)
    assert events() == []


def test_a_deadline_at_risk_is_sent_once_per_deadline():
    """60 of 160 judgements in 5 days leave 8 days of work, and the deadline is tomorrow."""
    campaign = campaign_on_its_way(
        n_judged=60,
        every=timedelta(hours=2),
        left=timedelta(days=1),
        n_topics=10,
        n_documents=8,
        judgements_per_pair=2,
    )
    watch(campaign, [WebhookEvent.DEADLINE_AT_RISK])
    [(event, data)] = check()
    assert event == "campaign.deadline_at_risk"
    assert (data["missing"], data["is_over"]) == (100, False)
    assert data["deadline"] == campaign.deadline.isoformat()
    assert data["expected_end"] > data["deadline"]
    assert events() == []
    Campaign.objects.update(deadline=campaign.deadline + timedelta(days=1))
    assert events() == ["campaign.deadline_at_risk"], "a new deadline, also at risk"
    Campaign.objects.update(deadline=timezone.now() - timedelta(minutes=1))
    [(_event, data)] = check()
    assert (data["is_over"], data["expected_end"], data["missing"]) == (True, None, 100)


def test_annotators_are_flagged_once_and_under_their_pseudonyms(monkeypatch):
    campaign = make_campaign(
        n_topics=2, n_documents=6, judgements_per_pair=3, min_active_seconds=2, pause_after_fast=12
    )
    watch(campaign, [WebhookEvent.ANNOTATOR_FLAGGED])
    ada, bob = make_annotator(campaign, "ada.lovelace"), make_annotator(campaign, "bob.dylan")
    for _ in range(10):
        judge(ada, 1, active_ms=200)
        judge(bob, 1)
    random = [RandomLikeAnnotator(bob.pseudonym, AT_CHANCE, 10, 4)]
    monkeypatch.setattr(webhook_checks, "find_random_like_annotators", lambda *args: random)
    made = check()
    assert [(data["annotator"], data["reason"]) for _event, data in made] == [
        (bob.pseudonym, "agrees with others no better than chance"),
        (ada.pseudonym, "many judgements are too fast"),
    ]
    assert made[0][1]["url"] == (f"https://here/campaigns/{campaign.slug}/people/{bob.pseudonym}/")
    assert events() == []
    for _ in range(2):
        judge(ada, 1, active_ms=200)
    [(_event, data)] = check()
    assert data["reason"] == "paused after too-fast judgements"
    bodies = " ".join(WebhookMessage.objects.values_list("body", flat=True))
    assert ada.user.username not in bodies
    assert bob.user.username not in bodies


def test_annotators_who_need_no_decision_any_more_are_not_flagged(monkeypatch):
    campaign = make_campaign(n_topics=1, n_documents=2)
    watch(campaign)
    bob = make_annotator(campaign)
    random = [RandomLikeAnnotator(bob.pseudonym, AT_CHANCE, 10, 4)]
    monkeypatch.setattr(webhook_checks, "find_random_like_annotators", lambda *args: random)
    exclusion.exclude_annotator(bob, reason="random", actor=None)
    assert events() == []


def test_a_campaign_without_subscribers_to_these_events_is_not_computed(monkeypatch):
    campaign = make_campaign()
    watch(campaign, [WebhookEvent.QUESTION_ASKED])
    monkeypatch.setattr(webhook_checks, "find_events", lambda campaign: 1 / 0)
    assert events() == []
    lifecycle.close_campaign(campaign)
