"""The migrated database that tests copy is that of this state of the program."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from tests import migrated
from tests.databases import own_database


@pytest.mark.django_db
def test_nothing_is_left_to_migrate_in_the_test_database():
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


def test_only_migrations_models_settings_and_django_mean_another_file(tmp_path: Path):
    def digest(path: str, text: str, version: str = "5.2") -> str:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return migrated.digest(tmp_path, [version])

    found = [
        digest("annotation/migrations/0001_initial.py", "operations = []\n"),
        digest("annotation/migrations/0001_initial.py", "operations = [1]\n"),
        digest("annotation/migrations/0002_next.py", ""),
        digest("annotation/models/campaigns.py", ""),
        digest("analysis/models.py", ""),
        digest("config/settings.py", ""),
        digest("config/settings.py", "", "5.3"),
    ]
    assert len(set(found)) == len(found)
    assert digest("annotation/services/judging/submission.py", "") == found[-2]


def test_the_file_is_made_once_and_an_earlier_one_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "assay.sqlite3").write_text("tables")

    monkeypatch.setattr(migrated, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(migrated, "_migrate", make)
    monkeypatch.setattr(migrated, "digest", lambda: "one")
    first = migrated.migrated_file()
    assert migrated.migrated_file() == first
    monkeypatch.setattr(migrated, "digest", lambda: "two")
    migrated.copy_migrated(tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "tables"
    assert len(made) == 2
    assert sorted(path.name for path in first.parent.iterdir()) == [
        "migrated-two.sqlite3",
        "migrated.lock",
    ]


def test_an_installation_finds_the_static_files_that_it_would_collect(
    tmp_path: Path, settings: Any
):
    from config.management.commands import up

    settings.DATA_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    shutil.copytree(migrated.collected_folder(), tmp_path, dirs_exist_ok=True)
    before = (tmp_path / "static" / "staticfiles.json").stat()
    up.Command().collect_static()
    assert (tmp_path / "static" / "staticfiles.json").stat().st_mtime_ns == before.st_mtime_ns, (
        "nothing was collected anew"
    )
    assert "js/words.js" in (tmp_path / "static" / "staticfiles.json").read_text()


@pytest.mark.postgresql
def test_what_fills_a_database_of_postgresql_is_all_that_migrations_make(
    tmp_path: Path, postgresql_url: str, django_db_blocker: DjangoDbBlocker
):
    for _ in range(2):  # the first may be migrated, the second is filled
        with (
            django_db_blocker.unblock(),
            own_database("postgresql", folder=tmp_path, server=postgresql_url) as url,
        ):
            migrated.fill_migrated(url)
            executor = MigrationExecutor(connection)
            assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
            assert Permission.objects.filter(codename="change_judgement").exists(), (
                "with the rows that are made after migrations"
            )
            assert User.objects.create_user("ada").pk == 1
