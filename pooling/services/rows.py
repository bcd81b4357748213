"""Insert and update rows in a short transaction: statements are prepared before it begins and
executed once for all rows.

`bulk_create` does its Python work while the transaction is open and takes ten times as long, and on
SQLite no judgement can be stored meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import JSONField, Model


class PreparedStatement(NamedTuple):
    """A statement and the values of each row."""

    statement: str
    values: list[tuple[Any, ...]]


def prepare_insert(objects: Sequence[Model]) -> PreparedStatement:
    """Prepare the insertion of unsaved objects of one model."""
    if not objects:
        return PreparedStatement("", [])
    fields = [field for field in objects[0]._meta.local_concrete_fields if not field.primary_key]
    quote = connection.ops.quote_name
    columns, marks = (
        ", ".join(quote(str(field.column)) for field in fields),
        ", ".join(["%s"] * len(fields)),
    )
    values = [
        tuple(field.get_db_prep_save(field.pre_save(one, True), connection) for field in fields)
        for one in objects
    ]
    return PreparedStatement(
        f"INSERT INTO {quote(objects[0]._meta.db_table)} ({columns}) VALUES ({marks})", values
    )


def insert_rows(rows: PreparedStatement) -> None:
    """Insert the rows in the caller's transaction. The objects do not receive their IDs. Raises
    IntegrityError as any insert does."""
    if rows.values:
        with connection.cursor() as cursor:
            cursor.executemany(rows.statement, rows.values)


def update_rows(
    model: type[Model], columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Update columns of many rows in one call. rows: the values of the columns (JSON as text) and
    the row's ID.

    This is many times faster than one statement with a case per row, and others wait meanwhile.
    """
    if rows:
        marks = ", ".join(f"{column} = {_placeholder(model, column)}" for column in columns)
        with connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE {connection.ops.quote_name(model._meta.db_table)} SET {marks} WHERE id = %s",
                rows,
            )


def _placeholder(model: type[Model], column: str) -> str:
    is_json = isinstance(model._meta.get_field(column), JSONField)
    return "CAST(%s AS jsonb)" if is_json and connection.vendor == "postgresql" else "%s"
