"""SQL statements that bypass the ORM on the path of every judgement. They are prepared, and several
are sent in one round trip."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction


def to_database_time(when: datetime | None) -> Any:
    """Convert a time as the ORM does. SQLite compares times as text."""
    return connection.ops.adapt_datetimefield_value(when)


def to_database_value(model: type[models.Model], name: str, value: Any) -> Any:
    """Convert a value of the model's field to its form in the database."""
    field: Any = model._meta.get_field(name)
    return field.get_db_prep_save(value, connection)


def from_database_time(value: Any) -> datetime:
    """Convert a time from a raw row. SQLite stores it in UTC without a time zone."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def has_row_locks() -> bool:
    return connection.features.has_select_for_update_skip_locked


class _PendingSync(threading.local):
    """The state of disk synchronisation in this thread. is_apart: inside `defer_disk_sync`.
    is_owed: a commit may not be on the disk yet."""

    is_apart = False
    is_owed = False


pending_sync = _PendingSync()


def mark_synced() -> None:
    """Record that a transaction was committed with synchronisation."""
    pending_sync.is_owed = False


@contextmanager
def defer_disk_sync() -> Iterator[None]:
    """Synchronise the transactions of one request with the disk once, at the end, before anything
    is acknowledged.

    On SQLite they become one transaction, because each would have to wait for its turn. On
    PostgreSQL they remain separate, so that locks are released early. The first ones leave the
    synchronisation to the last (`execute_pipeline(waits_for_disk=False)`), because the write-ahead
    log is sequential.
    """
    if not has_row_locks():
        with transaction.atomic():
            yield
        return
    pending_sync.is_apart = pending_sync.is_owed = (
        True  # rows that are found already stored may have been committed a moment ago, too
    )
    try:
        yield
        if pending_sync.is_owed:
            # an otherwise empty transaction that waits for the disk
            fetch_rows("SELECT pg_logical_emit_message(TRUE, 'assay', '')", {})
    finally:
        pending_sync.is_apart = pending_sync.is_owed = False


def fetch_rows(sql: str, values: Mapping[str, Any], *, prepare: bool = True) -> list[Any]:
    """Return all rows of a statement. On PostgreSQL it is prepared once per connection, because
    planning costs more than execution. It is not prepared behind a pooler that shares connections
    (Django's DISABLE_SERVER_SIDE_CURSORS)."""
    database = connections[DEFAULT_DB_ALIAS]
    if (
        not prepare
        or database.vendor != "postgresql"
        or database.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]
    ):
        with database.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()
    import psycopg  # an optional driver, not needed with SQLite

    with database.wrap_database_errors:
        database.ensure_connection()
        database.validate_no_broken_transaction()
        if database.connection.prepare_threshold is None:  # Django's default: prepare nothing
            database.connection.prepare_threshold = 2**30  # prepare on request
        return psycopg.Cursor(database.connection).execute(sql, values, prepare=True).fetchall()


def execute_pipeline(
    changes: Sequence[str], values: Mapping[str, Any], *, waits_for_disk: bool = True
) -> list[Any]:
    """Execute independent changes. Returns what each returned (`RETURNING` of one column of at most
    one row), or None.

    PostgreSQL executes them as one statement, and SQLite, which has no round trips, one after the
    other. waits_for_disk: False if, within `defer_disk_sync`, the transaction need not wait for the
    disk.
    """
    if has_row_locks():
        parts = ", ".join(f"change_{i} AS ({change})" for i, change in enumerate(changes))
        returned = ", ".join(f"(SELECT * FROM change_{i})" for i in range(len(changes)))
        later = pending_sync.is_apart and not waits_for_disk
        pending_sync.is_owed |= later
        hurry = ", set_config('synchronous_commit', 'off', TRUE)" if later else ""
        [row] = fetch_rows(f"WITH {parts} SELECT {returned}{hurry}", values)
        return list(row[: len(changes)])
    rows_of_changes = [fetch_rows(change, values) for change in changes]
    return [rows[0][0] if rows else None for rows in rows_of_changes]


class ModelReader:
    """Converter of raw rows to instances of a model, equal to those of the ORM.

    columns: all columns of the model, in the table called `alias` in the statement.
    """

    def __init__(self, model: type[models.Model], alias: str) -> None:
        self.model = model
        # with from_db converters, which the type stubs lack
        self.fields: Sequence[Any] = model._meta.concrete_fields
        self.names = [field.attname for field in self.fields]
        self.columns = ", ".join(f"{alias}.{field.column}" for field in self.fields)
        self._converters: dict[str, list[tuple[int, Any, Any]]] = {}

    def __len__(self) -> int:
        return len(self.fields)

    def values(self, row: Sequence[Any]) -> list[Any]:
        """Return the model's column values from a raw row, converted from those of the database
        driver."""
        if connection.vendor not in self._converters:
            columns = [field.get_col(self.model._meta.db_table) for field in self.fields]
            self._converters[connection.vendor] = [
                (i, convert, column)
                for i, (field, column) in enumerate(zip(self.fields, columns, strict=True))
                for convert in [
                    *connection.ops.get_db_converters(column),
                    *field.get_db_converters(connection),
                ]
            ]
        values = list(row)
        for i, convert, column in self._converters[connection.vendor]:
            values[i] = convert(values[i], column, connection)
        return values

    def instance(self, row: Sequence[Any]) -> Any:
        return self.model.from_db(connection.alias, self.names, self.values(row))

    def refresh(self, instance: models.Model, row: Sequence[Any]) -> None:
        """Refresh the instance in place and keep its loaded related objects."""
        for field, value in zip(self.fields, self.values(row), strict=True):
            if not field.is_relation:
                setattr(instance, field.attname, value)


def split_row(row: Sequence[Any], *readers: ModelReader) -> list[Sequence[Any]]:
    """Split a row into the columns of each reader, in the order of the statement."""
    parts, start = [], 0
    for reader in readers:
        parts.append(row[start : start + len(reader)])
        start += len(reader)
    return parts


@cache
def _insert_statement(model: type[models.Model]) -> str:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    return (
        f"INSERT INTO {model._meta.db_table} ({columns}) VALUES "
        f"({', '.join(f'%(new_{field.column})s' for field in fields)}) RETURNING id"
    )


def make_insert(row: models.Model) -> tuple[str, dict[str, Any]]:
    """Return (INSERT statement that returns the new id, values) for an unsaved row."""
    database = connections[DEFAULT_DB_ALIAS]
    fields = [field for field in row._meta.concrete_fields if not field.primary_key]
    return _insert_statement(type(row)), {
        f"new_{field.column}": field.get_db_prep_save(field.pre_save(row, add=True), database)
        for field in fields
    }


def mark_stored(row: models.Model, pk: int) -> None:
    """Mark a model instance as stored after executing the statement from `make_insert`."""
    row.pk = pk
    row._state.adding, row._state.db = False, connection.alias
