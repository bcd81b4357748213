from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from pooling.models import Collection, Job
from pooling.platform import jobs
from pooling.services import pool_preview, pools, uploads
from pooling.services.collections import create_collection

TOPICS = "051\tType 2 diabetes\n7\ttype 2  DIABETES\n8\t#1 or #2\n"
RUN_A = "051 Q0 a 1 9 A\n051 Q0 b 2 8 A\n7 Q0 x 1 9 A\n"
RUN_B = "051 Q0 b 1 9 B\n051 Q0 d 2 8 B\n"
DOCUMENTS = (
    '{"_id": "a", "title": "<b>A</b>", "text": "<script>alert(1)</script> text of a"}\n{"_id": '
    '"b", "text": "text of b"}\n'
)


@pytest.fixture
def own_storage(settings, tmp_path: Path) -> Path:
    """Give the test its own folder of stored files."""
    settings.MEDIA_ROOT = tmp_path / "files"
    return settings.MEDIA_ROOT


@pytest.fixture
def manager(db) -> User:
    return User.objects.create_user("manager", password="a long password")


@pytest.fixture
def collection(manager, own_storage) -> Collection:
    return create_collection(name="Small", user=manager)


def bring_in(
    collection: Collection,
    file_kind: str,
    content: bytes | str,
    *,
    name: str = "file.txt",
    mode: str = "import",
    user=None,
    **options,
) -> Job:
    """Upload bytes and run the import job to its end. The returned Job has the result."""
    data = content.encode() if isinstance(content, str) else content
    upload = uploads.store_upload(
        collection, kind=file_kind, file=ContentFile(data, name=name), name=name, user=user
    )
    return run(uploads.request_import(upload, mode=mode, options=options, user=user))


def run(job: Job) -> Job:
    jobs.run_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.fixture
def bring(collection, manager):
    def bring_here(file_kind: str, content: bytes | str, **options) -> Job:
        return bring_in(collection, file_kind, content, user=manager, **options)

    return bring_here


@pytest.fixture
def full(collection, manager) -> Collection:
    """Create a collection with topics, two runs, documents, qrels, a pool, and an uploaded file
    that waits for its import."""
    return fill(collection, manager)


def fill(collection: Collection, manager: User) -> Collection:
    for kind, content, name in (
        ("topics", TOPICS, "topics.tsv"),
        ("run", RUN_A, "a.run"),
        ("run", RUN_B, "b.run"),
        ("documents", DOCUMENTS, "docs.jsonl"),
        ("qrels", "051 0 a 1\n051 0 b 0\n", "qrels.txt"),
    ):
        assert bring_in(collection, kind, content, name=name, user=manager).state == "done"
    assert (
        run(
            pools.request_pool(
                collection, runs=list(collection.runs.all()), depth=2, name="pool", user=manager
            )
        ).state
        == "done"
    )
    assert (
        run(
            pool_preview.request_preview(
                collection, runs=list(collection.runs.all()), depth=2, user=manager
            )
        ).state
        == "done"
    )
    bring_in(
        collection,
        "run",
        RUN_A.replace("A\n", "W\n"),
        name="waits.run",
        mode="inspect",
        user=manager,
    )
    return collection
