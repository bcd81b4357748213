"""SQLite has one writer at a time; the others wait."""

from __future__ import annotations

import gc
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.test import Client
from django.utils.module_loading import import_string

from annotation.models import Judgement, Lease
from annotation.services.judging import assignment
from config import databases
from tests.builders import make_annotator, make_campaign


@pytest.fixture
def unblocked(django_db_blocker) -> Iterator[None]:
    """Databases of the test's own may be used."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def path(tmp_path: Path, unblocked: None) -> Path:
    with sqlite3.connect(tmp_path / "assay.sqlite3") as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE done (by TEXT)")
    return tmp_path / "assay.sqlite3"


def connected(path: Path, *, patience_s: float) -> Any:
    described = databases.database_settings("", path.parent, query_seconds=12, pooler=False)
    described["OPTIONS"]["timeout"] = patience_s
    settings = connections.configure_settings({"default": described})["default"]
    database = import_string(f"{settings['ENGINE']}.base.DatabaseWrapper")(
        settings, alias="writing"
    )
    database.inc_thread_sharing()
    return database


def write(database: Any, by: str) -> None:
    """What `transaction.atomic` does."""
    database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    database.cursor().execute("INSERT INTO done VALUES (%s)", [by])
    database.commit()
    database.set_autocommit(True)


def written(path: Path) -> list[str]:
    with sqlite3.connect(path) as database:
        return [by for (by,) in database.execute("SELECT by FROM done ORDER BY rowid")]


def test_who_waits_in_vain_says_so_and_takes_nothing_with_him(path):
    first, second = connected(path, patience_s=20), connected(path, patience_s=0.05)
    first.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    with pytest.raises(OperationalError, match="database is locked"):
        write(second, "too early")
    first.rollback()
    first.set_autocommit(True)
    write(second, "now")
    write(first, "and now")
    assert written(path) == ["now", "and now"]


def test_another_process_is_waited_for_by_transactions_and_by_single_statements(path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    patient, hasty = connected(path, patience_s=60), connected(path, patience_s=0.05)
    for work in (
        lambda by: write(patient, by),
        lambda by: patient.cursor().execute("INSERT INTO done VALUES (%s)", [by]),
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="database is locked"):
            write(hasty, "too early")
        thread = threading.Thread(target=work, args=("waited",))
        thread.start()
        time.sleep(0.2)  # not as proof: that it has begun to wait
        other.execute("INSERT INTO done VALUES ('other')")
        other.execute("COMMIT")
        thread.join()
    assert written(path) == ["other", "waited"] * 2
    other.close()


def test_a_thread_that_ends_in_the_middle_keeps_nobody_waiting(path):
    def die() -> None:
        database = connected(path, patience_s=5)
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        database.cursor().execute("INSERT INTO done VALUES ('never')")

    thread = threading.Thread(target=die)
    thread.start()
    thread.join()
    gc.collect()
    write(connected(path, patience_s=5), "after it")
    assert written(path) == ["after it"]


def test_a_closed_connection_lets_others_write(path):
    first, second = connected(path, patience_s=5), connected(path, patience_s=5)
    first.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    first.close()
    write(second, "after it")
    assert written(path) == ["after it"]


@pytest.mark.django_db(transaction=True)
def test_a_judgement_with_its_top_up_is_one_transaction_and_so_are_the_first_leases():
    if connection.vendor != "sqlite":
        pytest.skip("on PostgreSQL they stay apart")
    member, client = make_annotator(make_campaign(min_active_seconds=0)), Client()
    client.force_login(member.user)
    address = f"/api/v1/judging/{member.campaign.slug}/"
    begun: list[str] = []
    connection.connection.set_trace_callback(
        lambda sql: begun.append(sql) if sql.startswith(("BEGIN", "COMMIT")) else None
    )
    try:
        held = [
            pair["lease"]
            for pair in client.post(
                address + "leases", {"want": 3}, content_type="application/json"
            ).json()["pairs"]
        ]
        assert (len(held), begun) == (3, ["BEGIN IMMEDIATE", "COMMIT"])
        begun.clear()
        answer = client.post(
            address + "judgements",
            {"lease": held[0], "key": str(uuid.uuid4()), "grade": 1, "want": 3, "held": held[1:]},
            content_type="application/json",
        )
        assert (answer.status_code, len(answer.json()["pairs"]), begun) == (
            200,
            1,
            ["BEGIN IMMEDIATE", "COMMIT"],
        )
    finally:
        connection.connection.set_trace_callback(None)


@pytest.mark.django_db(transaction=True)
def test_where_the_top_up_fails_nothing_is_acknowledged_and_the_repeated_judgement_is_taken(
    monkeypatch,
):
    member, client = (
        make_annotator(make_campaign(min_active_seconds=0)),
        Client(raise_request_exception=False),
    )
    client.force_login(member.user)
    address = f"/api/v1/judging/{member.campaign.slug}/"
    held = [
        pair["lease"]
        for pair in client.post(
            address + "leases", {"want": 2}, content_type="application/json"
        ).json()["pairs"]
    ]
    body = {"lease": held[0], "key": str(uuid.uuid4()), "grade": 1, "want": 2, "held": held[1:]}
    with monkeypatch.context() as patch:
        patch.setattr(assignment.scheduling, "claim_pairs", lambda *_, **__: 1 / 0)
        assert (
            client.post(address + "judgements", body, content_type="application/json").status_code
            == 500
        )
    answer = client.post(address + "judgements", body, content_type="application/json")
    assert (
        answer.status_code,
        Judgement.objects.count(),
        Lease.objects.filter(state="live").count(),
    ) == (200, 1, 2)
