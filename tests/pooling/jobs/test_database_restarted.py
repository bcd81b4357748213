"""Whatever kind of job PostgreSQL is restarted in the middle of: the next attempt does it, and
there is what an undisturbed one leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import override_settings

from config import verification
from pooling.models import Job
from pooling.platform import jobs
from tests.databases import own_database
from tests.migrated import fill_migrated
from tests.pooling.jobs.every_kind import ASKS, POINTS, World, row_counts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgresql,
    pytest.mark.xdist_group("every kind of job on PostgreSQL"),
]
WRITES = {"begin": "_update_if_held", "end": "_close"}


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory,
    postgresql_url: str,
    django_db_setup,
    django_db_blocker,
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("restarted")
    kept = override_settings(MEDIA_ROOT=folder / "files")
    with (
        kept,
        django_db_blocker.unblock(),
        own_database("postgresql", folder=folder, server=postgresql_url) as url,
    ):
        fill_migrated(url)
        yield World()


def end_connections() -> None:
    """As a restart does, to all but its own, at once and whatever they are in the middle of."""
    settings = connection.settings_dict
    with psycopg.connect(
        dbname=settings["NAME"],
        host=settings["HOST"],
        port=settings["PORT"],
        user=settings["USER"],
        password=settings["PASSWORD"],
    ) as own:
        own.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid()"
        )


@contextmanager
def restarted(at: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Before the job's first write ('begin'), or when all is written but not yet committed ('end').
    -> filled when it has been"""
    name, came = WRITES[at], []
    write: Callable[..., Any] = getattr(jobs.ClaimedJob, name)

    def ended(work: jobs.ClaimedJob, *args: Any, **changes: Any) -> None:
        if not came:
            came.append(at)
            end_connections()
        write(work, *args, **changes)

    with monkeypatch.context() as patch:
        patch.setattr(jobs.ClaimedJob, name, ended)
        yield came


def run(job: Job) -> None:
    """As a worker does, which goes on with a new connection whatever became of the job's."""
    try:
        jobs.run_job(job.pk)
    finally:
        connection.close_if_unusable_or_obsolete()
    job.refresh_from_db()


@pytest.mark.parametrize("kind", ASKS)
def test_a_job_in_the_middle_of_which_postgresql_is_restarted_is_done_by_its_next_attempt(
    world: World, kind: str, monkeypatch
):
    world.do_what_waits()
    undisturbed = world.undisturbed(kind)
    job = ASKS[kind](world)
    for attempt, at in enumerate(POINTS, start=1):
        with restarted(at, monkeypatch) as came:
            run(job)
        assert came, f"it came to its end without {at}"
        assert (job.state, job.attempt) == (Job.State.QUEUED, attempt), job.message
    run(job)
    assert (job.state, job.attempt) == (Job.State.DONE, len(POINTS) + 1)
    assert row_counts() == undisturbed
    world.do_what_waits()
    assert [fault.sentence for fault in verification.find_faults(fix=False)] == []
