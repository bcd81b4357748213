"""What one person may ask for: jobs that wait or run, bytes of uploads that wait. Others are not
held up by it."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from pooling.models import Job, Upload
from pooling.platform import jobs
from pooling.services import uploads
from tests.builders import make_collection, make_user

pytestmark = pytest.mark.django_db


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def job(user, state="queued") -> Job:
    made = jobs.enqueue("check topics", {}, label="check", user=user)
    Job.objects.filter(pk=made.pk).update(state=state)
    return made


def test_a_person_has_so_many_jobs_and_others_are_not_held_up(settings):
    settings.JOBS_PER_PERSON = 2
    ada, bob = make_user("ada"), make_user("bob")
    first = job(ada)
    job(ada, "running")
    with pytest.raises(
        jobs.OverQuota, match=r"You have 2 jobs waiting or running\. The maximum per user is 2"
    ):
        job(ada)
    assert job(bob).created_by == bob
    assert job(None).created_by is None, "what the installation does by itself"
    jobs.request_cancel(first)
    for state in ("done", "failed", "cancelled"):
        job(ada, state)
    job(ada)
    settings.JOBS_PER_PERSON = 0
    job(ada)


def test_page_and_api_say_so_and_make_nothing(settings):
    settings.JOBS_PER_PERSON = 1
    ada = make_user("ada", may_create=True)
    collection = make_collection(manager=ada)
    job(ada)
    answer = client_of(ada).post(
        reverse("api-topics-check", args=[collection.slug]),
        {"level": "exact"},
        content_type="application/json",
    )
    assert (answer.status_code, answer["Content-Type"], answer.json()["code"]) == (
        403,
        "application/problem+json",
        "over_quota",
    )
    assert "Wait until it has finished, or cancel it" in answer.json()["detail"]
    page = client_of(ada).post(
        reverse("collection-check", args=[collection.slug]), {"level": "exact"}
    )
    assert (page.status_code, "You have 1 job waiting" in page.content.decode()) == (403, True)
    assert Job.objects.count() == 1


def test_uploads_of_one_person_wait_up_to_so_many_bytes(settings, tmp_path):
    settings.MEDIA_ROOT, settings.WAITING_BYTES_PER_PERSON = tmp_path, 100
    ada, bob = make_user("ada"), make_user("bob")
    collection = make_collection(manager=ada)
    kept = uploads.store_upload(
        collection, kind="run", file=ContentFile(b"x" * 60), name="a.run", user=ada
    )
    with pytest.raises(
        jobs.Refused,
        match=r"Your uploads waiting for a decision take up 60 bytes, or 101 with this file\. The maximum per user is 100 bytes",
    ):
        uploads.store_upload(
            collection, kind="run", file=ContentFile(b"x" * 41), name="b.run", user=ada
        )
    answer = client_of(ada).post(
        reverse("api-uploads", args=[collection.slug]),
        {"kind": "run", "file": SimpleUploadedFile("c.run", b"x" * 41)},
    )
    assert (
        answer.status_code,
        "Import or discard some of them first" in answer.json()["detail"],
    ) == (409, True)
    assert (
        Upload.objects.count(),
        len([path for path in tmp_path.rglob("*") if path.is_file()]),
    ) == (1, 1)
    uploads.store_upload(
        collection, kind="run", file=ContentFile(b"x" * 100), name="d.run", user=bob
    )
    uploads.discard_upload(kept)
    uploads.store_upload(
        collection, kind="run", file=ContentFile(b"x" * 100), name="e.run", user=ada
    )
