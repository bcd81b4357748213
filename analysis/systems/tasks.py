"""The Celery side of reports: a job, and its pieces for whoever is free."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError as BrokerError

from analysis.models import Report
from analysis.systems import pieces, reports
from analysis.systems.running import Analysis
from pooling import jobs
from pooling.jobs import Work

log = logging.getLogger(__name__)


@shared_task(name="analysis.run_chunk")
def run_chunk(chunk_id: int) -> None:
    pieces.run_chunk(chunk_id)


def send(chunk_ids: list[int]) -> None:
    """A hint for other workers. Without a broker there are none, and the job's own worker does all pieces."""
    if not settings.BROKER_URL:
        return
    for chunk_id in chunk_ids:
        try:
            run_chunk.apply_async([chunk_id], retry=False)
        except (BrokerError, OSError):
            log.warning("the broker did not take the pieces of a report; its own worker does them", exc_info=True)
            return


def in_pieces(work: Work, report: Report, analysis: Analysis) -> dict[str, Any]:
    return pieces.compute(work, report, analysis, send=send)


@jobs.kind(reports.JOB, unit="steps")
def run_report(work: Work) -> dict[str, Any]:
    return reports.run(work, in_pieces=in_pieces)
