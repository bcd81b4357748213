"""A snapshot reads one moment and keeps no writer waiting, on either database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest
from django.db import DatabaseError, connection, transaction

from pooling.models import Collection
from pooling.platform import snapshot as snapshots
from pooling.platform.snapshot import snapshot
from tests.databases import on_another_connection, own_database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request, tmp_path, django_db_blocker) -> Iterator[str]:
    server = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    with (
        django_db_blocker.unblock(),
        own_database(request.param, folder=tmp_path, server=server, migrated=True),
    ):
        yield request.param


def add(slug: str) -> Callable[[], object]:
    return lambda: Collection.objects.create(slug=slug, name=slug)


def slugs() -> list[str]:
    return sorted(Collection.objects.values_list("slug", flat=True))


@pytest.mark.long
def test_what_is_committed_meanwhile_is_not_seen_and_does_not_wait(database):
    add("before")()
    with snapshot():
        assert slugs() == ["before"]
        on_another_connection(add("meanwhile"))
        assert slugs() == ["before"]
        assert Collection.objects.count() == 1
    assert slugs() == ["before", "meanwhile"]


def test_writing_inside_is_refused_and_afterwards_it_is_not(database):
    with pytest.raises(DatabaseError), snapshot():
        add("inside")()
    add("afterwards")()
    assert slugs() == ["afterwards"]
    assert not snapshots.is_in_snapshot()


def test_a_failed_inner_transaction_leaves_the_connection_fit_for_writing(database):
    with pytest.raises(DatabaseError), snapshot(), transaction.atomic(savepoint=False):
        add("inside")()
    add("afterwards")()
    assert slugs() == ["afterwards"]


def test_a_snapshot_inside_a_snapshot_is_the_same_moment(database):
    with snapshot():
        assert slugs() == []
        on_another_connection(add("meanwhile"))
        with snapshot():
            assert slugs() == []
        assert slugs() == []
        assert snapshots.is_in_snapshot()


def test_a_snapshot_inside_a_transaction_is_refused(database):
    with transaction.atomic(), pytest.raises(RuntimeError), snapshot():
        pass
    add("afterwards")()
    assert slugs() == ["afterwards"]


def test_other_transactions_stay_the_kind_that_they_were(database):
    """On SQLite a writer takes its lock as it begins; a deferred one could find at its first write
    that the database has changed."""
    with snapshot():
        slugs()
    with transaction.atomic():
        slugs()
        if database == "sqlite":
            assert connection.transaction_mode == "IMMEDIATE"
            other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0)
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
            other.close()
        add("later")()
    assert slugs() == ["later"]


@pytest.mark.django_db
def test_in_the_transaction_of_a_test_nothing_can_be_written_either():
    with pytest.raises(DatabaseError), snapshot():
        add("inside")()
    add("afterwards")()
    assert slugs() == ["afterwards"]
