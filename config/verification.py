"""Checks that the stored data agree: counters with rows, files with rows, and contents with
digests.

    for fault in find_faults(fix=False): print(fault.sentence)

Nothing is changed unless requested. On request, counters are recomputed from the rows, and orphan
files are set aside, not deleted.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db.models import FileField, Model

from analysis.models import Release, Report
from annotation.models import Campaign
from annotation.selectors import kept_figures
from annotation.selectors.judging import check_invariants
from annotation.services.judging.recount import recount_campaign
from assay.formats.errors import FormatError
from assay.formats.storage import compute_digest, load_columns
from pooling.models import DocumentFile, Job, Qrels, Run
from pooling.platform.file_storage import file_storage
from pooling.platform.snapshot import snapshot
from pooling.services.recount import (
    WrongFigure,
    find_wrong_figures,
    find_wrong_file_figures,
    has_active_job,
)

STORED_COLUMNS = {
    Run: ("run", ("offsets", "documents", "scores", "ranks")),
    Qrels: ("qrels", ("offsets", "documents", "grades")),
}
MIN_FILE_AGE_SECONDS = 86_400
"""Minimum age of an orphan file. A newer file may belong to a running job or to a row that is about
to be written."""
QUARANTINE_FOLDER = "put-aside"
RECHECK_SECONDS = 1.0


class InstallationFault(NamedTuple):
    """A disagreement between stored data. is_fixed: whether it was corrected."""

    sentence: str
    is_fixed: bool = False


def find_faults(*, fix: bool) -> Iterator[InstallationFault]:
    """Yield all disagreements between stored data. fix: correct those that can be corrected without
    loss."""
    yield from find_counter_faults(fix=fix)
    yield from find_figure_faults(find_wrong_figures(), fix=fix)
    yield from find_file_faults(fix=fix)
    yield from find_orphan_files(fix=fix)


def find_counter_faults(*, fix: bool) -> Iterator[InstallationFault]:
    """Check the slots, leases, revisions and counters of every campaign, each as of one moment."""
    for campaign in Campaign.objects.order_by("slug"):
        sentences = recheck_transient_faults(campaign)
        if sentences and fix:
            recount_campaign(campaign)
            left = set(recheck_transient_faults(campaign))
            yield from (
                InstallationFault(f"{campaign.slug}: {sentence}", sentence not in left)
                for sentence in sentences
            )
        else:
            yield from (InstallationFault(f"{campaign.slug}: {sentence}") for sentence in sentences)


def recheck_transient_faults(campaign: Campaign) -> list[str]:
    """Return a campaign's faults, except those that are gone on a second check.

    Some values lag for a moment, because they follow a manager's action in a separate transaction.
    """
    sentences, late = check_in_snapshot(campaign)
    if late and has_active_job(campaign.pool):
        late = []
    elif late:
        time.sleep(RECHECK_SECONDS)
        late = [sentence for sentence in check_in_snapshot(campaign)[1] if sentence in late]
    return [*sentences, *late]


def check_in_snapshot(campaign: Campaign) -> tuple[list[str], list[str]]:
    """Check a campaign as of one moment. Returns (faults in values that must always agree, faults
    in values that may lag for a moment)."""
    with snapshot():
        now = Campaign.objects.get(pk=campaign.pk)
        return [
            *check_invariants(now),
            *kept_figures.immediate_faults(now),
        ], kept_figures.deferred_faults(now)


def find_figure_faults(figures: Iterable[WrongFigure], *, fix: bool) -> Iterator[InstallationFault]:
    for wrong in figures:
        yield InstallationFault(wrong.sentence, fix and wrong.fix())


def find_file_faults(*, fix: bool) -> Iterator[InstallationFault]:
    """Check that the files named by rows exist and match the rows' digests and other data."""
    for model, fields in list_file_fields().items():
        for row in model._default_manager.order_by("pk").iterator():
            for field in fields:
                name = getattr(row, field).name
                if name and not file_storage.exists(name):
                    yield InstallationFault(
                        f"{model._meta.verbose_name} {row.pk} ({row}): its file {name} is missing"
                    )
                elif (
                    name
                    and (expected := getattr(row, "digest", ""))
                    and (digest := compute_content_digest(row, field))
                    and digest != expected
                ):
                    yield InstallationFault(
                        f"{model._meta.verbose_name} {row.pk} ({row}): the content of {name} has changed"
                    )
                elif name:
                    yield from find_own_file_faults(row, field, fix=fix)
    for report in Report.objects.exclude(files={}).order_by("pk").only("title", "files").iterator():
        for name in report.files.values():
            if not file_storage.exists(name):
                yield InstallationFault(
                    f"report {report.pk} ({report}): its file {name} is missing"
                )


def find_own_file_faults(row: Any, field: str, *, fix: bool) -> Iterator[InstallationFault]:
    """Compare the data in a row with the row's file, which exists."""
    try:
        wrong = find_wrong_file_figures(row, field)
    except (FormatError, ValueError, EOFError, OSError) as error:
        yield InstallationFault(
            f"{row._meta.verbose_name} {row.pk} ({row}): {getattr(row, field).name} cannot be read: {error}"
        )
    else:
        yield from find_figure_faults(wrong, fix=fix)


def list_file_fields() -> dict[type[Model], list[str]]:
    fields_of_model = {
        model: [field.name for field in model._meta.get_fields() if isinstance(field, FileField)]
        for model in apps.get_models()
    }
    return {model: fields for model, fields in fields_of_model.items() if fields}


def compute_content_digest(row: Any, field: str) -> str:
    """Compute the digest of a file in the way in which the row's digest was computed. Empty if the
    row has none."""
    path = getattr(row, field).path
    if type(row) in STORED_COLUMNS:
        kind, names = STORED_COLUMNS[type(row)]
        try:
            return compute_digest(kind, *load_columns(path, kind=kind, names=names))
        except (FormatError, OSError):
            return "unreadable"
    if (isinstance(row, DocumentFile) and field == "file") or isinstance(row, Release):
        with Path(path).open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    return ""


def find_orphan_files(*, fix: bool) -> Iterator[InstallationFault]:
    """Yield files that no row names, left by a process that was killed between writing a file and
    its row."""
    named = list_named_files()
    for name, n_bytes, changed_at in list(file_storage.each()):
        if (
            name in named
            or any(name.startswith(f"{one}/") for one in named)
            or time.time() - changed_at < MIN_FILE_AGE_SECONDS
        ):
            continue
        if fix:
            target = Path(settings.DATA_DIR) / QUARANTINE_FOLDER / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file_storage.path(name), target)
            file_storage.delete(name)
        yield InstallationFault(f"{name} ({n_bytes:,} bytes) is not referenced", fix)


def list_named_files() -> set[str]:
    """Return the storage names of all files that rows refer to, in file fields and in the JSON of
    jobs and reports."""
    names = {
        name
        for model, fields in list_file_fields().items()
        for field in fields
        for name in model._default_manager.values_list(field, flat=True)
        if name
    }
    for kept in (
        *Report.objects.values_list("files", "inputs", "parameters"),
        *Job.objects.values_list("parameters", "report"),
    ):
        for value in kept:
            names |= collect_strings(value)
    return names


def collect_strings(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return {text for one in value.values() for text in collect_strings(one)}
    if isinstance(value, list):
        return {text for one in value for text in collect_strings(one)}
    return set()
