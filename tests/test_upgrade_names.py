"""An installation whose rows were written before names changed shows them under the new names."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from analysis.models import Report
from tests.commands import call_command
from tests.databases import own_database, undone

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade of names")]

BEFORE = [
    ("pooling", "0007_kept_answers"),
    ("annotation", "0027_gold_rule"),
    ("analysis", "0003_release_content_digest"),
]
OTHERS = {"auth", "contenttypes", "sessions", "admin"}


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
)
def installation(request, tmp_path_factory, django_db_blocker):
    """A database with rows from before, brought up to date."""
    server = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    with (
        django_db_blocker.unblock(),
        own_database(request.param, folder=tmp_path_factory.mktemp("old"), server=server),
    ):
        executor = MigrationExecutor(connection)
        targets = [
            *BEFORE,
            *(node for node in executor.loader.graph.leaf_nodes() if node[0] in OTHERS),
        ]
        executor.migrate(targets)
        fill(executor.loader.project_state(targets).apps)
        call_command("migrate", verbosity=0)
        yield


@pytest.fixture
def upgraded(installation):
    with undone():
        yield


def fill(apps: Any) -> None:
    collection = apps.get_model("pooling.Collection").objects.create(slug="old", name="Old")
    reports = apps.get_model("analysis.Report").objects
    holes = {"total": 2, "per_topic": {"t1": 2}}
    reports.create(
        collection=collection,
        kind="holes",
        title="late",
        result={"holes": holes, "score": {"P@2": 0.5}, "before": {"holes": holes}},
    )
    reports.create(collection=collection, kind="holes", title="unfinished")
    reports.create(collection=collection, kind="machine_judges", title="judges", result={})
    reports.create(
        collection=collection,
        kind="reusability",
        title="reusability",
        result={"late": {"cutoff": 10, "runs": {"a": {"holes": 1, "holes_as_0": 0.5}}}},
    )


def report(title: str) -> Report:
    return Report.objects.get(title=title)


def test_stored_reports_have_the_new_names_of_kinds_and_keys(upgraded):
    unjudged = {"total": 2, "per_topic": {"t1": 2}}
    assert report("late").kind == report("unfinished").kind == "unjudged"
    assert report("late").result == {
        "unjudged": unjudged,
        "score": {"P@2": 0.5},
        "before": {"unjudged": unjudged},
    }
    assert report("judges").kind == "compare_llm_judges"
    assert report("reusability").result["late"]["runs"] == {
        "a": {"unjudged": 1, "unjudged_as_0": 0.5}
    }
