"""The database is away, frozen or full while people judge: the answer is 503 in the API's one
shape, and says when to try again."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import OperationalError, ProgrammingError, connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper
from django.test import Client

from annotation.services.judging import submission
from config import databases
from pooling.platform import sqlite_log
from tests.builders import make_annotator, make_campaign, make_user
from tests.error_shape import CONTENT_TYPE, MEMBERS


@pytest.fixture
def page(db) -> Client:
    ada = make_annotator(make_campaign())
    client = Client(raise_request_exception=False)
    client.force_login(ada.user)
    client.address = f"/api/v1/judging/{ada.campaign.slug}/"
    return client


def failing(error: Exception, only: str = ""):
    """Every statement (that contains `only`) fails as if the database were away."""

    def wrapper(execute, sql, params, many, context):
        if only in sql:
            raise error
        return execute(sql, params, many, context)

    return connection.execute_wrapper(wrapper)


def is_refusal(answer) -> bool:
    body = answer.json()
    assert set(body) == MEMBERS
    assert answer["Content-Type"] == CONTENT_TYPE
    assert (body["status"], body["code"]) == (503, "unavailable")
    assert body["request"] == answer["X-Request-ID"] != ""
    assert 3 <= int(answer["Retry-After"]) <= 8
    return answer.status_code == 503


def other_tables(code: str) -> ProgrammingError:
    """As Django raises it on PostgreSQL, where a column (42703) or a table (42P01) is not there."""
    error = ProgrammingError("it does not exist")
    error.__cause__ = type("UndefinedThing", (Exception,), {"sqlstate": code})()
    return error


@pytest.mark.parametrize(
    "only", ["", "annotation_judgement", "django_session", "annotation_membership"]
)
def test_a_database_that_is_away_is_told_in_the_shape_of_the_api_wherever_it_is_missed(page, only):
    with failing(OperationalError("connection refused"), only):
        answer = page.post(page.address + "leases", {"want": 3}, content_type="application/json")
    assert is_refusal(answer)
    assert answer.json()["detail"].startswith("The database isn't responding.")
    assert (
        page.post(page.address + "leases", {"want": 3}, content_type="application/json").status_code
        == 200
    )


def test_pages_report_an_unavailable_database_in_html(page):
    with failing(OperationalError("connection refused")):
        answer = page.get("/")
    assert (answer.status_code, answer["Content-Type"]) == (503, "text/html; charset=utf-8")
    assert "The database isn&#x27;t responding." in answer.content.decode()
    assert answer["Retry-After"]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "no space"), "The server's disk is full."),
        (OSError(errno.EROFS, "read-only"), "The server can't write to its disk."),
        (OSError(errno.EACCES, "permission denied"), "The server can't write to its disk."),
        (OperationalError("database or disk is full"), "The server's disk is full."),
        (
            OperationalError("attempt to write a readonly database"),
            "The server can't write to its database.",
        ),
        (
            OperationalError("no such column: annotation_judgement.remark"),
            "The server is being updated.",
        ),
        (other_tables("42703"), "The server is being updated."),
        (other_tables("42P01"), "The server is being updated."),
        (OSError(errno.EMFILE, "too many open files"), "The server is busy."),
        (MemoryError(), "The server is busy."),
    ],
)
def test_a_full_or_read_only_disk_and_want_of_handles_or_memory_are_told(
    page, monkeypatch, error, sentence
):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(submission, "skip_pair", fail)
    answer = page.post(page.address + "skip", {"lease": "0" * 32}, content_type="application/json")
    assert is_refusal(answer)
    assert answer.json()["detail"].startswith(sentence)


def test_our_own_mistake_is_500_in_the_same_shape_with_the_number_under_which_the_log_has_it(
    page, monkeypatch
):
    def fail(*_: object, **__: object) -> None:
        raise ValueError("ours")

    monkeypatch.setattr(submission, "skip_pair", fail)
    answer = page.post(page.address + "skip", {"lease": "0" * 32}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"], set(answer.json())) == (
        500,
        "internal_error",
        MEMBERS,
    )
    assert answer.json()["request"] == answer["X-Request-ID"]


def test_every_error_of_the_api_has_the_one_shape(db):
    client = Client(raise_request_exception=False)
    assert set(client.get("/api/v1/nothing").json()) == MEMBERS
    assert set(client.get("/api/v1/collections/").json()) == MEMBERS
    client.force_login(make_user(may_create=True))
    assert set(client.get("/api/v1/collections/nothing/").json()) == MEMBERS
    assert set(client.delete("/api/v1/collections/").json()) == MEMBERS
    wrong = client.post("/api/v1/collections/", {"name": ""}, content_type="application/json")
    assert (wrong.status_code, set(wrong.json())) == (400, MEMBERS | {"errors"})
    assert set(wrong.json()["errors"]) == {"name"}


def test_a_busy_database_is_not_asked_again_and_again(db, monkeypatch):
    from annotation.services.judging import slots

    asked = []

    def work() -> None:
        asked.append(1)
        raise OperationalError("database is locked")

    with pytest.raises(OperationalError):
        slots.run_with_retries(work)
    assert len(asked) == 1


@pytest.fixture
def unblocked(django_db_blocker) -> Iterator[None]:
    """Databases of the test's own may be used."""
    with django_db_blocker.unblock():
        yield


def connected(url: str, *, seconds: int):
    described = databases.database_settings(url, Path(), query_seconds=seconds, pooler=False)
    settings = connections.configure_settings({"default": described})["default"]
    return DatabaseWrapper(settings, alias="limited")


@pytest.mark.postgresql
def test_a_connection_whose_other_end_is_silent_is_given_up_by_the_operating_system(
    postgresql_url, unblocked
):
    database = connected(postgresql_url, seconds=2)
    database.ensure_connection()
    parameters = database.connection.info.get_parameters()
    assert {
        name: int(parameters[name]) for name in databases.KEEPALIVE_OPTIONS
    } == databases.KEEPALIVE_OPTIONS
    assert database.settings_dict["CONN_HEALTH_CHECKS"]
    database.close()


@pytest.mark.postgresql
def test_a_statement_and_a_lock_end_at_their_limits(postgresql_url, unblocked):
    first, second = connected(postgresql_url, seconds=2), connected(postgresql_url, seconds=2)
    with first.cursor() as one, second.cursor() as two:
        with pytest.raises(OperationalError, match="statement timeout"):
            one.execute("SELECT pg_sleep(10)")
        one.execute("SELECT pg_advisory_lock(77)")
        with pytest.raises(OperationalError, match="lock timeout"):
            two.execute("SELECT pg_advisory_lock(77)")
    first.close()
    second.close()


def test_sqlites_log_is_cut_to_its_bound(tmp_path):
    options = databases.database_settings("", tmp_path, query_seconds=0, pooler=False)["OPTIONS"]
    with sqlite3.connect(tmp_path / "a.sqlite3") as database:
        database.executescript(options["init_command"])
        assert database.execute("PRAGMA journal_size_limit").fetchone() == (databases.WAL_BYTES,)


@pytest.mark.django_db(transaction=True)
def test_sqlites_log_is_shortened_unless_somebody_reads_and_its_growth_is_told(monkeypatch, caplog):
    if connection.vendor != "sqlite":
        pytest.skip("the log is SQLite's")
    monkeypatch.setattr(sqlite_log, "WARN_BYTES", 100_000)
    make_user()
    assert sqlite_log.truncate_log() == 0
    reader = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM auth_user").fetchone()
    make_campaign(n_topics=3, n_documents=20)
    assert sqlite_log.truncate_log() > 100_000
    assert "another process has been reading for a long time" in caplog.text
    reader.execute("COMMIT")
    reader.close()
    assert sqlite_log.truncate_log() == 0
