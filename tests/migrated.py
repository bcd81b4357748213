"""The initial state of every installation, created once for each state of the program: an empty
database with all tables, and the collected static files. Tests that are not about migrations or a
first start copy them.

Either takes five to seven seconds of processor time, and every process of a test run and every
installation of a test needs the tables. They are kept in .pytest_cache under a digest of
migrations, models and settings, so that other edits do not create them again. Whatever a kept file
lacks is migrated by the test run and by each installation. Static files also depend on the code
that collects them (config).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import django
import psycopg

ROOT = Path(__file__).resolve().parents[1]
APPS = ("pooling", "annotation", "analysis")
KEPT = ROOT / ".pytest_cache"
COLLECTED = ("static", "static.digest")


def digest(
    root: Path = ROOT,
    versions: Iterable[str] = (django.__version__, sqlite3.sqlite_version, sys.version),
) -> str:
    """Return a digest of migrations, models and settings. root: of the checkout."""
    tables = [
        path
        for app in APPS
        for path in (root / app).rglob("*.py")
        if {"migrations", "models", "models.py"} & {*path.relative_to(root).parts}
    ]
    return _digest_of([*tables, root / "config" / "settings.py"], root, versions)


def _digest_of(paths: Iterable[Path], root: Path, more: Iterable[str]) -> str:
    content = hashlib.sha256("\n".join(more).encode())
    for path in sorted(path for path in paths if path.exists()):
        text = path.read_bytes()
        content.update(f"\0{path.relative_to(root)}\0{len(text)}\0".encode() + text)
    return content.hexdigest()[:24]


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Hold a lock on this name, so that one process looks for the kept file and creates it while
    others wait."""
    KEPT.mkdir(exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def migrated_file() -> Path:
    """Return the migrated database file to copy. If needed, it is created by one process while
    others wait. Files of earlier states are removed."""
    path = KEPT / f"migrated-{digest()}.sqlite3"
    with _alone("migrated"):
        if not path.exists():
            with tempfile.TemporaryDirectory() as folder:
                _migrate(Path(folder))
                for earlier in KEPT.glob("migrated-*"):
                    earlier.unlink()
                made = path.with_suffix(".part")
                shutil.copyfile(Path(folder) / "assay.sqlite3", made)
                made.replace(path)
    return path


def collected_folder() -> Path:
    """Return the folder of collected static files with their digest, as `up` keeps them in a data
    folder."""
    stands = sorted(path for path in (ROOT / "static").rglob("*") if path.is_file())
    lines = [
        f"{path.relative_to(ROOT)} {path.stat().st_size} {path.stat().st_mtime_ns}"
        for path in stands
    ]
    path = KEPT / f"collected-{_digest_of((ROOT / 'config').rglob('*.py'), ROOT, lines)}"
    with _alone("collected"):
        if not path.exists():
            for earlier in KEPT.glob("collected-*"):
                shutil.rmtree(earlier)
            with tempfile.TemporaryDirectory(dir=KEPT) as folder:
                _manage(
                    Path(folder),
                    "shell",
                    "--no-imports",
                    "-c",
                    "from config.management.commands.up import Command; Command().collect_static()",
                )
                made = Path(folder) / "made"
                made.mkdir()
                for name in COLLECTED:
                    (Path(folder) / name).rename(made / name)
                made.rename(path)
    return path


def copy_prepared(to: Path, url: str = "") -> None:
    """Prepare an installation that has not been started yet: its folder, and its tables there or in
    its empty PostgreSQL database."""
    if url:
        fill_migrated(url)
    else:
        copy_migrated(to / "assay.sqlite3")
    shutil.copytree(collected_folder(), to, dirs_exist_ok=True)


def fill_migrated(url: str) -> None:
    """Create all tables in an empty PostgreSQL database from a dump of the first one that was
    migrated."""
    path = KEPT / f"postgresql-{digest()}.sql"
    with _alone("postgresql"):
        if not path.exists():
            with tempfile.TemporaryDirectory() as folder:
                _manage(Path(folder), "migrate", "-v", "0", ASSAY_DATABASE_URL=url)
            for earlier in KEPT.glob("postgresql-*"):
                earlier.unlink()
            made = path.with_suffix(".part")
            made.write_text(_dumped(url), encoding="utf-8")
            made.replace(path)
            return
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(path.read_bytes())


def _dumped(url: str) -> str:
    """Return the SQL statements of a dump, without commands for psql."""
    done = subprocess.run(
        ["pg_dump", "--no-owner", "--inserts", url],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return "".join(
        line for line in done.stdout.splitlines(keepends=True) if not line.startswith("\\")
    )


def copy_migrated(to: Path) -> None:
    """Copy the migrated database file. The copy is an ordinary file of this user, as after a first
    start."""
    shutil.copyfile(migrated_file(), to)


def _manage(folder: Path, *arguments: str, **settings: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    env |= {"DJANGO_SETTINGS_MODULE": "config.settings", "ASSAY_DATA_DIR": str(folder), **settings}
    subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, check=True, timeout=240
    )


def _migrate(folder: Path) -> None:
    _manage(folder, "migrate", "-v", "0")
    with sqlite3.connect(folder / "assay.sqlite3") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
