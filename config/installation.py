"""Pages for administrators: the state of the installation, and current sessions and tokens."""

from __future__ import annotations

import logging
import platform
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import ApiTokenRow
from annotation.services.people import sessions
from assay.version import program_version
from config import doctor
from pooling.models import DocumentFile, Job, Upload
from pooling.permissions import SignedInRequest, require_administrator
from pooling.platform.file_storage import file_storage
from pooling.platform.jobs import STALE_AFTER
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.requests import parse_row_id

log = logging.getLogger(__name__)
RECENT_PERIOD = timedelta(days=1)


@login_required
@never_cache
@require_safe
def installation(request: HttpRequest) -> HttpResponse:
    """Show the findings of `assay doctor`, and statistics on people, work, storage and versions."""
    require_administrator(request)
    context = {
        "findings": doctor.run_checks(),
        "people": count_people(),
        "work": count_jobs(),
        "storage": measure_storage(),
        "versions": list_versions(),
    }
    return render(request, "config/installation.html", context)


def count_people() -> dict[str, int]:
    """Return the number of accounts by kind, and the numbers of valid sessions and tokens."""
    active, creates, administrator = (
        Q(is_active=True),
        Q(profile__may_create=True),
        Q(is_superuser=True),
    )
    counts = get_user_model().objects.aggregate(
        n=Count("pk"),
        active=Count("pk", filter=active),
        administrators=Count("pk", filter=active & administrator),
        creators=Count("pk", filter=active & creates & ~administrator),
    )
    good = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return {
        **counts,
        "sessions": sessions.get_open_sessions().count(),
        "tokens": ApiTokenRow.objects.filter(good).count(),
    }


def count_jobs() -> dict[str, Any]:
    """Return the numbers of jobs that wait, run, lost their worker, or failed within the last
    day."""
    now = timezone.now()
    running, gone = Q(state=Job.State.RUNNING), Q(heartbeat__lt=now - STALE_AFTER)
    counts = Job.objects.aggregate(
        waiting=Count("pk", filter=Q(state=Job.State.QUEUED)),
        running=Count("pk", filter=running & ~gone),
        lost=Count("pk", filter=running & gone),
        failed=Count("pk", filter=Q(state=Job.State.FAILED, finished_at__gt=now - RECENT_PERIOD)),
    )
    oldest = (
        Job.objects.filter(state=Job.State.QUEUED)
        .order_by("created_at")
        .values_list("created_at", flat=True)
        .first()
    )
    return {**counts, "oldest": oldest}


def measure_storage() -> dict[str, Any]:
    """Return the sizes of the database, uploaded files and free space in bytes. Unknown sizes are
    None.

    store: name of the object store if the folder is its cache, otherwise empty.
    """
    folder = Path(settings.MEDIA_ROOT)
    room = shutil.disk_usage(folder) if folder.exists() else None
    return {
        "folder": folder,
        "store": file_storage.called if file_storage.is_cache else "",
        "free": room.free if room else None,
        "room": room.total if room else None,
        "database": get_database_size_bytes(),
        "documents": DocumentFile.objects.aggregate(n=Sum("n_bytes"))["n"] or 0,
        "waiting": Upload.objects.aggregate(n=Sum("n_bytes"))["n"] or 0,
    }


def get_database_size_bytes() -> int | None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    file = Path(str(connection.settings_dict["NAME"]))
    return file.stat().st_size if file.exists() else None


def list_versions() -> list[tuple[str, str]]:
    """Return the installed software and its versions as (component, version)."""
    connection.ensure_connection()
    major, *rest = connection.get_database_version()
    name = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}.get(
        connection.vendor, connection.vendor
    )
    return [
        ("Assay", program_version()),
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        (name, ".".join(map(str, (major, *rest)))),
        ("System", f"{platform.system()} {platform.release()}"),
    ]


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sessions_page(request: SignedInRequest) -> HttpResponse:
    """List the sessions and valid tokens of all users. Administrators can end them one by one or
    per user."""
    require_administrator(request)
    if request.method == "POST":
        _end_access(request)
        return redirect(request.get_full_path())
    name = request.GET.get("name", "").strip()
    context = {
        "name": name,
        "sessions": ListPage(
            request,
            sessions.get_open_sessions().filter(user__username__icontains=name),
            search=("user__username", "device"),
            sort={
                "user": "user__username",
                "browser": "device",
                "since": "began_at",
                "ends": "session__expire_date",
            },
            default="-since",
            prefix="session-",
            part="sessions",
        ),
        "tokens": ListPage(
            request,
            ApiTokenRow.objects.filter(user__username__icontains=name)
            .select_related("user")
            .order_by("-created_at"),
            search=("user__username", "name"),
            sort={
                "user": "user__username",
                "name": "name",
                "used": "last_used_at",
                "ends": "expires_at",
            },
            choices=[
                RowFilter(
                    "status",
                    _("Status"),
                    [("good", _("valid")), ("over", _("expired"))],
                    _filter_tokens,
                )
            ],
            prefix="token-",
            part="tokens",
        ),
        "this_session": request.session.session_key,
        "one_person": get_user_model().objects.filter(username=name).first() if name else None,
    }
    return render(request, "config/sessions.html", context)


def _filter_tokens(tokens: QuerySet[ApiTokenRow], status: str) -> QuerySet[ApiTokenRow]:
    """Filter tokens by status: good (valid) or over (expired)."""
    over = Q(expires_at__lte=timezone.now())
    return tokens.filter(over) if status == "over" else tokens.exclude(over)


def _end_access(request: SignedInRequest) -> None:
    """End the sessions or tokens that the form selects, except the administrator's own session."""
    action, number = request.POST.get("action", ""), parse_row_id(request.POST.get("number"))
    others = sessions.get_open_sessions().exclude(session=request.session.session_key)
    n_sessions = n_tokens = 0
    if action == "session":
        n_sessions = sessions.end_sessions(others.filter(pk=number))
    elif action == "token":
        n_tokens = ApiTokenRow.objects.filter(pk=number).delete()[0]
    elif action == "person":
        n_sessions = sessions.end_sessions(others.filter(user=number))
        n_tokens = ApiTokenRow.objects.filter(user=number).delete()[0]
    log.warning(
        "%s ended %d sessions and %d tokens (%s %d)",
        request.user,
        n_sessions,
        n_tokens,
        action,
        number,
    )
    sentences = []
    if n_sessions:
        sentences.append(
            ngettext("Ended %(n)s session.", "Ended %(n)s sessions.", n_sessions)
            % {"n": n_sessions}
        )
    if n_tokens:
        sentences.append(
            ngettext("Revoked %(n)s token.", "Revoked %(n)s tokens.", n_tokens) % {"n": n_tokens}
        )
    if not sentences:
        sentences.append(_("No open sessions or valid tokens were found."))
    messages.success(request, " ".join(sentences))
