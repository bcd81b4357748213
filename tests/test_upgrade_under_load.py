"""The program is upgraded as docs/how-to/operate.md says while people judge: the program's files are
replaced and `migrate` runs beside the old processes, which answer on the tables of the next version
until the web server is reloaded. On SQLite and PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.models.fields import NOT_PROVIDED

from tests.conftest import absent
from tests.installation import ROOT
from tests.soak.crew import Crew
from tests.soak.place import Place
from tests.soak.servers import POSTGRESQL, children, wait_for
from tests.soak.trial import Outcome, judge

pytestmark = pytest.mark.xdist_group("upgrade under load")

PATIENCE = 240
VENDORS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
NEXT = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("annotation", "LAST")]
    operations = [OPERATIONS]
"""
ADDED = """
    migrations.AddField("judgement", "made_by", models.CharField(max_length=3, default="new", db_default="old")),
    migrations.AddField("lease", "mark", models.IntegerField(null=True)),
    migrations.CreateModel("Footnote", [("id", models.BigAutoField(primary_key=True)), ("text", models.TextField())]),
    migrations.AddIndex("judgement", models.Index(fields=["made_by", "pair"], name="made_by_pair")),
"""
"""A column with a value of the database's own, one that may be empty, a table, an index."""
RENAMED = """
    migrations.AlterField("judgement", "note", models.TextField(blank=True, db_column="remark")),
"""
"""A column that the old processes do not find any more."""
KNOWN_THEN = '\nJudgement.add_to_class("made_by", models.CharField(max_length=3, default="new", db_default="old"))\n'
MADE_BY = """
import json
from annotation.models import Judgement
print(json.dumps({str(key): by for key, by in Judgement.objects.values_list("key", "made_by")}))
"""


def program(folder: Path) -> Path:
    """A copy of this one, which can be upgraded, with what is compiled already: a file that is
    replaced is compiled anew."""
    folder.mkdir()
    for name in (
        "pooling",
        "annotation",
        "analysis",
        "config",
        "assay",
        "templates",
        "static",
        "locale",
        "tests",
        "benchmarks",
    ):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "manage.py", folder)
    return folder


def next_version(checkout: Path, name: str, operations: str, changed: Callable[[str], str]) -> None:
    """Add a migration of this name to the program, and change its models of judgements."""
    last = sorted(path.stem for path in (checkout / "annotation/migrations").glob("[0-9]*.py"))[-1]
    (checkout / f"annotation/migrations/{name}.py").write_text(
        NEXT.replace("LAST", last).replace("OPERATIONS", operations)
    )
    module = checkout / "annotation/models/judgements.py"
    module.write_text(changed(module.read_text()))


def add_column(models: str) -> str:
    return models + KNOWN_THEN


def rename_column(models: str) -> str:
    old = "note = models.TextField(blank=True)"
    assert models.count(old) == 1
    return models.replace(old, 'note = models.TextField(blank=True, db_column="remark")')


def migrate(place: Place) -> None:
    status, text = place.manage("migrate")
    assert status == 0, text


def place_of(vendor: str, checkout: Path) -> Place:
    if vendor == "postgresql" and not POSTGRESQL:
        absent(
            "postgresql", "its programs are not where Debian puts them, so no cluster can be made"
        )
    return Place(vendor, checkout=checkout)


def judge_on(crew: Crew, n: int = 20) -> set[str]:
    """-> keys of what was accepted, n more than before"""
    enough = len(crew.accepted()) + n
    wait_for(
        lambda: len(crew.accepted()) >= enough,
        PATIENCE,
        f"nobody judges: {crew.strange()} {crew.answers()}",
    )
    return set(crew.accepted())


def reload(place: Place) -> None:
    master, old = place.web_master(), set(place.web_workers())
    os.kill(master, signal.SIGHUP)
    wait_for(
        lambda: len(now := set(children(master))) == len(old) and not old & now,
        PATIENCE,
        "the old processes have not ended",
    )


def held(place: Place, crew: Crew) -> None:
    """Every request was answered, refused with a time after which to try again, or given up by the
    page while the new processes loaded; what was accepted is stored, once."""
    assert crew.strange() == []
    assert set(crew.answers()) <= {0, 200, 503}
    outcome = Outcome("upgrade", place.vendor, normal_after=0.0)
    judge(outcome, place.look(), crew.accepted(), "")
    assert outcome.complaints == [], place.log_end()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("vendor", VENDORS)
def test_people_judge_on_through_two_upgrades_and_nothing_is_lost(vendor: str, tmp_path: Path):
    """Old processes answer on tables with a new column until the reload. Where a column was
    renamed they refuse with a time after which to try again. One installation for both, as most
    of the time goes into starting it."""
    checkout = program(tmp_path / "program")
    with place_of(vendor, checkout) as place:
        crew = place.crew()
        with crew:
            judge_on(crew)
            next_version(checkout, "9998_added", ADDED, add_column)
            migrate(place)
            by_old_ones = judge_on(crew)
            reload(place)
            by_new_ones = judge_on(crew) - by_old_ones
            next_version(checkout, "9999_renamed", RENAMED, rename_column)
            migrate(place)
            refused = crew.answers()[503]
            wait_for(
                lambda: crew.answers()[503] >= refused + 6,
                PATIENCE,
                f"no request is refused: {crew.strange()} {crew.answers()}",
            )
            with urllib.request.urlopen(f"{place.installation.url}/healthz", timeout=60) as answer:
                assert answer.status == 200
            reload(place)
            judge_on(crew)
        held(place, crew)
        made_by = json.loads(place.installation.run(MADE_BY))
        assert {made_by[key] for key in by_old_ones} == {"old"}
        assert "new" in {made_by[key] for key in by_new_ones}, "the new processes know the column"


SINCE = {"annotation": "0015", "pooling": "0004", "analysis": "0003"}
"""From these migrations on the law holds; those before were written without it."""


def unknown_to_the_old(operation: migrations.operations.base.Operation) -> str:
    """The column that a row written by the version before would lack; empty where there is none."""
    field = getattr(operation, "field", None)
    if (
        not isinstance(operation, migrations.AddField)
        or field.null
        or field.many_to_many
        or field.db_default is not NOT_PROVIDED
    ):
        return ""
    return f"{operation.model_name}.{operation.name}"


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (models.IntegerField(default=3), "pair.n"),
        (models.CharField(max_length=3), "pair.n"),
        (models.IntegerField(default=3, db_default=3), ""),
        (models.IntegerField(null=True), ""),
        (models.ManyToManyField("auth.User"), ""),
    ],
)
def test_a_column_that_old_processes_cannot_fill_is_found(field: models.Field, said: str):
    assert unknown_to_the_old(migrations.AddField("pair", "n", field)) == said


def test_each_new_column_has_a_value_of_the_databases_own_for_rows_of_old_processes():
    loader = MigrationLoader(None)
    looked_at = [
        one for (app, name), one in loader.disk_migrations.items() if name >= SINCE.get(app, "9")
    ]
    assert len(looked_at) >= 15
    assert [
        said
        for one in looked_at
        for operation in one.operations
        if (said := unknown_to_the_old(operation))
    ] == []
