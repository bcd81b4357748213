"""Move of an installation's rows from SQLite to an empty PostgreSQL database. Files stay in place,
because both databases refer to the same ones.

All rows are written in one transaction and compared with the old ones before it is committed, so
the move is complete or has no effect.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import Model, sql

from assay.number_words import format_count
from config import databases

BATCH_ROWS = 500
OLD, NEW = "default", "moved_to"


class MoveError(Exception):
    """An error whose message states the problem and the fix. Nothing was changed."""


def move_database(url: str, *, say: Callable[[str], None]) -> int:
    """Copy every row of the current SQLite database into the PostgreSQL database at `url`. Returns
    the number of rows."""
    if connection.vendor != "sqlite":
        raise MoveError(
            "the current database (ASSAY_DATABASE_URL) is not SQLite; to move between PostgreSQL servers, use backup and restore"
        )
    described = databases.database_settings(
        url, Path(settings.DATA_DIR), query_seconds=0, pooler=False
    )
    if described["ENGINE"] != "django.db.backends.postgresql":
        raise MoveError(
            "the target is not a PostgreSQL address such as postgresql://user@host:5432/name"
        )
    connections.settings[NEW] = connections.configure_settings({OLD: described})[OLD]
    try:
        with exclusive_access():
            _check_empty()
            say("creating the tables …")
            _migrate_target(url)
            return _copy_all(say)
    except DatabaseError as error:
        raise MoveError(
            f"the database reported an error: {str(error).strip().splitlines()[0]}"
        ) from None
    finally:
        with contextlib.suppress(DatabaseError):
            connections[NEW].close()
        del connections[NEW]
        del connections.settings[NEW]


@contextlib.contextmanager
def exclusive_access() -> Iterator[None]:
    """Prevent other use of the old database while the context is open: `assay up` cannot start on
    the data folder, and others cannot write. Raises MoveError if `assay up` is running."""
    with (Path(settings.DATA_DIR) / "up.lock").open("a", encoding="ascii") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise MoveError(
                "Assay is running; stop it first, so that no judgements are lost"
            ) from None
        with transaction.atomic(using=OLD):  # SQLite transactions begin by taking the write lock
            yield


def _check_empty() -> None:
    tables = connections[NEW].introspection.table_names()
    if tables:
        raise MoveError(
            f"the target database is not empty (it contains {tables[0]}); create a new one with createdb"
        )


def _migrate_target(url: str) -> None:
    """Migrate the target database in a separate process, because migrations use the default
    database."""
    env = {**os.environ, "ASSAY_DATABASE_URL": url}
    command = [sys.executable, "-m", "django", "migrate", "--no-input", "--verbosity", "0"]
    env["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(settings.BASE_DIR), env.get("PYTHONPATH", "")])
    )
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MoveError(
            f"the tables could not be created: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
        )


def list_models() -> list[type[Model]]:
    """Return one model for each table of the project, including many-to-many tables."""
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    ]


def _copy_all(say: Callable[[str], None]) -> int:
    moved = 0
    models = list_models()
    with transaction.atomic(using=NEW):
        # foreign keys are checked at commit, so tables may be copied in any order
        tables = ", ".join(
            connections[NEW].ops.quote_name(model._meta.db_table) for model in models
        )
        with connections[NEW].cursor() as cursor:
            # content types and permissions, which `migrate` has created
            cursor.execute(f"TRUNCATE {tables}")
        for model in models:
            n = _copy_table(model)
            moved += n
            if n:
                say(f"{model._meta.db_table}: {format_count(n, 'row')}")
        with connections[NEW].cursor() as cursor:
            for statement in connections[NEW].ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)
    return moved


def _copy_table(model: type[Model]) -> int:
    fields, rows, n = model._meta.local_concrete_fields, [], 0
    for row in model._base_manager.using(OLD).order_by("pk").iterator(chunk_size=BATCH_ROWS):
        rows.append(row)
        if len(rows) == BATCH_ROWS:
            n += _insert_rows(model, fields, rows)
            rows = []
    n += _insert_rows(model, fields, rows)
    _compare_tables(model)
    return n


def _insert_rows(model: type[Model], fields: Any, rows: list[Any]) -> int:
    if rows:
        query = sql.InsertQuery(model)
        query.insert_values(fields, rows, raw=True)  # unchanged, so that creation times are kept
        try:
            query.get_compiler(using=NEW).execute_sql()
        except (DatabaseError, ValueError) as error:
            where = f"{model._meta.db_table}, rows {rows[0].pk} to {rows[-1].pk}"
            raise MoveError(
                f"{where}: {str(error).strip().splitlines()[0]}; nothing was moved"
            ) from None
    return len(rows)


def _compare_tables(model: type[Model]) -> None:
    """Raise MoveError unless both databases have the same rows."""
    names = [field.attname for field in model._meta.local_concrete_fields]
    old, new = (
        model._base_manager.using(alias)
        .order_by("pk")
        .values_list(*names)
        .iterator(chunk_size=BATCH_ROWS)
        for alias in (OLD, NEW)
    )
    for one, other in zip_longest(old, new):
        if one != other:
            raise MoveError(
                f"{model._meta.db_table}: the copy {other} differs from the original {one}; nothing was moved"
            )
