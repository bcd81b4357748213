"""Faults of PostgreSQL, Redis and SQLite's file: restarted, killed, absent, frozen, locked, or read
for a long time."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.soak.place import Place
from tests.soak.servers import OwnServer
from tests.soak.trouble import Trouble

Server = Callable[[Place], OwnServer]


def postgresql(place: Place) -> OwnServer:
    assert place.postgresql is not None
    return place.postgresql


def redis(place: Place) -> OwnServer:
    assert place.redis is not None
    return place.redis


def away(server: Server, number: int) -> Callable[[Place], AbstractContextManager[None]]:
    """End the server with this signal, and start it again when the fault ends."""

    @contextmanager
    def cause(place: Place) -> Iterator[None]:
        server(place).stop(number)
        yield
        server(place).start()

    return cause


def frozen(server: Server) -> Callable[[Place], AbstractContextManager[None]]:
    @contextmanager
    def cause(place: Place) -> Iterator[None]:
        server(place).freeze()
        yield
        server(place).go_on()

    return cause


@contextmanager
def sqlite_locked(place: Place) -> Iterator[None]:
    """Hold SQLite's write lock as another program would."""
    other = sqlite3.connect(place.folder / "assay.sqlite3", isolation_level=None, timeout=20)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


@contextmanager
def sqlite_read(place: Place) -> Iterator[list[str]]:
    """Read one old state of the database as another program would, so that the write-ahead log can
    only grow."""
    told: list[str] = []
    other = sqlite3.connect(place.folder / "assay.sqlite3", isolation_level=None, timeout=20)
    other.execute("BEGIN")
    other.execute("SELECT COUNT(*) FROM annotation_judgement").fetchone()
    yield told
    told.append(f"the log had {(place.folder / 'assay.sqlite3-wal').stat().st_size / 1e6:.1f} MB")
    other.execute("COMMIT")
    other.close()


POSTGRESQL, SQLITE = ("postgresql",), ("sqlite",)
REDIS = frozenset({"redis"})
TROUBLES = [
    Trouble(
        "postgresql-restarted", away(postgresql, signal.SIGINT), (1, 0), POSTGRESQL, with_job=True
    ),
    Trouble(
        "postgresql-killed", away(postgresql, signal.SIGKILL), (1, 0), POSTGRESQL, with_job=True
    ),
    Trouble("postgresql-away", away(postgresql, signal.SIGINT), (20, 5), POSTGRESQL, with_job=True),
    Trouble("postgresql-frozen", frozen(postgresql), (30, 18), POSTGRESQL, with_job=True),
    Trouble(
        "redis-restarted",
        away(redis, signal.SIGINT),
        (1, 0),
        needs=REDIS,
        with_job=True,
        unnoticed=True,
    ),
    Trouble(
        "redis-killed",
        away(redis, signal.SIGKILL),
        (10, 3),
        needs=REDIS,
        with_job=True,
        unnoticed=True,
    ),
    Trouble("redis-frozen", frozen(redis), (30, 10), needs=REDIS, with_job=True, unnoticed=True),
    Trouble("sqlite-locked", sqlite_locked, (30, 15), SQLITE, with_job=True),
    Trouble("sqlite-read-for-long", sqlite_read, (30, 5), SQLITE, with_job=True),
]
