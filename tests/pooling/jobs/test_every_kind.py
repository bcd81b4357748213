"""Whatever kind of job a worker is killed in the middle of: the next does it, and there is what an
undisturbed one leaves."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from django.test import override_settings

from config import verification
from pooling.models import Job
from pooling.platform import jobs
from tests.databases import own_database
from tests.installation import ROOT
from tests.pooling.jobs.every_kind import (
    ASKS,
    ELSEWHERE,
    POINTS,
    World,
    registered,
    row_counts,
    stopped,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("every kind of job")]


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup, django_db_blocker
) -> Iterator[World]:
    """One for all kinds, in a database of its own that other processes can open."""
    folder = tmp_path_factory.mktemp("every-kind")
    kept = override_settings(MEDIA_ROOT=folder / "files")
    with kept, django_db_blocker.unblock(), own_database("sqlite", folder=folder, migrated=True):
        yield World()


def test_every_kind_has_a_line():
    assert set(ASKS) | set(ELSEWHERE) == registered()
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())


@pytest.mark.parametrize("kind", ASKS)
def test_a_job_whose_worker_is_killed_in_the_middle_is_done_by_the_next(world: World, kind: str):
    world.do_what_waits()
    undisturbed = world.undisturbed(kind)
    job = ASKS[kind](world)
    asked = row_counts()
    for attempt, at in enumerate(POINTS, start=1):
        assert stopped(job.pk, at=at) == signal.SIGKILL, f"it came to its end without {at}"
        job.refresh_from_db()
        assert (job.state, job.attempt) == (Job.State.RUNNING, attempt)
        if not jobs.KINDS[kind].resumes and at == "begin":
            assert row_counts() == asked, "nothing is written before the first word of it"
        assert jobs.release_jobs_of_dead_workers() == 1
        assert [pk for pk, _ in jobs.list_waiting_jobs()] == [job.pk]
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempt) == (Job.State.DONE, len(POINTS) + 1)
    assert row_counts() == undisturbed
    world.do_what_waits()
    faults = [fault.sentence for fault in verification.find_faults(fix=False)]
    assert faults == []


def test_what_kills_every_worker_is_said_to_have_failed(world: World):
    job = ASKS["build pool"](world)
    for _ in range(jobs.ATTEMPTS):
        assert stopped(job.pk, at="end") == signal.SIGKILL
        jobs.release_jobs_of_dead_workers()
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempt) == (Job.State.FAILED, jobs.ATTEMPTS)
    assert "The worker stopped 3 times during this job" in job.message
