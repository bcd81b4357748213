"""Many workers ask for one job at the same instant."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from pooling import jobs
from pooling.models import Job


@pytest.mark.django_db(transaction=True)
def test_of_eight_threads_that_claim_a_job_at_once_one_gets_it(monkeypatch):
    begun: list[int] = []
    monkeypatch.setitem(jobs.KINDS, "test", jobs.Kind("test", lambda work: begun.append(work.job.pk), "rows"))
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
