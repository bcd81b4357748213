"""From SQLite to a real PostgreSQL: everything is there, the releases are the same bytes, and
people judge on."""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator
from urllib.parse import urlparse

import psycopg
import pytest

from tests.test_backup import CAMPAIGN, RELEASED, Place, digest

pytestmark = [pytest.mark.postgresql, pytest.mark.slow]
JUDGE_ON = """
from tests.builders import *
from annotation.models import Campaign, Judgement, Membership
from django.contrib.auth.models import User
from pooling.models import Pool
campaign = Campaign.objects.get()
eve = make_annotator(campaign, "eve")
newest = Judgement.objects.order_by("-pk").first().pk
judged = judge(eve, 1)
assert judged.pk > newest
assert User.objects.get(username="ada").check_password("a long password of ada")
print(Pool.objects.get().created_at.isoformat(), campaign.scale[0]["name"])
"""
BEFORE = """
from django.contrib.auth.models import User
from pooling.models import Pool
from annotation.models import Campaign
ada = User.objects.get(username="ada")
ada.set_password("a long password of ada")
ada.save()
print(Pool.objects.get().created_at.isoformat(), Campaign.objects.get().scale[0]["name"])
"""


@pytest.fixture
def empty(postgresql_url: str) -> Iterator[str]:
    """The address of a new database."""
    name = f"assay_move_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
    yield urlparse(postgresql_url)._replace(path=f"/{name}").geturl()
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def place(tmp_path) -> Place:
    found = Place(tmp_path / "data")
    found.folder.mkdir()
    found.prepare()
    return found


def test_everything_is_there_and_people_judge_on(place, empty, tmp_path):
    before, after = tmp_path / "before.zip", tmp_path / "after.zip"
    told = place.shell(CAMPAIGN + BEFORE, before).splitlines()[-1]
    assert "annotation_judgement: 8 rows" in place.manage("move", empty)
    moved = Place(place.folder, empty)
    *_, verified, told_after = moved.shell(RELEASED + JUDGE_ON, after).splitlines()
    assert digest(after) == digest(before)
    assert verified == "no problems"
    assert told_after == told
    assert place.manage("verify") == "no problems\n", "the old one is as it was"
    assert "is not empty" in place.manage("move", empty, fails=True)
    assert "is not SQLite" in moved.manage("move", empty, fails=True)


def test_while_assay_runs_nothing_is_moved(place, empty):
    with (place.folder / "up.lock").open("a") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        assert "stop it first" in place.manage("move", empty, fails=True)
    with psycopg.connect(empty) as database:
        assert database.execute(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchone() == (0,)
    assert "not a PostgreSQL address" in place.manage(
        "move", f"sqlite:///{place.folder}/other.sqlite3", fails=True
    )


def test_a_row_that_postgresql_cannot_hold_is_named_and_nothing_is_moved(place, empty):
    place.manage(
        "shell",
        "--no-imports",
        "-c",
        "from pooling.models import Collection; Collection.objects.create(slug='a', name='with \\0 in it')",
    )
    assert "pooling_collection, rows 1 to 1: " in place.manage("move", empty, fails=True)
    with psycopg.connect(empty) as database:
        assert database.execute("SELECT COUNT(*) FROM pooling_collection").fetchone() == (0,)
