"""A worker that is killed at any of a job's steps leaves nothing that the next attempt does not put
right: every step is tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Pair
from annotation.selectors.judging import check_invariants
from pooling.models import (
    Collection,
    Document,
    DocumentFile,
    Job,
    Pool,
    PoolEntry,
    Qrels,
    Run,
    Topic,
)
from pooling.platform import jobs
from pooling.services import pools, uploads
from tests.builders import make_campaign, make_user

pytestmark = pytest.mark.slow

RUN_C = "051 Q0 e 1 9 C\n051 Q0 a 2 8 C\n7 Q0 b 1 9 C\n"


class Killed(BaseException):
    """As by kill -9: no `except Exception` sees it, and what was not committed is gone."""


@contextmanager
def killed_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ends the worker before its so many-th write (from 1)."""
    steps, write = 0, jobs.ClaimedJob._update_if_held

    def guarded(work: jobs.ClaimedJob, **changes: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == step:
            raise Killed
        write(work, **changes)

    with monkeypatch.context() as patch:
        patch.setattr(jobs.ClaimedJob, "_update_if_held", guarded)
        yield


def upload(collection: Collection, kind: str, text: str) -> Job:
    kept = uploads.store_upload(
        collection,
        kind=kind,
        file=ContentFile(text.encode(), name="file.txt"),
        name="file.txt",
        user=None,
    )
    return uploads.request_import(kept, mode="import", options={}, user=None)


def build(collection: Collection) -> Job:
    return pools.request_pool(
        collection,
        runs=list(collection.runs.all()),
        depth=2,
        name="another",
        user=collection.created_by,
    )


def extend(collection: Collection) -> Job:
    return pools.request_extension(
        collection.pools.get(name="pool"),
        runs=list(collection.runs.all()),
        depth=3,
        user=collection.created_by,
    )


ASKS = {
    "topics": lambda collection: upload(collection, "topics", "9\tnew topic\n10\tanother\n"),
    "run": lambda collection: upload(collection, "run", RUN_C),
    "qrels": lambda collection: upload(collection, "qrels", "051 0 a 1\n7 0 x 0\n"),
    "documents": lambda collection: upload(
        collection,
        "documents",
        '{"_id": "x", "text": "text of x"}\n{"_id": "d", "text": "text of d"}\n',
    ),
    "pool": build,
    "extension": extend,
}


def rows(model: Any, *fields: str) -> list[Any]:
    return sorted(model.objects.values_list(*fields))


def effect() -> dict[str, list[Any]]:
    """What is there, without row ids, times and names of files."""
    return {
        "topics": rows(Topic, "topic_id", "text", "position"),
        "runs": rows(Run, "tag", "digest", "n_rows"),
        "qrels": rows(Qrels, "name", "digest", "n_rows"),
        "document files": rows(DocumentFile, "digest", "n_documents"),
        "documents": rows(Document, "docno", "text"),
        "pools": rows(Pool, "name", "depth", "n_pairs", "digest", "missing_documents"),
        "entries": rows(
            PoolEntry,
            "pool__name",
            "topic__topic_id",
            "docno",
            "best_rank",
            "priority",
            "position",
            "document__docno",
        ),
        "pairs": rows(Pair, "entry__topic__topic_id", "entry__docno", "without_text", "open_slots"),
        "uploads": rows(Collection, "uploads__name"),
    }


@pytest.mark.parametrize("name", ASKS)
def test_a_job_killed_at_any_step_is_done_once_by_the_next_attempt(full, monkeypatch, name):
    monkeypatch.setattr(jobs, "THROTTLE_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "SQLITE_ROWS", 1)
    monkeypatch.setattr(jobs, "SQLITE_PAUSE", 0.0)
    make_campaign(
        collection=full, pool=full.pools.get(), manager=make_user("campaigner", may_create=True)
    )
    if name == "extension":
        jobs.run_job(upload(full, "run", RUN_C).pk)
    undisturbed: dict[str, Any] = {}
    for step in range(500):
        with transaction.atomic():
            job = ASKS[name](full)
            with killed_at(
                step, monkeypatch
            ):  # the first is never reached: what comes of a job that nobody disturbs
                try:
                    jobs.run_job(job.pk)
                    died = False
                except Killed:
                    died = True
            if died:
                job.refresh_from_db()
                assert job.state == Job.State.RUNNING, "as the dead have left it"
                Job.objects.filter(pk=job.pk).update(
                    heartbeat=timezone.now() - timedelta(minutes=1)
                )
                jobs.run_job(job.pk)
            job.refresh_from_db()
            assert (job.state, job.attempt, job.message) == ("done", 1 + died, ""), step
            found = effect() | {"report": job.report.get("facts")}
            undisturbed = undisturbed or found
            assert found == undisturbed, step
            assert check_invariants(Campaign.objects.get()) == [], step
            transaction.set_rollback(True)
        if step and not died:
            break
    assert step > 2, "it has steps"


def test_a_page_says_what_became_of_a_job_whose_worker_ended(full, client, manager):
    client.force_login(manager)
    job = Job.objects.create(
        kind="x",
        label="Work",
        state="running",
        attempt=1,
        heartbeat=timezone.now(),
        created_by=manager,
        collection=full,
    )
    page = reverse("job", args=[job.pk])
    assert "Restarted after an interruption" not in client.get(page).content.decode()
    Job.objects.filter(pk=job.pk).update(heartbeat=timezone.now() - timedelta(minutes=1))
    assert (
        "The worker stopped before this job had finished. The next worker restarts it"
        in client.get(page).content.decode()
    )
    Job.objects.filter(pk=job.pk).update(heartbeat=timezone.now(), attempt=2)
    assert "Restarted after an interruption (attempt 2 of 3)" in client.get(page).content.decode()
    Job.objects.filter(pk=job.pk).update(state="done")
    assert "Finished on attempt 2." in client.get(page).content.decode()
