"""Celery tasks of reports, imported by worker processes only."""

from __future__ import annotations

from celery import shared_task

from analysis.systems import pieces
from analysis.systems.tasks import RUN_CHUNK


@shared_task(name=RUN_CHUNK)
def run_chunk(chunk_id: int) -> None:
    pieces.run_chunk(chunk_id)
