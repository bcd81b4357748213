"""Import of uploaded releases and of judgements from other tools. An upload is deleted once a job
has imported it."""

from __future__ import annotations

import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, BinaryIO, cast

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.publishing.release.importing import import_release
from annotation.models import Campaign
from annotation.services.campaigns.judgement_import import (
    ImportOptions,
    ImportResult,
    import_judgements,
)
from annotation.services.judging import import_guard
from assay.formats.judgements import read_judgements
from pooling.models import Collection, Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services.uploads import check_upload_size, safe_name

IMPORT_JOB = "import campaign"
UPLOAD_FOLDER = "arrivals"
"""Folder for uploads in the file storage. The name is kept for compatibility."""
KEPT_FOR = timedelta(days=1)
"""Age after which an upload that no job has read is deleted, when the next upload arrives."""


def queue_import(
    file: File, *, user: Any, judged: Mapping[str, Any] | None = None, anyway: bool = False
) -> Job:
    """Create a job that imports an uploaded file.

    judged: name, scale and minimum relevant grade of the new campaign, if the file is not a
    release. anyway: import even if annotators have to wait meanwhile. Raises Refused if the file is
    too large for the installation or its disk, or if annotators would have to wait.
    """
    size = file.size or 0
    check_upload_size(size, user)
    shown = safe_name(file.name or "release.zip")
    import_guard.check_import(
        cast(BinaryIO, file), name=shown, anyway=anyway, way=str(import_guard.FORCE_CHECKBOX_HINT)
    )
    discard_expired_uploads()
    stored = default_storage.save(f"{UPLOAD_FOLDER}/{uuid.uuid4().hex}.zip", file)
    parameters = {
        "stored": stored,
        "file": shown,
        "size": size,
        "judged": dict(judged or {}),
        "anyway": anyway,
    }
    return jobs.enqueue(IMPORT_JOB, parameters, label=f"Import {shown}", user=user)


def discard_expired_uploads() -> None:
    waiting = set(
        Job.objects.filter(kind=IMPORT_JOB, state__in=Job.ACTIVE).values_list(
            "parameters__stored", flat=True
        )
    )
    try:
        _, names = default_storage.listdir(UPLOAD_FOLDER)
    except FileNotFoundError:  # the folder does not exist before the first upload
        return
    for name in names:
        path = f"{UPLOAD_FOLDER}/{name}"
        if (
            path not in waiting
            and default_storage.get_modified_time(path) < timezone.now() - KEPT_FOR
        ):
            default_storage.delete(path)


def _campaigns_with_same_name(campaign: Campaign) -> list[str]:
    made = campaign.collection
    others = (
        Collection.objects.filter(name=made.name).exclude(pk=made.pk).values_list("slug", flat=True)
    )
    if not others:
        return []
    return [
        (
            f"a collection called {made.name} already exists ({', '.join(others[:5])}); the "
            f"release was imported into a new one, {made.slug}"
        )
    ]


def _import_judgement_file(
    path: str, name: str, work: ClaimedJob, step: Callable[[str, int], None]
) -> ImportResult:
    said = work.parameters.get("judged") or {}
    n_grades = said.get("scale") or 4
    judgement_file = read_judgements(path, scale=n_grades, name=name)
    wanted = ImportOptions(
        name=said.get("name") or name.partition(".")[0],
        n_grades=n_grades,
        min_relevant=said.get("min_relevant") or 2,
        min_seconds=1.0,
    )
    brought = import_judgements(
        judgement_file, wanted, user=work.job.created_by, step=lambda n: step("judgements", n)
    )
    return replace(brought, warnings=[*judgement_file.warnings, *brought.warnings])


@jobs.register_job_kind(IMPORT_JOB, unit="rows")
def run_import(work: ClaimedJob) -> dict[str, Any]:
    """Import an uploaded file. The job's report has facts (numbers of rows by kind) and campaign
    (its slug)."""
    stored = work.parameters["stored"]
    if not default_storage.exists(stored):
        raise Refused(
            _(
                "The uploaded file is no longer available. If the release has not been imported "
                "yet, upload it again."
            )
        )
    facts: dict[str, int] = {}

    def step(what: str, n: int) -> None:
        facts[what] = n

    try:
        path, name = default_storage.path(stored), work.parameters["file"]
        import_guard.check_import(
            path,
            name=name,
            anyway=work.parameters.get("anyway", False),
            way=str(import_guard.FORCE_CHECKBOX_HINT),
        )
        with work.completion_transaction() as report:
            if name.lower().endswith(".zip") or zipfile.is_zipfile(path):
                campaign = import_release(path, name=name, user=work.job.created_by, step=step)
                report.update(
                    facts=facts,
                    campaign=campaign.slug,
                    warnings=_campaigns_with_same_name(campaign),
                )
            else:
                made = _import_judgement_file(path, name, work, step)
                report.update(
                    facts={"judgements": made.judgements},
                    campaign=made.campaign.slug,
                    warnings=made.warnings,
                )
    except OperationalError:
        raise  # the database was busy, and the next attempt needs the file
    except BaseException:
        default_storage.delete(stored)
        raise
    default_storage.delete(stored)
    return report
