"""Background jobs. The Job row is authoritative, and the broker only carries a notification
(docs/decisions/0002-jobs.md).

A kind of job is a function of ClaimedJob, registered under a name:

    @register_job_kind("import run", unit="rows")
    def import_run(work: ClaimedJob) -> dict[str, Any]: ...

A service creates the row (`enqueue`) and notifies the worker through `pooling.tasks.send`. The
worker calls `run_job`. The exceptions of a job and their effects:

    Refused, FormatError   an error of the user: failed, with the reason and the lines
    JobCancelled           cancelled on request
    JobStalled             no progress for ASSAY_JOB_IDLE_SECONDS: failed
    JobTakenOver           another worker has the job: stop without writing
    OperationalError       the database was busy, unavailable or restarted (InterfaceError, too): queued
                           again, three attempts in total
    anything else          an internal error: failed, with a traceback in the log
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone, translation
from django.utils.translation import ngettext

from assay.formats.errors import FileProblem, FormatError
from pooling.models import Collection, Job
from pooling.platform import snapshot, worker_identity
from pooling.platform.heartbeats import heartbeat_thread
from pooling.platform.interruptions import JobWatch

log = logging.getLogger(__name__)

STALE_AFTER = timedelta(seconds=30)
"""A running job without a heartbeat for this time has lost its worker."""
ATTEMPTS = 3
THROTTLE_SECONDS = 0.5
"""Minimum seconds between two writes of progress."""
CANCEL_SECONDS = 10.0
"""Seconds a cancelled job may take to reach its next step before it is interrupted."""
SQLITE_ROWS, SQLITE_PAUSE, ROWS = 500, 0.03, 5000
"""Rows per transaction and seconds between transactions on SQLite, so that annotators do not wait,
and rows per transaction on other databases."""

T = TypeVar("T")


class Refused(Exception):
    """Raised if a request cannot be carried out. The message states the reason and a fix."""


class MalformedRequest(Refused):
    """Raised if a request is invalid regardless of the current state. The API answers 400, and 409
    to other refusals."""


class OverQuota(PermissionDenied):
    """Raised if the user has reached a limit per user. The message states a fix. Pages and API
    answer 403."""

    code = "over_quota"


class JobCancelled(Exception):
    """Raised if the job was cancelled on request."""


class JobStalled(Exception):
    """Raised if the job has made no progress for too long."""


class JobTakenOver(Exception):
    """Raised if another worker now holds the job."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    figures: a page requests its result repeatedly, so lists of completed work omit it. resumes:
    completed parts are kept if it is interrupted, and the next job of its kind continues from
    there. urgent: it is short and a user waits for it, so it does not queue behind long jobs
    (pooling.worker_processes).
    """

    name: str
    function: Callable[[ClaimedJob], dict[str, Any] | None]
    unit: str
    figures: bool = False
    resumes: bool = False
    urgent: bool = False

    @property
    def end_note(self) -> str:
        return "The work done so far is kept." if self.resumes else "Nothing was saved."


KINDS: dict[str, JobKind] = {}


def register_job_kind(
    name: str,
    *,
    unit: str = "rows",
    figures: bool = False,
    resumes: bool = False,
    urgent: bool = False,
) -> Callable[
    [Callable[[ClaimedJob], dict[str, Any] | None]], Callable[[ClaimedJob], dict[str, Any] | None]
]:
    """Register a function for a kind of job. unit: what its progress counts. figures, resumes,
    urgent: see JobKind."""

    def register(
        function: Callable[[ClaimedJob], dict[str, Any] | None],
    ) -> Callable[[ClaimedJob], dict[str, Any] | None]:
        if name in KINDS and KINDS[name].function is not function:
            raise ValueError(f"duplicate kind of job {name!r}")
        KINDS[name] = JobKind(name, function, unit, figures, resumes, urgent)
        return function

    return register


def figure_kinds() -> list[str]:
    """Return the names of the kinds of jobs that compute statistics for a page."""
    return [kind.name for kind in KINDS.values() if kind.figures]


def enqueue(
    kind: str,
    parameters: dict[str, Any],
    *,
    label: str,
    user: User | AnonymousUser | None,
    collection: Collection | None = None,
    campaign_id: int | None = None,
) -> Job:
    """Create a queued job. The caller must also call `pooling.tasks.send(job)`.
    `pooling.tasks.enqueue` does both."""
    if kind not in KINDS:
        raise ValueError(f"unknown kind of job {kind!r}")
    check_quota(user)
    return Job.objects.create(
        kind=kind,
        parameters=parameters,
        label=label[:300],
        created_by=user if user is not None and user.is_authenticated else None,
        collection=collection,
        campaign_id=campaign_id,
        unit=KINDS[kind].unit,
    )


def check_quota(user: User | AnonymousUser | None) -> None:
    """Raise OverQuota if the user has the maximum number of waiting and running jobs."""
    most = settings.JOBS_PER_PERSON
    if not most or user is None or not user.is_authenticated:
        return
    if (n := Job.objects.filter(created_by=user, state__in=Job.ACTIVE).count()) >= most:
        says = ngettext(
            "You have %(n)s job waiting or running. The maximum per user is %(most)s. Wait until "
            "it has finished, or cancel it under Background work.",
            "You have %(n)s jobs waiting or running. The maximum per user is %(most)s. Wait until "
            "some have finished, or cancel some under Background work.",
            n,
        )
        raise OverQuota(says % {"n": f"{n:,}", "most": f"{most:,}"})


def request_cancel(job: Job) -> None:
    """Cancel a job: a queued one at once, and a running one at its next step. A finished job is
    unchanged."""
    now = timezone.now()
    queued = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED)
    if queued.update(
        state=Job.State.CANCELLED,
        cancel_requested=True,
        finished_at=now,
        message="Cancelled before it began.",
    ):
        return
    Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(cancel_requested=True)


def list_waiting_jobs(now: datetime | None = None) -> list[tuple[int, int]]:
    """Return (ID, attempt) of the jobs to run: queued ones, oldest first, then those that lost
    their worker."""
    queued = (
        Job.objects.filter(state=Job.State.QUEUED)
        .order_by("created_at")
        .values_list("pk", "attempt")
    )
    gone = (
        Job.objects.filter(lost_heartbeat_filter(now or timezone.now()), state=Job.State.RUNNING)
        .order_by("created_at")
        .values_list("pk", "attempt")
    )
    return [*queued, *gone]


def list_urgent_jobs() -> list[int]:
    """Return the IDs of urgent queued jobs, oldest first."""
    urgent = [kind.name for kind in KINDS.values() if kind.urgent]
    return list(
        Job.objects.filter(state=Job.State.QUEUED, kind__in=urgent)
        .order_by("created_at")
        .values_list("pk", flat=True)
    )


def release_jobs_of_dead_workers() -> int:
    """Requeue this machine's running jobs whose process is gone, without waiting until they are
    stale. Returns their number."""
    n = 0
    for pk, owner in Job.objects.filter(
        state=Job.State.RUNNING, owner__endswith=f"-{worker_identity.machine_id()}"
    ).values_list("pk", "owner"):
        if not worker_identity.is_process_alive(owner):
            n += Job.objects.filter(pk=pk, owner=owner, state=Job.State.RUNNING).update(
                heartbeat=datetime(1970, 1, 2, tzinfo=UTC)
            )
    return n


def lost_heartbeat_filter(now: datetime) -> Q:
    """Return the filter for jobs that lost their worker. A heartbeat in the future was written
    before the clock was set back. A living worker writes the next one within seconds."""
    return Q(heartbeat__lt=now - STALE_AFTER) | Q(heartbeat__gt=now + STALE_AFTER)


@dataclass
class ClaimedJob:
    """A job claimed by one worker. Every write carries the worker's token and is refused if another
    worker owns the job."""

    job: Job
    token: str
    fenced: threading.Event = field(default_factory=threading.Event)
    cancel_seen: threading.Event = field(default_factory=threading.Event)
    past_cancelling: bool = False  # the effect is committed, and only its completion is left
    stepped_at: float = field(default_factory=time.monotonic)  # time of the last progress
    _cancel_seen_at: float = 0.0
    _written_at: float = 0.0
    _changes: dict[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        return self.job.parameters

    @property
    def campaign_id(self) -> int:
        """Return the campaign's ID, for jobs of a campaign."""
        assert self.job.campaign_id is not None, "a job of a campaign names it"
        return self.job.campaign_id

    def progress(
        self,
        done: int | None = None,
        *,
        total: int | None = None,
        n_bytes: int | None = None,
        message: str | None = None,
        now: bool = False,
    ) -> None:
        """Report progress. It may be called for every row: it writes twice a second, or at once
        with `now`.

        Raises JobCancelled if the job was cancelled, and JobTakenOver if another worker has it.
        Inside a snapshot, which cannot write, the heartbeat thread writes the progress, and the
        state that it last read applies.
        """
        self.stepped_at = time.monotonic()
        given = {"progress": done, "total": total, "n_bytes": n_bytes, "message": message}
        self._changes.update({name: value for name, value in given.items() if value is not None})
        if self.fenced.is_set():
            raise JobTakenOver
        if not snapshot.is_in_snapshot() and (
            now or time.monotonic() - self._written_at >= THROTTLE_SECONDS
        ):
            self._written_at = time.monotonic()
            self.send_heartbeat()
            self._changes = {}
        if self.cancel_seen.is_set() and not self.past_cancelling:
            raise JobCancelled

    def send_heartbeat(self) -> None:
        """Write a heartbeat and pending changes, and read whether the job was cancelled. Raises
        JobTakenOver."""
        self._update_if_held(heartbeat=timezone.now(), **self._changes)
        if (
            not self.cancel_seen.is_set()
            and Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists()
        ):
            self._cancel_seen_at = time.monotonic()
            self.cancel_seen.set()

    def end_reason(self) -> Exception | None:
        """Return the exception that must interrupt the job if it neither ends nor makes progress,
        or None."""
        now, limit = time.monotonic(), settings.JOB_IDLE_SECONDS
        if (
            self.cancel_seen.is_set()
            and not self.past_cancelling
            and now - self._cancel_seen_at > CANCEL_SECONDS
        ):
            return JobCancelled()
        return JobStalled() if limit and now - self.stepped_at > limit else None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction that commits only if this worker still holds the job."""
        with transaction.atomic():
            self._update_if_held(heartbeat=timezone.now())
            yield

    @contextmanager
    def completion_transaction(self) -> Iterator[dict[str, Any]]:
        """Open a transaction that commits its effects together with the end of the job. The caller
        fills the report that it yields."""
        report: dict[str, Any] = {}
        with transaction.atomic():
            self._update_if_held(heartbeat=timezone.now())
            yield report
            # the last progress message is obsolete
            self._close(Job.State.DONE, report=report, message="")

    def write_in_batches(
        self,
        rows: Iterable[T],
        write: Callable[[Sequence[T]], object],
        *,
        counts_progress: bool = False,
    ) -> int:
        """Write rows in transactions that are small enough not to block annotators. Returns the
        number of rows.

        counts_progress: count the rows as progress of the job.
        """
        done, rows = 0, iter(rows)
        sqlite = connection.vendor == "sqlite"
        while batch := list(islice(rows, SQLITE_ROWS if sqlite else ROWS)):
            with self.writing():
                write(batch)
            done += len(batch)
            self.progress(done if counts_progress else None)
            if sqlite:
                time.sleep(SQLITE_PAUSE)
        return done

    def _update_if_held(self, **changes: Any) -> None:
        mine = Job.objects.filter(pk=self.job.pk, owner=self.token, state=Job.State.RUNNING)
        if not mine.update(**changes):
            self.fenced.set()
            raise JobTakenOver

    def _close(self, state: str, *, report: dict[str, Any], message: str | None = None) -> None:
        changes = dict(
            self._changes, state=state, report=report, finished_at=timezone.now(), owner=""
        )
        if message is not None:
            changes["message"] = message
        self._update_if_held(**changes)


def run_job(job_id: int) -> bool:
    """Run the job unless another worker has it or it is finished. Returns whether it ran."""
    work = _claim_job(job_id)
    if work is None:
        return False
    job = work.job
    if job.kind not in KINDS:
        work._close(
            Job.State.FAILED,
            report={},
            message=f"unknown kind of job {job.kind!r}",
        )
        return True
    watch = JobWatch(work.end_reason, lambda reason: _end_early(work, reason))
    with heartbeat_thread(lambda: _send_heartbeat(work, watch), f"job {job_id}"):
        _execute(work, watch)
    return True


def run_to_end(job: Job) -> Job:
    """Run the job in this process and return it. Raises FormatError or Refused if it failed."""
    run_job(job.pk)
    job.refresh_from_db()
    if job.state == Job.State.DONE:
        return job
    if problems := job.report.get("problems"):
        listed = [
            FileProblem(one["line"], one["problem"], one["expected"], one["text"])
            for one in problems
        ]
        raise FormatError(job.report["file"], listed, job.report["n_problems"])
    raise Refused(f"{job.label}: {job.message or job.state}")


def _execute(work: ClaimedJob, watch: JobWatch) -> None:
    job, kept = work.job, KINDS[work.job.kind].end_note
    try:
        with (
            translation.override(settings.LANGUAGE_CODE),
            watch.running(),
        ):  # messages of jobs are stored and shown to others
            report = KINDS[job.kind].function(work)
        if Job.objects.filter(pk=job.pk, owner=work.token, state=Job.State.RUNNING).exists():
            work._close(Job.State.DONE, report=report or {})
    except JobTakenOver:
        log.warning("job %s (%s) was taken over by another worker", job.pk, job.label)
    except (JobCancelled, JobStalled) as reason:
        _end_early(work, reason)
    except Refused as error:
        _end_if_held(work, Job.State.FAILED, {}, str(error))
    except FormatError as error:
        _end_if_held(work, Job.State.FAILED, describe_refusal(error), format_refusal(error))
    except (
        OperationalError,
        InterfaceError,
    ):  # InterfaceError follows on a connection that was closed
        log.exception(
            "job %s (%s): the database refused, attempt %s", job.pk, job.label, job.attempt
        )
        if not connection.in_atomic_block:  # the transaction of a test
            # otherwise the next query would use the connection that a restart has closed
            connection.close_if_unusable_or_obsolete()
        if job.attempt < ATTEMPTS:
            changes = {
                "state": Job.State.QUEUED,
                "owner": "",
                "message": "the database was busy; waiting for another attempt",
            }
            Job.objects.filter(pk=job.pk, owner=work.token, state=Job.State.RUNNING).update(
                **changes
            )
        else:
            _end_if_held(
                work,
                Job.State.FAILED,
                {},
                f"The database was unavailable {ATTEMPTS} times. {kept} Try again later.",
            )
    except MemoryError:
        log.exception("job %s (%s) ran out of memory", job.pk, job.label)
        _end_if_held(
            work,
            Job.State.FAILED,
            {},
            f"The server does not have enough memory for this job. {kept}",
        )
    except Exception:
        log.exception("job %s (%s) failed", job.pk, job.label)
        _end_if_held(
            work,
            Job.State.FAILED,
            {},
            f"Something went wrong on the server. {kept} The server log has details under job {job.pk}.",
        )


def _end_early(work: ClaimedJob, reason: Exception) -> None:
    kept = KINDS[work.job.kind].end_note
    if isinstance(reason, JobCancelled):
        _end_if_held(work, Job.State.CANCELLED, {}, f"Cancelled. {kept}")
    else:
        _end_if_held(
            work,
            Job.State.FAILED,
            {},
            f"The job made no progress for {settings.JOB_IDLE_SECONDS:,} seconds (ASSAY_JOB_IDLE_SECONDS). {kept}",
        )


def _end_if_held(work: ClaimedJob, state: str, report: dict[str, Any], message: str) -> None:
    try:
        work._close(state, report=report, message=message)
    except JobTakenOver:
        log.warning("job %s was taken over by another worker", work.job.pk)


def describe_refusal(error: FormatError) -> dict[str, Any]:
    """Describe the errors of a refused file as a job's report: the first 50 problems and their
    number."""
    return {
        "file": error.file,
        "n_problems": error.count,
        "problems": [
            {
                "line": p.line,
                "problem": p.problem,
                "expected": p.expected,
                "text": _make_printable(p.text),
            }
            for p in error.problems
        ],
    }


def format_refusal(error: FormatError) -> str:
    return f"{error.count:,} problem{'' if error.count == 1 else 's'} in {error.file}. Nothing was saved."


def _make_printable(text: str, length: int = 300) -> str:
    clean = "".join(
        c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text[:length]
    )
    return clean + ("…" if len(text) > length else "")


def _claim_job(job_id: int) -> ClaimedJob | None:
    """Claim a job by compare-and-set, so that one of several simultaneous workers gets it."""
    now, token = timezone.now(), worker_identity.make_token()
    free = Q(state=Job.State.QUEUED) | (Q(state=Job.State.RUNNING) & lost_heartbeat_filter(now))
    jobs = Job.objects.filter(free, pk=job_id)
    kind = KINDS.get(jobs.values_list("kind", flat=True).first() or "")
    kept = kind.end_note if kind else "Nothing was saved."
    if jobs.filter(cancel_requested=True).update(
        state=Job.State.CANCELLED, owner="", finished_at=now, message=f"Cancelled. {kept}"
    ):
        return None
    tired = {"state": Job.State.FAILED, "owner": "", "finished_at": now}
    tired["message"] = (
        f"The worker stopped {ATTEMPTS} times during this job, possibly because it ran out of memory. {kept}"
    )
    if jobs.filter(attempt__gte=ATTEMPTS).update(**tired):
        return None
    claimed = jobs.update(
        state=Job.State.RUNNING,
        owner=token,
        attempt=F("attempt") + 1,
        heartbeat=now,
        started_at=Coalesce("started_at", now),
        progress=0,
        n_bytes=0,
        message="",
    )
    if not claimed:
        return None
    return ClaimedJob(Job.objects.select_related("collection", "created_by").get(pk=job_id), token)


def _send_heartbeat(work: ClaimedJob, watch: JobWatch) -> bool:
    """Write a heartbeat. Returns False, and fences the work, if another worker holds the job."""
    try:
        work.send_heartbeat()
    except JobTakenOver:
        return False
    finally:
        watch.look()
    return True
