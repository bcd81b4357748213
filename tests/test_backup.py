"""Backed up while people judge, wiped, restored: the releases have the same digests."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent
CAMPAIGN = """
from tests.builders import *
from django.core.files.base import ContentFile
from pooling.models import Upload
campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2, name="Spring")
for member in (make_annotator(campaign, "ada"), make_annotator(campaign, "bob")):
    for grade in (0, 1, 2, 3):
        judge(member, grade)
Upload.objects.create(collection=campaign.collection, kind="run", name="a.txt", file=ContentFile(b"a run", "a.txt"), n_bytes=5)
"""


class Place:
    """An installation without processes."""

    def __init__(self, folder: Path, database: str = "") -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        self.env = {**kept, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT), "ASSAY_DATA_DIR": str(folder)}
        self.env["ASSAY_DATABASE_URL"] = database

    def manage(self, *arguments: str, fails: bool = False) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=240, check=False)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    def release(self, path: Path) -> str:
        self.manage("export_campaign", "--campaign", "spring", "--output", str(path))
        return hashlib.sha256(path.read_bytes()).hexdigest()


def back_up_wipe_and_restore(place: Place, tmp_path: Path, wipe) -> None:
    place.manage("migrate", "-v", "0")
    place.manage("shell", "--no-imports", "-c", CAMPAIGN)
    before = place.release(tmp_path / "before.zip")
    copy = tmp_path / "copy"
    assert "the database and 1 file" in place.manage("backup", str(copy))
    assert "exists already" in place.manage("backup", str(copy), fails=True)
    assert "is not empty" in place.manage("restore", str(copy), fails=True)
    wipe()
    assert "restored: the database and 1 file" in place.manage("restore", str(copy))
    place.manage("migrate", "-v", "0")
    assert place.release(tmp_path / "after.zip") == before
    assert place.manage("audit_campaigns")
    [upload] = (place.folder / "files" / "uploads").rglob("a*.txt")
    assert upload.read_bytes() == b"a run"


def test_sqlite_and_files_come_back_as_they_were(tmp_path):
    place = Place(tmp_path / "data")
    place.folder.mkdir()
    back_up_wipe_and_restore(place, tmp_path, lambda: (shutil.rmtree(place.folder), place.folder.mkdir()))
    assert (place.folder / "secret-key").exists()


@pytest.mark.postgresql
def test_postgresql_and_files_come_back_as_they_were(tmp_path, postgresql_url):
    import psycopg

    if shutil.which("pg_dump") is None:
        pytest.skip("postgresql: pg_dump is not installed")
    name = f"assay_backup_{os.getpid()}"
    place = Place(tmp_path / "data", urlparse(postgresql_url)._replace(path=f"/{name}").geturl())
    place.folder.mkdir()

    def anew() -> None:
        shutil.rmtree(place.folder)
        place.folder.mkdir()
        with psycopg.connect(postgresql_url, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {name}")

    anew()
    try:
        back_up_wipe_and_restore(place, tmp_path, anew)
    finally:
        with psycopg.connect(postgresql_url, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def test_a_backup_that_was_damaged_restores_nothing(tmp_path):
    place = Place(tmp_path / "data")
    place.folder.mkdir()
    place.manage("migrate", "-v", "0")
    place.manage("backup", str(tmp_path / "copy"))
    shutil.rmtree(place.folder)
    place.folder.mkdir()
    with (tmp_path / "copy" / "database.sqlite3").open("ab") as copy:
        copy.write(b"x")
    assert "not as it was backed up; nothing was restored" in place.manage("restore", str(tmp_path / "copy"), fails=True)
    assert not (place.folder / "assay.sqlite3").exists()
    assert "is no backup" in place.manage("restore", str(tmp_path), fails=True)
