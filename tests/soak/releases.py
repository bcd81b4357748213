"""Faults about releases. They are built one after the other while people judge, and then each is
imported into an empty installation. Changes to a release must be detected by its own script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.changed_releases import find_undetected
from tests.migrated import copy_migrated
from tests.soak.place import Place
from tests.soak.trouble import Trouble

N_RELEASES, N_CHANGES = 20, 10_000
BUILD = """
import json, time
from pathlib import Path
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign, Judgement
from pooling.platform import sqlite_log
campaign, found = Campaign.objects.get(slug="soak"), []
for n in range(N):
    before, began = Judgement.objects.count(), time.monotonic()
    with (Path("FOLDER") / f"{n}.zip").open("wb+") as out:
        facts = write_release(campaign, ReleasePlan(), out)
    found.append([time.monotonic() - began, Judgement.objects.count() - before, sqlite_log.get_log_size_bytes()])
print(json.dumps(found))
"""
IMPORT = """
from pathlib import Path
from django.db import transaction
from analysis.publishing.release.importing import import_release
from assay.formats.errors import FormatError
for n in range(N):
    try:
        with transaction.atomic():
            import_release(Path("FOLDER") / f"{n}.zip", name=f"{n}.zip", user=None)
            transaction.set_rollback(True)
        print("accepted")
    except FormatError as error:
        print(error.lines()[0])
"""


@contextmanager
def releases_built(place: Place) -> Iterator[str]:
    folder, empty = place.base / "releases", place.base / "empty"
    folder.mkdir()
    empty.mkdir()
    built = json.loads(place.installation.run(filled(BUILD, folder)))
    copy_migrated(empty / "assay.sqlite3")
    env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")} | {
        "ASSAY_DATA_DIR": str(empty)
    }
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", filled(IMPORT, folder)]
    lines = subprocess.run(
        command,
        cwd=place.checkout,
        env=env,
        capture_output=True,
        text=True,
        timeout=3600,
        check=True,
    ).stdout.split("\n")[:-1]
    if refused := [line for line in lines if line != "accepted"]:
        raise AssertionError(f"{len(refused)} of {len(lines)} releases are refused: {refused[0]}")
    seconds, meanwhile, get_log_size_bytes = (max(column) for column in zip(*built, strict=True))
    in_log = f", the log had {get_log_size_bytes / 1e6:.0f} MB" if place.vendor == "sqlite" else ""
    yield (
        f"{len(lines)} releases imported, each built within {seconds:.1f} s, with up to "
        f"{meanwhile} judgements meanwhile{in_log}"
    )


def filled(code: str, folder: object, n: int = N_RELEASES) -> str:
    return code.replace("FOLDER", str(folder)).replace("range(N)", f"range({n})")


@contextmanager
def release_changed(place: Place) -> Iterator[str]:
    """Change a release in one place, many times. prove.py must detect each change."""
    path = place.base / "changed"
    path.mkdir()
    place.installation.run(filled(BUILD, path, n=1))
    if undetected := find_undetected((path / "0.zip").read_bytes(), N_CHANGES, seed=0):
        raise AssertionError(f"{len(undetected)} changes are not detected: {undetected[0]}")
    yield f"{N_CHANGES:,} single changes of a release detected"


TROUBLES = [
    Trouble("releases-built", releases_built, (1, 1), unnoticed=True),
    Trouble("release-changed", release_changed, (1, 1), ("sqlite",), unnoticed=True),
]
