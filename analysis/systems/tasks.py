"""The job of a report, and its pieces for whichever worker is free."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from analysis.models import Report
from analysis.systems import pieces, reports
from analysis.systems.running import Analysis
from pooling.platform import jobs
from pooling.platform.jobs import Work
from pooling.tasks import hint

RUN_CHUNK = "analysis.run_chunk"
"""The task's name, as worker and senders know it."""


def send(chunk_ids: list[int]) -> None:
    """A hint for other workers. Without a broker there are none; the job's own worker does what no
    other worker takes."""
    if not settings.BROKER_URL:
        return
    for chunk_id in chunk_ids:
        if not hint(RUN_CHUNK, chunk_id):
            return


def in_pieces(work: Work, report: Report, analysis: Analysis) -> dict[str, Any]:
    return pieces.compute(work, report, analysis, send=send)


@jobs.kind(reports.JOB, unit="steps")
def run_report(work: Work) -> dict[str, Any]:
    return reports.run(work, in_pieces=in_pieces)
