"""Endpoints for monitoring: liveness, readiness and Prometheus metrics. They do not read
sessions."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.models import Judgement, Lease
from config.request_counts import COUNTS
from pooling.models import Job
from pooling.platform import sqlite_log
from pooling.platform.file_storage import file_storage

BROKER_SECONDS = 2


@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Report that the process responds. Nothing else is checked, so that an unavailable database
    does not cause restarts."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Report whether this machine can serve users: database, migrations, storage, broker, not
    drained. Returns 503 with the reasons otherwise."""
    answers = {name: find_problem(check) or "ok" for name, check in CHECKS.items()}
    fine = all(word == "ok" for word in answers.values())
    return JsonResponse({"ready": fine, "checks": answers}, status=200 if fine else 503)


def find_problem(check: Callable[[], str]) -> str:
    """Run a readiness check and return the reason why it fails, or an empty string."""
    try:
        return check()
    except (Error, OSError) as error:
        return (
            str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        )


def _database_problem() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _migrations_problem() -> str:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} to apply; run manage.py migrate" if plan else ""


def _storage_problem() -> str:
    return file_storage.problem()


def _broker_problem() -> str:
    if not settings.BROKER_URL:
        return ""
    from kombu import Connection
    from kombu.exceptions import OperationalError

    try:
        with Connection(
            settings.BROKER_URL,
            connect_timeout=BROKER_SECONDS,
            transport_options={"socket_timeout": BROKER_SECONDS},
        ) as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    except (OperationalError, OSError) as error:
        return f"the message broker is not responding: {error}"[:200]
    return ""


def drain_file() -> Path:
    """Return the path of the file whose existence means that this machine is drained."""
    return Path(settings.DATA_DIR) / f"draining-{socket.gethostname()}"


def _draining_problem() -> str:
    return "this machine is being drained" if drain_file().exists() else ""


CHECKS = {
    "database": _database_problem,
    "migrations": _migrations_problem,
    "storage": _storage_problem,
    "broker": _broker_problem,
    "drain": _draining_problem,
}


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics in Prometheus' text format for clients with ASSAY_METRICS_TOKEN, or 404 if no
    token is configured.

    Judgements, claims, leases and jobs are those of the whole installation. Requests, refusals and
    queue times are those of all processes of this web server.
    """
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not settings.METRICS_TOKEN or not secrets.compare_digest(
        given.encode(), settings.METRICS_TOKEN.encode()
    ):
        raise Http404
    return HttpResponse("".join(_collect_metrics()), content_type="text/plain; version=0.0.4")


def _collect_metrics() -> list[str]:
    now = timezone.now()
    queued = (
        Job.objects.filter(state=Job.State.QUEUED)
        .order_by("created_at")
        .values_list("created_at", flat=True)
        .first()
    )
    held = Lease.objects.filter(state=Lease.State.LIVE, expires_at__gt=now)
    lines = [
        _format_metric(
            "assay_judgements_total",
            "counter",
            "judgements and revisions ever stored, including imported ones",
            [("", count_ids_given(Judgement))],
        ),
        _format_metric(
            "assay_claims_total",
            "counter",
            "pairs ever assigned to annotators, including imported ones",
            [("", count_ids_given(Lease))],
        ),
        _format_metric(
            "assay_leases_live",
            "gauge",
            "pairs currently assigned to annotators",
            [("", held.count())],
        ),
        _format_metric(
            "assay_jobs",
            "gauge",
            "waiting and running background jobs",
            [
                (f'{{state="{state}"}}', Job.objects.filter(state=state).count())
                for state in Job.ACTIVE
            ],
        ),
        _format_metric(
            "assay_job_wait_seconds",
            "gauge",
            "age of the oldest waiting job",
            [("", max(0, (now - queued).total_seconds()) if queued else 0)],
        ),
        _format_metric(
            "assay_wal_bytes",
            "gauge",
            "size of SQLite's write-ahead log",
            [("", sqlite_log.get_log_size_bytes())],
        ),
        _format_metric(
            "assay_requests_total",
            "counter",
            "requests answered by this web server since its start, by kind and status class",
            [(f'{{kind="{kind}",status="{status}"}}', n) for kind, status, n in COUNTS.answers()],
        ),
        _format_metric(
            "assay_refusals_total",
            "counter",
            "requests refused because of rate limits or load",
            [(f'{{kind="{kind}"}}', n) for kind, n in COUNTS.refusals()],
        ),
        _format_metric(
            "assay_line_seconds_total",
            "counter",
            "seconds that answered requests waited for a thread",
            [(f'{{kind="{kind}"}}', seconds) for kind, seconds in COUNTS.queue_seconds()],
        ),
    ]
    return lines


def count_ids_given(model: type[Model]) -> int:
    """Return how many IDs have ever been assigned to rows of the model.

    Unlike the highest ID, it does not fall when a campaign is deleted. Prometheus would take a
    falling counter for a restart. PostgreSQL skips the IDs of failed transactions.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        else:
            cursor.execute(
                "SELECT pg_sequence_last_value(pg_get_serial_sequence(%s, 'id')::regclass)", [table]
            )
        row = cursor.fetchone()
    return int(row[0] or 0) if row else 0


def _format_metric(name: str, kind: str, words: str, values: list[tuple[str, float]]) -> str:
    return f"# HELP {name} {words}\n# TYPE {name} {kind}\n" + "".join(
        f"{name}{label} {value}\n" for label, value in values
    )
