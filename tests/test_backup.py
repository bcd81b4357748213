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
from django.core.management import call_command
from pooling.models import Upload
campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2, name="Spring")
for member in (make_annotator(campaign, "ada"), make_annotator(campaign, "bob")):
    for grade in (0, 1, 2, 3):
        judge(member, grade)
Upload.objects.create(collection=campaign.collection, kind="run", name="a.txt", file=ContentFile(b"a run", "a.txt"), n_bytes=5)
call_command("export_campaign", "--force", "--campaign", "spring", "--output", r"RELEASE")
"""
OTHER_CAMPAIGN = """
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
print(json.dumps(list(rows.values("pk", "key", "pair", "lease", "grade", "status", "current", "judged_at")), default=str))
"""
"""What eve's judgements hold, in their order."""
RELEASED = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("export_campaign", "--force", "--campaign", "spring", "--output", r"RELEASE")
call_command("verify")
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

    def shell(self, code: str, release: Path) -> str:
        return self.manage("shell", "--no-imports", "-c", code.replace("RELEASE", str(release)))


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
            JUDGING.replace("FOLDER", str(folder)) + JUDGED,
        ]
        self.process = subprocess.Popen(command, cwd=ROOT, env=place.env, stdout=subprocess.PIPE)

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

    def end(self) -> list[dict[str, Any]]:
        """All her judgements."""
        (self.folder / "enough").touch()
        said, _ = self.process.communicate(timeout=240)
        assert self.process.returncode == 0
        return json.loads(said)  # type: ignore[no-any-return]


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


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def back_up_wipe_and_restore(place: Place, tmp_path: Path, wipe) -> None:
    place.prepare()
    before, after = tmp_path / "before.zip", tmp_path / "after.zip"
    place.shell(CAMPAIGN + OTHER_CAMPAIGN, before)
    copy = tmp_path / "copy"
    with judging(place, tmp_path / "eve") as eve:
        acknowledged = eve.told()
        told = place.manage("backup", str(copy))
        during = eve.told()
        eve.wait_for(during + 3)
        judged = eve.end()
    n_files = json.loads((copy / "backup.json").read_text())["n_files"]
    assert f"the database and {n_files} files" in told
    assert during > acknowledged + 10, "she did judge meanwhile"
    wipe()
    assert f"restored: the database and {n_files} files" in place.manage("restore", str(copy))
    *verified, found = place.shell(RELEASED + JUDGED, after).splitlines()
    assert verified[-1] == "no problems", (
        "counters with rows, and each file that a row names is there"
    )
    restored = json.loads(found)
    assert digest(after) == digest(before)
    assert acknowledged < len(restored) < len(judged)
    assert restored == judged[: len(restored)], "as they were at one moment"
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


def test_a_backup_neither_replaces_nor_is_restored_over_anything_nor_when_damaged(tmp_path):
    place = Place(tmp_path / "data")
    place.folder.mkdir()
    place.prepare()
    kept = place.folder / "files" / "uploads" / "a.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("a run")
    place.manage("backup", str(tmp_path / "copy"))
    assert "already exists" in place.manage("backup", str(tmp_path / "copy"), fails=True)
    assert "is not empty" in place.manage("restore", str(tmp_path / "copy"), fails=True)
    shutil.rmtree(place.folder)
    place.folder.mkdir()
    with (tmp_path / "copy" / "database.sqlite3").open("ab") as copy:
        copy.write(b"x")
    assert "was changed after the backup; nothing was restored" in place.manage(
        "restore", str(tmp_path / "copy"), fails=True
    )
    assert not (place.folder / "assay.sqlite3").exists()
    assert "is not a backup" in place.manage("restore", str(tmp_path), fails=True)
