"""Many workers ask for one job at the same instant."""

from __future__ import annotations

import subprocess
import threading
import time

import pytest
from django.db import connection
from django.utils import timezone

from pooling.models import Job
from pooling.platform import heartbeats, jobs, worker_identity


@pytest.mark.django_db(transaction=True)
def test_of_eight_threads_that_claim_a_job_at_once_one_gets_it(monkeypatch):
    begun: list[int] = []
    monkeypatch.setitem(
        jobs.KINDS, "test", jobs.JobKind("test", lambda work: begun.append(work.job.pk), "rows")
    )
    rows = [jobs.enqueue("test", {}, label="", user=None) for _ in range(5)]
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for job in rows:
            jobs.run_job(job.pk)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(begun) == sorted(job.pk for job in rows)
    assert set(Job.objects.values_list("state", "attempt")) == {("done", 1)}


@pytest.mark.django_db(transaction=True)
def test_a_job_is_done_though_every_thread_that_begins_meanwhile_dies_at_once_for_want_of_memory(
    monkeypatch,
):
    """`Thread.start` waits for ever for a thread that never said that it runs."""

    def dies(self: threading.Thread) -> None:
        raise MemoryError

    def work() -> None:
        monkeypatch.setattr(threading.Thread, "_bootstrap_inner", dies)
        try:
            jobs.run_job(job.pk)
        finally:
            monkeypatch.undo()
            connection.close()

    monkeypatch.setitem(jobs.KINDS, "test", jobs.JobKind("test", lambda work: None, "rows"))
    job = jobs.enqueue("test", {}, label="", user=None)
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(timeout=60)
    monkeypatch.undo()
    assert not worker.is_alive()
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("done", 1)


@pytest.mark.django_db(transaction=True)
def test_a_job_that_another_has_taken_over_learns_it_from_its_heartbeat(monkeypatch):
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", 0.05)
    fenced: list[bool] = []

    def long_step(work: jobs.ClaimedJob) -> None:
        while Job.objects.get(pk=job.pk).heartbeat == work.job.heartbeat:  # a sign of life
            time.sleep(0.02)
        Job.objects.filter(pk=job.pk).update(owner="another")
        fenced.append(work.fenced.wait(60))

    monkeypatch.setitem(jobs.KINDS, "test", jobs.JobKind("test", long_step, "rows"))
    job = jobs.enqueue("test", {}, label="", user=None)
    jobs.run_job(job.pk)
    assert fenced == [True]
    assert Job.objects.get(pk=job.pk).owner == "another"


@pytest.mark.django_db
def test_a_job_whose_process_is_gone_is_free_at_once_and_one_of_another_machine_or_a_living_process_is_not():
    gone = subprocess.Popen(["true"])
    gone.wait()
    tokens = [
        f"a-{gone.pid}-{worker_identity.machine_id()}",
        worker_identity.make_token(),
        f"a-{gone.pid}-elsewhere0",
        "0" * 32,
    ]
    made = [
        Job.objects.create(
            kind="x",
            label="",
            state=Job.State.RUNNING,
            owner=token,
            attempt=1,
            heartbeat=timezone.now(),
        )
        for token in tokens
    ]
    assert jobs.release_jobs_of_dead_workers() == 1
    assert jobs.list_waiting_jobs() == [(made[0].pk, 1)]
    assert all(len(token) <= Job._meta.get_field("owner").max_length for token in tokens)
