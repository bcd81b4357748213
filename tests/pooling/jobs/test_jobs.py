from __future__ import annotations

import errno
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from assay.formats.errors import FileProblem, FormatError
from pooling import tasks, upkeep, worker, worker_processes
from pooling.models import Collection, Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, JobCancelled, JobTakenOver, Refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def do(monkeypatch):
    """Register a function as the kind 'test' for the length of one test."""

    def register(function):
        monkeypatch.setitem(jobs.KINDS, "test", jobs.JobKind("test", function, "rows"))
        return jobs.enqueue("test", {"n": 3}, label="a test", user=None)

    return register


def after(job: Job) -> Job:
    job.refresh_from_db()
    return job


def test_a_job_is_done_with_its_report_and_counts(do):
    def count(work: ClaimedJob) -> dict[str, Any]:
        for i in range(work.parameters["n"]):
            work.progress(i + 1, total=3, n_bytes=10 * (i + 1))
        return {"rows": 3}

    job = do(count)
    jobs.run_job(job.pk)
    job = after(job)
    assert (job.state, job.report, job.progress, job.total, job.n_bytes, job.attempt) == (
        "done",
        {"rows": 3},
        3,
        3,
        30,
        1,
    )
    assert job.started_at
    assert job.finished_at
    assert job.owner == ""


def test_a_job_that_is_done_or_running_elsewhere_is_not_begun_again(do):
    begun = []
    job = do(lambda work: begun.append(1))
    jobs.run_job(job.pk)
    jobs.run_job(job.pk)
    assert len(begun) == 1
    other = jobs.enqueue("test", {}, label="", user=None)
    Job.objects.filter(pk=other.pk).update(state="running", owner="x", heartbeat=timezone.now())
    jobs.run_job(other.pk)
    assert len(begun) == 1
    assert after(other).owner == "x"


def test_a_job_whose_worker_went_silent_is_taken_over_and_the_old_worker_is_fenced_out(do):
    seen: list[str] = []

    def first(work: ClaimedJob) -> dict[str, Any]:
        if seen:  # the second worker, inside the first one's time
            seen.append("second")
            return {"by": "second"}
        seen.append("first")
        Job.objects.filter(pk=work.job.pk).update(
            heartbeat=timezone.now() - jobs.STALE_AFTER - timedelta(seconds=1)
        )
        jobs.run_job(work.job.pk)
        with pytest.raises(JobTakenOver), work.writing():
            Collection.objects.create(slug="never", name="never")
        work.progress(1, now=True)
        raise AssertionError("a fenced worker must stop at its next progress")

    job = do(first)
    jobs.run_job(job.pk)
    assert seen == ["first", "second"]
    assert (after(job).state, job.report, job.attempt) == ("done", {"by": "second"}, 2)
    assert not Collection.objects.exists()


def test_after_three_attempts_a_job_fails_with_a_message(do):
    job = do(lambda work: pytest.fail("must not run"))
    Job.objects.filter(pk=job.pk).update(
        state="running", attempt=3, owner="dead", heartbeat=timezone.now() - timedelta(hours=1)
    )
    jobs.run_job(job.pk)
    assert after(job).state == "failed"
    assert "3 times" in job.message


def test_a_database_that_refuses_gets_three_attempts(do):
    def refuse(work: ClaimedJob) -> None:
        raise OperationalError("database is locked")

    job = do(refuse)
    for attempt, state in ((1, "queued"), (2, "queued"), (3, "failed")):
        jobs.run_job(job.pk)
        assert (after(job).state, job.attempt) == (state, attempt)
    jobs.run_job(job.pk)
    assert after(job).attempt == 3


def test_an_urgent_job_does_not_stand_in_line_behind_others(do, monkeypatch):
    waits = do(lambda work: pytest.fail("another process does it"))
    monkeypatch.setitem(
        jobs.KINDS, "quick", jobs.JobKind("quick", lambda work: {"rows": 1}, "rows", urgent=True)
    )
    quick = jobs.enqueue("quick", {}, label="quick", user=None)
    assert worker.run_urgent_job()
    assert not worker.run_urgent_job()
    assert (after(quick).state, after(waits).state) == ("done", "queued")


def test_cancelling_a_queued_job_means_it_never_begins(do):
    job = do(lambda work: pytest.fail("must not run"))
    jobs.request_cancel(job)
    jobs.run_job(job.pk)
    assert (after(job).state, job.attempt) == ("cancelled", 0)


def test_cancelling_a_running_job_stops_it_at_its_next_progress(do):
    def count(work: ClaimedJob) -> None:
        jobs.request_cancel(work.job)
        work.progress(1, now=True)
        pytest.fail("must have stopped")

    job = do(count)
    jobs.run_job(job.pk)
    assert after(job).state == "cancelled"
    assert job.finished_at


def test_what_a_cancelled_job_wrote_in_its_last_transaction_is_gone(do):
    def write(work: ClaimedJob) -> None:
        with work.completion_transaction() as report:
            Collection.objects.create(slug="half", name="half")
            report["rows"] = 1
            raise JobCancelled

    job = do(write)
    jobs.run_job(job.pk)
    assert after(job).state == "cancelled"
    assert not Collection.objects.exists()


def test_a_refused_file_is_reported_with_line_problem_and_text(do):
    def read(work: ClaimedJob) -> None:
        raise FormatError(
            "a.run", [FileProblem(7, "5 columns", "6 columns", "1 Q0 d\x00 1 2")], 120
        )

    job = do(read)
    jobs.run_job(job.pk)
    assert after(job).state == "failed"
    assert job.message == "120 problems in a.run. Nothing was saved."
    assert job.report["n_problems"] == 120
    assert job.report["problems"] == [
        {
            "line": 7,
            "problem": "5 columns",
            "expected": "6 columns",
            "text": "1 Q0 d\N{REPLACEMENT CHARACTER} 1 2",
        }
    ]


def test_a_persons_mistake_is_a_sentence_and_ours_is_in_the_log(do, caplog):
    def wrong(work: ClaimedJob) -> None:
        raise Refused("the run bm25 is there already")

    job = do(wrong)
    jobs.run_job(job.pk)
    assert (after(job).state, job.message) == ("failed", "the run bm25 is there already")
    assert not caplog.records

    broken = do(lambda work: {}["secret"])
    jobs.run_job(broken.pk)
    assert after(broken).state == "failed"
    assert "secret" not in broken.message
    assert "KeyError" in caplog.text


def test_rows_are_written_in_small_transactions_and_stop_when_cancelled(do, monkeypatch):
    monkeypatch.setattr(jobs, "SQLITE_ROWS", 2)
    monkeypatch.setattr(jobs, "ROWS", 2)
    sizes: list[int] = []

    def write(work: ClaimedJob) -> dict[str, Any]:
        return {"rows": work.write_in_batches(range(5), lambda rows: sizes.append(len(rows)))}

    job = do(write)
    jobs.run_job(job.pk)
    assert after(job).report == {"rows": 5}
    assert sizes == [2, 2, 1]


def test_the_reconciler_sends_queued_and_silent_jobs_once_a_minute(do, monkeypatch):
    sent: list[int] = []
    monkeypatch.setattr(worker, "queue_task", lambda _, job_id: sent.append(job_id) or True)
    queued = do(lambda work: None)
    silent, alive, done = (jobs.enqueue("test", {}, label="", user=None) for _ in range(3))
    Job.objects.filter(pk=silent.pk).update(
        state="running", heartbeat=timezone.now() - timedelta(minutes=1)
    )
    Job.objects.filter(pk=alive.pk).update(state="running", heartbeat=timezone.now())
    Job.objects.filter(pk=done.pk).update(state="done")
    reconciler = worker.Reconciler()
    assert reconciler.step() == 2
    assert reconciler.step() == 0
    assert sent == [queued.pk, silent.pk]


def test_a_worker_outlives_whatever_is_wanting_for_a_while(monkeypatch):
    wanting = [
        MemoryError(),
        OSError(errno.EMFILE, "too many open files"),
        OperationalError("database is locked"),
        RuntimeError("can't start new thread"),
    ]
    looked = []

    def look() -> None:
        looked.append(1)
        if wanting:
            raise wanting.pop()

    monkeypatch.setattr(upkeep, "FAULT_PAUSE_SECONDS", 0.01)
    upkeep.poll_forever(look, pause=0.01, is_over=lambda: len(looked) == 5)
    assert len(looked) == 5


def test_a_process_tries_the_next_job_where_another_took_the_first(do):
    gone = do(lambda work: {"rows": 1})
    Job.objects.filter(pk=gone.pk).update(state="done")
    waits = jobs.enqueue("test", {}, label="", user=None)
    assert upkeep.run_first_job(lambda: [gone.pk, waits.pk])
    assert after(waits).state == "done"
    assert not upkeep.run_first_job(worker_processes.list_oldest_jobs)


def test_without_a_broker_sending_is_left_to_the_worker(
    do, settings, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(tasks, "queue_task", lambda *_: pytest.fail("nothing to send to"))
    settings.BROKER_URL = ""
    with django_capture_on_commit_callbacks(execute=True):
        tasks.send(do(lambda work: None))


def test_an_unknown_kind_is_refused_when_asked_and_when_met():
    with pytest.raises(ValueError, match="no such"):
        jobs.enqueue("no such", {}, label="", user=None)
    job = Job.objects.create(kind="no such", label="from another version")
    jobs.run_job(job.pk)
    assert after(job).state == "failed"
