"""Counts of what the deletion of a report or study removes, for the confirmation page."""

from __future__ import annotations

import zipfile

from django.core.files.storage import default_storage

from analysis.models import Report
from assay.number_words import format_count
from pooling.models import Job

STUDY_ZIP = "study.zip"


def count_dependent_rows(report: Report, *, n_tables: int = 0) -> list[str]:
    """Describe what is deleted with a report or study, such as "3 tables". Empty if it has no
    result yet. n_tables: number of tables of a report's result."""
    goes = ["its running job"] if report.job is not None and report.job.state in Job.ACTIVE else []
    if STUDY_ZIP in report.files:
        with (
            default_storage.open(report.files[STUDY_ZIP], "rb") as stored,
            zipfile.ZipFile(stored) as folder,
        ):
            return [*goes, f"its folder of {format_count(len(folder.namelist()), 'file')}"]
    if n_tables:
        goes.append(f"its result, with {format_count(n_tables, 'table')}")
    if report.files:
        goes.append(format_count(len(report.files), "stored file"))
    return goes
