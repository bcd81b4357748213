"""Computation of a report in pieces, which are rows that any worker can claim, compute and store.
The result does not depend on which worker computes them.

The report's job creates the rows, computes pieces itself, waits for those of other workers, and
combines the results. Pieces are claimed like jobs, by compare-and-set and with heartbeats. A piece
whose worker has died becomes free again.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.models import Report, ReportChunk
from analysis.systems import reports
from analysis.systems.running import Analysis, NotComputable, decode_result, encode_result
from assay.analyses.shared.measures import PieceworkPlan
from pooling.models import Job
from pooling.platform.heartbeats import heartbeat_thread
from pooling.platform.jobs import ATTEMPTS, ClaimedJob, JobCancelled, Refused, lost_heartbeat_filter

log = logging.getLogger(__name__)

WAIT_SECONDS = 0.3
"""Seconds between two checks of pieces that other workers compute."""
_cached_plan: tuple[tuple[int, str], PieceworkPlan] | None = None
"""The plan of the last report in this process, so that runs are not read again for every piece."""


def compute_in_chunks(
    work: ClaimedJob, report: Report, analysis: Analysis, *, send: Callable[[list[int]], None]
) -> dict[str, Any]:
    """Compute a report in pieces and return the command's JSON object. send: notifies other workers
    of the IDs of pieces."""
    plan = analysis.plan()
    numbers = range(len(plan.pieces))
    stored = set(report.chunks.values_list("number", flat=True))
    if stored - set(numbers):
        report.chunks.all().delete()
        stored = set()
    with work.writing():
        ReportChunk.objects.bulk_create(
            ReportChunk(report=report, number=number) for number in numbers if number not in stored
        )
    _cache_plan(report, plan)
    try:
        send(
            list(report.chunks.filter(done_at=None).order_by("number").values_list("pk", flat=True))
        )
        _run_until_done(work, report, plan)
        results = dict(report.chunks.values_list("number", "result"))
    except (JobCancelled, Refused):
        report.chunks.all().delete()
        raise
    finally:
        _clear_cached_plan()
    return analysis.finished(
        plan.finish([decode_result(results[number], analysis.command.piece) for number in numbers])
    )


def _run_until_done(work: ClaimedJob, report: Report, plan: PieceworkPlan) -> None:
    total = len(plan.pieces)
    while True:
        done = report.chunks.exclude(done_at=None).count()
        work.progress(done, total=total, message=plan.label, now=True)
        if done == total:
            return
        claimed = None
        for pk in (
            report.chunks.filter(_claimable()).order_by("number").values_list("pk", flat=True)[:8]
        ):
            if claimed := _claim_chunk(pk):
                break
        if claimed is None:
            if report.chunks.filter(done_at=None, attempt__gte=ATTEMPTS, owner="").exists():
                raise Refused(
                    _(
                        "A part of this calculation failed three times. Ask an administrator "
                        "to check the server log."
                    )
                )
            time.sleep(WAIT_SECONDS)
            continue
        _compute_chunk(*claimed, plan)


def run_chunk(chunk_id: int) -> None:
    """Compute and store a piece of a report if no worker has claimed it."""
    chunk = (
        ReportChunk.objects.select_related("report__collection", "report__campaign", "report__job")
        .filter(_claimable(), pk=chunk_id)
        .first()
    )
    if (
        chunk is None
        or chunk.report.job is None
        or chunk.report.job.state != Job.State.RUNNING
        or chunk.report.job.cancel_requested
    ):
        return
    try:
        plan = _load_plan(chunk.report)
    except (NotComputable, Refused):
        log.warning("piece %s: cannot open its report %s", chunk_id, chunk.report_id, exc_info=True)
        return
    claimed = _claim_chunk(chunk_id)
    if claimed:
        _compute_chunk(*claimed, plan)


def _claimable() -> Q:
    return Q(done_at=None, attempt__lt=ATTEMPTS) & (
        Q(owner="") | lost_heartbeat_filter(timezone.now())
    )


def _claim_chunk(chunk_id: int) -> tuple[ReportChunk, str] | None:
    token = uuid.uuid4().hex
    taken = ReportChunk.objects.filter(_claimable(), pk=chunk_id).update(
        owner=token, heartbeat=timezone.now(), attempt=F("attempt") + 1
    )
    if not taken:
        return None
    return ReportChunk.objects.get(pk=chunk_id), token


def _compute_chunk(chunk: ReportChunk, token: str, plan: PieceworkPlan) -> None:
    mine = ReportChunk.objects.filter(pk=chunk.pk, owner=token)
    try:
        with heartbeat_thread(lambda: _send_heartbeat(chunk.pk, token), f"piece {chunk.pk}"):
            result = plan.function(plan.shared, plan.pieces[chunk.number])
    except BaseException:
        mine.update(owner="")
        raise
    mine.update(result=encode_result(result), done_at=timezone.now(), owner="")


def _send_heartbeat(chunk_id: int, token: str) -> bool:
    ReportChunk.objects.filter(pk=chunk_id, owner=token).update(heartbeat=timezone.now())
    return True


def _load_plan(report: Report) -> PieceworkPlan:
    if _cached_plan is not None and _cached_plan[0] == (report.pk, report.input_digest):
        return _cached_plan[1]
    with reports.open_analysis(report, None) as analysis:
        plan = analysis.plan()
    _cache_plan(report, plan)
    return plan


def _cache_plan(report: Report, plan: PieceworkPlan) -> None:
    global _cached_plan
    _cached_plan = ((report.pk, report.input_digest), plan)


def _clear_cached_plan() -> None:
    global _cached_plan
    _cached_plan = None
