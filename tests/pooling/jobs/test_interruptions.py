"""A job that neither reacts to its cancellation nor makes progress is ended from outside."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from pooling.models import Job
from pooling.platform import heartbeats, interruptions, jobs
from pooling.platform.interruptions import JobWatch
from pooling.platform.jobs import ClaimedJob, JobCancelled, JobStalled
from tests.databases import on_another_connection, own_database


@pytest.fixture
def do(
    monkeypatch, tmp_path, django_db_blocker
) -> Iterator[Callable[[Callable[[ClaimedJob], None]], Job]]:
    """Does the function as a job, to its end, with signs of life from another thread."""
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(jobs, "CANCEL_SECONDS", 0.05)

    def run(function: Callable[[ClaimedJob], None]) -> Job:
        monkeypatch.setitem(jobs.KINDS, "test", jobs.JobKind("test", function, "rows"))
        job = jobs.enqueue("test", {}, label="a test", user=None)
        jobs.run_job(job.pk)
        job.refresh_from_db()
        return job

    with django_db_blocker.unblock(), own_database("sqlite", folder=tmp_path, migrated=True):
        yield run


def test_a_cancelled_job_ends_where_it_is_even_if_it_never_looks(do):
    cleaned = []

    def sleeps(work: ClaimedJob) -> None:
        on_another_connection(lambda: jobs.request_cancel(work.job))
        try:
            time.sleep(60)
        finally:
            cleaned.append(True)

    job = do(sleeps)
    assert (job.state, job.message, cleaned) == (
        "cancelled",
        "Cancelled. Nothing was saved.",
        [True],
    )
    assert signal.getsignal(interruptions.SIGNAL) == signal.SIG_DFL


def test_a_job_without_progress_fails_at_the_limit_and_one_with_progress_goes_on(do, settings):
    settings.JOB_IDLE_SECONDS = 0.3
    job = do(lambda work: time.sleep(60))
    assert (job.state, job.message) == (
        "failed",
        "The job made no progress for 0.3 seconds (ASSAY_JOB_IDLE_SECONDS). Nothing was saved.",
    )

    def steps(work: ClaimedJob) -> None:
        for step in range(10):
            time.sleep(0.05)
            work.progress(step)

    assert do(steps).state == "done"


def test_what_completes_an_effect_is_not_interrupted_by_a_cancellation(do):
    def completes(work: ClaimedJob) -> None:
        work.past_cancelling = True
        on_another_connection(lambda: jobs.request_cancel(work.job))
        time.sleep(0.3)

    assert do(completes).state == "done"


@pytest.mark.parametrize("is_expendable", [True, False])
def test_the_process_ends_where_an_interruption_has_ended_nothing_and_another_takes_its_place(
    monkeypatch, is_expendable
):
    killed, given_up = [], []
    monkeypatch.setattr(interruptions, "KILL_SECONDS", 0.0)
    monkeypatch.setattr(interruptions, "is_expendable", is_expendable)
    monkeypatch.setattr(interruptions.os, "kill", lambda pid, number: killed.append((pid, number)))
    watch = JobWatch(JobCancelled, given_up.append)
    with watch.running():
        with pytest.raises(JobCancelled):
            watch.look()
        time.sleep(0.01)
        watch.look()
    assert killed == [(os.getpid(), signal.SIGKILL)] * is_expendable
    assert [type(reason) for reason in given_up] == [JobCancelled] * is_expendable


def test_outside_of_a_job_nothing_is_interrupted():
    watch = JobWatch(JobStalled, lambda reason: None)
    watch.look()
    with watch.running():
        pass
    watch.look()
    assert watch.reason is None
