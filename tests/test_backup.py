"""Backed up while people judge, wiped, restored: the releases have the same digests, and what was
acknowledged before is there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from tests.migrated import copy_migrated, fill_migrated

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
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

OTHER_CAMPAIGN = """
from tests.builders import *
head = make_user("head", may_create=True)
collection = make_collection(n_topics=20, n_documents=100, slug="autumn", manager=head)
make_annotator(make_campaign(collection=collection, judgements_per_pair=1, manager=head, name="Autumn"), "eve")
"""
JUDGING = """
import time
from pathlib import Path
from django.core.files.base import ContentFile
from annotation.models import Membership
from pooling.models import Upload
from tests.builders import judge
eve, told = Membership.objects.select_related("campaign", "user").get(user__username="eve"), Path(r"FOLDER/told").open("a")
while not Path(r"FOLDER/enough").exists():
    judged = judge(eve, 1)
    if judged.pk % 3 == 0:
        name = f"of-{judged.pk}.txt"
        Upload.objects.create(collection=eve.campaign.collection, kind="run", name=name, file=ContentFile(name.encode(), name), n_bytes=len(name))
    print(judged.pk, file=told, flush=True)
    time.sleep(0.03)
"""
JUDGED = """
import json
from annotation.models import Judgement
rows = Judgement.objects.filter(membership__user__username="eve").order_by("pk")
print(json.dumps(list(rows.values("pk", "key", "pair", "lease", "grade", "standing", "current", "judged_at")), default=str))
"""


class Place:
    """An installation without processes."""

    def __init__(self, folder: Path, database: str = "") -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        self.env = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": str(ROOT),
            "ASSAY_DATA_DIR": str(folder),
        }
        self.env["ASSAY_DATABASE_URL"] = database

    def manage(self, *arguments: str, fails: bool = False) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    def prepare(self) -> None:
        """All tables."""
        if self.env["ASSAY_DATABASE_URL"]:
            fill_migrated(self.env["ASSAY_DATABASE_URL"])
        else:
            copy_migrated(self.folder / "assay.sqlite3")

    def release(self, path: Path) -> str:
        self.manage("export_campaign", "--campaign", "spring", "--output", str(path))
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def judged(self) -> list[dict[str, Any]]:
        """What eve's judgements hold, in their order."""
        found: list[dict[str, Any]] = json.loads(self.manage("shell", "--no-imports", "-c", JUDGED))
        return found


class Eve:
    """Somebody who judges without pause, and brings a file after every third judgement, in a
    process of her own."""

    def __init__(self, place: Place, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        command = [
            sys.executable,
            "manage.py",
            "shell",
            "--no-imports",
            "-c",
            JUDGING.replace("FOLDER", str(folder)),
        ]
        self.process = subprocess.Popen(command, cwd=ROOT, env=place.env)

    def told(self) -> int:
        """How many judgements were acknowledged."""
        path = self.folder / "told"
        return path.read_text().count("\n") if path.exists() else 0

    def wait_for(self, n: int) -> None:
        end = time.monotonic() + 240
        while self.told() < n:
            assert self.process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)

    def end(self) -> None:
        (self.folder / "enough").touch()
        assert self.process.wait(timeout=240) == 0


@contextmanager
def judging(place: Place, folder: Path) -> Iterator[Eve]:
    eve = Eve(place, folder)
    try:
        eve.wait_for(5)
        yield eve
    finally:
        if eve.process.poll() is None:
            eve.process.kill()
            eve.process.wait()


def back_up_wipe_and_restore(place: Place, tmp_path: Path, wipe) -> None:
    place.prepare()
    place.manage("shell", "--no-imports", "-c", CAMPAIGN)
    before = place.release(tmp_path / "before.zip")
    place.manage("shell", "--no-imports", "-c", OTHER_CAMPAIGN)
    copy = tmp_path / "copy"
    with judging(place, tmp_path / "eve") as eve:
        acknowledged = eve.told()
        told = place.manage("backup", str(copy))
        during = eve.told()
        eve.wait_for(during + 3)
        eve.end()
    n_files = json.loads((copy / "backup.json").read_text())["n_files"]
    assert f"the database and {n_files} files" in told
    assert during > acknowledged + 10, "she did judge meanwhile"
    judged = place.judged()
    assert "exists already" in place.manage("backup", str(copy), fails=True)
    assert "is not empty" in place.manage("restore", str(copy), fails=True)
    wipe()
    assert f"restored: the database and {n_files} files" in place.manage("restore", str(copy))
    place.manage("migrate", "-v", "0")
    assert place.release(tmp_path / "after.zip") == before
    restored = place.judged()
    assert acknowledged < len(restored) < len(judged)
    assert restored == judged[: len(restored)], "as they were at one moment"
    assert place.manage("verify") == "everything agrees\n", (
        "counters with rows, and each file that a row names is there"
    )
    [upload] = (place.folder / "files" / "uploads").rglob("a*.txt")
    assert upload.read_bytes() == b"a run"


def test_sqlite_and_files_come_back_as_they_were(tmp_path):
    place = Place(tmp_path / "data")
    place.folder.mkdir()
    back_up_wipe_and_restore(
        place, tmp_path, lambda: (shutil.rmtree(place.folder), place.folder.mkdir())
    )
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
    place.prepare()
    place.manage("backup", str(tmp_path / "copy"))
    shutil.rmtree(place.folder)
    place.folder.mkdir()
    with (tmp_path / "copy" / "database.sqlite3").open("ab") as copy:
        copy.write(b"x")
    assert "not as it was backed up; nothing was restored" in place.manage(
        "restore", str(tmp_path / "copy"), fails=True
    )
    assert not (place.folder / "assay.sqlite3").exists()
    assert "is no backup" in place.manage("restore", str(tmp_path), fails=True)
