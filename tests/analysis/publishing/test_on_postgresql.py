"""What leaves a campaign does not depend on the database: a release has the same bytes on
PostgreSQL, whose order of texts is another, and one that was built there comes into an empty
installation on SQLite with the same qrels; and the reverse."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import psycopg
import pytest

from tests.conftest import absent
from tests.migrated import copy_migrated, fill_migrated

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.postgresql

AWKWARD = """
from datetime import timedelta
from annotation.models import Campaign, Judgement, Pair
from annotation.services.campaigns import lifecycle as campaigns
from annotation.services.judging import submission as judging
from pooling.models import Collection, Document, Pool, PoolEntry, Topic
from tests.analysis.publishing.exported import START, judged
from tests.builders import make_annotator, make_campaign, make_user

IDS = ["b", "B", "a-1", "a_1", "a1", "ä", "Zz", "zz", "10", "9", "é", "e\\u0301"]  # in another order by language than by character
owner = make_user("owner", may_create=True)
collection = Collection.objects.create(slug="awkward", name="Awkward", created_by=owner, n_documents=12)
collection.managers.add(owner)
pool = Pool.objects.create(collection=collection, name="all", depth=12, n_pairs=60)
topics = [Topic.objects.create(collection=collection, topic_id=t, text=f"query {t}", position=i) for i, t in enumerate(IDS[:5])]
documents = [Document.objects.create(collection=collection, docno=d, title=d, text=f"About {d}.", n_words=2) for d in IDS]
entries = [(i * 5 + k, topic, document) for i, document in enumerate(documents) for k, topic in enumerate(topics)]
for position, topic, document in entries:
    rank = documents.index(document) + 1
    PoolEntry.objects.create(pool=pool, topic=topic, docno=document.docno, document=document, best_rank=rank, priority=12 - rank,
                             position=position, contributions={"Run": rank, "run": rank, "r-1": rank + 1})
campaign = make_campaign(collection=collection, pool=pool, manager=owner, judgements_per_pair=3, guideline="# Read", name="Awkward")
Campaign.objects.update(deadline=None)
people = [make_annotator(campaign) for _ in range(3)]
for number, pair in enumerate(campaign.pairs.order_by("position")):
    for k, person in enumerate(people):
        if (number + k) % 7 != 0:
            judged(person, pair, (number * 5 + k * k) % 4, now=START + timedelta(seconds=90 * (3 * number + k)), active_ms=20_000 + k,
                   guideline_version=1, device="keyboard")
judging.adjudicate_pair(campaign.pairs.order_by("position")[4], 3, reason="clear", actor=None)
campaigns.close_campaign(campaign)
"""
BUILD = """
from pathlib import Path
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign
campaign = Campaign.objects.select_related("collection", "pool").get()
with Path(PATH).open("wb+") as out:
    write_release(campaign, ReleasePlan("public", documents=True, notes=True), out)
"""
IMPORT = """
from pathlib import Path
from analysis.publishing.release.importing import import_release
import_release(Path(PATH), name="release.zip", user=None)
"""
LABELS = """
import json
from django.db import connection
from analysis.judgements.labels import LabelChoices, make_labels
rows = make_labels(Campaign.objects.get(), LabelChoices()).rows
print(json.dumps([connection.vendor, [row[:3] for row in rows]]))
"""


@pytest.fixture
def postgresql(postgresql_url: str) -> Iterator[Callable[[], str]]:
    """Makes empty databases, ordered as by English-speaking people."""
    made: list[str] = []

    def make() -> str:
        made.append(f"release_{uuid.uuid4().hex[:12]}")
        with psycopg.connect(postgresql_url, autocommit=True) as server:
            try:
                server.execute(
                    f"create database {made[-1]} template template0 locale_provider icu "
                    f"icu_locale 'en-US' locale 'C.UTF-8'"
                )
            except psycopg.Error as error:
                made.pop()
                absent("postgresql", f"it has no ICU locales: {error}")
        return urlparse(postgresql_url)._replace(path=f"/{made[-1]}").geturl()

    yield make
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        for name in made:
            server.execute(f"drop database if exists {name} with (force)")


def shell(code: str, folder: Path, url: str = "") -> str:
    """Runs the code in the installation of that folder and database (none: SQLite in the folder),
    made at first. -> what it printed"""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASSAY_", "PYTEST_"))
    }
    env |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": str(ROOT),
        "ASSAY_DATA_DIR": str(folder),
    }
    env |= {"ASSAY_DATABASE_URL": url} if url else {}
    if not folder.exists():
        folder.mkdir()
        if url:
            fill_migrated(url)
        else:
            copy_migrated(folder / "assay.sqlite3")
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def on(code: str, path: Path) -> str:
    return code.replace("PATH", repr(str(path)), 1)


def qrels(data: Path) -> dict[str, str]:
    with zipfile.ZipFile(data) as archive:
        return {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in ("qrels.txt", "qrels-binary.txt", "labels.tsv")
        }


@pytest.mark.long
@pytest.mark.parametrize("first", ["sqlite", "postgresql"])
def test_a_release_has_the_same_bytes_on_both_and_its_import_into_an_empty_installation_the_same_qrels(
    first, postgresql, tmp_path
):
    urls = ["", postgresql()] if first == "sqlite" else [postgresql(), ""]
    one, again, two = (tmp_path / name for name in ("one.zip", "one-again.zip", "two.zip"))
    shell(AWKWARD + on(BUILD, one), tmp_path / "one", urls[0])
    shell(on(BUILD, again), tmp_path / "one", urls[0])  # by another process
    text = shell(on(IMPORT, one) + on(BUILD, two) + LABELS, tmp_path / "two", urls[1])
    assert one.read_bytes() == again.read_bytes() == two.read_bytes()
    assert qrels(one) == qrels(two)
    vendor, rows = json.loads(text)
    assert vendor == ("sqlite" if first == "postgresql" else "postgresql")
    rows = [tuple(row) for row in rows]
    assert len(rows) > 50
    assert rows == sorted(rows)  # by character, whatever the database's language
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.read("qrels.txt").decode() == "".join(
            f"{topic} 0 {document} {grade}\n" for topic, document, grade in rows
        )
