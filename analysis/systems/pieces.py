"""A report's work in pieces: rows that any worker may claim, compute and fill. The answer does not
depend on who did.

The job that owns the report makes the rows, takes part itself, waits for what others have in hand,
and puts the pieces together. A piece is claimed like a job: by compare and set, with signs of life;
one whose worker has died is free again."""

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
from analysis.systems.kind import NotPossible
from analysis.systems.kinds import KINDS
from analysis.systems.running import Analysis, as_text, from_text
from assay.analyses.shared.measures import PieceworkPlan
from pooling.models import Job
from pooling.platform.heartbeats import beating
from pooling.platform.jobs import ATTEMPTS, Cancelled, Refused, Work, without_heartbeat

log = logging.getLogger(__name__)

WAIT = 0.3
"""Seconds between two looks at pieces that other workers have in hand."""
_kept: tuple[tuple[int, str], PieceworkPlan] | None = None
"""The plan of the report that this process worked on last, so that runs are read once and not for
every piece."""


def compute(
    work: Work, report: Report, analysis: Analysis, *, send: Callable[[list[int]], None]
) -> dict[str, Any]:
    """The command's JSON object. send: tells other workers about pieces by their ids."""
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
    _keep(report, plan)
    try:
        send(
            list(report.chunks.filter(done_at=None).order_by("number").values_list("pk", flat=True))
        )
        _all_done(work, report, plan)
        results = dict(report.chunks.values_list("number", "result"))
    except (Cancelled, Refused):
        report.chunks.all().delete()
        raise
    finally:
        _forget()
    return analysis.finished(
        plan.finish([from_text(results[number], KINDS[report.kind].piece) for number in numbers])
    )


def _all_done(work: Work, report: Report, plan: PieceworkPlan) -> None:
    total = len(plan.pieces)
    while True:
        done = report.chunks.exclude(done_at=None).count()
        work.progress(done, total=total, message=plan.label, now=True)
        if done == total:
            return
        claimed = None
        for pk in report.chunks.filter(_free()).order_by("number").values_list("pk", flat=True)[:8]:
            if claimed := _claim(pk):
                break
        if claimed is None:
            if report.chunks.filter(done_at=None, attempt__gte=ATTEMPTS, owner="").exists():
                raise Refused(
                    _(
                        "the workers failed three times over a part of this; the server's log says more"
                    )
                )
            time.sleep(WAIT)
            continue
        _fill(*claimed, plan)


def run_chunk(chunk_id: int) -> None:
    """Compute a piece if it is there to be had, else return without a word."""
    chunk = (
        ReportChunk.objects.select_related("report__collection", "report__campaign", "report__job")
        .filter(_free(), pk=chunk_id)
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
        plan = _plan_of(chunk.report)
    except (NotPossible, Refused):
        log.warning(
            "piece %s: its report %s cannot be opened", chunk_id, chunk.report_id, exc_info=True
        )
        return
    claimed = _claim(chunk_id)
    if claimed:
        _fill(*claimed, plan)


def _free() -> Q:
    return Q(done_at=None, attempt__lt=ATTEMPTS) & (Q(owner="") | without_heartbeat(timezone.now()))


def _claim(chunk_id: int) -> tuple[ReportChunk, str] | None:
    token = uuid.uuid4().hex
    taken = ReportChunk.objects.filter(_free(), pk=chunk_id).update(
        owner=token, heartbeat=timezone.now(), attempt=F("attempt") + 1
    )
    if not taken:
        return None
    return ReportChunk.objects.get(pk=chunk_id), token


def _fill(chunk: ReportChunk, token: str, plan: PieceworkPlan) -> None:
    mine = ReportChunk.objects.filter(pk=chunk.pk, owner=token)
    try:
        with beating(lambda: _say_alive(chunk.pk, token), f"piece {chunk.pk}"):
            result = plan.function(plan.shared, plan.pieces[chunk.number])
    except BaseException:
        mine.update(owner="")
        raise
    mine.update(result=as_text(result), done_at=timezone.now(), owner="")


def _say_alive(chunk_id: int, token: str) -> bool:
    ReportChunk.objects.filter(pk=chunk_id, owner=token).update(heartbeat=timezone.now())
    return True


def _plan_of(report: Report) -> PieceworkPlan:
    if _kept is not None and _kept[0] == (report.pk, report.input_digest):
        return _kept[1]
    with reports.opened(report, None) as analysis:
        plan = analysis.plan()
    _keep(report, plan)
    return plan


def _keep(report: Report, plan: PieceworkPlan) -> None:
    global _kept
    _kept = ((report.pk, report.input_digest), plan)


def _forget() -> None:
    global _kept
    _kept = None
