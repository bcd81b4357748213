"""Shared fixtures, and resources that tests may need: real collections, PostgreSQL, Redis, a
browser. Without a resource its tests are skipped with a conspicuous message. ASSAY_TEST_REQUIRE
turns such a skip into a failure."""

from __future__ import annotations

import copy
import gc
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from _pytest.nodeid import NodeId
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connections
from django.test import TransactionTestCase, override_settings
from django.utils import translation
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from analysis.judgements import live
from tests import pictures, times
from tests.databases import for_several_tests
from tests.migrated import copy_migrated

pytest_plugins = ["tests.second_attempts"]
REQUIRED = set(os.environ.get("ASSAY_TEST_REQUIRE", "").replace(",", " ").split())
MISSING: dict[str, str] = {}
if os.environ.pop(
    "PYTHONDONTWRITEBYTECODE", ""
):  # as in container images; otherwise each of hundreds of processes would compile all modules
    sys.dont_write_bytecode = False
settings.register_profile(
    "assay", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # a busy machine is not a defect
settings.load_profile("assay")


def absent(kind: str, reason: str) -> None:
    """Skip the test because the resource `kind` is missing, or fail if ASSAY_TEST_REQUIRE names
    it."""
    MISSING[kind] = reason
    if kind in REQUIRED:
        pytest.fail(f"{kind} is required here (ASSAY_TEST_REQUIRE), but {reason}")
    pytest.skip(f"{kind}: {reason}")


def reachable(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=2):
            return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real collections."""
    configured = os.environ.get("ASSAY_TEST_DATA", "")
    if not configured:
        absent("data", "ASSAY_TEST_DATA is not set to the folder of real collections")
    folder = Path(configured)
    if not (folder / "README.md").exists():
        absent(
            "data",
            f"ASSAY_TEST_DATA={configured} has no README.md, so it is not the folder of real collections",
        )
    return folder


@pytest.fixture(scope="session")
def postgresql_url() -> str:
    """Return the address of a PostgreSQL server on which databases may be created:
    postgresql://user@host:port/name."""
    url = os.environ.get("ASSAY_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
    parts = urlparse(url)
    if not reachable(parts.hostname or "127.0.0.1", parts.port or 5432):
        absent("postgresql", f"nothing answers at {parts.hostname}:{parts.port or 5432}")
    return url


@pytest.fixture(scope="session")
def redis_url() -> str:
    url = os.environ.get("ASSAY_TEST_BROKER_URL", "redis://127.0.0.1:6379/9")
    parts = urlparse(url)
    if not reachable(parts.hostname or "127.0.0.1", parts.port or 6379):
        absent("redis", f"nothing answers at {parts.hostname}:{parts.port or 6379}")
    return url


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest, django_db_modify_db_settings: None) -> bool:
    """Use a copy of a migrated SQLite database as test database, unless an option of pytest-django
    concerns the database.

    Django keeps an existing database and still migrates it, so anything missing from the copy is
    added. The folder is removed with this process.
    """
    asked: bool = request.config.getvalue("reuse_db")
    test = connections["default"].settings_dict["TEST"]
    if (
        asked
        or request.config.getvalue("create_db")
        or request.config.getvalue("nomigrations")
        or connections["default"].vendor != "sqlite"
    ):
        return asked
    copy_migrated(Path(test["NAME"]))
    return True


@pytest.fixture(scope="session", autouse=True)
def _emptied_without_what_migrations_make() -> Iterator[None]:
    """Keep the tables of content types and permissions when Django empties the tables after a test
    that commits.

    Django would create their rows again with seventy statements, and tests do not change them.
    """
    emptied = TransactionTestCase._fixture_teardown

    def empty(test: TransactionTestCase) -> None:
        connection = connections["default"]
        if connection.vendor != "sqlite":
            return emptied(test)
        kept = {model._meta.db_table for model in (ContentType, Permission)}
        tables = [
            name
            for name in connection.introspection.django_table_names(
                only_existing=True, include_views=False
            )
            if name not in kept
        ]
        connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


@pytest.fixture(autouse=True)
def language_of_the_settings() -> Iterator[None]:
    """Activate the language of the settings, not that of the last request of another test."""
    translation.deactivate()
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def _nothing_kept_from_other_tests() -> None:
    """Clear cached columns of campaigns before each test, because a test database assigns the same
    campaign IDs again."""
    live._snapshots.clear()


@pytest.fixture
def rows_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the rows of a campaign for each request, so that a page shows what was judged a moment
    before."""
    monkeypatch.setattr(live, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(live, "FRESH_SECONDS_LARGE", 0.0)


@pytest.fixture(scope="module", autouse=True)
def _sketched_pictures(request: pytest.FixtureRequest) -> Iterator[None]:
    if getattr(request.module, "PRINTS_PICTURES", False):
        yield
        return
    with pictures.sketched_pictures():
        yield


@pytest.fixture
def real_pictures() -> Iterator[None]:
    """Render charts for print as in production (see tests/pictures.py)."""
    with pictures.real_pictures():
        yield


@pytest.fixture(scope="module")
def module_world(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[tuple[Any, Path]]:
    """Return the result of the test module's `make_world()`, and the folder of its stored files."""
    files = tmp_path_factory.mktemp("world")
    with for_several_tests(django_db_blocker):
        with override_settings(MEDIA_ROOT=files):
            made = request.module.make_world()
        yield made, files


@pytest.fixture
def world(db: None, module_world: tuple[Any, Path], settings: Any, tmp_path: Path) -> Any:
    """Return a copy of the result of the module's `make_world()`, which runs once per module. Each
    test has its own transaction and its own copy of the stored files. Only for tests that do not
    commit."""
    made, files = module_world
    settings.MEDIA_ROOT = shutil.copytree(files, tmp_path / "files")
    return copy.deepcopy(made)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Leave bytes out of the names of tests. Packed bytes contain the time of packing, and if two
    workers name a test differently, no tests are run."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Keep the tests of a group, and those of a shared world, in one process. Processes that share
    the tests take groups first, then slow tests, so that no slow test begins when the other
    processes have finished.

    Tests are shared by their ids. pytest-xdist 3.8 writes the group of a test into an attribute
    that pytest 9.2 no longer reads, so that each process would start the installation of each
    group.
    """
    if hasattr(config, "workerinput"):
        for item in items:
            if "module_world" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group(item.path.stem))
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    yield
    for item in items:
        if id_with_group := getattr(item, "_nodeid", ""):
            item._id = NodeId.parse(id_with_group)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the objects that exist now from garbage collection, because they stay until the end.
    Scanning them repeatedly takes a tenth of the time of tests of pages."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = {}
    for report in terminalreporter.stats.get("skipped", []):
        text = (
            str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        )
        for kind in ("browser", "postgresql", "redis", "data", "nginx", "caddy", "systemd"):
            if text.startswith(f"Skipped: {kind}: "):
                reasons.setdefault(kind, []).append(text.removeprefix("Skipped: "))
    for kind, texts in sorted(reasons.items()):
        terminalreporter.section(f"{kind} tests SKIPPED", sep="!", red=True, bold=True)
        terminalreporter.write_line(f"{len(texts)} tests did not run: {texts[0]}")
    lines = times.told(report for reports in terminalreporter.stats.values() for report in reports)
    if lines:
        terminalreporter.write_sep("=", "slowest folders")
        for line in lines:
            terminalreporter.write_line(line)
