"""Run a job in a command: the same Job row and services as for the pages, with progress on standard
error."""

from __future__ import annotations

import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import connection
from django.utils import timezone

from assay.formats.errors import FormatError
from assay.formats.packaged import DatasetUnavailable, dataset_id
from assay.formats.packaged_files import write_part
from pooling.models import Collection, Job, Upload
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.services import uploads


class ImportFailed(CommandError):
    """Raised if an import fails. The exit status is 2, as for all invalid input."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)


def get_collection(slug: str) -> Collection:
    collection = Collection.objects.filter(slug=slug).first()
    if collection is None:
        slugs = ", ".join(Collection.objects.values_list("slug", flat=True)[:20]) or "none yet"
        raise ImportFailed(
            f"there is no collection with the slug {slug!r}; existing collections: {slugs}"
        )
    return collection


def get_user(name: str | None) -> Any:
    if not name:
        return None
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise ImportFailed(f"there is no account with the username {name!r}")
    return user


def run_job_here(job: Job, stderr: OutputWrapper) -> Job:
    """Run the job in this process, or wait for the worker that has claimed it. Returns the finished
    job. Raises ImportFailed with the job's problems."""
    stop = threading.Event()
    watcher = threading.Thread(target=_show_progress, args=(job.pk, stop, stderr), daemon=True)
    if not connection.in_atomic_block:
        # another connection would not see the rows of a test's transaction
        watcher.start()
    try:
        jobs.run_job(job.pk)
        while Job.objects.filter(pk=job.pk, state__in=Job.ACTIVE).exists():
            time.sleep(0.5)
    except KeyboardInterrupt:
        gone = {
            "state": Job.State.CANCELLED,
            "owner": "",
            "finished_at": timezone.now(),
            "message": "Interrupted. Nothing was saved.",
        }
        Job.objects.filter(pk=job.pk, state__in=Job.ACTIVE).update(**gone)
        raise
    finally:
        stop.set()
        if watcher.is_alive():
            watcher.join(timeout=3)
    job.refresh_from_db()
    if job.state != Job.State.DONE:
        raise ImportFailed("\n".join([*_format_problems(job), job.message]))
    return job


def _format_problems(job: Job) -> list[str]:
    file = job.report.get("file", "")
    return [
        f"{file}:{p['line'] or 1}: {p['problem']}, expected {p['expected']}"
        + (f": {p['text']}" if p["text"] else "")
        for p in job.report.get("problems", [])
    ]


def _show_progress(job_id: int, stop: threading.Event, stderr: OutputWrapper) -> None:
    shown = False
    while not stop.wait(2.0):
        job = Job.objects.filter(pk=job_id).first()
        if job is not None and job.state == Job.State.RUNNING:
            of = f" of {job.total:,}" if job.total else ""
            stderr.write(
                f"\r{job.label}: {job.progress:,}{of} {job.unit}, {job.n_bytes / 1e6:,.0f} MB {job.message[:60]:60}",
                ending="",
            )
            shown = True
    if shown:
        stderr.write("")
    connection.close()


def add_file_arguments(parser: ArgumentParser, what: str) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help=f"{what}; or irds:ID for a data set of the package ir_datasets",
    )
    parser.add_argument(
        "--collection", required=True, metavar="SLUG", help="slug of the collection"
    )
    parser.add_argument("--user", metavar="NAME", help="username under which the import runs")
    parser.add_argument(
        "--inspect", action="store_true", help="show what the file contains without importing it"
    )
    parser.add_argument(
        "--as-named",
        action="store_true",
        help="import the file even if its content looks like another type of file",
    )


@contextmanager
def refuse_unavailable(name: str) -> Iterator[None]:
    """Raise ImportFailed if a data set is not available or not valid."""
    try:
        yield
    except DatasetUnavailable as error:
        raise ImportFailed(f"{name}: {error}") from error
    except FormatError as error:
        raise ImportFailed(str(error)) from error


class ImportCommand(BaseCommand):
    """Base of commands that import files of one kind, one after the other, as if uploaded.

    option_names: the command's options that are options of the import.
    """

    kind: str
    option_names: tuple[str, ...] = ()

    def handle(
        self,
        *,
        files: list[str],
        collection: str,
        user: str | None,
        inspect: bool,
        as_named: bool,
        **options: Any,
    ) -> None:
        target, person = get_collection(collection), get_user(user)
        chosen = {name: options[name] for name in self.option_names if options[name]}
        if as_named:
            chosen["kind_confirmed"] = True
        # reports are written after all files, so that a refused file is the last message
        for job in [
            import_file(
                target, name, self.kind, chosen, person, stderr=self.stderr, inspect=inspect
            )
            for name in files
        ]:
            self.stdout.write("\n".join(format_report(job)))


def import_file(
    collection: Collection,
    name: str,
    kind: str,
    options: dict[str, Any],
    person: Any,
    *,
    stderr: OutputWrapper,
    inspect: bool = False,
) -> Job:
    """Import one file, or data set of ir_datasets, and return the finished job."""
    if identifier := dataset_id(name):
        with tempfile.TemporaryDirectory() as folder, refuse_unavailable(name):
            path = str(write_part(identifier, kind, Path(folder)))
            return import_file(
                collection, path, kind, options, person, stderr=stderr, inspect=inspect
            )
    try:
        with open(name, "rb") as handle:
            kept = uploads.store_upload(
                collection, kind=kind, file=File(handle), name=Path(name).name, user=person
            )
        job = uploads.request_import(
            kept, mode="inspect" if inspect else "import", options=options, user=person
        )
    except OSError as error:
        raise ImportFailed(f"{name}: {error.strerror or error}") from None
    except Refused as error:
        raise ImportFailed(f"{name}: {error}") from None
    return check_imported(run_job_here(job, stderr), kept, inspect=inspect)


def check_imported(job: Job, upload: Upload, *, inspect: bool) -> Job:
    """Return the job if its file was imported or only inspected. Raises ImportFailed if a decision
    is needed first."""
    if not job.report.get("stored"):
        uploads.discard_upload(upload)
        if not inspect:
            said, way = "; ".join(job.report["hold"]), ""
            if other := job.report.get("looks_like"):
                way = f" Use {uploads.IMPORT_COMMANDS[other]}, or --as-named to import it as {upload.kind} anyway."
            elif job.report.get("brought_as"):
                way = f" Use --as-named to import it as {upload.kind} anyway."
            raise ImportFailed(
                f"{upload.name}: {said}{'' if said.endswith(('.', '?')) else '.'}{way}"
            )
    return job


def format_report(job: Job) -> list[str]:
    """Format the job's report for the terminal."""
    facts = ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}"
        for name, value in job.report.get("facts", {}).items()
    )
    return [
        f"{job.report.get('file') or job.label}: {facts}",
        *(f"  warning: {warning}" for warning in job.report.get("warnings", [])),
    ]
