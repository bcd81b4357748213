"""Backup and restoration of an installation: its database and its files, consistent with each
other.

Files are only added, and deleted only with their row. The database is therefore copied first, as of
one moment, and the files afterwards. Every file named by a row exists, unless it was deleted in
between. In that case the copy is repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import FileField
from django.utils import timezone

from assay.version import program_version
from pooling.platform.file_storage import file_storage

FORMAT, ATTEMPTS = "assay backup 1", 3
LISTING, KEY, FILES = "backup.json", "secret-key", "files"
LAST_BACKUP_FILE = "last-backup"
"""File in the data folder with the time of the last backup."""
DATABASE_COPIES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}


class BackupError(Exception):
    """An error whose message states the problem and the fix."""


def create_backup(folder: Path) -> dict[str, Any]:
    """Copy the installation into a new folder and return the listing stored there.

    Raises BackupError, and leaves no partial copy behind.
    """
    if os.path.lexists(folder):
        raise BackupError(f"{folder} already exists; name a new folder")
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    try:
        for _ in range(ATTEMPTS):
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True, mode=0o700)
            named = _list_named_files()
            _copy_database(part / DATABASE_COPIES[connection.vendor])
            _copy_files(part / FILES)
            if all((part / FILES / name).exists() for name in named - _list_named_files()):
                break
        else:
            raise BackupError(
                "files were deleted while they were copied; try again when the server is less busy"
            )
        key = Path(settings.DATA_DIR) / KEY
        if key.exists():
            shutil.copy2(key, part / KEY)
        listing = _make_listing(part)
        (part / LISTING).write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")
        part.rename(folder)
        mark = Path(settings.DATA_DIR) / LAST_BACKUP_FILE
        mark.write_text(listing["made_at"] + "\n", encoding="ascii")
    except (OSError, sqlite3.Error) as error:
        raise BackupError(f"the backup failed: {error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return listing


def last_backup_time() -> datetime | None:
    """Return the time of the installation's last backup, or None if there is none."""
    try:
        return datetime.fromisoformat(
            (Path(settings.DATA_DIR) / LAST_BACKUP_FILE).read_text(encoding="ascii").strip()
        )
    except (OSError, ValueError):
        return None


def restore_backup(folder: Path) -> dict[str, Any]:
    """Restore a backup into an empty installation and return its listing. Raises BackupError before
    anything is changed."""
    listing = _read_listing(folder)
    if any(file_storage.each()):
        raise BackupError(f"{file_storage.called} is not empty; restore into an empty one")
    if _has_people():
        raise BackupError("the database is not empty; restore into an empty one")
    connection.close()
    _restore_database(folder / DATABASE_COPIES[connection.vendor])
    for path in sorted((folder / FILES).rglob("*")):
        if path.is_file():
            name = path.relative_to(folder / FILES).as_posix()
            shutil.copy2(path, file_storage.place(name))
            file_storage.keep(name)
    if (folder / KEY).exists():
        shutil.copy2(folder / KEY, Path(settings.DATA_DIR) / KEY)
    return listing


def _list_named_files() -> set[str]:
    """Return the storage names of all files to which database rows refer."""
    names: set[str] = set()
    for model in apps.get_models():
        for field in model._meta.get_fields():
            if isinstance(field, FileField):
                names.update(
                    model._default_manager.exclude(**{field.name: ""}).values_list(
                        field.name, flat=True
                    )
                )
    return {name for name in names if name}


def _copy_database(target: Path) -> None:
    if connection.vendor == "sqlite":
        with (
            sqlite3.connect(f"file:{connection.settings_dict['NAME']}?mode=ro", uri=True) as source,
            sqlite3.connect(target) as copy,
        ):
            source.backup(copy)
        return
    _run_program("pg_dump", "--format=custom", "--no-owner", f"--file={target}")


def _restore_database(copy: Path) -> None:
    if connection.vendor == "sqlite":
        path = Path(connection.settings_dict["NAME"])
        path.parent.mkdir(parents=True, exist_ok=True)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        shutil.copy2(copy, path)
        return
    _run_program(
        "pg_restore",
        "--no-owner",
        "--clean",
        "--if-exists",
        "--exit-on-error",
        "--single-transaction",
        f"--dbname={_describe_database()['NAME']}",
        str(copy),
    )


def _describe_database() -> dict[str, Any]:
    return connection.settings_dict


def _run_program(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs. The connection is passed in its environment, so that
    passwords do not appear in the list of processes."""
    if shutil.which(program) is None:
        raise BackupError(f"{program} is not installed; on Debian: apt install postgresql-client")
    names = {
        "PGHOST": "HOST",
        "PGPORT": "PORT",
        "PGUSER": "USER",
        "PGPASSWORD": "PASSWORD",
        "PGDATABASE": "NAME",
    }
    env = {
        **os.environ,
        **{
            name: str(_describe_database()[key])
            for name, key in names.items()
            if _describe_database().get(key)
        },
    }
    done = subprocess.run(
        [program, *arguments], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(
            f"{program}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}"
        )


def _copy_files(target: Path) -> None:
    target.mkdir()
    for one in file_storage.each():
        place = target / one.name
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(file_storage.path(one.name), place)
        except FileNotFoundError:
            continue  # deleted in the meantime; the caller checks whether a row still names it


def _make_listing(folder: Path) -> dict[str, Any]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        "format": FORMAT,
        "version": program_version(),
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "database": connection.vendor,
        "n_files": sum(path.is_relative_to(folder / FILES) for path in files),
        "n_bytes": sum(path.stat().st_size for path in files),
        "sha256": {str(path.relative_to(folder)): _digest_file(path) for path in files},
    }


def _read_listing(folder: Path) -> dict[str, Any]:
    try:
        listing: dict[str, Any] = json.loads((folder / LISTING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BackupError(
            f"{folder} is not a backup, because its {LISTING} is missing or unreadable"
        ) from None
    if listing.get("format") != FORMAT:
        raise BackupError(
            f"{folder} has the format {listing.get('format')}, but this version reads {FORMAT}"
        )
    if listing["database"] != connection.vendor:
        raise BackupError(
            f"the backup is from {listing['database']}, but ASSAY_DATABASE_URL names {connection.vendor}"
        )
    for name, digest in listing["sha256"].items():
        path = folder / name
        if not path.is_file() or _digest_file(path) != digest:
            raise BackupError(
                f"{path} is missing or was changed after the backup; nothing was restored"
            )
    return listing


def _digest_file(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _has_people() -> bool:
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return False
    try:
        if "auth_user" not in connection.introspection.table_names():
            return False
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM auth_user LIMIT 1")
            return cursor.fetchone() is not None
    except OperationalError as error:
        raise BackupError(f"the database is not responding: {error}") from None
