"""An empty SQLite database with all tables, made once for a state of the program: a test that is not about migrations copies it.

Migrating takes some seven seconds of a processor, and every process of a test run and every installation of a test needs the tables.
The file stands in .pytest_cache under a digest of all that it can depend on, so that a changed migration is never met with an old file."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import django

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("pooling", "annotation", "analysis", "config", "assay")
KEPT = ROOT / ".pytest_cache"


def digest(root: Path = ROOT, versions: Iterable[str] = (django.__version__, sqlite3.sqlite_version, sys.version)) -> str:
    """Of every module of the program, not only of its migrations: they may call the rest. root: of the checkout."""
    found = hashlib.sha256("\n".join(versions).encode())
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        content = path.read_bytes()
        found.update(f"\0{path.relative_to(root)}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:24]


def migrated_file() -> Path:
    """The file to copy. Made at need, by one process while the others wait; files of earlier states are removed."""
    path = KEPT / f"migrated-{digest()}.sqlite3"
    KEPT.mkdir(exist_ok=True)
    with (KEPT / "migrated.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not path.exists():
            with tempfile.TemporaryDirectory() as folder:
                _migrate(Path(folder))
                for earlier in KEPT.glob("migrated-*"):
                    earlier.unlink()
                made = path.with_suffix(".part")
                shutil.copyfile(Path(folder) / "assay.sqlite3", made)
                made.replace(path)
    return path


def copy_migrated(to: Path) -> None:
    """The copy is an ordinary file of this user's, as a first start makes it."""
    shutil.copyfile(migrated_file(), to)


def _migrate(folder: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    env |= {"DJANGO_SETTINGS_MODULE": "config.settings", "ASSAY_DATA_DIR": str(folder)}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=ROOT, env=env, check=True, timeout=240)
    with sqlite3.connect(folder / "assay.sqlite3") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
