"""Jobs with derived values for display by pages and API."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from assay.formats.delimited import escape_formula
from pooling.models import Job, Upload
from pooling.platform.jobs import ATTEMPTS, STALE_AFTER

LATE_AFTER = timedelta(seconds=15)
"""A job that has waited this long makes the page ask whether a worker is running."""
BADGES = {"queued": "", "running": "info", "done": "good", "failed": "bad", "cancelled": "warn"}


@dataclass(frozen=True)
class JobView:
    """A job with derived values: share done (None if unknown), rates per second, seconds so far."""

    job: Job
    active: bool
    badge: str
    share: float | None
    seconds: float | None
    rows_per_second: float | None
    bytes_per_second: float | None
    size: int | None
    waits_for_worker: bool
    interrupted: str
    """What happened after the job's process ended unexpectedly, or empty."""
    facts: list[tuple[str, Any]]
    """Results in words."""
    waiting_upload: int | None
    """The upload that can be imported after an inspection or a warning."""


def make_job_views(jobs: Iterable[Job]) -> list[JobView]:
    """Return `make_job_view` of each job, with one query for all."""
    jobs = list(jobs)
    asked = [upload for job in jobs if (upload := _inspected_upload_id(job)) is not None]
    waiting = (
        set(Upload.objects.filter(pk__in=asked).values_list("pk", flat=True)) if asked else set()
    )
    return [make_job_view(job, waiting=waiting) for job in jobs]


def _inspected_upload_id(job: Job) -> int | None:
    """Return the ID of the upload that the job inspected without importing it."""
    report = job.report if isinstance(job.report, dict) else {}
    return (
        report.get("upload")
        if job.state == Job.State.DONE and report.get("stored") is False
        else None
    )


def make_job_view(job: Job, *, waiting: Container[int] | None = None) -> JobView:
    """Return the view of a job. waiting: IDs of waiting uploads, queried if not given."""
    size = job.parameters.get("size")
    seconds = None
    if job.started_at:
        seconds = max(((job.finished_at or timezone.now()) - job.started_at).total_seconds(), 0.001)
    share = None
    if job.state == Job.State.DONE:
        share = 1.0
    elif job.total:
        share = min(job.progress / job.total, 1.0)
    elif size:
        share = min(job.n_bytes / size, 1.0)
    report = job.report if isinstance(job.report, dict) else {}
    facts = report.get("facts")
    upload = _inspected_upload_id(job)
    still_waits = upload is not None and (
        Upload.objects.filter(pk=upload).exists() if waiting is None else upload in waiting
    )
    return JobView(
        job=job,
        active=job.state in Job.ACTIVE,
        badge=BADGES[job.state],
        share=share,
        seconds=seconds,
        rows_per_second=job.progress / seconds if seconds and job.progress else None,
        bytes_per_second=job.n_bytes / seconds if seconds and job.n_bytes else None,
        size=size,
        waits_for_worker=job.state == Job.State.QUEUED
        and timezone.now() - job.created_at > LATE_AFTER,
        interrupted=_describe_interruption(job),
        facts=list(facts.items()) if isinstance(facts, dict) else [],
        waiting_upload=upload if still_waits else None,
    )


def _describe_interruption(job: Job) -> str:
    now = timezone.now()
    if (
        job.state == Job.State.RUNNING
        and job.heartbeat is not None
        and not now - STALE_AFTER <= job.heartbeat <= now + STALE_AFTER
    ):
        return _(
            "The worker stopped before this job had finished. The next worker restarts it. "
            "Nothing will be duplicated."
        )
    if job.state in Job.ACTIVE and job.attempt > 1:
        return _(
            "Restarted after an interruption (attempt %(attempt)s of %(attempts)s). Nothing "
            "will be duplicated."
        ) % {"attempt": job.attempt, "attempts": ATTEMPTS}
    return ""


def format_problems(job: Job) -> str:
    """Format the refused lines of an import, tab-separated with a header. The last line gives the
    number of problems beyond the first 50."""
    report = job.report if isinstance(job.report, dict) else {}
    rows = [["line", "problem", "expected", "text"]]
    for problem in report.get("problems", []):
        line = "" if problem["line"] is None else str(problem["line"])
        rows.append([line, problem["problem"], problem["expected"], problem["text"]])
    more = report.get("n_problems", 0) - (len(rows) - 1)
    if more > 0:
        rows.append(["", f"{more} more problems", "", ""])
    # escaped, because people open the file in a spreadsheet
    return "".join("\t".join(escape_formula(_flatten(cell)) for cell in row) + "\n" for row in rows)


def _flatten(text: str) -> str:
    return " ".join(text.split("\t")).replace("\n", " ").replace("\r", " ")
