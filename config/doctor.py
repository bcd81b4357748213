"""Checks of an installation, which report problems and remarks.

Each check examines one aspect and yields findings. Checks that need the database run only if it
responds.
"""

from __future__ import annotations

import importlib.util
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection
from django.utils import timezone

from annotation.models import Campaign, Membership
from annotation.services.people import messages, single_sign_on
from assay.number_words import format_count
from config import backups, environment, health
from pooling.models import Job
from pooling.platform import liveness, sqlite_log
from pooling.platform.jobs import STALE_AFTER
from pooling.services.shared_folder import missing_files_message

LOOPBACK = {"127.0.0.1", "localhost", "[::1]", "::1"}
LEAST_FREE_BYTES, LEAST_FREE_SHARE = 2_000_000_000, 0.05
MIN_FILES = 1024
"""Minimum number of open files per process: the default limit of systemd and most shells."""
MAX_CLOCK_DIFFERENCE = timedelta(seconds=5)
MAX_NAMED = 10
"""Maximum number of campaigns that a finding names."""
MAX_JOB_WAIT = timedelta(minutes=2)
MAX_BACKUP_AGE = timedelta(days=7)
NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "fuse.sshfs",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
}


class Finding(NamedTuple):
    """A result of a check of the installation. is_problem: whether it is a problem to fix.
    Otherwise it is a remark."""

    is_problem: bool
    sentence: str


def problem_finding(sentence: str) -> Finding:
    return Finding(True, sentence)


def note_finding(sentence: str) -> Finding:
    return Finding(False, sentence)


def run_checks() -> list[Finding]:
    """Run all checks of the installation and return the findings, problems first."""
    all_findings = [finding for check in CHECKS_WITHOUT_DATABASE for finding in run_check(check)]
    if reason := health.find_problem(health.CHECKS["database"]):
        all_findings.append(
            problem_finding(
                f"The database is not responding ({reason}). Check ASSAY_DATABASE_URL and the "
                "database's log."
            )
        )
    elif reason := health.find_problem(health.CHECKS["migrations"]):
        all_findings.append(problem_finding(f"The database does not match this version: {reason}."))
    else:
        all_findings += [finding for check in CHECKS_WITH_DATABASE for finding in run_check(check)]
    return sorted(all_findings, key=lambda finding: not finding.is_problem)


def is_public() -> bool:
    return bool(set(settings.ALLOWED_HOSTS) - LOOPBACK)


def access() -> Iterator[Finding]:
    """Check who can sign in, and how."""
    if settings.DEBUG:
        yield problem_finding(
            "ASSAY_DEBUG=1 shows settings and code to every visitor after an error. Unset it."
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield problem_finding(
            "ASSAY_ALLOWED_HOSTS=* allows forged links in your name. Set it to the host names of this "
            "installation."
        )
    if is_public() and not settings.HTTPS:
        yield problem_finding(
            "Pages are served to other machines without HTTPS, so passwords can be read in transit. "
            "Use a reverse proxy with HTTPS, and set ASSAY_HTTPS=1."
        )
    if settings.HTTPS and not is_public():
        yield problem_finding(
            "ASSAY_HTTPS=1 is set, but ASSAY_ALLOWED_HOSTS lists only this machine, so requests from "
            "others are refused. Add the public host name."
        )
    if settings.HTTPS and not settings.TRUSTED_PROXIES:
        yield note_finding(
            "ASSAY_TRUSTED_PROXIES is not set, so all users behind the proxy share one address in the "
            "limit on failed sign-ins. Set it to the proxy's address."
        )
    if 0 < len(settings.METRICS_TOKEN) < 16:
        yield note_finding("ASSAY_METRICS_TOKEN is too short. Use at least 16 characters.")
    for message in checks.run_checks(include_deployment_checks=settings.HTTPS):
        if not message.is_silenced():
            yield Finding(message.is_serious(), f"{str(message.msg).strip()} ({message.id})")


def secret_key() -> Iterator[Finding]:
    path = Path(settings.DATA_DIR) / "secret-key"
    if (
        not environment.text("SECRET_KEY")
        and path.exists()
        and stat.S_IMODE(path.stat().st_mode) & 0o077
    ):
        yield problem_finding(
            f"Other users of this machine can read {path} and sign in as any user. "
            f"Run: chmod 600 {path}"
        )
    if len(settings.SECRET_KEY) < 40:
        yield problem_finding(
            "ASSAY_SECRET_KEY is shorter than 40 characters and can be guessed. Unset it, and a secure "
            "key is created."
        )


def folders() -> Iterator[Finding]:
    """Check the storage folders and their free space."""
    if reason := health.find_problem(health.CHECKS["storage"]):
        yield problem_finding(f"Files cannot be stored: {reason}.")
        return
    room = shutil.disk_usage(settings.MEDIA_ROOT)
    if room.free < LEAST_FREE_BYTES or room.free < LEAST_FREE_SHARE * room.total:
        yield problem_finding(
            f"Only {room.free / 1e9:.1f} GB of disk space are free in {settings.MEDIA_ROOT}, so "
            "imports will be refused. Free some space."
        )
    if connection.vendor == "sqlite":
        kind = file_system_type(Path(connection.settings_dict["NAME"]).parent)
        if kind in NETWORK_FILE_SYSTEMS:
            yield problem_finding(
                f"The SQLite file is on {kind}, which does not lock files reliably. Move it to a "
                f"local disk, or use PostgreSQL."
            )
        if sqlite_log.get_log_size_bytes() > sqlite_log.WARN_BYTES:
            yield problem_finding(
                f"The SQLite log has {sqlite_log.get_log_size_bytes() / 1e6:.0f} MB, because another process "
                f"has been reading for a long time (a shell, or a backup program). End it."
            )
    if not settings.DEBUG and not (Path(settings.STATIC_ROOT) / "staticfiles.json").exists():
        yield problem_finding(
            "Style sheets and scripts are not collected. Run: manage.py collectstatic --no-input"
        )
    if health.drain_file().exists():
        yield note_finding(
            "This machine is being drained: /readyz answers 503. To accept users again, run: assay "
            "drain --end"
        )


def file_system_type(folder: Path) -> str:
    """Return the type of the folder's file system, or an empty string if the system does not report
    it."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    path, best, kind = folder.resolve(), -1, ""
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        parts = line.split()
        place = Path(parts[1].replace("\\040", " "))
        if path.is_relative_to(place) and len(place.parts) > best:
            best, kind = len(place.parts), parts[2]
    return kind


def limits() -> Iterator[Finding]:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < MIN_FILES:
        yield note_finding(
            f"A process may open only {most} files. Allow {MIN_FILES} or more (LimitNOFILE in a "
            f"systemd unit, ulimit -n in a shell)."
        )


def broker() -> Iterator[Finding]:
    if reason := health.find_problem(health.CHECKS["broker"]):
        yield problem_finding(
            f"{reason[:1].upper()}{reason[1:]}: jobs start up to a minute later. Check ASSAY_BROKER_URL."
        )


def mail() -> Iterator[Finding]:
    if is_public() and messages.is_console_backend():
        yield note_finding(
            "No email is sent because ASSAY_EMAIL_HOST is not set. Sign-in links, reminders and "
            "to-do lists are only printed to the console."
        )


def packages() -> Iterator[Finding]:
    """Check the optional packages that the settings require. The package for the object store is
    checked in `folders`."""
    if settings.OIDC_ISSUER and importlib.util.find_spec("mozilla_django_oidc") is None:
        yield problem_finding(
            f"{single_sign_on.NO_PACKAGE_MESSAGE}. Until then, sign-in by {settings.INSTITUTION} does not work."
        )


def files() -> Iterator[Finding]:
    if sentence := missing_files_message():
        yield problem_finding(f"{sentence[:1].upper()}{sentence[1:]}.")


def programs() -> Iterator[Finding]:
    """Check whether web server and worker are running."""
    for program, name in (
        (liveness.WEB_SERVER, "web server"),
        (liveness.WORKER, "background worker"),
    ):
        age = liveness.heartbeat_age_seconds(program)
        if age is None:
            yield note_finding(f"No {name} has used the data folder {settings.DATA_DIR} yet.")
        elif age > liveness.SILENT_SECONDS:
            since = f"{timezone.now() - timedelta(seconds=age):%Y-%m-%d %H:%M} UTC"
            yield problem_finding(
                f"The {name} is not running (last active {since}). Start it with `make run` or its "
                "systemd unit."
            )


def last_backup() -> Iterator[Finding]:
    made_at = backups.last_backup_time()
    if made_at is not None and (age := timezone.now() - made_at) > MAX_BACKUP_AGE:
        yield note_finding(
            f"The last backup by assay backup is {format_count(age.days, 'day')} old."
        )
    elif made_at is None and is_public():
        yield note_finding("This installation has no backup yet. Run: assay backup")


def people() -> Iterator[Finding]:
    if not get_user_model().objects.filter(is_superuser=True, is_active=True).exists():
        yield note_finding("There is no administrator. Run: manage.py createsuperuser")


def managers() -> Iterator[Finding]:
    """Check that every campaign has a manager."""
    managed = Membership.objects.filter(role=Membership.Role.MANAGER, user__is_active=True)
    slugs = list(
        Campaign.objects.exclude(pk__in=managed.values("campaign"))
        .order_by("slug")
        .values_list("slug", flat=True)
    )
    if slugs:
        some = ", ".join(slugs[:MAX_NAMED]) + (" …" if len(slugs) > MAX_NAMED else "")
        n = format_count(len(slugs), "campaign", "has", "have")
        them = "it" if len(slugs) == 1 else "them"
        yield note_finding(
            f"{n} no manager, so only administrators see {them}: {some}. Add a manager on the page "
            "People, or in the campaign file."
        )


def jobs() -> Iterator[Finding]:
    now = timezone.now()
    waiting = (
        Job.objects.filter(state=Job.State.QUEUED, created_at__lt=now - MAX_JOB_WAIT)
        .order_by("created_at")
        .first()
    )
    running = Job.objects.filter(state=Job.State.RUNNING, heartbeat__gte=now - STALE_AFTER).exists()
    if waiting and not running:
        yield problem_finding(
            f"Jobs are not processed: “{waiting.label}” has been waiting since "
            f"{waiting.created_at:%Y-%m-%d %H:%M} UTC. Check that a worker is running."
        )
    dead = Job.objects.filter(state=Job.State.RUNNING, heartbeat__lt=now - 2 * STALE_AFTER).count()
    if dead:
        yield problem_finding(
            f"{format_count(dead, 'job')} lost the worker and must be restarted by another one. "
            "Check that a worker is running."
        )


def postgresql() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT clock_timestamp(), current_setting('max_connections')::int, "
            "current_setting('server_version_num')::int"
        )
        open_now, most, version = cursor.fetchone()
    apart = abs(timezone.now() - open_now)
    if apart > MAX_CLOCK_DIFFERENCE:
        yield problem_finding(
            f"The clocks of this machine and the database are {apart.total_seconds():.0f} s "
            f"apart. Synchronise both with the same time server."
        )
    wanted = (
        environment.number("WEB_WORKERS") * environment.number("WEB_THREADS")
        + environment.number("WORKER_PROCESSES")
        + 3
    )
    if wanted > most - 3:
        yield problem_finding(
            f"This machine may open {wanted} connections, but PostgreSQL allows {most} "
            f"(max_connections), three of which are reserved. Raise max_connections."
        )
    if version < 140000:
        yield problem_finding(
            f"PostgreSQL {version // 10000} is not supported. Upgrade to 14 or newer."
        )
    if shutil.which("pg_dump") is None:
        yield note_finding(
            "pg_dump is not installed, so assay backup does not work. On Debian: apt install postgresql-client"
        )


CHECKS_WITHOUT_DATABASE: list[Callable[[], Iterator[Finding]]] = [
    access,
    secret_key,
    folders,
    limits,
    broker,
    mail,
    packages,
    programs,
    last_backup,
]
CHECKS_WITH_DATABASE: list[Callable[[], Iterator[Finding]]] = [
    files,
    people,
    managers,
    jobs,
    postgresql,
]


def run_check(check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """Run one check and return its findings. If database, disk or settings fail during the check,
    the failure is a finding too."""
    try:
        return list(check())
    except (Error, OSError, ImproperlyConfigured) as error:
        return [
            problem_finding(
                f"{check.__name__} check failed: {str(error).strip() or type(error).__name__}"
            )
        ]
