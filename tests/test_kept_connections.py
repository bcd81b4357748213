"""Connections that outlive a request: one that the database has ended is replaced before the next
request."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.utils.module_loading import import_string

from config import databases
from tests.conftest import absent


def connected(url: str, folder: Path) -> Any:
    """As the web server has it."""
    described = databases.database_settings(url, folder, query_seconds=12, pooler=False)
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
        return databases.database_settings("", tmp_path, query_seconds=query_seconds, pooler=False)[
            "CONN_MAX_AGE"
        ]

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


WRITES = """
import sys
from pathlib import Path

import django
from django.db import OperationalError

django.setup()
from tests.test_kept_connections import begin_request, connected

folder = Path(sys.argv[1])


def insert(database):
    begin_request(database)
    try:
        with database.cursor() as cursor:
            cursor.execute("INSERT INTO a VALUES (1)")
    except OperationalError as error:
        print(error)
    else:
        print("written")


before, later = connected("", folder), connected("", folder)
with before.cursor() as cursor:
    cursor.execute("CREATE TABLE a (x)")
modes = {path: path.stat().st_mode for path in (folder, *folder.iterdir())}
for path, mode in modes.items():
    path.chmod(mode & ~0o222)
insert(before)
insert(later)
for path, mode in modes.items():
    path.chmod(mode)
insert(before)
insert(later)
with later.cursor() as cursor:
    print(cursor.execute("SELECT count(*) FROM a").fetchone())
"""


def test_who_could_only_read_a_folder_writes_as_soon_as_it_may_be_written(tmp_path):
    """A connection that was open goes on meanwhile, and what it wrote is there."""
    program = [sys.executable, "-c", WRITES, str(tmp_path)]
    if os.getuid() == 0:
        if shutil.which("setpriv") is None:
            absent(
                "setpriv",
                "root may write everywhere, and setpriv, which takes that from a program, is not installed",
            )
        dropped = "-dac_override,-dac_read_search"
        program = ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}", *program]
    done = subprocess.run(
        program,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )
    assert done.stdout.splitlines() == [
        "written",
        "attempt to write a readonly database",
        "written",
        "written",
        "(3,)",
    ], done.stderr


@pytest.mark.postgresql
def test_a_connection_that_postgresql_has_ended_is_replaced_before_the_next_request(
    postgresql_url, unblocked
):
    database = connected(postgresql_url, Path())

    def process() -> int:
        """Return the server's process that answers a request of its own."""
        begin_request(database)
        with database.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    first = process()
    assert process() == first
    with psycopg.connect(postgresql_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
    assert process() != first
    database.close()
