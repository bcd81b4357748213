"""Releases that arrive by upload: kept until a job has imported them, then forgotten."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.utils import timezone

from analysis.services.archive_import import import_archive
from pooling import jobs
from pooling.jobs import Refused, Work
from pooling.models import Job
from pooling.services.uploads import check_room, safe_name

IMPORT = "import campaign"
FOLDER = "arrivals"
KEPT = timedelta(days=1)
"""A file that no job has read for so long is deleted when the next one arrives."""


def receive(file: File, *, user: Any) -> Job:
    """The queued job that imports the archive. Refused where it is too large for this installation or its disk."""
    size = file.size or 0
    check_room(size)
    discard_forgotten()
    shown = safe_name(file.name or "release.zip")
    stored = default_storage.save(f"{FOLDER}/{uuid.uuid4().hex}.zip", file)
    return jobs.enqueue(IMPORT, {"stored": stored, "file": shown, "size": size}, label=f"Import the release {shown}", user=user)


def discard_forgotten() -> None:
    if not default_storage.exists(FOLDER):
        return
    waiting = set(
        Job.objects.filter(kind=IMPORT, state__in=[Job.State.QUEUED, Job.State.RUNNING]).values_list("parameters__stored", flat=True)
    )
    for name in default_storage.listdir(FOLDER)[1]:
        path = f"{FOLDER}/{name}"
        if path not in waiting and default_storage.get_modified_time(path) < timezone.now() - KEPT:
            default_storage.delete(path)


@jobs.kind(IMPORT, unit="rows")
def import_release(work: Work) -> dict[str, Any]:
    """-> report: facts (rows by kind), campaign (its slug)"""
    stored = work.parameters["stored"]
    if not default_storage.exists(stored):
        raise Refused("the archive was read already, or is gone")
    facts: dict[str, int] = {}

    def step(what: str, n: int) -> None:
        facts[what] = n

    try:
        with work.finishing() as report:
            campaign = import_archive(default_storage.path(stored), name=work.parameters["file"], user=work.job.created_by, step=step)
            report.update(facts=facts, campaign=campaign.slug)
    except OperationalError:
        raise  # the database was busy: the job will be tried again and needs the file
    except BaseException:
        default_storage.delete(stored)
        raise
    default_storage.delete(stored)
    return report
