"""Studies of stored data: created on request, made by a job, kept as a zip file, and deleted like
reports."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.models import Report
from analysis.studies.folder import SUMS
from analysis.studies.inputs import StudyInputs, check_inputs
from analysis.studies.papers import get_study
from analysis.studies.runner import make_folder
from analysis.studies.selectors import ZIP_NAME
from analysis.studies.sources import (
    get_qrels_writer,
    write_campaign_inputs,
    write_collection_inputs,
)
from analysis.studies.study import Study
from analysis.systems.inputs import storage_name
from analysis.systems.reports import delete_files, read_file, store_file
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign
from annotation.services.audit import record_event
from assay.cli.base import BadInput
from assay.version import program_version
from pooling.models import Collection
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused

STUDY_JOB = "study"
ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
"""Time of every file, so that equal folders give equal archives."""


def request_study(
    study: Study,
    *,
    collection: Collection,
    campaign: Campaign | None,
    given: StudyInputs,
    user: Any,
) -> Report:
    """Create a study and its job. The caller must send the job. Raises Refused and FormatError for
    inputs that the study or the collection does not have."""
    check_inputs(study, given, by_campaign=campaign is not None)
    if given.runs is not None and collection.runs.filter(pk__in=given.runs).count() < len(
        set(given.runs)
    ):
        raise Refused(_("A selected run is no longer in the collection. Select other runs."))
    for reference in [*given.qrels, *(given.clicks or [])]:
        get_qrels_writer(reference, collection, campaign)
    title = str(
        given.values.get("title")
        or f"{campaign.name if campaign else collection.name}: {study.title}"
    )
    with transaction.atomic():
        row = Report.objects.create(
            collection=collection,
            campaign=campaign,
            kind=Report.STUDY + study.name,
            title=title[:300],
            parameters=given.as_json(),
            seed=given.values.get("seed", 0),
            code_version=program_version(),
            command=f"assay study {study.name} inputs/study.toml",
            created_by=user if user is not None and user.is_authenticated else None,
        )
        row.files = {path: store_file(row, path, data) for path, data in given.files.items()}
        row.job = jobs.enqueue(
            STUDY_JOB,
            {"report": row.pk},
            label=row.title,
            user=user,
            collection=collection,
            campaign_id=campaign.pk if campaign else None,
        )
        row.save(update_fields=["job", "files"])
    return row


def load_inputs(row: Report) -> StudyInputs:
    paths = [path for paths in row.parameters["uploads"].values() for path in paths]
    return StudyInputs.from_json(row.parameters, {path: read_file(row, path) for path in paths})


def rerun_study(row: Report, *, user: Any) -> Report:
    """Repeat the study on the data stored now. Raises Refused."""
    return request_study(
        get_report_study(row),
        collection=row.collection,
        campaign=row.campaign,
        given=load_inputs(row),
        user=user,
    )


def get_report_study(row: Report) -> Study:
    return get_study(row.kind.removeprefix(Report.STUDY))


@jobs.register_job_kind(STUDY_JOB, unit="parts")
def run_study(work: ClaimedJob) -> dict[str, Any]:
    """Make a requested study. The job's report has facts and warnings."""
    row = (
        Report.objects.select_related("collection", "campaign")
        .filter(pk=work.parameters["report"])
        .first()
    )
    if row is None:
        raise Refused(_("The study has been deleted."))
    study, given = get_report_study(row), load_inputs(row)
    done: list[str] = []

    def step(title: str) -> None:
        work.progress(len(done), total=len(study.parts), message=title.lower(), now=True)
        done.append(title)

    work.progress(
        0, total=len(study.parts), message="collecting runs, qrels and judgements", now=True
    )
    with tempfile.TemporaryDirectory(prefix="assay-study-") as made:
        scratch = Path(made)
        inputs, target = scratch / "inputs", scratch / "study"
        try:
            if row.campaign is not None:
                path = write_campaign_inputs(study, row.campaign.slug, inputs, given)
            else:
                path = write_collection_inputs(study, row.collection.slug, inputs, given)
            about = make_folder(study, path, target, scratch=scratch, inputs=inputs, step=step)
        except BadInput as error:
            raise Refused(str(error)) from None
        with tempfile.TemporaryFile() as file:
            write_folder_zip(target, file)
            file.seek(0)
            name = default_storage.save(storage_name(row, ZIP_NAME), File(file))
        digest = digest_checksums(target)
    try:
        work.progress(len(study.parts), message="", now=True)
        with work.completion_transaction() as final:
            row.refresh_from_db()
            row.input_digest, row.finished_at, row.warnings = (
                digest,
                timezone.now(),
                about["warnings"],
            )
            row.result = {"parts": about["parts"], "left_out": about["left_out"]}
            row.files = {**row.files, ZIP_NAME: name}
            row.save(update_fields=["input_digest", "finished_at", "warnings", "result", "files"])
            facts = {"parts": len(about["parts"]), "left out": len(about["left_out"])}
            final.update(report=row.pk, facts=facts, warnings=about["warnings"])
    except BaseException:
        delete_files([name])
        raise
    return final


def open_for_download(row: Report, user: Any) -> tuple[str, IO[bytes]]:
    """Return the name and the open zip file of a study. A campaign's study contains its judgements,
    so the download is recorded in its audit log. Raises Http404 if the study has not been made
    yet."""
    if ZIP_NAME not in row.files:
        raise Http404("The study is not finished yet.")
    if row.campaign is not None:
        record_event(
            row.campaign, user, AuditAction.EXPORTED, f"study {row.title}", digest=row.input_digest
        )
    return f"{row.kind}-{row.pk}.zip", default_storage.open(row.files[ZIP_NAME], "rb")


def write_folder_zip(folder: Path, out: IO[bytes]) -> None:
    """Write a folder as a zip file. Files are sorted by name and have fixed times, so that equal
    folders give equal bytes."""
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), ZIP_TIMESTAMP)
            info.compress_type, info.create_system, info.external_attr = (
                zipfile.ZIP_DEFLATED,
                3,
                0o644 << 16,
            )
            archive.writestr(info, path.read_bytes())


def digest_checksums(folder: Path) -> str:
    """Return the SHA-256 digest of the checksum file, which covers the whole folder."""
    return hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()
