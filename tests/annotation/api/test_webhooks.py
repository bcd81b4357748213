"""Webhooks by API: created, changed, tested and deleted, with the answers of receivers."""

from __future__ import annotations

import pytest

from annotation.models import Webhook, WebhookMessage
from tests.analysis.dashboard.test_pages import manager_of
from tests.builders import do_urgent_jobs, make_campaign
from tests.receivers import receiver

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.org/T0/secret-path"


@pytest.fixture
def campaign():
    return make_campaign(name="Spring")


@pytest.fixture
def client(campaign):
    return manager_of(campaign)


def send(client, campaign, path: str, body: dict | None = None, method: str = "post"):
    address = f"/api/v1/campaigns/{campaign.slug}/{path}"
    return getattr(client, method)(address, body or {}, content_type="application/json")


def create(client, campaign, **changes):
    body = {"name": "team", "url": URL, "events": ["question.asked"], **changes}
    return send(client, campaign, "webhooks/", body)


def test_the_secret_is_in_the_response_of_its_creation_only(client, campaign):
    made = create(client, campaign)
    webhook = Webhook.objects.get()
    assert made.status_code == 201
    assert made.json() == {
        "id": webhook.pk,
        "name": "team",
        "address": "https://hooks.example.org/…",
        "form": "standard",
        "events": ["question.asked"],
        "created_at": made.json()["created_at"],
        "secret": webhook.secret,
    }
    assert (webhook.url, webhook.site) == (URL, "http://testserver")
    one = client.get(made["Location"])
    listed = client.get(f"/api/v1/campaigns/{campaign.slug}/webhooks/")
    assert listed.json()["results"] == [one.json()]
    assert "secret" not in listed.content.decode()


def test_given_keys_are_changed_and_others_stay(client, campaign):
    path = f"webhooks/{create(client, campaign).json()['id']}/"
    said = send(
        client,
        campaign,
        path,
        {"name": "chat", "events": ["release.built"], "form": "text"},
        "patch",
    )
    assert said.status_code == 200, said.content
    webhook = Webhook.objects.get()
    assert (webhook.name, webhook.form, webhook.events) == ("chat", "text", ["release.built"])
    assert webhook.url == URL
    before = webhook.secret
    renewed = send(client, campaign, path + "secret").json()["secret"]
    webhook.refresh_from_db()
    assert before != renewed == webhook.secret


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"url": "http://hooks.example.org/"}, 400),
        ({"url": "no address"}, 400),
        ({"events": []}, 400),
        ({"events": ["webhook.test"]}, 400),
        ({"form": "xml"}, 400),
        ({"colour": "red"}, 400),
        ({"name": "taken"}, 409),
    ],
)
def test_invalid_webhooks_are_refused(client, campaign, changes, status):
    create(client, campaign, name="taken")
    assert create(client, campaign, **changes).status_code == status
    webhook = Webhook.objects.get()
    other = {} if changes == {"name": "taken"} else changes
    if other:
        path = f"webhooks/{webhook.pk}/"
        assert send(client, campaign, path, other, "patch").status_code == status
    assert Webhook.objects.get().url == URL


def test_a_test_has_the_answer_of_the_receiver(client, campaign, settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.1"]
    with receiver() as server:
        server.status, server.answer = 418, b"teapot"
        made = create(client, campaign, url=server.url)
        asked = send(client, campaign, f"webhooks/{made.json()['id']}/test")
        assert (asked.status_code, asked.json()["state"]) == (202, "pending")
        do_urgent_jobs()
    message = client.get(asked["Location"]).json()
    assert (message["event"], message["status"], message["answer"], message["n_attempts"]) == (
        "webhook.test",
        418,
        "teapot",
        1,
    )
    messages = f"/api/v1/campaigns/{campaign.slug}/webhook-messages/"
    assert client.get(messages + "?state=pending").json()["results"] == [message]
    assert client.get(messages + "?state=sent").json()["count"] == 0


def test_a_webhook_is_deleted_with_its_messages(client, campaign):
    path = f"webhooks/{create(client, campaign).json()['id']}/"
    send(client, campaign, path + "test")
    assert send(client, campaign, path, method="delete").status_code == 204
    assert (Webhook.objects.count(), WebhookMessage.objects.count()) == (0, 0)


def test_a_webhook_of_another_campaign_is_not_found(client, campaign):
    other = make_campaign()
    owner = manager_of(other)
    webhook = create(owner, other).json()["id"]
    message = send(owner, other, f"webhooks/{webhook}/test").json()["id"]
    for method, path in (
        ("get", f"webhooks/{webhook}/"),
        ("patch", f"webhooks/{webhook}/"),
        ("delete", f"webhooks/{webhook}/"),
        ("post", f"webhooks/{webhook}/test"),
        ("post", f"webhooks/{webhook}/secret"),
        ("get", f"webhook-messages/{message}/"),
    ):
        assert send(client, campaign, path, method=method).status_code == 404, path
    assert Webhook.objects.count() == 1
