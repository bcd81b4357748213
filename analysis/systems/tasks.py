"""Celery tasks of a report: its job, and its pieces for any free worker."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from analysis.models import Report
from analysis.systems import pieces, reports
from analysis.systems.running import Analysis
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob
from pooling.tasks import queue_task

RUN_CHUNK = "analysis.run_chunk"
"""The task's name, used by workers and senders."""


def send_chunk_hints(chunk_ids: list[int]) -> None:
    """Notify other workers that pieces of a report can be claimed. Without a broker this does
    nothing, and the job's own worker computes all pieces."""
    if not settings.BROKER_URL:
        return
    for chunk_id in chunk_ids:
        if not queue_task(RUN_CHUNK, chunk_id):
            return


def compute_with_workers(work: ClaimedJob, report: Report, analysis: Analysis) -> dict[str, Any]:
    return pieces.compute_in_chunks(work, report, analysis, send=send_chunk_hints)


@jobs.register_job_kind(reports.REPORT_JOB, unit="steps")
def run_report(work: ClaimedJob) -> dict[str, Any]:
    return reports.run_report_job(work, in_pieces=compute_with_workers)
