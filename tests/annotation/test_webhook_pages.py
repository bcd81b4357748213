"""The page of webhooks: create, test and delete."""

from __future__ import annotations

import pytest

from annotation.core.webhook_messages import WebhookEvent
from annotation.models import Webhook, WebhookMessage
from pooling.models import Job
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import do_urgent_jobs, make_campaign
from tests.receivers import receiver

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return make_campaign(name="Spring")


def fields(**changes):
    return {
        "action": "create",
        "name": "team channel",
        "url": "https://hooks.example.org/T0/secret-path",
        "form": "text",
        "events": ["question.asked", "release.built"],
        **changes,
    }


def test_the_secret_is_shown_once(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/webhooks/"
    assert "No webhooks yet" in text_of(client.get(address))
    made = text_of(client.post(address, fields()))
    webhook = Webhook.objects.get()
    assert webhook.secret in made
    assert (webhook.events, webhook.form, webhook.site) == (
        ["question.asked", "release.built"],
        "text",
        "http://testserver",
    )
    again = client.get(address)
    assert webhook.secret not in again.content.decode()
    assert "secret-path" not in again.content.decode(), "which is a password of many chats"
    assert "https://hooks.example.org/… sentence Question asked, Release built" in text_of(again)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"url": "http://hooks.example.org/"}, "The address must begin with https://."),
        ({"url": "https://me:pw@hooks.example.org/"}, "Remove the username"),
        ({"url": "https://hooks.example.org/#part"}, "Remove the username or the part after #"),
        ({"url": "ftp://hooks.example.org/"}, "Enter a valid URL."),
        ({"events": []}, "Choose at least one event."),
        ({"events": ["webhook.test"]}, "Select a valid choice"),
    ],
)
def test_what_no_message_could_be_sent_to_is_refused(campaign, changes, says):
    answer = manager_of(campaign).post(f"/campaigns/{campaign.slug}/webhooks/", fields(**changes))
    assert answer.status_code == 400
    assert says in text_of(answer)
    assert Webhook.objects.count() == 0


def test_http_is_accepted_where_the_operator_allows_networks(campaign, settings):
    settings.WEBHOOK_NETWORKS = ["10.0.0.0/8"]
    client = manager_of(campaign)
    client.post(f"/campaigns/{campaign.slug}/webhooks/", fields(url="http://chat.intern:9000/in"))
    assert Webhook.objects.get().url == "http://chat.intern:9000/in"


def test_a_test_is_sent_and_its_answer_is_listed(campaign, settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.1"]
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/webhooks/"
    with receiver() as server:
        server.status, server.answer = 418, b"<b>I'm a teapot</b>"
        client.post(address, fields(url=server.url))
        webhook = Webhook.objects.get()
        said = text_of(client.post(address, {"action": "test", "webhook": webhook.pk}, follow=True))
        assert "Sending a test to team channel." in said
        assert "Test 0 waiting" in said
        do_urgent_jobs()
    assert b"This is a test message." in server.requests[0].body
    shown = client.get(address)
    assert "Test 1 waiting 418" in text_of(shown)
    assert "&lt;b&gt;I&#x27;m a teapot&lt;/b&gt;" in shown.content.decode()
    assert "Next attempt:" in text_of(shown)


def test_a_test_does_not_wait_for_a_second_job(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/webhooks/"
    client.post(address, fields())
    webhook = Webhook.objects.get()
    for _ in range(2):
        client.post(address, {"action": "test", "webhook": webhook.pk})
    assert Job.objects.filter(kind="webhook messages").count() == 1
    assert WebhookMessage.objects.filter(event=WebhookEvent.TEST).count() == 2


def test_a_webhook_is_deleted_with_its_messages(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/webhooks/"
    client.post(address, fields())
    webhook = Webhook.objects.get()
    client.post(address, {"action": "test", "webhook": webhook.pk})
    said = text_of(client.post(address, {"action": "delete", "webhook": webhook.pk}, follow=True))
    assert "Deleted the webhook team channel." in said
    assert not Webhook.objects.exists()
    assert not WebhookMessage.objects.exists()


def test_a_webhook_of_another_campaign_is_not_found(campaign):
    other = make_campaign()
    manager_of(other).post(f"/campaigns/{other.slug}/webhooks/", fields())
    webhook = Webhook.objects.get()
    for action in ("test", "delete"):
        answer = manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/webhooks/", {"action": action, "webhook": webhook.pk}
        )
        assert answer.status_code == 404
    assert Webhook.objects.count() == 1


def test_a_new_secret_is_shown_once(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/webhooks/"
    client.post(address, fields())
    old = Webhook.objects.get()
    shown = client.post(address, {"action": "secret", "webhook": old.pk}).content.decode()
    new = Webhook.objects.get()
    assert new.secret != old.secret
    assert new.secret in shown
    assert new.secret not in client.get(address).content.decode()
    assert campaign.audit.filter(action="changed a webhook").count() == 1
