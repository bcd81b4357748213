"""Connections that outlive a request: when the database has ended one it is noticed before the next request, without a trip to ask."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.utils.module_loading import import_string

from config import databases


def connected(url: str, folder: Path) -> Any:
    """As the web server has it."""
    described = databases.described(url, folder, query_seconds=12, pooler=False)
    settings = connections.configure_settings({"default": described})["default"]
    return import_string(f"{settings['ENGINE']}.base.DatabaseWrapper")(settings, alias="kept")


@pytest.fixture
def unblocked(django_db_blocker) -> Iterator[None]:
    """Databases of the test's own may be used."""
    with django_db_blocker.unblock():
        yield


def begin_request(database: Any) -> None:
    """What Django does with each connection when a request begins."""
    database.close_if_unusable_or_obsolete()


def test_only_the_web_server_keeps_connections_to_sqlite(tmp_path):
    def kept(query_seconds: int) -> Any:
        return databases.described("", tmp_path, query_seconds=query_seconds, pooler=False)["CONN_MAX_AGE"]

    assert (kept(12), kept(0)) == (60, 0)


def test_a_replaced_file_of_sqlite_is_noticed(tmp_path, unblocked):
    database = connected("", tmp_path)
    with database.cursor() as cursor:
        cursor.execute("CREATE TABLE a (x)")
        cursor.execute("INSERT INTO a VALUES (1)")
    begin_request(database)
    before = database.connection
    with database.cursor() as cursor:
        assert cursor.execute("SELECT x FROM a").fetchone() == (1,)
    assert database.connection is before, "it was kept"
    for path in tmp_path.iterdir():
        path.unlink()
    with sqlite3.connect(tmp_path / "assay.sqlite3") as other:
        other.execute("CREATE TABLE a (x)")
        other.execute("INSERT INTO a VALUES (2)")
    begin_request(database)
    with database.cursor() as cursor:
        assert cursor.execute("SELECT x FROM a").fetchone() == (2,)
    database.close()


@pytest.mark.postgresql
def test_postgresql_is_not_asked_unless_it_has_something_to_say(postgresql_url, unblocked, monkeypatch):
    database = connected(postgresql_url, Path())
    asked: list[str] = []
    plain = psycopg.Cursor.execute

    def execute(cursor, statement, *more, **named):
        asked.append(str(statement))
        return plain(cursor, statement, *more, **named)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)

    def number() -> int:
        """Of the server's process, asked in a request of its own."""
        begin_request(database)
        with database.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    first = number()
    asked.clear()
    assert number() == first
    assert asked == ["SELECT pg_backend_pid()"]
    database.asked_at -= 60  # for so long nobody has asked
    assert number() == first
    assert "SELECT 1" in asked
    with psycopg.connect(postgresql_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
    assert number() != first
    database.close()
