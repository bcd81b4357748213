"""A request that creates something, sent again with the same Idempotency-Key, and where what was
created is."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.people import tokens
from pooling.models import Collection, Job, KeptAnswer, Upload
from tests import openapi
from tests.builders import make_collection, make_user

pytestmark = pytest.mark.django_db
COLLECTIONS = "/api/v1/collections/"


@pytest.fixture
def client() -> Client:
    return client_of("boss")


def client_of(name: str) -> Client:
    token = tokens.create_api_token(user=make_user(name, may_create=True), name="script")
    return Client(headers={"Authorization": f"Bearer {token}"})


def post(
    client: Client, path: str, body: Any, key: str | None = "one-two-three", **more: Any
) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(path, body, headers=headers, **({"content_type": "application/json"} | more))


def test_the_same_request_with_the_same_key_gets_the_same_answer_and_creates_nothing(client):
    first, again = (post(client, COLLECTIONS, {"name": "Robust"}) for _ in range(2))
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert (first.headers["Location"], again.headers["Location"]) == (
        "/api/v1/collections/robust/",
        "/api/v1/collections/robust/",
    )
    assert ("Idempotent-Replayed" in first.headers, again.headers["Idempotent-Replayed"]) == (
        False,
        "true",
    )
    assert Collection.objects.count() == 1
    assert [
        post(client, COLLECTIONS, {"name": "Robust"}, key=None).status_code for _ in range(2)
    ] == [201, 201], "without a key each creates one"


@pytest.mark.parametrize(
    ("path", "body"), [(COLLECTIONS, {"name": "Another"}), ("/api/v1/reports/", {"name": "Robust"})]
)
def test_another_request_with_the_same_key_is_refused(client, path, body):
    post(client, COLLECTIONS, {"name": "Robust"})
    answer = post(client, path, body)
    assert (answer.status_code, answer.json()["code"], Collection.objects.count()) == (
        422,
        "key_reused",
        1,
    )
    assert openapi.faults("POST", path, answer) == []


def test_a_key_is_a_persons_own(client):
    answers = [post(one, COLLECTIONS, {"name": "Robust"}) for one in (client, client_of("ada"))]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert [answer.json()["slug"] for answer in answers] == ["robust", "robust-2"]


def test_a_request_that_failed_is_carried_out_when_it_comes_again(client):
    assert post(client, COLLECTIONS, {"name": ""}).status_code == 400
    make_collection(slug="taken")
    assert post(client, COLLECTIONS, {"name": "New", "slug": "taken"}).status_code == 409
    assert not KeptAnswer.objects.exists()
    Collection.objects.all().delete()
    assert post(client, COLLECTIONS, {"name": "New", "slug": "taken"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_of_the_same_requests_at_the_same_moment_one_is_carried_out():
    token, start = (
        tokens.create_api_token(user=make_user("boss", may_create=True), name="script"),
        threading.Barrier(3),
    )
    clients = [Client(headers={"Authorization": f"Bearer {token}"}) for _ in range(3)]

    def send(one: Client) -> tuple[int, str]:
        start.wait()
        try:
            answer = post(one, COLLECTIONS, {"name": "Robust"})
            return answer.status_code, answer.json().get("slug", "")
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(send, clients)) == [(201, "robust")] * 3
    assert Collection.objects.count() == 1


def test_an_answer_is_kept_for_a_day(client):
    post(client, COLLECTIONS, {"name": "Robust"})
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=24))
    assert post(client, COLLECTIONS, {"name": "Robust"}).json()["slug"] == "robust-2"
    assert KeptAnswer.objects.count() == 1


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "ü"])
def test_a_key_that_is_none_is_refused(client, key):
    answer = post(client, COLLECTIONS, {"name": "Robust"}, key=key)
    assert (answer.status_code, answer.json()["code"], Collection.objects.exists()) == (
        400,
        "malformed",
        False,
    )


def test_an_upload_is_known_by_its_content(client, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    post(client, COLLECTIONS, {"name": "Robust"})

    def send(text: bytes) -> Any:
        body = {"kind": "run", "file": SimpleUploadedFile("a.run", text)}
        return client.post(
            COLLECTIONS + "robust/uploads/", body, headers={"Idempotency-Key": "a-file"}
        )

    first, again, other = send(b"1 Q0 d 1 2 t\n"), send(b"1 Q0 d 1 2 t\n"), send(b"1 Q0 d 1 3 t\n")
    assert (first.status_code, again.json()["id"], other.status_code) == (
        202,
        first.json()["id"],
        422,
    )
    assert first.headers["Location"] == f"/api/v1/jobs/{Job.objects.get().pk}/"
    assert Upload.objects.count() == 1


def test_what_creates_a_campaign_says_where_it_is(client):
    make = {
        "collection": {"slug": "c", "name": "C"},
        "campaign": {"slug": "first", "name": "First"},
    }
    answer = post(client, "/api/v1/campaigns/", make)
    assert (answer.status_code, answer.headers["Location"]) == (201, "/api/v1/campaigns/first/"), (
        answer.json()
    )
    assert client.get(answer.headers["Location"]).status_code == 200
    assert Campaign.objects.count() == 1


def test_every_operation_that_creates_something_takes_a_key_and_says_where_it_is():
    creating = {
        operation["operationId"]: operation
        for methods in openapi.document()["paths"].values()
        for method, operation in methods.items()
        if method == "post" and {"201", "202"} & set(operation["responses"])
    }
    assert len(creating) > 15
    for name, operation in creating.items():
        assert "Idempotency-Key" in {one["name"] for one in operation.get("parameters", ())}, name
        assert "422" in operation["responses"], name
        for status in {"201", "202"} & set(operation["responses"]):
            assert "Location" in operation["responses"][status]["headers"], name
