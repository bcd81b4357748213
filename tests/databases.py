"""Empty databases for single tests instead of the shared one, and objects that the tests of a file
share."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.db import connections, transaction
from pytest_django import DjangoDbBlocker

from config import databases
from tests.migrated import copy_migrated, fill_migrated


@contextmanager
def own_database(
    vendor: str, *, folder: Path, server: str = "", migrated: bool = False
) -> Iterator[str]:
    """Make a new database Django's default for the duration of the context, and yield its address.
    server: a PostgreSQL server to create it on. migrated: whether it has all tables."""
    name = f"assay_test_{uuid.uuid4().hex[:12]}"
    url = (
        f"{server.rpartition('/')[0]}/{name}"
        if vendor == "postgresql"
        else f"sqlite:///{folder / name}.sqlite3"
    )
    if vendor == "postgresql":
        _ask(server, f"CREATE DATABASE {name}")
        if migrated:
            fill_migrated(url)
    elif migrated:
        copy_migrated(folder / f"{name}.sqlite3")
    shared, before = connections["default"], connections.settings["default"]
    described = databases.database_settings(url, folder, query_seconds=0, pooler=False)
    connections.settings["default"] = connections.configure_settings({"default": described})[
        "default"
    ]
    del connections["default"]
    try:
        yield url
    finally:
        connections["default"].close()
        connections.settings["default"], connections["default"] = before, shared
        if vendor == "postgresql":
            _ask(server, f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Create a PostgreSQL database without tables for other processes, and yield its address."""
    name = f"assay_test_{uuid.uuid4().hex[:12]}"
    _ask(server, f"CREATE DATABASE {name}")
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        _ask(server, f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def filled_database(server: str) -> Iterator[str]:
    """Create a PostgreSQL database with all tables for other processes, and yield its address."""
    with new_database(server) as url:
        fill_migrated(url)
        yield url


def on_another_connection(deed: Callable[[], object]) -> None:
    """Run a function to its end in another thread, with its own connection. Exceptions are raised
    here."""
    raised: list[BaseException] = []

    def do() -> None:
        try:
            deed()
        except BaseException as error:
            raised.append(error)
        finally:
            connections["default"].close()

    thread = threading.Thread(target=do)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits for this connection"
    if raised:
        raise raised[0]


@contextmanager
def for_several_tests(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep what is created at the beginning for several tests, and undo the changes of each test
    before the next. Only for tests that do not commit."""
    with blocker.unblock(), undone():
        yield


@contextmanager
def undone() -> Iterator[None]:
    """Open a transaction that is rolled back at its end."""
    outer = transaction.atomic()
    # as Django marks its test classes, so that a snapshot or a durable transaction may begin
    # inside
    outer._from_testcase = True
    with outer:
        yield
        transaction.set_rollback(True)


def _ask(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)
