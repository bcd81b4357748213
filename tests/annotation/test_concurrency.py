"""Exact overlap with real concurrency, on SQLite and on PostgreSQL: processes and threads against a
database of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import filled_database
from tests.migrated import copy_migrated

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A fresh database: all tables in a file, or on the PostgreSQL server, dropped afterwards."""
    if request.param == "sqlite":
        copy_migrated(tmp_path / "storm.sqlite3")
        yield f"sqlite:///{tmp_path}/storm.sqlite3"
        return
    with filled_database(request.getfixturevalue("postgresql_url")) as url:
        yield url


def storm(url: str, *arguments: str) -> dict:
    env = {
        **os.environ,
        "ASSAY_DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotation.storm", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[:2500]} ... {done.stderr[-2500:]}"
    return json.loads(done.stdout)


@pytest.mark.long
def test_annotators_at_once_fill_every_pair_exactly_and_in_the_order_of_bands(database_url):
    found = storm(database_url, "orderly", "--annotators", "24")
    assert found["errors"] == []
    assert found["broken_after"] == found["broken_at_the_end"] == []
    assert (found["pairs"], found["incomplete"], found["more_than_needed"], found["twice"]) == (
        120,
        0,
        0,
        0,
    )
    assert found["counted"] == 3 * 120  # not one too many
    assert found["drained"] == 0  # no slot was lost that somebody could have had
    assert found["went_back_to_a_better_band"] == 0
    assert found["extra"] == 0


@pytest.mark.long
def test_overlap_stays_exact_under_attack(database_url):
    found = storm(database_url, "attack", "--annotators", "200")
    assert found["errors"] == []
    assert found["broken_during"] == found["broken_after"] == found["broken_at_the_end"] == []
    assert (found["incomplete"], found["more_than_needed"], found["twice"], found["held"]) == (
        0,
        0,
        0,
        0,
    )
    assert found["annotators"] > 150
    for happened in (
        "dropped out",
        "released",
        "skipped",
        "revised",
        "too fast",
        "repeated",
        "late, counted",
    ):
        assert found["counts"].get(happened, 0) > 0, happened
    for happened in ("exclude", "n", "extend", "audit"):
        assert found["disturbed"].get(happened, 0) > 0, happened
